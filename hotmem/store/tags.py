"""Tags: what memories are filed under, which of them stand for others, and which are put away."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.store.decisions import TAGS_CHANGED, record
from hotmem.store.driver import Connection
from hotmem.store.times import to_stored
from hotmem.store.vectors import from_bytes, to_bytes
from hotmem.types import TagUse, UserKey, Vector

FILED: Final = """
    SELECT coalesce(o.merged_into, o.id) AS tag, count(DISTINCT x.memory) AS memories
    FROM tags o JOIN memory_tags x ON x.tag = o.id WHERE o.user = :user GROUP BY 1"""
"""How many memories are filed under each tag, or under those that it stands for."""


def attach(conn: Connection, user: UserKey, memory: int, names: Sequence[str], vectors: Mapping[str, Vector], now: datetime) -> None:
    """Files a memory under tags, or under those that stand for them; an archived one comes back into use."""
    for name in names:
        vector = to_bytes(vectors[name]) if name in vectors else None
        key = conn.execute(
            """INSERT INTO tags (user, name, used_at, vector) VALUES (?, ?, ?, ?)
               ON CONFLICT DO UPDATE SET used_at = excluded.used_at, archived = 0, vector = coalesce(excluded.vector, vector)
               RETURNING coalesce(merged_into, id)""",
            (user, name, to_stored(now), vector),
        ).fetchone()[0]
        conn.execute("INSERT OR IGNORE INTO memory_tags (memory, tag) VALUES (?, ?)", (memory, key))


def in_use(conn: Connection, user: UserKey, limit: int) -> tuple[list[str], NDArray[np.float32]]:
    """The user's tags in use that have an embedding, the most recent first, and their unit rows, float32 (tags, dimension)."""
    names, joined = conn.execute(
        """SELECT json_group_array(name), CAST(group_concat(vector, '') AS BLOB) FROM (
               SELECT name, vector FROM tags WHERE user = ? AND NOT archived AND merged_into IS NULL AND vector NOT NULL
               ORDER BY used_at DESC, name LIMIT ?)""",
        (user, limit),
    ).fetchone()
    found = json.loads(names)
    width = len(joined) // len(found) if found else 1
    return found, _rows([joined[start : start + width] for start in range(0, len(joined or b""), width)])


def counted(conn: Connection, user: UserKey, limit: int) -> tuple[list[TagUse], NDArray[np.float32]]:
    """The same, with how many memories are filed under each; a tag that stands for others already is the first to stay."""
    rows = conn.execute(
        f"""SELECT g.id, g.name, coalesce(f.memories, 0), EXISTS (SELECT 1 FROM tags o WHERE o.merged_into = g.id), g.vector
            FROM tags g LEFT JOIN ({FILED}) f ON f.tag = g.id
            WHERE g.user = :user AND NOT g.archived AND g.merged_into IS NULL AND g.vector NOT NULL ORDER BY g.used_at DESC, g.name LIMIT :limit""",
        {"user": user, "limit": limit},
    ).fetchall()
    return [TagUse(key, name, memories, bool(stands)) for key, name, memories, stands, _ in rows], _rows([row[4] for row in rows])


def consolidate(
    conn: Connection, user: UserKey, pairs: Sequence[tuple[int, int]], unused_since: datetime, reason: str, now: datetime
) -> tuple[str, int]:
    """Lets tags stand for others and archives those of one memory at most that were last used before a time.

    Returns:
        The decision's id, and how many were archived.
    """
    conn.executemany("UPDATE tags SET merged_into = ? WHERE user = ? AND id = ?", [(into, user, tag) for tag, into in pairs])
    archived = [
        row[0]
        for row in conn.execute(
            f"""SELECT g.id FROM tags g LEFT JOIN ({FILED}) f ON f.tag = g.id
                WHERE g.user = :user AND NOT g.archived AND g.merged_into IS NULL AND g.used_at < :since AND coalesce(f.memories, 0) < 2""",
            {"user": user, "since": to_stored(unused_since)},
        ).fetchall()
    ]
    conn.executemany("UPDATE tags SET archived = 1 WHERE id = ?", [(tag,) for tag in archived])
    decision = record(conn, user, TAGS_CHANGED, reason, [], now)
    conn.executemany(
        "INSERT INTO decided_tags (decision, tag, into_tag) SELECT id, ?, ? FROM decisions WHERE name = ?",
        [(tag, into, decision) for tag, into in (*pairs, *((tag, None) for tag in archived))],
    )
    return decision, len(archived)


def _rows(vectors: Sequence[bytes]) -> NDArray[np.float32]:
    return from_bytes(vectors) if vectors else np.empty((0, 0), dtype=np.float32)
