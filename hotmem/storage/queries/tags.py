"""Tags of memories, which of them were merged, and which are archived.

A tag that was given to a memory is shown with it at once. A tag that was found in the words of a
memory is shown once another memory has it, too, as it says little before.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.storage.database import Connection
from hotmem.storage.queries import reembedding
from hotmem.storage.queries.decisions import record
from hotmem.storage.queries.times import row_of, to_stored
from hotmem.storage.rows import record_of
from hotmem.storage.search.vectors import from_bytes, to_bytes
from hotmem.text.tag_words import head, tag_key
from hotmem.types import DecisionAction, TagUse, UserKey, Vector

FILED: Final = """
    SELECT coalesce(o.merged_into, o.id) AS tag, count(DISTINCT x.memory) AS memories,
        min(x.found) AS found
    FROM tags o JOIN memory_tags x ON x.tag = o.id WHERE o.user_key = :user GROUP BY 1"""
"""Number of memories with each tag, or with one merged into it, and whether all uses were found."""

SHOWN: Final = """(x.found = 0 OR EXISTS (
    SELECT 1 FROM tags p JOIN memory_tags y ON y.tag = p.id
    WHERE (p.id = g.id OR p.merged_into = g.id) AND p.user_key = g.user_key
        AND y.memory <> x.memory))"""
"""Whether a memory shows the tag `g`, or one merged into it, that its row `x` names."""

SHOWN_TAGS: Final = "HAVING count(DISTINCT x.memory) > 1 OR min(x.found) = 0"
"""Keeps the tags that are shown, of rows `x` of `memory_tags` grouped by tag."""


OLDEST: Final = """
    SELECT coalesce(k.merged_into, k.id) FROM tags k
    WHERE k.user_key = :user AND k.key = :key AND k.name <> :name ORDER BY k.id LIMIT 1"""
"""The first of the user's other tags with a key, or the one that replaces it."""


def attach(
    conn: Connection,
    user: UserKey,
    memory: int,
    names: Sequence[str],
    now: datetime,
    vectors: Mapping[str, Vector] | None = None,
    *,
    found: bool = False,
) -> None:
    """Tags a memory with words of its own.

    An archived tag is used again, as is the one it was merged into. A memory never has a tag that
    does not occur in it, so that no word of a forgotten memory is left with another: a new tag that
    was found and has the key of an existing one is merged into that. One that is given stands for
    itself, unless a decision merged it.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        memory: Row number of the memory.
        names: The tags.
        now: When the memory was said.
        vectors: The embeddings of new tags.
        found: Whether the tags were found in the words of the memory, not given to it. A tag that
            was given to the memory before remains given.
    """
    for name in names:
        vector = vectors.get(name) if vectors else None
        tag, into = conn.execute(
            f"""INSERT INTO tags (user_key, name, key, used_at, vector, merged_into)
                VALUES (:user, :name, :key, :now, :vector, CASE WHEN :found = 1 THEN ({OLDEST}) END)
                ON CONFLICT (user_key, name) DO UPDATE
                   SET used_at = greatest(excluded.used_at, tags.used_at), archived = 0,
                   vector = coalesce(excluded.vector, tags.vector)
                RETURNING id, merged_into""",
            {
                "user": user,
                "name": name,
                "key": tag_key(name),
                "now": to_stored(now),
                "vector": None if vector is None else to_bytes(vector),
                "found": int(found),
            },
        ).fetchone()
        if into is not None:
            conn.execute(
                "UPDATE tags SET used_at = greatest(?, used_at), archived = 0 WHERE id = ?",
                (to_stored(now), into),
            )
        conn.execute(
            """INSERT INTO memory_tags (memory, tag, found) VALUES (?, ?, ?)
                ON CONFLICT DO NOTHING""",
            (memory, tag, int(found)),
        )
        if not found:
            conn.execute(
                """UPDATE tags SET merged_into = NULL WHERE user_key = ? AND id = ?
                    AND NOT EXISTS (SELECT 1 FROM decision_tags d WHERE d.tag = tags.id)""",
                (user, tag),
            )
            conn.execute(
                """UPDATE memory_tags SET found = 0
                    WHERE memory = ?
                        AND tag IN (SELECT id FROM tags WHERE user_key = ? AND id = ?)""",
                (memory, user, tag),
            )


def replace(
    conn: Connection,
    user: UserKey,
    memory: int,
    names: Sequence[str],
    now: datetime,
    vectors: Mapping[str, Vector] | None = None,
    *,
    found: Sequence[str] = (),
) -> None:
    """Replaces the tags of a memory by others, `found` being those found in its words.

    Those that no memory has any more are deleted.
    """
    before = conn.column("DELETE FROM memory_tags WHERE memory = ? RETURNING tag", (memory,))
    attach(conn, user, memory, names, now, vectors)
    attach(conn, user, memory, found, now, found=True)
    conn.executemany(
        """DELETE FROM tags WHERE id = :tag AND NOT EXISTS (SELECT 1 FROM memory_tags
               WHERE tag = :tag)
               AND NOT EXISTS (SELECT 1 FROM tags WHERE merged_into = :tag)""",
        [{"tag": tag} for tag in before],
    )


def attach_found(
    conn: Connection,
    user: UserKey,
    memory: int,
    names: Sequence[str],
    now: datetime,
    vectors: Mapping[str, Vector] | None = None,
) -> None:
    """Tags a memory with tags found in its words, and their last words that are tags already.

    "garden shed" is filed under "shed", too, if another memory is.
    """
    keys = [tag_key(last) for name in names if (last := head(name)) is not None]
    attach(conn, user, memory, names, now, vectors, found=True)
    attach(conn, user, memory, [*with_keys(conn, user, keys).values()], now, found=True)


