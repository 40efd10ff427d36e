"""A user's memories in lists, and one with its history and sources."""

from collections.abc import Sequence
from typing import Any, Final

from hotmem.storage.database import Connection
from hotmem.storage.inspection.conversations import TURNS, turn_row
from hotmem.storage.inspection.paging import screen
from hotmem.storage.queries import decisions
from hotmem.storage.queries.subcategories import NAME_OF_MEMORY
from hotmem.storage.queries.tags import SHOWN
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.types import Category, Kind, UserKey
from hotmem.types.inspection import (
    Cursor,
    MemoryDetails,
    MemoryFilter,
    MemoryRow,
    Page,
    SourceWords,
)

COLUMNS: Final = """m.said_at, m.id, m.public_id, m.text, m.kind, m.category, m.importance,
    m.valid_until, m.doubted_at, m.merged_into IS NOT NULL,
    m.stored_at IS NOT NULL"""

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
        memory_row,
        by=("m.said_at", "m.id"),
        at=at,
        rows=rows,
    )


def memory(conn: Connection, user: UserKey, key: int) -> MemoryDetails | None:
    """Everything about one memory of the user."""
    row = conn.execute(
        f"""SELECT {COLUMNS}, m.subject, m.relation, m.object, m.hedged, m.negated, m.changes,
            m.single, m.confirmations, m.accesses,
                m.accessed_at, m.stored_at, m.source, m.note, m.superseded_by, m.doubted_by,
                    m.merged_into, ({NAME_OF_MEMORY})
            FROM memories m WHERE m.user_key = ? AND m.id = ?""",
        (user, key),
    ).fetchone()
    if row is None:
        return None
    subject, relation, value, hedged, negated, changes, single, *metadata = row[11:]
    confirmations, accesses, accessed_at, stored_at, source, note, *links, subcategory = metadata
    by, doubted_by, into = links
    return MemoryDetails(
        row=memory_row(row),
        subcategory=subcategory,
        subject=subject,
        relation=relation,
        object=value,
        hedged=bool(hedged),
        negated=bool(negated),
        changes=bool(changes),
        single=bool(single),
        confirmations=confirmations,
        accesses=accesses,
        accessed_at=None if accessed_at is None else from_stored(accessed_at),
        stored_at=None if stored_at is None else from_stored(stored_at),
        source=source,
        note=note,
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
    return [memory_row(row) for row in conn.execute(MENTIONING, (user, entity, rows))]


def by_keys(conn: Connection, user: UserKey, keys: Sequence[int]) -> list[MemoryRow]:
    """The user's memories of row numbers, in this order."""
    rows = conn.execute(f"{OF_USER} AND m.id = ANY(?)", (user, list(keys)))
    found = {row.key: row for row in map(memory_row, rows)}
    return [found[key] for key in dict.fromkeys(keys) if key in found]


def by_names(conn: Connection, user: UserKey, names: Sequence[str]) -> dict[str, MemoryRow]:
    """The user's memories of ids."""
    rows = conn.execute(f"{OF_USER} AND m.public_id = ANY(?)", (user, list(names)))
    return {row.id: row for row in map(memory_row, rows)}


def read_from(conn: Connection, user: UserKey, turn: int) -> list[MemoryRow]:
    """The memories extracted from a turn."""
    rows = conn.execute(
        f"""{OF_USER} AND m.id IN (SELECT x.memory FROM sources x WHERE x.turn = ?)
            ORDER BY m.id""",
        (user, turn),
    )
    return [memory_row(row) for row in rows]


def memory_row(row: Sequence[Any]) -> MemoryRow:
    """A memory from a row of `COLUMNS`."""
    said_at, key, name, text, kind, category, importance, *rest = row[:11]
    valid_until, doubted_at, merged, noted = rest
    return MemoryRow(
        key=key,
        id=name,
        text=text,
        kind=Kind(kind),
        category=Category(category),
        importance=importance,
        said_at=from_stored(said_at),
        valid_until=None if valid_until is None else from_stored(valid_until),
        doubted_at=None if doubted_at is None else from_stored(doubted_at),
        merged=bool(merged),
        noted=bool(noted),
    )


def _one(conn: Connection, user: UserKey, key: int | None) -> MemoryRow | None:
    return next(iter(by_keys(conn, user, () if key is None else (key,))), None)


def _some(conn: Connection, user: UserKey, where: str, key: int) -> tuple[MemoryRow, ...]:
    rows = conn.execute(
        f"{OF_USER} AND {where} ORDER BY m.id DESC LIMIT ?", (user, key, MOST_LINKED)
    )
    return tuple(memory_row(row) for row in rows)


def _tags(conn: Connection, key: int) -> tuple[str, ...]:
    rows = conn.execute(
        f"""SELECT DISTINCT g.name FROM memory_tags x JOIN tags o ON o.id = x.tag JOIN tags g
           ON g.id = coalesce(o.merged_into, o.id)
           WHERE x.memory = ? AND {SHOWN} ORDER BY 1""",
        (key,),
    )
    return tuple(row[0] for row in rows)


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
