"""Locks of users, for functions that change rows of several (`Connection.lock_user`)."""

from collections.abc import Iterable

from hotmem.storage.database import Connection
from hotmem.types import UserKey


def lock_users(conn: Connection, users: Iterable[UserKey]) -> None:
    """Locks users in ascending order, so that two writes never wait for each other."""
    for user in sorted(set(users)):
        conn.lock_user(user)


def lock_owners(conn: Connection, table: str, keys: Iterable[int]) -> None:
    """Locks the users of rows of a table."""
    rows = conn.execute(f"SELECT DISTINCT user_key FROM {table} WHERE id = ANY(?)", ([*keys],))
    lock_users(conn, [UserKey(user) for (user,) in rows.fetchall()])