def with_keys(conn: Connection, user: UserKey, keys: Sequence[str]) -> dict[str, str]:
    """The user's first tag with each of the keys, or the one that replaces it."""
    rows = conn.execute(
        """SELECT o.key, g.name FROM tags o JOIN tags g ON g.id = coalesce(o.merged_into, o.id)
            WHERE o.user_key = ? AND g.user_key = o.user_key AND o.key = ANY(?)
            ORDER BY o.id DESC""",
        (user, [*keys]),
    )
    return dict(rows.fetchall())


def take(conn: Connection, user: UserKey, taken: Mapping[str, str]) -> None:
    """Merges new tags into existing ones, by name.

    A tag that others were merged into, or that was merged itself, is not changed.
    """
    conn.executemany(
        """UPDATE tags AS o SET merged_into = g.id FROM tags g
           WHERE o.user_key = ? AND o.name = ? AND g.user_key = o.user_key AND g.name = ?
               AND g.id <> o.id AND o.merged_into IS NULL AND g.merged_into IS NULL
               AND NOT EXISTS (SELECT 1 FROM tags x WHERE x.merged_into = o.id)""",
        [(user, new, known) for new, known in taken.items()],
    )


def unembedded(conn: Connection, user: UserKey, limit: int) -> list[tuple[int, str]]:
    """Row numbers and names of the user's active tags without a vector, the most recent first."""
    return conn.execute(
        """SELECT id, name FROM tags WHERE user_key = ? AND archived = 0 AND merged_into IS NULL
            AND vector IS NULL ORDER BY used_at DESC, name LIMIT ?""",
        (user, limit),
    ).fetchall()


def embed(
    conn: Connection, user: UserKey, encoder: str, keys: Sequence[int], rows: Sequence[Vector]
) -> None:
    """Stores the vectors, by this encoder, of the user's tags that still exist."""
    if not reembedding.is_current(conn, encoder):
        return
    conn.executemany(
        "UPDATE tags SET vector = ? WHERE id = ? AND user_key = ?",
        [(to_bytes(row), key, user) for key, row in zip(keys, rows, strict=True)],
    )


def known(conn: Connection, user: UserKey, names: Sequence[str]) -> frozenset[str]:
    """Those of the names that are active tags with a vector."""
    sql = """SELECT name FROM tags WHERE user_key = ? AND archived = 0 AND merged_into IS NULL
        AND vector IS NOT NULL AND name = ANY(?)"""
    return frozenset(conn.column(sql, (user, [*names])))


def in_use(conn: Connection, user: UserKey, limit: int) -> tuple[list[str], NDArray[np.float32]]:
    """The user's active tags with a vector, the most recent first, and their vectors.

    Vectors are unit rows, float32 (tags, dimension).
    """
    rows = conn.execute(
        """SELECT name, vector FROM tags WHERE user_key = ? AND archived = 0
               AND merged_into IS NULL AND vector IS NOT NULL
           ORDER BY used_at DESC, name LIMIT ?""",
        (user, limit),
    ).fetchall()
    return [name for name, _ in rows], from_bytes([vector for _, vector in rows])


def counted(
    conn: Connection, user: UserKey, limit: int
) -> tuple[list[TagUse], NDArray[np.float32]]:
    """The same with the number of memories of each tag.

    A tag that others were merged into sorts first.
    """
    rows = conn.execute(
        f"""SELECT g.id, g.name, coalesce(f.memories, 0),
            EXISTS (SELECT 1 FROM tags o WHERE o.merged_into = g.id), coalesce(f.found, 1) = 0,
            g.vector
            FROM tags g LEFT JOIN ({FILED}) f ON f.tag = g.id
            WHERE g.user_key = :user AND g.archived = 0 AND g.merged_into IS NULL
                AND g.vector IS NOT NULL ORDER BY g.used_at DESC, g.name LIMIT :limit""",
        {"user": user, "limit": limit},
    ).fetchall()
    return [record_of(TagUse, row) for row in rows], from_bytes([row[-1] for row in rows])


def consolidate(
    conn: Connection,
    user: UserKey,
    pairs: Sequence[tuple[int, int]],
    unused_since: datetime,
    reason: str,
    now: datetime,
) -> tuple[str, int]:
    """Merges tags, and archives those of one memory at most that were last used before a time.

    Returns:
        The decision's id, and the number of archived tags.
    """
    conn.executemany(
        "UPDATE tags SET merged_into = ? WHERE user_key = ? AND id = ?",
        [(into, user, tag) for tag, into in pairs],
    )
    archived = conn.column(
        f"""SELECT g.id FROM tags g LEFT JOIN ({FILED}) f ON f.tag = g.id
            WHERE g.user_key = :user AND g.archived = 0 AND g.merged_into IS NULL
                AND g.used_at < :since AND coalesce(f.memories, 0) < 2""",
        {"user": user, "since": to_stored(unused_since)},
    )
    conn.executemany("UPDATE tags SET archived = 1 WHERE id = ?", [(tag,) for tag in archived])
    decision = record(conn, user, DecisionAction.TAGS_CONSOLIDATED, reason, [], now)
    key = row_of(conn, user, "decisions", decision)
    conn.executemany(
        "INSERT INTO decision_tags (decision, tag, into_tag) VALUES (?, ?, ?)",
        [(key, tag, into) for tag, into in (*pairs, *((tag, None) for tag in archived))],
    )
    return decision, len(archived)
