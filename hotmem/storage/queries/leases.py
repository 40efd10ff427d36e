"""Leases: which worker runs a user's jobs of a kind, and until when.

A worker takes a lease before it runs jobs and releases it with their result. The lease of a worker
that died expires, and another one takes over. A lease covers a user's jobs of one kind, because a
user's turns must be understood in order. Times are those of the database's clock: those of the
workers may differ.
"""

from collections.abc import Iterable
from typing import Final

from hotmem.storage.database import Connection
from hotmem.types import JobKind, UserKey

LEASE_S: Final = 60.0
"""Seconds after which the jobs of a worker that died are taken over."""

AHEAD_S: Final = 2 * LEASE_S
"""Seconds until a lease ends at most."""


VALID: Final = f"""leases.expires_at > clock()
    AND leases.expires_at <= clock() + {round(AHEAD_S * 1e6)}"""
"""Condition of leases that have not expired. One that ends later than that was taken by a clock
that was far ahead, and does not count: it would stop all jobs until then."""

EXPIRY: Final = f"clock() + {round(LEASE_S * 1e6)}"
"""When a lease taken now expires."""


def take(conn: Connection, worker: str, kind: JobKind, users: Iterable[UserKey]) -> set[UserKey]:
    """Takes or extends leases of users, in ascending order; returns the users it got.

    Another worker may have taken one since it was free (`is_free`).
    """
    taken = set()
    for user in sorted(set(users)):
        row = conn.execute(
            f"""INSERT INTO leases (kind, user_key, owner, expires_at) VALUES (?, ?, ?, {EXPIRY})
                ON CONFLICT (kind, user_key) DO UPDATE
                SET owner = excluded.owner, expires_at = excluded.expires_at
                WHERE leases.owner = excluded.owner OR NOT ({VALID}) RETURNING user_key""",
            (kind, user, worker),
        ).fetchone()
        if row is not None:
            taken.add(user)
    return taken


def renew(conn: Connection, worker: str) -> None:
    """Extends the leases that a worker still has; those taken over stay with the other."""
    conn.execute(f"UPDATE leases SET expires_at = {EXPIRY} WHERE owner = ?", (worker,))


def release(conn: Connection, user: UserKey, owner: str, kind: JobKind) -> None:
    """Releases a worker's lease of a user's jobs of a kind."""
    sql = "DELETE FROM leases WHERE kind = ? AND user_key = ? AND owner = ?"
    conn.execute(sql, (kind, user, owner))


def release_kind(conn: Connection, owner: str, kind: JobKind) -> None:
    """Releases a worker's leases of all users' jobs of a kind."""
    conn.execute("DELETE FROM leases WHERE kind = ? AND owner = ?", (kind, owner))


def any_of(conn: Connection, owner: str) -> bool:
    """Whether a worker has leases."""
    return conn.execute("SELECT 1 FROM leases WHERE owner = ?", (owner,)).fetchone() is not None


def owners(conn: Connection) -> list[str]:
    """The workers that have leases, expired ones included."""
    return [owner for (owner,) in conn.execute("SELECT DISTINCT owner FROM leases")]


def any_other(conn: Connection, worker: str) -> bool:
    """Whether another worker has a lease."""
    sql = f"SELECT 1 FROM leases WHERE owner <> ? AND {VALID} LIMIT 1"
    return conn.execute(sql, (worker,)).fetchone() is not None


def release_all(conn: Connection, owner: str) -> None:
    """Releases all leases of a worker that stops."""
    conn.execute("DELETE FROM leases WHERE owner = ?", (owner,))


def is_free(conn: Connection, user: UserKey, worker: str, kind: JobKind) -> bool:
    """Whether no other worker has the lease of a user's jobs of a kind."""
    sql = f"SELECT 1 FROM leases WHERE kind = ? AND user_key = ? AND owner <> ? AND {VALID}"
    return conn.execute(sql, (kind, user, worker)).fetchone() is None
