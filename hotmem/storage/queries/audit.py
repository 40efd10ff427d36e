"""The audit trail: who looked at a memory, changed it or took something out of it.

A user's entries go with the user.
"""

from datetime import datetime

from hotmem.storage.database import Connection
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.types import Act, Action, Actor, AuditEntry, UserKey


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
    return (
        conn.execute("SELECT 1 FROM audit WHERE at < ? LIMIT 1", (to_stored(before),)).fetchone()
        is not None
    )


def prune(conn: Connection, before: datetime, limit: int) -> int:
    """Removes some of the entries from before a time; returns how many."""
    deleted = conn.execute(
        """DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at < ? ORDER BY at LIMIT ?)
            RETURNING id""",
        (to_stored(before), limit),
    )
    return len(deleted.fetchall())
