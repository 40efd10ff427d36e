"""Assigns memories to the nearest subcategory of their category, if one is near enough.

A memory is assigned when it is embedded. A missing centroid, as after an import or a change of
encoder, is computed as the mean of the assigned memories once all of them are embedded, and the
centre of the category then as the mean of its memories.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.core.vector_math import nearest_centroids, normalize_rows
from hotmem.storage.database import Connection
from hotmem.storage.queries import reembedding
from hotmem.storage.search.vectors import from_bytes, to_bytes
from hotmem.types import (
    Category,
    EvidenceKind,
    UserKey,
)

BATCH: Final = 1000
"""Memories assigned in one transaction."""


CENTRE_MEMORIES: Final = 2000
"""Latest memories of a category of which the centre is computed."""


UNASSIGNED: Final = """
    SELECT m.id, m.vector FROM memories m
    WHERE m.user_key = :user AND m.category = :category AND m.merged_into IS NULL
        AND m.vector IS NOT NULL AND m.id > :after
        AND NOT EXISTS (SELECT 1 FROM subcategory_members x JOIN subcategories s
            ON s.id = x.subcategory WHERE x.memory = m.id AND s.evolution = :evolution)
    ORDER BY m.id LIMIT :portion"""
"""Embedded memories that are in no subcategory of an evolution."""


LIVE_EVOLUTION: Final = (
    "SELECT id FROM evolutions WHERE user_key = ? AND category = ? AND state = 'live'"
)
"""The live evolution of a user's category."""


def assign_batch(conn: Connection, user: UserKey, evolution: int, after: int) -> int | None:
    """Assigns the user's next memories of the evolution's category after a row number.

    Returns:
        The last one's row number; None at the end.
    """
    row = conn.execute(
        "SELECT category FROM evolutions WHERE id = ? AND user_key = ?", (evolution, user)
    ).fetchone()
    if row is None:
        return None
    rows = conn.execute(
        UNASSIGNED,
        {
            "user": user,
            "category": row[0],
            "after": after,
            "evolution": evolution,
            "portion": BATCH,
        },
    ).fetchall()
    _assign_nearest(conn, user, evolution, rows)
    return rows[-1][0] if len(rows) == BATCH else None


def assign(conn: Connection, memories: Iterable[int]) -> None:
    """Assigns memories with a vector that are in no live subcategory to the nearest one."""
    for memory in memories:
        row = conn.execute(
            """SELECT e.id, m.vector, m.user_key FROM memories m JOIN evolutions e
               ON e.user_key = m.user_key AND e.category = m.category AND e.state = 'live'
               WHERE m.id = ? AND m.merged_into IS NULL AND m.vector IS NOT NULL AND NOT EXISTS (
                   SELECT 1 FROM subcategory_members x JOIN subcategories s ON s.id = x.subcategory
                       WHERE x.memory = m.id AND s.evolution = e.id)""",
            (memory,),
        ).fetchone()
        if row is not None:
            evolution, vector, user = row
            conn.lock_user(user)
            _assign_nearest(conn, user, evolution, [(memory, vector)])


def assign_remaining(conn: Connection, user: UserKey) -> None:
    """Assigns a user's unassigned memories, as after a decision was undone."""
    for (evolution,) in conn.execute(
        "SELECT id FROM evolutions WHERE user_key = ? AND state = 'live'", (user,)
    ).fetchall():
        assign_evolution(conn, user, evolution)


def assign_all_users(conn: Connection) -> None:
    """Assigns the unassigned memories of all users."""
    rows = conn.execute(
        "SELECT DISTINCT user_key FROM evolutions WHERE state = 'live' ORDER BY user_key"
    ).fetchall()
    for user in (UserKey(row[0]) for row in rows):
        conn.lock_user(user)
        assign_remaining(conn, user)


