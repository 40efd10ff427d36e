"""A user's memories, names and replies in lists, and one memory with its history."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date, datetime
from functools import partial
from itertools import combinations
from typing import Any, Final

from hotmem.storage.database import Connection
from hotmem.storage.inspection import MOST_COUNTED, screen
from hotmem.storage.inspection.conversations import TURNS, turn_row
from hotmem.storage.queries import decisions
from hotmem.storage.queries.quality import COUNTS
from hotmem.storage.queries.subcategories import NAME_OF_MEMORY
from hotmem.storage.queries.tags import SHOWN
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.rows import record_of
from hotmem.types import Latencies, Layer, Tally, UserKey
from hotmem.types.inspection import (
    Cursor,
    EntityGraph,
    EntityRow,
    MemoryDetails,
    MemoryFilter,
    MemoryRow,
    Page,
    RecallRow,
    RecordedItem,
    SourceWords,
    StoredWeight,
)

COLUMNS: Final = """m.id, m.public_id, m.text, m.kind, m.category, m.importance, m.said_at,
    m.valid_until, m.doubted_at, m.merged_into IS NOT NULL, m.stored_at IS NOT NULL"""
"""The columns of a `MemoryRow`."""

OF_USER: Final = f"SELECT {COLUMNS} FROM memories m WHERE m.user_key = ?"

BY_TIME: Final = f"""SELECT {COLUMNS} FROM memories m INDEXED BY memories_by_time
    WHERE m.user_key = ? AND m.merged_into IS NULL"""
"""Index in the order of the list, so that a page ends with its last row; SQLite might sort all
rows."""

FILED: Final = """
    SELECT x.memory FROM tags g JOIN tags o ON coalesce(o.merged_into, o.id) = g.id
        AND o.user_key = g.user_key JOIN memory_tags x ON x.tag = o.id
    WHERE g.user_key = ? AND g.name = ?"""

MENTIONING: Final = f"""
    SELECT {COLUMNS} FROM entities e CROSS JOIN memory_entities x CROSS JOIN memories m
    WHERE e.user_key = ? AND e.id = ? AND x.entity = e.id AND m.id = x.memory
        AND m.user_key = e.user_key AND m.merged_into IS NULL
        ORDER BY x.memory DESC LIMIT ?"""

MOST_LINKED: Final = 50
"""Latest turns, former memories and decisions shown of one memory."""


def memories(
    conn: Connection, user: UserKey, wanted: MemoryFilter, at: Cursor | None, rows: int
) -> Page[MemoryRow]:
    """The user's memories that pass a filter, the latest first, without merged ones."""
    conditions: list[str] = [""]
    values: list[object] = []
    narrow = wanted.tag is not None or wanted.keys is not None
    for column, value in (("kind", wanted.kind), ("category", wanted.category)):
        if value is not None:
            conditions.append(f"m.{column} = ?")
            values.append(str(value))
    if wanted.holds is not None:
        conditions.append(
            "(m.valid_until IS NULL OR m.valid_until > ?)" if wanted.holds else "m.valid_until <= ?"
        )
        values.append(to_stored(wanted.now))
    if wanted.tag is not None:
        conditions.append(f"m.id IN ({FILED})")
        values += [user, wanted.tag]
    if wanted.keys is not None:
        conditions.append("m.id = ANY(?)")
        values.append(list(wanted.keys))
    sql = f"{OF_USER} AND +m.merged_into IS NULL" if narrow else BY_TIME
    return screen(
        conn,
        f"{sql}{' AND '.join(conditions)}",
        (user, *values),
        partial(record_of, MemoryRow),
        by=("m.said_at", "m.id"),
        at=at,
        rows=rows,
    )


def memory(conn: Connection, user: UserKey, key: int) -> MemoryDetails | None:
    """Everything about one memory of the user."""
    row = conn.execute(
        f"""SELECT ({NAME_OF_MEMORY}), m.subject, m.relation, m.object, m.hedged, m.negated,
                m.changes, m.confirmations, m.accesses, m.accessed_at, m.stored_at, m.source,
                m.note, m.superseded_by, m.doubted_by, m.merged_into
            FROM memories m WHERE m.user_key = ? AND m.id = ?""",
        (user, key),
    ).fetchone()
    if row is None:
        return None
    *columns, by, doubted_by, into = row
    return record_of(
        MemoryDetails,
        (_one(conn, user, key), *columns),
        tags=_tags(conn, key),
        entities=_entities(conn, key),
        sources=_sources(conn, user, key),
        replaced_by=_one(conn, user, by),
        doubted_by=_one(conn, user, doubted_by),
        merged_into=_one(conn, user, into),
        replaces=_some(conn, user, "m.superseded_by = ?", key),
        stands_for=_some(conn, user, "m.merged_into = ? AND m.id <> m.merged_into", key),
        decisions=_decisions(conn, user, key),
    )


