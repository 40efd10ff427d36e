"""Deletes what is older than its retention period, a few rows at a time, like any forget.

The age of a turn counts from when it was said, that of a memory from when it was last said or
stored.
"""

from datetime import datetime
from typing import Final, NamedTuple

from hotmem.storage.database import Connection
from hotmem.storage.queries import forget
from hotmem.storage.queries.times import BEHIND, from_stored, to_stored
from hotmem.storage.rows import record_of
from hotmem.types import Act, Action, Actor, AuditEntry, Category, ForgetResult, UserKey

OLD_TURNS: Final = f"""
    SELECT id, public_id FROM turns WHERE user_key = :user AND spoken_at < :before
        AND abs(order_time - spoken_at) <= {BEHIND}
    ORDER BY spoken_at LIMIT :limit"""
"""Old turns. The age of turns dated by a wrong clock is unknown."""

OLD_MEMORIES: Final = f"""
    SELECT m.id, m.public_id FROM memories m WHERE m.user_key = :user AND m.said_at < :before
        AND m.merged_into IS NULL
        AND abs(m.order_time - m.said_at) <= {BEHIND}
        AND NOT EXISTS (SELECT 1 FROM sources x JOIN turns t ON t.id = x.turn WHERE x.memory = m.id
            AND t.spoken_at >= :before)
        {{of_category}}
    ORDER BY m.said_at LIMIT :limit"""
"""Old memories; the turns they were extracted from are deleted too, so none may be younger."""

OLD_RECALLS: Final = (
    "SELECT id, public_id FROM recalls WHERE user_key = :user AND asked_at < :before LIMIT :limit"
)

USERS_SEEN: Final = 256
"""Users searched at once."""


class Clock(NamedTuple):
    """When the clock was last plausible, and when the newest row was written."""

    seen: datetime | None
    newest: datetime | None


def clock(conn: Connection) -> Clock:
    """Reads the stored clock state."""
    seen = conn.scalar("SELECT value FROM meta WHERE key = 'clock'")
    newest = conn.scalar(
        """SELECT max(at) FROM (SELECT max(touched_at) AS at FROM sessions UNION ALL
               SELECT max(decided_at) FROM decisions
               UNION ALL SELECT max(at) FROM audit) AS latest"""
    )
    return record_of(Clock, (None if seen is None else int(seen), newest))


def note_clock(conn: Connection, now: datetime) -> None:
    """Stores that the clock is plausible now."""
    conn.upsert("meta", {"key": "clock", "value": str(to_stored(now))})


def following(
    conn: Connection, category: Category | None, before: datetime, after: int
) -> tuple[UserKey | None, int | None]:
    """The next user after a row number who has something older than a time.

    Returns:
        The user, if one was found, and the row number to continue after; None at the end.
    """
    for _ in range(USERS_SEEN):
        user = conn.scalar("SELECT id FROM users WHERE id > ? ORDER BY id LIMIT 1", (after,))
        if user is None:
            return None, None
        after = user
        if due(conn, user, category, before):
            return user, after
    return None, after


def due(conn: Connection, user: UserKey, category: Category | None, before: datetime) -> bool:
    """Whether a user has something older than a time."""
    searches = (OLD_MEMORIES,) if category else (OLD_TURNS, OLD_MEMORIES, OLD_RECALLS)
    return any(_found(conn, sql, user, category, before, 1) for sql in searches)


def remove(
    conn: Connection, user: UserKey, category: Category | None, before: datetime, limit: int
) -> tuple[ForgetResult, bool]:
    """Forgets some of what is older than a time.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        category: Only memories of this category, with the turns they were extracted from; None
            for all turns, memories and recalls.
        before: The time.
        limit: Turns, memories and recalls at most.

    Returns:
        What was deleted, and whether there is more.
    """
    recalls = 0

    def go(conn: Connection, user: UserKey) -> None:
        nonlocal recalls
        turns = [] if category else _found(conn, OLD_TURNS, user, None, before, limit)
        if turns:
            forget.remove_turns(conn, user, [name for _, name in turns])
        for _, name in _found(conn, OLD_MEMORIES, user, category, before, limit - len(turns)):
            forget.remove_memory(conn, user, name)
        old = [] if category else _found(conn, OLD_RECALLS, user, None, before, limit)
        conn.execute(
            "DELETE FROM recalls WHERE +user_key = ? AND id = ANY(?)",
            (user, [key for key, _ in old]),
        )
        recalls = len(old)

    went = forget.count_removed(conn, user, go)
    return went, bool(went.turns or went.memories or recalls) and due(conn, user, category, before)


def _found(
    conn: Connection,
    sql: str,
    user: UserKey,
    category: Category | None,
    before: datetime,
    limit: int,
) -> list[tuple[int, str]]:
    of_category = "AND m.category = :category" if category else ""
    values = {"user": user, "category": category, "before": to_stored(before), "limit": limit}
    return conn.execute(sql.format(of_category=of_category), values).fetchall()


def record(conn: Connection, user: UserKey | None, who: Actor, act: Act, now: datetime) -> None:
    """Records an action; without the user if they no longer exist."""
    conn.execute(
        """INSERT INTO audit (user_key, at, who, action, what, turns, memories, sessions)
           VALUES ((SELECT id FROM users WHERE id = ?), ?, ?, ?, ?, ?, ?, ?)""",
        (user, to_stored(now), who, act.action, act.what, act.turns, act.memories, act.sessions),
    )


def entries(
    conn: Connection, user_id: str | None, since: datetime | None, action: Action | None, limit: int
) -> list[AuditEntry]:
    """The latest entries first.

    Args:
        conn: A connection.
        user_id: The user; None for all.
        since: Done at or after.
        action: The action; None for any.
        limit: Entries at most.
    """
    wanted = {
        "u.public_id = ?": user_id,
        "a.at >= ?": None if since is None else to_stored(since),
        "a.action = ?": action,
    }
    given = {condition: value for condition, value in wanted.items() if value is not None}
    rows = conn.execute(
        f"""SELECT a.id, a.at, u.public_id, a.who, a.action, a.what, a.turns, a.memories, a.sessions
            FROM audit a LEFT JOIN users u ON u.id = a.user_key
            {"WHERE" if given else ""} {" AND ".join(given)}
            ORDER BY a.at DESC, a.id DESC LIMIT ?""",
        (*given.values(), limit),
    )
    return [
        AuditEntry(number, from_stored(at), name, Actor(who), Act(Action(done), *act))
        for number, at, name, who, done, *act in rows
    ]


def any_before(conn: Connection, before: datetime) -> bool:
    """Whether there are entries from before a time."""
    return conn.exists("SELECT 1 FROM audit WHERE at < ? LIMIT 1", (to_stored(before),))


def prune(conn: Connection, before: datetime, limit: int) -> int:
    """Removes some of the entries from before a time; returns how many."""
    deleted = conn.execute(
        """DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at < ? ORDER BY at LIMIT ?)
            RETURNING id""",
        (to_stored(before), limit),
    )
    return len(deleted.fetchall())
