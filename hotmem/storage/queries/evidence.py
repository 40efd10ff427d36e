"""Loads the evidence of candidates for ranking. Each load is restricted to one user."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from hotmem.storage.database import Connection, Pending
from hotmem.storage.queries import derived, event_times, reembedding
from hotmem.storage.queries.times import from_stored
from hotmem.storage.search.token_signs import unpacked
from hotmem.storage.search.vectors import from_bytes
from hotmem.text.answer_types import answer_types
from hotmem.text.stemming import stems
from hotmem.types import AnswerType, Evidence, EvidenceKind, Interval, Role, UserKey, Vector

LATEST_SOURCES: Final = """SELECT t.id, t.public_id FROM turns t WHERE t.id IN (
    SELECT DISTINCT turn FROM sources WHERE memory = m.id ORDER BY turn DESC LIMIT 8)
    ORDER BY t.id"""
"""Latest turns that are shown as the sources of a memory."""

SENTENCE_SOURCES: Final = """SELECT t.id, t.public_id FROM summary_sentences x
    JOIN turns t ON t.id = x.turn WHERE x.summary = y.id ORDER BY x.part, x.place"""
"""Turns that the sentences of a summary come from."""

ROLES: Final = {role.value: role for role in Role}
"""Roles by value. A dictionary lookup is faster than calling the enumeration."""

NOTED: Final = ""
"""The session id of memories stored explicitly."""

Ended: TypeAlias = tuple[datetime | None, int | None]
"""When a memory ended, and the one that superseded it."""


class Loaded(NamedTuple):
    """Evidence whose end is not looked up yet.

    Attributes:
        evidence: The evidence.
        ended: Row number of the ended memory that it is, or that was read from it; None if there
            is none.
    """

    evidence: Evidence
    ended: int | None


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
    known = keys.get(EvidenceKind.MEMORY, ())
    of_passages = ask_passages(
        conn, user, keys.get(EvidenceKind.PASSAGE, ()), around, reach, window
    )
    of_memories = ask_memories(conn, user, known)
    of_summaries = ask_summaries(conn, user, keys.get(EvidenceKind.SUMMARY, ()))
    boundaries = reembedding.ask_boundaries(conn)
    found = _completed(conn, user, [*of_passages(), *of_memories()], asked)
    replacing = {one.replaced_by for one in found if one.replaced_by is not None} - set(known)
    if replacing:
        found += _completed(conn, user, ask_memories(conn, user, sorted(replacing))(), asked)
    return _of_former([*found, *of_summaries()], boundaries())


def ask_passages(
    conn: Connection,
    user: UserKey,
    keys: Sequence[int],
    around: Sequence[int],
    reach: int,
    window: int,
) -> Pending[list[Loaded]]:
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
    if not keys:
        return list
    rows = conn.execute(
        """WITH wanted AS (SELECT session, position FROM passages
                WHERE user_key = ? AND id = ANY(?))
            SELECT p.id, substr(t.text, p.start + 1, p.stop - p.start), t.speaker, t.role,
                s.public_id, s.id, p.position, t.public_id, t.id,
                t.spoken_at, p.terms, p.forms, p.vector, x.width, x.signs,
                (SELECT m.id FROM sources x JOIN memories m ON m.id = x.memory
                 WHERE x.turn = t.id AND x.start < p.stop AND x.stop > p.start
                     AND m.valid_until IS NOT NULL
                 ORDER BY m.valid_until, m.id LIMIT 1),
                (SELECT d.times FROM correction_counts d WHERE d.turn = t.id),
                substr(t.text, greatest(p.start - ?, 0) + 1, least(p.start, ?)),
                    substr(t.text, p.stop + 1, ?), nullif(t.order_time, t.spoken_at)
            FROM passages p JOIN turns t ON t.id = p.turn JOIN sessions s ON s.id = p.session
                LEFT JOIN passage_signs x ON x.passage = p.id
            WHERE p.user_key = ? AND p.id IN (SELECT n.id FROM wanted w JOIN passages n
                                          ON n.session = w.session AND n.position BETWEEN w.position
                                              - ? AND w.position + ?
                                          UNION SELECT id FROM passages
                                              WHERE user_key = ? AND id = ANY(?))
            ORDER BY p.session, p.position""",
        (user, [*around], window, window, window, user, reach, reach, user, [*keys]),
    )
    return lambda: _passages(rows.fetchall(), window)


def _passages(rows: list[Any], window: int) -> list[Loaded]:
    """Passages of rows, in the order of their session."""
    vectors = _vectors([row[12] for row in rows])
    found: list[Loaded] = []
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
        before = found[-1].evidence if found else None
        found.append(
            Loaded(
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
                    correction_count=doubts or 0,
                    order_time=None if order_time is None else from_stored(order_time),
                    after_question=before is not None
                    and (before.session, before.position + 1) == (session, position)
                    and (before.speaker, before.role) != (speaker, role)
                    and before.text.rstrip().endswith("?"),
                ),
                ended,
            )
        )
    return found


def ask_memories(conn: Connection, user: UserKey, keys: Sequence[int]) -> Pending[list[Loaded]]:
    """Memories, each with its source turns; one stored explicitly has none."""
    if not keys:
        return list
    rows = conn.execute(
        f"""SELECT m.id, m.text, m.public_id, m.said_at, m.vector, m.hedged, m.changes,
            m.confirmations,
                CASE WHEN m.valid_until IS NOT NULL THEN m.id END,
                (SELECT json_group_array(t.id || ',' || t.public_id) FROM ({LATEST_SOURCES}) t),
                s.public_id, s.id, t.speaker, t.role,
                (SELECT min(coalesce(d.times, 0)) FROM sources x LEFT JOIN correction_counts d
                    ON d.turn = x.turn WHERE x.memory = m.id),
                y.width, y.signs, nullif(m.order_time, m.said_at)
            FROM memories m
            LEFT JOIN memory_signs y ON y.memory = m.id
            LEFT JOIN turns t ON t.id = (SELECT max(x.turn) FROM sources x WHERE x.memory = m.id)
            LEFT JOIN sessions s ON s.id = t.session
            WHERE +m.user_key = ? AND m.id = ANY(?) ORDER BY m.id""",
        (user, [*keys]),
    )
    return lambda: _memories(rows.fetchall())


def _memories(rows: list[Any]) -> list[Loaded]:
    """Memories of rows."""
    found = []
    for row, vector in zip(rows, _vectors([row[4] for row in rows]), strict=True):
        turns, turn_ids = _sources(row[9])
        found.append(
            Loaded(
                Evidence(
                    kind=EvidenceKind.MEMORY,
                    key=row[0],
                    text=row[1],
                    speaker=row[12],
                    role=Role(row[13] or Role.USER),
                    session_id=row[10] or NOTED,
                    session=row[11] or -row[0],
                    position=-1,
                    turn_ids=turn_ids,
                    turns=turns,
                    said_at=from_stored(row[3]),
                    terms=stems(row[1]),
                    answer_types=AnswerType.NONE if turns else answer_types(row[1]),
                    vector=vector,
                    signs=unpacked(row[15], row[16]),
                    memory_id=row[2],
                    hedged=bool(row[5]),
                    changes=bool(row[6]),
                    confirmations=row[7],
                    correction_count=row[14] or 0,
                    order_time=None if row[17] is None else from_stored(row[17]),
                ),
                row[8],
            )
        )
    return found


def ask_summaries(conn: Connection, user: UserKey, keys: Sequence[int]) -> Pending[list[Evidence]]:
    """Summaries, one per session, with the source turns of their sentences."""
    if not keys:
        return list
    rows = conn.execute(
        f"""SELECT y.id, y.text, s.public_id, s.last_at, y.vector,
                (SELECT json_group_array(t.id || ',' || t.public_id) FROM ({SENTENCE_SOURCES}) t)
            FROM summaries y JOIN sessions s ON s.id = y.id
            WHERE y.user_key = ? AND y.id = ANY(?) ORDER BY y.id""",
        (user, [*keys]),
    )
    return lambda: _summaries(rows.fetchall())


def _summaries(rows: list[Any]) -> list[Evidence]:
    """Summaries of rows."""
    found = []
    for row, vector in zip(rows, _vectors([row[4] for row in rows]), strict=True):
        turns, turn_ids = _sources(row[5])
        found.append(
            Evidence(
                kind=EvidenceKind.SUMMARY,
                key=row[0],
                text=row[1],
                speaker=None,
                role=None,
                session_id=row[2],
                session=row[0],
                position=-1,
                turn_ids=turn_ids,
                turns=turns,
                said_at=from_stored(row[3]),
                terms=stems(row[1]),
                vector=vector,
            )
        )
    return found


def _sources(stored: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Distinct row numbers and ids of turns, from a JSON array of "number,id"."""
    pairs = [source.split(",", 1) for source in dict.fromkeys(json.loads(stored))]
    return tuple(int(turn) for turn, _ in pairs), tuple(name for _, name in pairs)