def mentioning(conn: Connection, user: UserKey, entity: int, rows: int) -> list[MemoryRow]:
    """The memories that mention an entity, the latest first."""
    return conn.records(MemoryRow, MENTIONING, (user, entity, rows))


def by_keys(conn: Connection, user: UserKey, keys: Sequence[int]) -> list[MemoryRow]:
    """The user's memories of row numbers, in this order."""
    rows = conn.records(MemoryRow, f"{OF_USER} AND m.id = ANY(?)", (user, list(keys)))
    found = {row.key: row for row in rows}
    return [found[key] for key in dict.fromkeys(keys) if key in found]


def by_names(conn: Connection, user: UserKey, names: Sequence[str]) -> dict[str, MemoryRow]:
    """The user's memories of ids."""
    rows = conn.records(MemoryRow, f"{OF_USER} AND m.public_id = ANY(?)", (user, list(names)))
    return {row.id: row for row in rows}


def read_from(conn: Connection, user: UserKey, turn: int) -> list[MemoryRow]:
    """The memories extracted from a turn."""
    return conn.records(
        MemoryRow,
        f"""{OF_USER} AND m.id IN (SELECT x.memory FROM sources x WHERE x.turn = ?)
            ORDER BY m.id""",
        (user, turn),
    )


def _one(conn: Connection, user: UserKey, key: int | None) -> MemoryRow | None:
    return next(iter(by_keys(conn, user, () if key is None else (key,))), None)


def _some(conn: Connection, user: UserKey, where: str, key: int) -> tuple[MemoryRow, ...]:
    sql = f"{OF_USER} AND {where} ORDER BY m.id DESC LIMIT ?"
    return tuple(conn.records(MemoryRow, sql, (user, key, MOST_LINKED)))


def _tags(conn: Connection, key: int) -> tuple[str, ...]:
    sql = f"""SELECT DISTINCT g.name FROM memory_tags x JOIN tags o ON o.id = x.tag JOIN tags g
       ON g.id = coalesce(o.merged_into, o.id)
       WHERE x.memory = ? AND {SHOWN} ORDER BY 1"""
    return tuple(conn.column(sql, (key,)))


def _entities(conn: Connection, key: int) -> dict[str, int]:
    return dict(
        conn.execute(
            """SELECT e.name, e.id FROM memory_entities x JOIN entities e ON e.id = x.entity
                WHERE x.memory = ? ORDER BY e.name""",
            (key,),
        ).fetchall()
    )


def _sources(conn: Connection, user: UserKey, key: int) -> tuple[SourceWords, ...]:
    words = {
        turn: (start, stop)
        for turn, start, stop in conn.execute(
            """SELECT turn, start, stop FROM sources WHERE memory = ? ORDER BY turn DESC, start DESC
                LIMIT ?""",
            (key, MOST_LINKED),
        )
    }
    rows = conn.execute(
        f"{TURNS} AND t.id = ANY(?) ORDER BY t.spoken_at DESC, t.id",
        (user, list(words)),
    )
    return tuple(SourceWords(row, *words[row.key]) for row in map(turn_row, rows))


def _decisions(conn: Connection, user: UserKey, key: int) -> tuple[tuple[str, str, Any], ...]:
    rows = conn.execute(
        """SELECT d.action, d.reason, d.decided_at FROM decisions d WHERE d.user_key = :user
               AND d.id IN (SELECT decision FROM decision_memories WHERE memory = :key
                   UNION SELECT decision FROM decision_memories WHERE into_memory = :key)
           ORDER BY d.decided_at DESC, d.id DESC LIMIT :most""",
        {"user": user, "key": key, "most": MOST_LINKED},
    )
    stored = [(action, reason, from_stored(decided_at)) for action, reason, decided_at in rows]
    reading = decisions.reading_of(conn, user, key)
    derived = [] if reading is None else [(reading.action, reading.reason, reading.decided_at)]
    return (*stored, *derived)


MENTIONS: Final = """
    SELECT e.id, e.name,
        (SELECT count(*) FROM (SELECT 1 FROM turn_entities x WHERE x.entity = e.id LIMIT :most) t)
            AS turns,
        (SELECT count(*) FROM (SELECT 1 FROM memory_entities x WHERE x.entity = e.id LIMIT :most) m)
            AS memories
    FROM entities e WHERE e.user_key = :user"""

