"""Statistics of what was asked of a memory and what replies used."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from hotmem.storage.database import Connection
from hotmem.storage.queries.tags import SHOWN
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.types import AnsweredRecall, UseCount, UsedMemory, UserKey

SPAN: Final = "r.user_key = :user AND r.asked_at >= :first AND r.asked_at < :last"

USED: Final = "sum(CASE WHEN u.kind <> 'unused' THEN 1 ELSE 0 END)"
"""Number of items that a reply used."""

BY_COLUMN: Final = f"""
    SELECT m.{{column}}, count(*), {USED} FROM recalls r JOIN recall_items u ON u.recall = r.id
        JOIN memories m ON m.public_id = u.memory AND m.user_key = r.user_key
    WHERE {SPAN} GROUP BY 1 ORDER BY 3 DESC, 2 DESC, 1"""

BY_TAG: Final = f"""
    SELECT g.name, count(*), {USED} FROM recalls r JOIN recall_items u ON u.recall = r.id
        JOIN memories m ON m.public_id = u.memory AND m.user_key = r.user_key
        JOIN memory_tags x ON x.memory = m.id JOIN tags o ON o.id = x.tag JOIN tags g
            ON g.id = coalesce(o.merged_into, o.id)
    WHERE {SPAN} AND {SHOWN} GROUP BY g.id, g.name ORDER BY 3 DESC, 2 DESC, 1 LIMIT :limit"""

BY_ENTITY: Final = f"""
    SELECT u.name, count(*), {USED} FROM (
        SELECT DISTINCT e.id, e.name, u.recall, u.place, u.kind
        FROM recalls r JOIN recall_items u ON u.recall = r.id CROSS JOIN json_each(u.turns) AS n
            JOIN turns t ON t.user_key = r.user_key AND t.public_id = n.value
            JOIN turn_entities x ON x.turn = t.id JOIN entities e ON e.id = x.entity
        WHERE {SPAN}) u
    GROUP BY u.id, u.name ORDER BY 3 DESC, 2 DESC, 1 LIMIT :limit"""

LEAST_USED: Final = """
    SELECT public_id, text, accesses, accessed_at FROM memories WHERE user_key = :user
        AND merged_into IS NULL AND accesses = 0 AND valid_until IS NULL
    ORDER BY importance DESC, said_at DESC, id DESC LIMIT :limit"""

MOST_USED: Final = """
    SELECT public_id, text, accesses, accessed_at FROM memories WHERE user_key = :user
        AND merged_into IS NULL AND accesses > 0
    ORDER BY accesses DESC, accessed_at DESC NULLS LAST, id DESC LIMIT :limit"""


def asked(
    conn: Connection, user: UserKey, after: datetime | None, before: datetime | None, most: int
) -> list[AnsweredRecall]:
    """The latest recalls that a reply followed, in order."""
    rows = conn.execute(
        f"""SELECT r.asked_at, r.session, r.query, count(u.place), {USED}
            FROM recalls r LEFT JOIN recall_items u ON u.recall = r.id WHERE {SPAN}
            GROUP BY r.id, r.asked_at, r.session, r.query
            ORDER BY r.asked_at DESC, r.id DESC LIMIT :limit""",
        _span(user, after, before, most),
    ).fetchall()
    return [
        AnsweredRecall(from_stored(at), session, query, given, used)
        for at, session, query, given, used in reversed(rows)
    ]


def shares(
    conn: Connection, user: UserKey, after: datetime | None, before: datetime | None, limit: int
) -> dict[str, dict[str, UseCount]]:
    """Items given and used by "category", "kind", "tag" and "entity", the most used names first.

    Tags and entities are limited in number.
    """
    asked = _span(user, after, before, limit)
    queries = {
        "category": BY_COLUMN.format(column="category"),
        "kind": BY_COLUMN.format(column="kind"),
        "tag": BY_TAG,
        "entity": BY_ENTITY,
    }
    return {
        by: {name: UseCount(given, used) for name, given, used in conn.execute(sql, asked)}
        for by, sql in queries.items()
    }


def memories(
    conn: Connection, user: UserKey, limit: int
) -> tuple[list[UsedMemory], list[UsedMemory], int]:
    """The most used memories, current ones never used by importance, and their number."""
    named = {"user": user, "limit": limit}
    never = """SELECT count(*) FROM memories WHERE user_key = :user AND merged_into IS NULL
        AND accesses = 0 AND valid_until IS NULL"""
    return (
        _used(conn, MOST_USED, named),
        _used(conn, LEAST_USED, named),
        conn.execute(never, named).fetchone()[0],
    )


def known_names(conn: Connection, user: UserKey, keys: Iterable[str]) -> dict[str, str]:
    """Names of the user's entities by key, of some keys."""
    rows = conn.execute(
        "SELECT key, name FROM entities WHERE user_key = ? AND key = ANY(?)", (user, list(keys))
    )
    return dict(rows.fetchall())


def _used(conn: Connection, sql: str, named: dict[str, Any]) -> list[UsedMemory]:
    rows = conn.execute(sql, named)
    return [
        UsedMemory(name, text, accesses, None if at is None else from_stored(at))
        for name, text, accesses, at in rows
    ]


def _span(
    user: UserKey, after: datetime | None, before: datetime | None, limit: int
) -> dict[str, Any]:
    first = -(2**62) if after is None else to_stored(after)
    last = 2**62 if before is None else to_stored(before)
    return {"user": user, "first": first, "last": last, "limit": limit}