def _completed(
    conn: Connection, user: UserKey, loaded: Sequence[Loaded], asked: Interval | None
) -> list[Evidence]:
    """The evidence with when it ended, the times it mentions, and whether they are asked about."""
    keys: dict[EvidenceKind, list[int]] = {}
    for evidence, _ in loaded:
        keys.setdefault(evidence.kind, []).append(evidence.key)
    pending_endings = _endings(conn, [ended for _, ended in loaded if ended])
    pending_times = {kind: event_times.ask_named(conn, user, kind, of) for kind, of in keys.items()}
    pending_matching = {
        kind: event_times.ask_within(conn, user, kind, of, asked)
        for kind, of in keys.items()
        if asked is not None
    }
    endings = pending_endings()
    times = {kind: named() for kind, named in pending_times.items()}
    matching = {kind: within() for kind, within in pending_matching.items()}
    found = []
    for one, ended in loaded:
        if ended in endings:
            valid_until, replaced_by = endings[ended]
            one = one._replace(valid_until=valid_until, replaced_by=replaced_by)
        if one.key in times[one.kind]:
            one = one._replace(times=times[one.kind][one.key])
        if one.key in matching.get(one.kind, ()):
            one = one._replace(matches_time=True)
        found.append(one)
    return found


def _of_former(found: list[Evidence], boundaries: Mapping[EvidenceKind, int]) -> list[Evidence]:
    """The evidence, marked where its vector is of the former encoder."""
    if not boundaries:
        return found
    return [
        one._replace(former=one.vector is not None)
        if one.key <= boundaries.get(one.kind, 0)
        else one
        for one in found
    ]