COUNTED: Final = """
    SELECT e.id, e.name, (SELECT count(*) FROM turn_entities x WHERE x.entity = e.id) AS turns,
        (SELECT count(*) FROM memory_entities x WHERE x.entity = e.id) AS memories
    FROM entities e WHERE e.user_key = ?"""

LATEST_LINKED: Final = 2_000
"""Latest turns, and latest memories, in which entities that occur together are counted."""

TOGETHER_IN_TURNS: Final = """
    SELECT json_group_array(x.entity) FROM (SELECT id FROM turns WHERE user_key = ?
        ORDER BY spoken_at DESC, id DESC LIMIT ?) t
        JOIN turn_entities x ON x.turn = t.id GROUP BY t.id ORDER BY t.id"""

TOGETHER_IN_MEMORIES: Final = """
    SELECT json_group_array(x.entity) FROM (SELECT id FROM memories INDEXED BY memories_by_time
        WHERE user_key = ? AND merged_into IS NULL
        ORDER BY said_at DESC, id DESC LIMIT ?) m
        JOIN memory_entities x ON x.memory = m.id GROUP BY m.id ORDER BY m.id"""


def entities(
    conn: Connection, user: UserKey, begins: str, at: Cursor | None, rows: int
) -> Page[EntityRow]:
    """The user's entities whose name has a prefix, the most mentioned first; case is ignored."""
    first = begins.casefold()
    counted = f"""SELECT id, name, turns, memories FROM (
        SELECT c.turns + c.memories AS often, c.* FROM (
        {COUNTED} AND e.key >= ? AND e.key < ?) c) f WHERE true"""
    return screen(
        conn,
        counted,
        (user, first, f"{first}\U0010ffff"),
        partial(record_of, EntityRow),
        by=("often", "id"),
        at=at,
        rows=rows,
    )


def entity(conn: Connection, user: UserKey, key: int) -> EntityRow | None:
    """One entity of the user."""
    values = {"user": user, "key": key, "most": MOST_COUNTED}
    return conn.record(EntityRow, f"{MENTIONS} AND e.id = :key", values)


def beside(conn: Connection, user: UserKey, key: int, rows: int) -> list[tuple[EntityRow, int]]:
    """The entities that most often occur together with one in its latest turns and memories."""
    found = conn.execute(
        f"""WITH own AS (SELECT id FROM entities WHERE user_key = :user AND id = :key),
            turns_of AS (SELECT x.turn FROM own o JOIN turn_entities x ON x.entity = o.id
                ORDER BY x.turn DESC LIMIT :latest),
            memories_of AS (SELECT x.memory FROM own o JOIN memory_entities x ON x.entity = o.id
                ORDER BY x.memory DESC LIMIT :latest),
            others AS (SELECT y.entity FROM turns_of t JOIN turn_entities y ON y.turn = t.turn
                       UNION ALL SELECT y.entity FROM memories_of m JOIN memory_entities y
                           ON y.memory = m.memory),
            together AS (SELECT entity, count(*) AS often FROM others WHERE entity <> :key
                GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT :rows)
            SELECT w.often, f.* FROM together w JOIN ({MENTIONS}) f ON f.id = w.entity
                ORDER BY 1 DESC, f.name""",
        {"user": user, "key": key, "rows": rows, "latest": LATEST_LINKED, "most": MOST_COUNTED},
    )
    return [(EntityRow(*row), often) for often, *row in found]


def graph(conn: Connection, user: UserKey, most: int) -> EntityGraph:
    """The entities mentioned most in the latest turns and memories, and which occur together."""
    groups = [
        set(json.loads(entities))
        for sql in (TOGETHER_IN_TURNS, TOGETHER_IN_MEMORIES)
        for entities in conn.column(sql, (user, LATEST_LINKED))
    ]
    chosen = [key for key, _ in Counter(key for group in groups for key in group).most_common(most)]
    values = {"user": user, "keys": chosen, "most": MOST_COUNTED}
    counted = conn.records(EntityRow, f"{MENTIONS} AND e.id = ANY(:keys)", values)
    found = {row.key: row for row in counted}
    ordered = [found[key] for key in chosen if key in found]
    places = {row.key: place for place, row in enumerate(ordered)}
    pairs = Counter(
        pair
        for group in groups
        for pair in combinations(sorted(places[key] for key in group if key in places), 2)
    )
    return EntityGraph(tuple(ordered), dict(pairs))