def assign_by_name(
    conn: Connection, user: UserKey, memory: int, category: Category, name: str
) -> None:
    """Assigns a memory to the live subcategory of a name, if there is one."""
    conn.execute(
        f"""INSERT INTO subcategory_members (subcategory, memory)
            SELECT id, CAST(? AS BIGINT) FROM subcategories
            WHERE evolution = ({LIVE_EVOLUTION}) AND name = ?""",
        (memory, user, category, name),
    )


def assign_evolution(conn: Connection, user: UserKey, evolution: int) -> None:
    """Assigns all unassigned memories of an evolution's category."""
    after: int | None = 0
    while after is not None:
        after = assign_batch(conn, user, evolution, after)


def _assign_nearest(
    conn: Connection, user: UserKey, evolution: int, memories: Sequence[tuple[int, bytes]]
) -> None:
    """Assigns memories, each with its vector, to the nearest centroid, if it is near enough.

    Does nothing while a centroid is unknown.
    """
    if reembedding.boundary(conn, EvidenceKind.MEMORY):
        # Vectors of two encoders have no mean: all are assigned once the change of encoder ends.
        return
    keys, centroids = _centroids(conn, evolution)
    if memories and len(keys):
        places = nearest_centroids(
            from_bytes([vector for _, vector in memories]),
            centroids,
            _centre(conn, user, evolution),
        ).tolist()
        under = [
            (keys[place], memory)
            for place, (memory, _) in zip(places, memories, strict=True)
            if place >= 0
        ]
        conn.executemany(
            "INSERT INTO subcategory_members (subcategory, memory) VALUES (?, ?)", under
        )


def _centre(conn: Connection, user: UserKey, evolution: int) -> NDArray[np.float32]:
    """The direction that the memories of an evolution's category share, a unit row.

    If it is unknown, it is computed from at most `CENTRE_MEMORIES` of them and stored.
    """
    (stored,) = conn.execute(
        "SELECT centre FROM evolutions WHERE id = ? AND user_key = ?", (evolution, user)
    ).fetchone()
    if stored is None:
        vectors = [
            row[0]
            for row in conn.execute(
                """SELECT m.vector FROM memories m JOIN evolutions e
                    ON e.user_key = m.user_key AND e.category = m.category
                    WHERE e.id = ? AND m.merged_into IS NULL AND m.vector IS NOT NULL
                    ORDER BY m.id DESC LIMIT ?""",
                (evolution, CENTRE_MEMORIES),
            )
        ]
        stored = to_bytes(normalize_rows(from_bytes(vectors).mean(axis=0)))
        conn.execute(
            "UPDATE evolutions SET centre = ? WHERE id = ? AND user_key = ?",
            (stored, evolution, user),
        )
    return np.asarray(from_bytes([stored])[0], dtype=np.float32)


def _centroids(conn: Connection, evolution: int) -> tuple[list[int], NDArray[np.float32]]:
    """Row numbers and centroids of the subcategories, float32 (subcategories, dimension).

    Rows have unit length. Both are empty while a centroid is unknown.
    """
    rows = conn.execute(
        "SELECT id, centroid FROM subcategories WHERE evolution = ? ORDER BY id", (evolution,)
    ).fetchall()
    known = [
        (key, update_centroid(conn, key) if centroid is None else centroid)
        for key, centroid in rows
    ]
    if not known or any(centroid is None for _, centroid in known):
        return [], np.empty((0, 0), dtype=np.float32)
    return [key for key, _ in known], from_bytes(
        [centroid for _, centroid in known if centroid is not None]
    )


def update_centroid(conn: Connection, subcategory: int) -> bytes | None:
    """Stores the mean of the assigned memories' vectors as the centroid, and returns it.

    None while one of them waits to be embedded.
    """
    vectors = [
        row[0]
        for row in conn.execute(
            """SELECT m.vector FROM subcategory_members x JOIN memories m ON m.id = x.memory
                WHERE x.subcategory = ?""",
            (subcategory,),
        )
    ]
    if not vectors or None in vectors:
        return None
    centroid = to_bytes(from_bytes(vectors).mean(axis=0))
    conn.execute("UPDATE subcategories SET centroid = ? WHERE id = ?", (centroid, subcategory))
    return centroid
