"""A user's entities, and which of them occur together."""

import json
from collections import Counter
from itertools import combinations
from typing import Final

from hotmem.storage.database import Connection
from hotmem.storage.inspection.paging import MOST_COUNTED, screen
from hotmem.types import UserKey
from hotmem.types.inspection import Cursor, EntityGraph, EntityRow, Page

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
    counted = f"""SELECT * FROM (SELECT c.turns + c.memories AS often, c.* FROM (
        {COUNTED} AND e.key >= ? AND e.key < ?) c) f WHERE true"""
    return screen(
        conn,
        counted,
        (user, first, f"{first}\U0010ffff"),
        lambda row: EntityRow(*row[1:]),
        by=("often", "id"),
        at=at,
        rows=rows,
    )


def entity(conn: Connection, user: UserKey, key: int) -> EntityRow | None:
    """One entity of the user."""
    row = conn.execute(
        f"{MENTIONS} AND e.id = :key", {"user": user, "key": key, "most": MOST_COUNTED}
    ).fetchone()
    return None if row is None else EntityRow(*row)


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
        for (entities,) in conn.execute(sql, (user, LATEST_LINKED))
    ]
    chosen = [key for key, _ in Counter(key for group in groups for key in group).most_common(most)]
    counted = conn.execute(
        f"{MENTIONS} AND e.id = ANY(:keys)",
        {"user": user, "keys": chosen, "most": MOST_COUNTED},
    )
    found = {row[0]: EntityRow(*row) for row in counted}
    ordered = [found[key] for key in chosen if key in found]
    places = {row.key: place for place, row in enumerate(ordered)}
    pairs = Counter(
        pair
        for group in groups
        for pair in combinations(sorted(places[key] for key in group if key in places), 2)
    )
    return EntityGraph(tuple(ordered), dict(pairs))