def _endings(conn: Connection, ended: Sequence[int]) -> Pending[dict[int, Ended]]:
    """When memories ended, and the current one at the end of each chain of supersession."""
    if not ended:
        return dict
    rows = conn.execute(
        """WITH RECURSIVE later (ended, id, following) AS (
                SELECT id, id, coalesce(merged_into, superseded_by) FROM memories
                    WHERE id = ANY(?)
                UNION SELECT l.ended, m.id, coalesce(m.merged_into, m.superseded_by) FROM later l
                    JOIN memories m ON m.id = l.following)
            SELECT m.id, m.valid_until, (SELECT l.id FROM later l WHERE l.ended = m.id
                AND l.following IS NULL AND l.id <> m.id)
            FROM memories m WHERE m.id IN (SELECT ended FROM later)""",
        ([*ended],),
    )
    return lambda: {
        key: (from_stored(valid_until), successor) for key, valid_until, successor in rows
    }


def _widened(text: str, left: str, right: str, window: int) -> str:
    """A passage with the whole words to its left and right."""
    before = left if len(left) < window else left.partition(" ")[2]
    after = right if len(right) < window else right.rpartition(" ")[0]
    return f"{before}{text}{after}".strip()


def _vectors(blobs: Sequence[bytes | None]) -> list[Vector | None]:
    """Decodes the vectors that are present in one call."""
    present = [blob for blob in blobs if blob is not None]
    unpacked = iter(from_bytes(present)) if present else iter(())
    return [None if blob is None else next(unpacked) for blob in blobs]
