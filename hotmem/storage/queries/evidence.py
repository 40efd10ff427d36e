"""Loads the evidence of candidates for ranking. Each load is restricted to one user."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from hotmem.storage.database import Connection, Pending
from hotmem.storage.queries import event_times, reembedding
from hotmem.storage.queries.times import from_stored
from hotmem.storage.queries.turns import stored_stems
from hotmem.storage.rows import record_of
from hotmem.storage.search.vectors import from_bytes, unpacked_signs
from hotmem.text.answer_types import answer_types
from hotmem.text.stemming import stems
from hotmem.types import (
    AnswerType,
    Evidence,
    EvidenceKind,
    Interval,
    Kind,
    Quote,
    Role,
    UserKey,
    Vector,
)

WANTED: Final = """
    near AS (SELECT session, position FROM passages WHERE user_key = :user AND id = ANY(:around)),
    wanted AS (
        SELECT p.id FROM near n JOIN passages p ON p.session = n.session
            AND p.position BETWEEN n.position - :reach AND n.position + :reach
        UNION SELECT id FROM passages WHERE user_key = :user AND id = ANY(:passages))"""
"""The passages `:passages`, and those around the passages `:around` in their session."""

OVER: Final = "(valid_until IS NOT NULL OR doubted_at IS NOT NULL)"

FOLLOWING: Final = "coalesce(merged_into, superseded_by, doubted_by)"
"""The memory that a memory was merged into, that superseded it, or that made it doubtful."""

ENDED: Final = f"""
    WITH RECURSIVE {WANTED}, ended AS (
        SELECT CAST(NULL AS BIGINT) AS passage, id AS memory FROM memories
            WHERE +user_key = :user AND id = ANY(:memories) AND {OVER}
        UNION ALL SELECT p.id, m.id FROM passages p
            JOIN sources x ON x.turn = p.turn AND x.start < p.stop AND x.stop > p.start
            JOIN memories m ON m.id = x.memory AND {OVER}
            WHERE p.user_key = :user AND p.id IN (SELECT id FROM wanted)
    ), later (ended, id, following) AS (
        SELECT id, id, {FOLLOWING} FROM memories
            WHERE id IN (SELECT memory FROM ended)
        UNION SELECT l.ended, m.id, {FOLLOWING} FROM later l
            JOIN memories m ON m.id = l.following
    )
    SELECT e.passage, m.id, m.valid_until, m.doubted_at, (SELECT l.id FROM later l
        WHERE l.ended = m.id AND l.following IS NULL AND l.id <> m.id)
    FROM ended e JOIN memories m ON m.id = e.memory
    ORDER BY m.valid_until IS NULL, m.valid_until, m.doubted_at, m.id"""


class Ending(NamedTuple):
    """The end of a memory, or what makes it possibly outdated.

    Attributes:
        valid_until: When it ended; None if it only is in doubt.
        doubted_at: When something said later made it possibly outdated, if it did.
        replaced_by: Row number of the current memory at the end of the chain of supersession; None
            if nothing superseded it.
    """

    valid_until: datetime | None
    doubted_at: datetime | None
    replaced_by: int | None


def ask(
    conn: Connection,
    user: UserKey,
    keys: Mapping[EvidenceKind, Sequence[int]],
    around: Sequence[int] = (),
    reach: int = 0,
) -> Pending[dict[tuple[EvidenceKind, int], Ending]]:
    """The endings of memories, and of memories that were read from passages, by kind and row.

    A passage has the ending of the memory of its that ended first, or else became doubtful first.

    Args:
        conn: A connection.
        user: The user.
        keys: Row numbers by kind.
        around: Row numbers of the passages whose neighbours count too.
        reach: Positions before and after them in their session.
    """
    passages = [*keys.get(EvidenceKind.PASSAGE, ())]
    memories = [*keys.get(EvidenceKind.MEMORY, ())]
    if not (passages or memories):
        return dict
    values = {"user": user, "passages": passages, "memories": memories}
    rows = conn.execute(ENDED, values | {"around": [*around], "reach": reach})

    def found() -> dict[tuple[EvidenceKind, int], Ending]:
        endings: dict[tuple[EvidenceKind, int], Ending] = {}
        for passage, memory, *ending in rows:
            of = (
                (EvidenceKind.MEMORY, memory)
                if passage is None
                else (EvidenceKind.PASSAGE, passage)
            )
            endings.setdefault(of, record_of(Ending, ending))
        return endings

    return found


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

RowOf: TypeAlias = tuple[EvidenceKind, int]
"""A kind and a row number."""


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
    of_endings = ask(conn, user, keys, around, reach)
    boundaries = reembedding.ask_boundaries(conn)
    found, ends = [*of_passages(), *of_memories()], of_endings()
    replacing = {end.replaced_by for end in ends.values() if end.replaced_by is not None}
    successors = ask_memories(conn, user, sorted(replacing - set(known)))
    times = _ask_times(conn, user, found, replacing, asked)
    evidence, mentioned = [*found, *successors(), *of_summaries()], times()
    former = boundaries()
    completed = []
    for one in evidence:
        of = (one.kind, one.key)
        added = mentioned.get(of, {}) | (ends[of]._asdict() if of in ends else {})
        if one.key <= former.get(one.kind, reembedding.NONE_LEFT):
            added["former"] = one.vector is not None
        completed.append(one._replace(**added) if added else one)
    return completed


def ask_passages(
    conn: Connection,
    user: UserKey,
    keys: Sequence[int],
    around: Sequence[int],
    reach: int,
    window: int,
) -> Pending[list[Evidence]]:
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
        f"""WITH {WANTED}
            SELECT p.id, substr(t.text, p.start + 1, p.stop - p.start), t.speaker, t.role,
                s.public_id, s.id, p.position, t.public_id, t.id,
                t.spoken_at, p.terms, p.forms, p.vector, x.width, x.signs,
                (SELECT d.times FROM correction_counts d WHERE d.turn = t.id),
                substr(t.text, greatest(p.start - :window, 0) + 1, least(p.start, :window)),
                    substr(t.text, p.stop + 1, :window), nullif(t.order_time, t.spoken_at)
            FROM passages p JOIN turns t ON t.id = p.turn JOIN sessions s ON s.id = p.session
                LEFT JOIN passage_signs x ON x.passage = p.id
            WHERE p.user_key = :user AND p.id IN (SELECT id FROM wanted)
            ORDER BY p.session, p.position""",
        {
            "user": user,
            "passages": [*keys],
            "around": [*around],
            "reach": reach,
            "window": window,
        },
    )
    return lambda: _passages(rows.fetchall(), window)


def _passages(rows: list[Any], window: int) -> list[Evidence]:
    """Passages of rows, in the order of their session."""
    vectors = _vectors([row[12] for row in rows])
    found: list[Evidence] = []
    for row, vector in zip(rows, vectors, strict=True):
        key, text, speaker, role, session_name, session, position, turn_name, turn, *rest = row
        spoken_at, terms, found_forms, _, width, signs, doubts, left, right, order_time = rest
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
                terms=stored_stems(terms),
                answer_types=found_forms,
                vector=vector,
                signs=unpacked_signs(width, signs),
                correction_count=doubts or 0,
                order_time=None if order_time is None else from_stored(order_time),
                after_question=before is not None
                and (before.session, before.position + 1) == (session, position)
                and (before.speaker, before.role) != (speaker, role)
                and before.text.rstrip().endswith("?"),
            )
        )
    return found


def ask_memories(conn: Connection, user: UserKey, keys: Sequence[int]) -> Pending[list[Evidence]]:
    """Memories, each with its source turns and the latest passage that it was read from.

    One stored explicitly, or edited, has no passage.
    """
    if not keys:
        return list
    # MATERIALIZED keeps PostgreSQL from joining the turns of all users by a hash
    rows = conn.execute(
        f"""WITH asked AS MATERIALIZED (SELECT m.id,
                (SELECT max(x.turn) FROM sources x WHERE x.memory = m.id) AS turn
                FROM memories m WHERE +m.user_key = ? AND m.id = ANY(?))
            SELECT m.id, m.text, m.public_id, m.said_at, m.vector, m.hedged, m.changes,
            m.confirmations, m.valid_until,
                (SELECT json_group_array(t.id || ',' || t.public_id) FROM ({LATEST_SOURCES}) t),
                s.public_id, s.id, t.speaker, t.role,
                (SELECT min(coalesce(d.times, 0)) FROM sources x LEFT JOIN correction_counts d
                    ON d.turn = x.turn WHERE x.memory = m.id),
                y.width, y.signs, nullif(m.order_time, m.said_at), m.kind,
                p.id, substr(t.text, p.start + 1, p.stop - p.start), t.spoken_at
            FROM asked a JOIN memories m ON m.id = a.id
            LEFT JOIN memory_signs y ON y.memory = m.id
            LEFT JOIN turns t ON t.id = a.turn
            LEFT JOIN sessions s ON s.id = t.session
            LEFT JOIN passages p ON m.stored_at IS NULL AND p.id = (SELECT min(q.id)
                FROM sources x JOIN passages q
                    ON q.turn = x.turn AND x.start < q.stop AND x.stop > q.start
                WHERE x.memory = a.id AND x.turn = a.turn)
            ORDER BY m.id""",
        (user, [*keys]),
    )
    return lambda: _memories(rows.fetchall(), conn.search.language)


def _memories(rows: list[Any], language: str) -> list[Evidence]:
    """Memories of rows."""
    found = []
    for row, vector in zip(rows, _vectors([row[4] for row in rows]), strict=True):
        turns, turn_ids = _sources(row[9])
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
                turn_ids=turn_ids,
                turns=turns,
                said_at=from_stored(row[3]),
                terms=stems(row[1], language),
                answer_types=AnswerType.NONE if turns else answer_types(row[1]),
                vector=vector,
                signs=unpacked_signs(row[15], row[16]),
                memory_id=row[2],
                hedged=bool(row[5]),
                changes=bool(row[6]),
                confirmations=row[7],
                correction_count=row[14] or 0,
                valid_until=None if row[8] is None else from_stored(row[8]),
                order_time=None if row[17] is None else from_stored(row[17]),
                reminder=row[18] == Kind.REMINDER,
                quote=None if row[19] is None else Quote(row[19], row[20], from_stored(row[21])),
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
    return lambda: _summaries(rows.fetchall(), conn.search.language)


def _summaries(rows: list[Any], language: str) -> list[Evidence]:
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
                terms=stems(row[1], language),
                vector=vector,
            )
        )
    return found


def _sources(stored: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Distinct row numbers and ids of turns, from a JSON array of "number,id"."""
    pairs = [source.split(",", 1) for source in dict.fromkeys(json.loads(stored))]
    return tuple(int(turn) for turn, _ in pairs), tuple(name for _, name in pairs)


