"""Leases: which worker runs a user's jobs of a kind, and until when.

A worker takes a lease before it runs jobs and releases it with their result. The lease of a worker
that died expires, and another one takes over. A lease covers a user's jobs of one kind, because a
user's turns must be understood in order.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from hotmem.storage.database import Connection
from hotmem.storage.queries.times import to_stored
from hotmem.types import JobKind, UserKey

LEASE_S: Final = 60.0
"""Seconds after which the jobs of a worker that died are taken over."""

LONG_LEASE_S: Final = 900.0
"""The same for jobs that take minutes: clustering a category."""


@dataclass(frozen=True, slots=True)
class Claimant:
    """A worker that takes leases.

    Attributes:
        owner: Identifies the worker.
        now: The wall clock.
    """

    owner: str
    now: datetime

    def is_free(self, kind: JobKind, user: str) -> tuple[str, tuple[object, ...]]:
        """SQL, with its values, for: no other worker has the lease.

        Args:
            kind: Kind of job.
            user: SQL of the user's row number.
        """
        sql = f"""NOT EXISTS (SELECT 1 FROM leases l WHERE l.kind = '{kind}'
            AND l.user_key = {user} AND l.owner <> ? AND l.expires_at > ?)"""
        return sql, (self.owner, to_stored(self.now))


def take(
    conn: Connection,
    claimant: Claimant,
    kind: JobKind,
    users: Iterable[int],
    seconds: float = LEASE_S,
) -> None:
    """Takes or extends the leases of users whose jobs are free (`Claimant.is_free`)."""
    expires_at = to_stored(claimant.now + timedelta(seconds=seconds))
    conn.executemany(
        """INSERT INTO leases (kind, user_key, owner, expires_at) VALUES (?, ?, ?, ?)
           ON CONFLICT (kind, user_key) DO UPDATE
           SET owner = excluded.owner, expires_at = excluded.expires_at""",
        [(kind, user, claimant.owner, expires_at) for user in users],
    )


def release(conn: Connection, owner: str, kind: JobKind) -> None:
    """Releases a worker's leases of a kind."""
    conn.execute("DELETE FROM leases WHERE kind = ? AND owner = ?", (kind, owner))


def any_of(conn: Connection, owner: str) -> bool:
    """Whether a worker has leases."""
    return conn.execute("SELECT 1 FROM leases WHERE owner = ?", (owner,)).fetchone() is not None


def owners(conn: Connection) -> list[str]:
    """The workers that have leases, expired ones included."""
    return [owner for (owner,) in conn.execute("SELECT DISTINCT owner FROM leases")]


def any_other(conn: Connection, claimant: Claimant) -> bool:
    """Whether another worker has a lease that has not expired."""
    sql = "SELECT 1 FROM leases WHERE owner <> ? AND expires_at > ? LIMIT 1"
    values = (claimant.owner, to_stored(claimant.now))
    return conn.execute(sql, values).fetchone() is not None


def release_all(conn: Connection, owner: str) -> None:
    """Releases all leases of a worker that stops."""
    conn.execute("DELETE FROM leases WHERE owner = ?", (owner,))


def holds_other(conn: Connection, claimant: Claimant, kind: JobKind, user: UserKey) -> bool:
    """Whether another worker has the lease of a user's jobs of a kind."""
    sql, values = claimant.is_free(kind, "?")
    return not conn.execute(f"SELECT {sql}", (user, *values)).fetchone()[0]
