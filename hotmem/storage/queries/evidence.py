"""Loads the evidence of candidates for ranking. Each load is restricted to one user."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

from hotmem.storage.database import Connection
from hotmem.storage.queries import derived, event_times, reembedding
from hotmem.storage.queries.times import from_stored
from hotmem.storage.search.token_signs import unpacked
from hotmem.storage.search.vectors import from_bytes
from hotmem.text.answer_types import answer_types
from hotmem.text.stemming import stems
from hotmem.types import AnswerType, Evidence, EvidenceKind, Interval, Role, UserKey, Vector

SEPARATOR = "\x00"

LATEST_SOURCES = "SELECT DISTINCT turn FROM sources WHERE memory = m.id ORDER BY turn DESC LIMIT 8"
"""Latest turns that are shown as the sources of a memory."""


ROLES: Final = {role.value: role for role in Role}
"""Roles by value. A dictionary lookup is faster than calling the enumeration."""

NOTED: Final = ""
"""The session id of memories stored explicitly."""

Ended: TypeAlias = tuple[datetime | None, int | None]
"""When a memory ended, and the one that superseded it."""

CURRENT: Final[Ended] = (None, None)


def load(
    conn: Connection,
    user: UserKey,
    keys: Mapping[EvidenceKind, Sequence[int]],
    *,
    around: Sequence[int] = (),
    reach: int = 0,
    window: int = 0,
    asked: Interval | None = None,
) -> list[Evidence]:
    """The evidence of rows, with neighbours of passages and the successors of superseded memories.

    Args:
        conn: A connection.
        user: The user.
        keys: Row numbers by kind.
        around: Row numbers of the passages whose neighbours are loaded too.
        reach: Positions before and after them in their session.
        window: Characters of the turn on each side of a passage that are shown with it.
        asked: The time the query is about, if any.
    """
    found = passages(conn, user, keys.get(EvidenceKind.PASSAGE, ()), around, reach, window)
    known = keys.get(EvidenceKind.MEMORY, ())
    found += memories(conn, user, known)
    found += memories(
        conn,
        user,
        sorted({one.replaced_by for one in found if one.replaced_by is not None} - set(known)),
    )
    found += summaries(conn, user, keys.get(EvidenceKind.SUMMARY, ()))
    found = _dated(conn, _of_former(conn, found))
    return found if asked is None else _timed(conn, found, asked)


def passages(
    conn: Connection,
    user: UserKey,
    keys: Sequence[int],
    around: Sequence[int],
    reach: int,
    window: int,
) -> list[Evidence]:
    """Passages, and the neighbours of some of them in their session.

    Args:
        conn: A connection.
        user: The user.
        keys: Row numbers of passages.
        around: Those whose neighbours are loaded too.
        reach: Positions before and after them.
        window: Characters of the turn on each side of a passage that are shown with it, in whole
            words.
    """
    rows = conn.execute(
        f"""WITH wanted AS (SELECT session, position FROM passages WHERE user_key = ?
            AND id IN ({_marks(around)}))
            SELECT p.id, substr(t.text, p.start + 1, p.stop - p.start), t.speaker, t.role,
                s.public_id, s.id, p.position, t.public_id, t.id,
                t.spoken_at, p.terms, p.forms, p.vector, x.width, x.signs,
                (SELECT m.id FROM sources x JOIN memories m ON m.id = x.memory
                 WHERE x.turn = t.id AND x.start < p.stop AND x.stop > p.start
                     AND m.valid_until IS NOT NULL
                 ORDER BY m.valid_until LIMIT 1),
                (SELECT d.times FROM correction_counts d WHERE d.turn = t.id),
                substr(t.text, max(p.start - ?, 0) + 1, min(p.start, ?)),
                    substr(t.text, p.stop + 1, ?), nullif(t.order_time, t.spoken_at)
            FROM passages p JOIN turns t ON t.id = p.turn JOIN sessions s ON s.id = p.session
                LEFT JOIN passage_signs x ON x.passage = p.id
            WHERE p.user_key = ? AND p.id IN (SELECT n.id FROM wanted w JOIN passages n
                                          ON n.session = w.session AND n.position BETWEEN w.position
                                              - ? AND w.position + ?
                                          UNION VALUES {", ".join(["(?)"] * len(keys)) or "(0)"})
            ORDER BY p.session, p.position""",
        (user, *around, window, window, window, user, reach, reach, *keys),
    ).fetchall()
    vectors = _vectors([row[12] for row in rows])
    endings = _endings(conn, [row[15] for row in rows if row[15]])
    found: list[Evidence] = []
    for row, vector in zip(rows, vectors, strict=True):
        (
            key,
            text,
            speaker,
            role,
            session_name,
            session,
            position,
            turn_name,
            turn,
            spoken_at,
            terms,
            found_forms,
            _,
            width,
            signs,
            ended,
            doubts,
            left,
            right,
            order_time,
        ) = row
        valid_until, replaced_by = endings.get(ended, CURRENT)
        before = found[-1] if found else None
        found.append(
            Evidence(
                kind=EvidenceKind.PASSAGE,
                key=key,
                text=_widened(text, left, right, window) if window else text,
                speaker=speaker,
                role=ROLES[role],
                session_id=session_name,
                session=session,
                position=position,
                turn_ids=(turn_name,),
                turns=(turn,),
                said_at=from_stored(spoken_at),
                terms=derived.read(terms),
                answer_types=found_forms,
                vector=vector,
                signs=unpacked(width, signs),
                valid_until=valid_until,
                replaced_by=replaced_by,
                correction_count=doubts or 0,
                order_time=None if order_time is None else from_stored(order_time),
                after_question=before is not None
                and (before.session, before.position + 1) == (session, position)
                and (before.speaker, before.role) != (speaker, role)
                and before.text.rstrip().endswith("?"),
            )
        )
    return found


def memories(conn: Connection, user: UserKey, keys: Sequence[int]) -> list[Evidence]:
    """Memories, each with its source turns; one stored explicitly has none."""
    rows = conn.execute(
        f"""SELECT m.id, m.text, m.public_id, m.said_at, m.vector, m.hedged, m.changes,
            m.confirmations,
                CASE WHEN m.valid_until IS NOT NULL THEN m.id END,
                (SELECT group_concat(t.id || ',' || t.public_id, char(0)) FROM turns t
                    WHERE t.id IN ({LATEST_SOURCES})), s.public_id, s.id, t.speaker, t.role,
                (SELECT min(coalesce(d.times, 0)) FROM sources x LEFT JOIN correction_counts d
                    ON d.turn = x.turn WHERE x.memory = m.id),
                y.width, y.signs, nullif(m.order_time, m.said_at)
            FROM memories m
            LEFT JOIN memory_signs y ON y.memory = m.id
            LEFT JOIN turns t ON t.id = (SELECT max(x.turn) FROM sources x WHERE x.memory = m.id)
            LEFT JOIN sessions s ON s.id = t.session
            WHERE +m.user_key = ? AND m.id IN ({_marks(keys)})""",
        (user, *keys),
    ).fetchall()
    endings = _endings(conn, [row[8] for row in rows if row[8]])
    found = []
    for row, vector in zip(rows, _vectors([row[4] for row in rows]), strict=True):
        valid_until, replaced_by = endings.get(row[8], CURRENT)
        sources = [source.split(",", 1) for source in row[9].split(SEPARATOR)] if row[9] else []
        found.append(
            Evidence(
                kind=EvidenceKind.MEMORY,
                key=row[0],
                text=row[1],
                speaker=row[12],
                role=Role(row[13] or Role.USER),
                session_id=row[10] or NOTED,
                session=row[11] or -row[0],
                position=-1,
                turn_ids=tuple(name for _, name in sources),
                turns=tuple(int(turn) for turn, _ in sources),
                said_at=from_stored(row[3]),
                terms=stems(row[1]),
                answer_types=AnswerType.NONE if sources else answer_types(row[1]),
                vector=vector,
                signs=unpacked(row[15], row[16]),
                memory_id=row[2],
                hedged=bool(row[5]),
                changes=bool(row[6]),
                confirmations=row[7],
                valid_until=valid_until,
                replaced_by=replaced_by,
                correction_count=row[14] or 0,
                order_time=None if row[17] is None else from_stored(row[17]),
            )
        )
    return found


def summaries(conn: Connection, user: UserKey, keys: Sequence[int]) -> list[Evidence]:
    """Summaries, one per session, with the source turns of their sentences."""
    rows = conn.execute(
        f"""SELECT y.id, y.text, s.public_id, s.last_at, y.vector,
                (SELECT group_concat(t.public_id, char(0)) FROM summary_sentences x JOIN turns t
                    ON t.id = x.turn WHERE x.summary = y.id),
                (SELECT group_concat(x.turn) FROM summary_sentences x WHERE x.summary = y.id)
            FROM summaries y JOIN sessions s ON s.id = y.id WHERE y.user_key = ?
                AND y.id IN ({_marks(keys)})""",
        (user, *keys),
    ).fetchall()
    return [
        Evidence(
            kind=EvidenceKind.SUMMARY,
            key=row[0],
            text=row[1],
            speaker=None,
            role=None,
            session_id=row[2],
            session=row[0],
            position=-1,
            turn_ids=tuple(dict.fromkeys(row[5].split(SEPARATOR))) if row[5] else (),
            turns=tuple(dict.fromkeys(map(int, row[6].split(",")))) if row[6] else (),
            said_at=from_stored(row[3]),
            terms=stems(row[1]),
            vector=vector,
        )
        for row, vector in zip(rows, _vectors([row[4] for row in rows]), strict=True)
    ]


def _dated(conn: Connection, found: Sequence[Evidence]) -> list[Evidence]:
    """The evidence with the times that it mentions."""
    times = {
        kind: event_times.named(conn, kind, [one.key for one in found if one.kind is kind])
        for kind in EvidenceKind
    }
    return [
        one._replace(times=times[one.kind][one.key]) if one.key in times[one.kind] else one
        for one in found
    ]


def _of_former(conn: Connection, found: list[Evidence]) -> list[Evidence]:
    """The evidence, marked where its vector is of the former encoder."""
    upto = reembedding.boundaries(conn)
    return (
        [
            one._replace(former=one.vector is not None) if one.key <= upto.get(one.kind, 0) else one
            for one in found
        ]
        if upto
        else found
    )


def _timed(conn: Connection, found: Sequence[Evidence], asked: Interval) -> list[Evidence]:
    """The evidence, marked where it mentions the time the query is about."""
    matching = {
        kind: event_times.within(conn, kind, [one.key for one in found if one.kind is kind], asked)
        for kind in EvidenceKind
    }
    return [
        one._replace(matches_time=True) if one.key in matching[one.kind] else one for one in found
    ]


def _endings(conn: Connection, ended: Sequence[int]) -> dict[int, Ended]:
    """When memories ended, and the current one at the end of each chain of supersession."""
    rows = conn.execute(
        f"""WITH RECURSIVE later (ended, id, following) AS (
                SELECT id, id, coalesce(merged_into, superseded_by) FROM memories
                    WHERE id IN ({_marks(ended)})
                UNION SELECT l.ended, m.id, coalesce(m.merged_into, m.superseded_by) FROM later l
                    JOIN memories m ON m.id = l.following)
            SELECT m.id, m.valid_until, (SELECT l.id FROM later l WHERE l.ended = m.id
                AND l.following IS NULL AND l.id <> m.id)
            FROM memories m WHERE m.id IN (SELECT ended FROM later)""",
        (*ended,),
    )
    return {key: (from_stored(valid_until), successor) for key, valid_until, successor in rows}


def _widened(text: str, left: str, right: str, window: int) -> str:
    """A passage with the whole words to its left and right."""
    before = left if len(left) < window else left.partition(" ")[2]
    after = right if len(right) < window else right.rpartition(" ")[0]
    return f"{before}{text}{after}".strip()


def _marks(keys: Sequence[Any]) -> str:
    return ",".join("?" * len(keys))


def _vectors(blobs: Sequence[bytes | None]) -> list[Vector | None]:
    """Decodes the vectors that are present in one call."""
    present = [blob for blob in blobs if blob is not None]
    unpacked = iter(from_bytes(present)) if present else iter(())
    return [None if blob is None else next(unpacked) for blob in blobs]