def _ask_times(
    conn: Connection,
    user: UserKey,
    found: Sequence[Evidence],
    replacing: Iterable[int],
    asked: Interval | None,
) -> Pending[dict[RowOf, dict[str, Any]]]:
    """What evidence and the successors of ended memories mention: `times` and `matches_time`."""
    keys = {EvidenceKind.PASSAGE: set[int](), EvidenceKind.MEMORY: set(replacing)}
    for one in found:
        keys[one.kind].add(one.key)
    named = {kind: event_times.ask_named(conn, user, kind, [*of]) for kind, of in keys.items()}
    within = {
        kind: event_times.ask_within(conn, user, kind, [*of], asked)
        for kind, of in keys.items()
        if asked is not None
    }

    def mentioned() -> dict[RowOf, dict[str, Any]]:
        columns: defaultdict[RowOf, dict[str, Any]] = defaultdict(dict)
        for kind, times_of in named.items():
            for key, times in times_of().items():
                columns[kind, key]["times"] = times
        for kind, matching in within.items():
            for key in matching():
                columns[kind, key]["matches_time"] = True
        return columns

    return mentioned


def _widened(text: str, left: str, right: str, window: int) -> str:
    """A passage with the whole words to its left and right."""
    before = left if len(left) < window else left.partition(" ")[2]
    after = right if len(right) < window else right.rpartition(" ")[0]
    return f"{before}{text}{after}".strip()


def _vectors(blobs: Sequence[bytes | None]) -> list[Vector | None]:
    """Decodes the vectors that are present in one call."""
    unpacked = iter(from_bytes(blob for blob in blobs if blob is not None))
    return [None if blob is None else next(unpacked) for blob in blobs]
