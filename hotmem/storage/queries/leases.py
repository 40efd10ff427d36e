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

AHEAD_S: Final = 2 * LEASE_S
"""Seconds until a lease ends at most, as the clock of the worker that took it may be ahead."""


VALID: Final = "expires_at > ? AND expires_at <= ?"
"""Condition of leases that have not expired. One that ends later than that was taken by a clock
that was far ahead, and does not count: it would stop all jobs until then."""


@dataclass(frozen=True, slots=True)
class Claimant:
    """A worker that takes leases.

    Attributes:
        owner: Identifies the worker.
        now: The wall clock.
    """

    owner: str
    now: datetime


def take(
    conn: Connection,
    claimant: Claimant,
    kind: JobKind,
    users: Iterable[UserKey],
) -> set[UserKey]:
    """Takes or extends leases of users, in ascending order; returns the users it got.

    Another worker may have taken one since it was free (`is_free`).
    """
    expires_at = _expiry(claimant)
    taken = set()
    for user in sorted(set(users)):
        row = conn.execute(
            """INSERT INTO leases (kind, user_key, owner, expires_at) VALUES (?, ?, ?, ?)
               ON CONFLICT (kind, user_key) DO UPDATE
               SET owner = excluded.owner, expires_at = excluded.expires_at
               WHERE leases.owner = excluded.owner OR leases.expires_at <= ?
                   OR leases.expires_at > ? RETURNING user_key""",
            (kind, user, claimant.owner, expires_at, *_validity(claimant)),
        ).fetchone()
        if row is not None:
            taken.add(user)
    return taken


def renew(conn: Connection, claimant: Claimant) -> None:
    """Extends the leases that a worker still has; those taken over stay with the other."""
    conn.execute(
        "UPDATE leases SET expires_at = ? WHERE owner = ?", (_expiry(claimant), claimant.owner)
    )


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


def any_other(conn: Connection, claimant: Claimant) -> bool:
    """Whether another worker has a lease."""
    sql = f"SELECT 1 FROM leases WHERE owner <> ? AND {VALID} LIMIT 1"
    return conn.execute(sql, (claimant.owner, *_validity(claimant))).fetchone() is not None


def release_all(conn: Connection, owner: str) -> None:
    """Releases all leases of a worker that stops."""
    conn.execute("DELETE FROM leases WHERE owner = ?", (owner,))


def is_free(conn: Connection, user: UserKey, claimant: Claimant, kind: JobKind) -> bool:
    """Whether no other worker has the lease of a user's jobs of a kind."""
    sql = f"SELECT 1 FROM leases WHERE kind = ? AND user_key = ? AND owner <> ? AND {VALID}"
    values = (kind, user, claimant.owner, *_validity(claimant))
    return conn.execute(sql, values).fetchone() is None


def _expiry(claimant: Claimant) -> int:
    """When a lease taken now expires."""
    return to_stored(claimant.now + timedelta(seconds=LEASE_S))


def _validity(claimant: Claimant) -> tuple[int, int]:
    """The values of `VALID`."""
    longest = claimant.now + timedelta(seconds=AHEAD_S)
    return to_stored(claimant.now), to_stored(longest)