RECALLS: Final = """
    SELECT r.id, r.query, (SELECT s.id FROM sessions s
        WHERE s.user_key = r.user_key AND s.public_id = r.session), r.session, r.asked_at,
        (SELECT count(*) FROM recall_items u WHERE u.recall = r.id),
        (SELECT count(*) FROM recall_items u WHERE u.recall = r.id AND u.kind <> 'unused'),
        r.tokens, r.ms, r.interrupted
    FROM recalls r WHERE r.user_key = ?"""


def recalls(conn: Connection, user: UserKey, at: Cursor | None, rows: int) -> Page[RecallRow]:
    """The user's recorded recalls, the latest first."""
    made, by = partial(record_of, RecallRow), ("r.asked_at", "r.id")
    return screen(conn, RECALLS, (user,), made, by=by, at=at, rows=rows)


def recall(conn: Connection, user: UserKey, key: int) -> RecallRow | None:
    """One recorded recall of the user."""
    return conn.record(RecallRow, f"{RECALLS} AND r.id = ?", (user, key))


def recalls_for(
    conn: Connection, user: UserKey, session_id: str, query: str, first: datetime, last: datetime
) -> list[RecallRow]:
    """The recalls of a turn: its text as the query, in its session, between two times."""
    return conn.records(
        RecallRow,
        f"""{RECALLS} AND r.asked_at BETWEEN ? AND ? AND r.session = ? AND r.query = ?
            ORDER BY r.asked_at, r.id""",
        (user, to_stored(first), to_stored(last), session_id, query),
    )


def items(conn: Connection, user: UserKey, recall: int) -> list[RecordedItem]:
    """The items of a recorded recall, in block order."""
    rows = conn.execute(
        """SELECT u.layers, u.kind, u.relevance, m.id, m.text, u.turns
           FROM recalls r JOIN recall_items u ON u.recall = r.id LEFT JOIN memories m
               ON m.public_id = u.memory AND m.user_key = r.user_key
           WHERE r.user_key = ? AND r.id = ? ORDER BY u.place""",
        (user, recall),
    ).fetchall()
    found = []
    for layers, use, relevance, memory, text, names in rows:
        turns = conn.execute(
            """SELECT id, text FROM turns WHERE user_key = ? AND public_id = ANY(?)
                ORDER BY public_id""",
            (user, json.loads(names)),
        ).fetchall()
        words = text if memory is not None else " … ".join(turn[1] for turn in turns)
        item = (layers, use, relevance, words, memory)
        found.append(record_of(RecordedItem, item, turns=tuple(turn[0] for turn in turns)))
    return found


def quality(
    conn: Connection, user: UserKey, letters: int, first: date | None
) -> dict[str, dict[Layer | None, Tally]]:
    """The quality record by period from a day on, the earliest first.

    Rows of the whole block have latencies, rows of a layer have none.

    Args:
        conn: A connection.
        user: The user.
        letters: Characters of an ISO date that name a period.
        first: The first day; None is the earliest.
    """
    asked = {"user": user, "first": (first or date.min).isoformat()}
    where = "q.user_key = :user AND q.day >= :first"
    latencies: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for day, text in conn.execute(
        f"SELECT q.day, q.latencies FROM quality q WHERE {where} AND q.layer = ''", asked
    ):
        latencies[day[:letters]].update(dict(json.loads(text)))
    sums: dict[str, dict[Layer | None, Tally]] = {}
    summed = ", ".join(f"sum(q.{name})" for name in COUNTS)
    for period, layer, *counts in conn.execute(
        f"""SELECT substr(q.day, 1, {letters}), q.layer, {summed} FROM quality q WHERE {where}
            GROUP BY 1, 2 ORDER BY 1, 2""",
        asked,
    ):
        taken = Latencies() if layer else Latencies(tuple(sorted(latencies[period].items())))
        sums.setdefault(period, {})[Layer(layer) if layer else None] = Tally(
            **dict(zip(COUNTS, counts, strict=True)), latencies=taken
        )
    return sums


def weights(conn: Connection, user: UserKey) -> list[StoredWeight]:
    """The user's stored layer weights, which may have been edited by hand."""
    rows = conn.execute(
        "SELECT layer, weight, updated_at FROM weights WHERE user_key = ? ORDER BY layer", (user,)
    )
    return [
        StoredWeight(str(layer), weight, _moment(updated_at)) for layer, weight, updated_at in rows
    ]


def _moment(stored: object) -> datetime | None:
    try:
        return from_stored(int(str(stored)))
    except (OverflowError, ValueError):
        return None
