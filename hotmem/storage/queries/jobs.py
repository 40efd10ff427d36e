"""Selects background jobs from all users in turn.

Jobs from conversations precede jobs from imports; jobs of an unfinished import wait. Within a user,
and within an import, the oldest come first. Each selection is an index seek, so its cost does not
grow with the number of waiting rows.

    waiting ─▶ done
       │ ▲
       ▼ │ after a pause that grows with each attempt
     failed ─▶ set aside after the last attempt, until the memory is opened again or it is reset
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from hotmem.storage.database import Connection
from hotmem.storage.queries.imports import FINISHED
from hotmem.storage.queries.times import BEHIND, from_stored, to_stored
from hotmem.storage.queries.users import lock_users
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
        if conn.exists(
            f"""INSERT INTO leases (kind, user_key, owner, expires_at) VALUES (?, ?, ?, {EXPIRY})
                ON CONFLICT (kind, user_key) DO UPDATE
                SET owner = excluded.owner, expires_at = excluded.expires_at
                WHERE leases.owner = excluded.owner OR NOT ({VALID}) RETURNING user_key""",
            (kind, user, worker),
        ):
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


def any_leased(conn: Connection, owner: str) -> bool:
    """Whether a worker has leases."""
    return conn.exists("SELECT 1 FROM leases WHERE owner = ?", (owner,))


def owners(conn: Connection) -> list[str]:
    """The workers that have leases, expired ones included."""
    return conn.column("SELECT DISTINCT owner FROM leases")


def any_other(conn: Connection, worker: str) -> bool:
    """Whether another worker has a lease."""
    sql = f"SELECT 1 FROM leases WHERE owner <> ? AND {VALID} LIMIT 1"
    return conn.exists(sql, (worker,))


def release_all(conn: Connection, owner: str) -> None:
    """Releases all leases of a worker that stops."""
    conn.execute("DELETE FROM leases WHERE owner = ?", (owner,))


def is_free(conn: Connection, user: UserKey, worker: str, kind: JobKind) -> bool:
    """Whether no other worker has the lease of a user's jobs of a kind."""
    sql = f"SELECT 1 FROM leases WHERE kind = ? AND user_key = ? AND owner <> ? AND {VALID}"
    return not conn.exists(sql, (kind, user, worker))


class Queue(NamedTuple):
    """A queue of jobs: a table, its key, and the condition on which a row waits."""

    table: str
    key: str
    waits: str


WHEN_IDLE: Final = 1
"""Values of `sessions.summary_due`, besides 0 for none. A session idle for its time counts as
ended."""
WHEN_ENDED: Final = 2


EMBEDDED: Final = """vector IS NULL AND held = 0
    AND id > coalesce((SELECT upto FROM former_vectors WHERE kind = '{kind}'), 0)"""
"""Condition of rows that wait to be embedded. While rows wait to be embedded again, none up to the
last of those does."""

QUEUES: Final = {
    JobKind.TURN: Queue("pending_turns", "turn", "held = 0"),
    JobKind.PASSAGE: Queue("passages", "id", EMBEDDED.format(kind=JobKind.PASSAGE)),
    JobKind.MEMORY: Queue("memories", "id", EMBEDDED.format(kind=JobKind.MEMORY)),
    JobKind.SUMMARY: Queue("summaries", "id", EMBEDDED.format(kind=JobKind.SUMMARY)),
}


PROMOTED: Final = 256
"""Idle sessions marked as ended in one transaction."""

USERS_SEEN: Final = 64
"""Users whose sessions are searched at once for one to summarise. The next search continues after
them."""

IDLE: Final = f"summary_due = {WHEN_IDLE} AND held = 0 AND (touched_at <= ? OR touched_at > ?)"
"""Condition of sessions that are idle, or dated after the clock."""
ENDED: Final = f"summary_due = {WHEN_ENDED} AND held = 0"
"""Condition of sessions that have ended and wait for a summary."""


LAST: Final = 2**62
"""Above every row number."""


class DueSession(NamedTuple):
    """A session whose summary is due: the user and its row number."""

    user: UserKey
    key: int


class Origin(NamedTuple):
    """Where rows of a queue come from.

    Attributes:
        rows: Condition of its rows.
        owner: The column whose values are served in turn.
    """

    rows: str
    owner: str


ORIGINS: Final = (Origin("import IS NULL", "user_key"), Origin("import IS NOT NULL", "import"))
"""What was said is selected before what was imported."""


class UserRotation:
    """The users and imports whose jobs were selected last, by kind of job and column.

    It lives as long as the process and need not be durable.
    """

    def __init__(self) -> None:
        self.latest: defaultdict[tuple[JobKind, str], int] = defaultdict(int)
        self.first = 0


def next_rows(
    conn: Connection,
    kind: JobKind,
    rotation: UserRotation,
    limit: int,
    worker: str | None = None,
) -> list[int]:
    """Keys of the next waiting rows, users in turn, each user's oldest first.

    Args:
        conn: A connection; the writer, if there is a worker.
        kind: Kind of job.
        rotation: The users and imports whose jobs were selected last.
        limit: Rows at most.
        worker: Takes leases of the users, and skips users whose lease another worker has.
    """
    queue = QUEUES[kind]
    keys: list[int] = []
    for origin in ORIGINS:
        latest = rotation.latest[kind, origin.owner]
        owners = _next_owners(conn, kind, origin, latest, limit - len(keys), worker)
        if worker is not None:
            taken = take(conn, worker, kind, owners.values())
            owners = {owner: user for owner, user in owners.items() if user in taken}
        for place, owner in enumerate(owners):
            share = -(-(limit - len(keys)) // (len(owners) - place))
            keys += conn.column(
                f"""SELECT {queue.key} FROM {queue.table}
                    WHERE {queue.waits} AND {origin.rows} AND {origin.owner} = ?
                    ORDER BY user_key, {queue.key} LIMIT ?""",
                (owner, share),
            )
            rotation.latest[kind, origin.owner] = owner
    return keys


def is_waiting(conn: Connection, kind: JobKind, worker: str) -> bool:
    """Whether a job of a kind waits whose lease no other worker has."""
    return any(_next_owners(conn, kind, origin, 0, 1, worker) for origin in ORIGINS)


def _next_owners(
    conn: Connection, kind: JobKind, origin: Origin, after: int, limit: int, worker: str | None
) -> dict[int, UserKey]:
    """Users, or finished imports, with waiting rows, in order from one on, cyclically.

    Each has the user whose lease is needed.
    """
    queue = QUEUES[kind]
    found: dict[int, UserKey] = {}
    for low, high in ((after, LAST), (-1, after)):
        while len(found) < limit:
            owner = conn.scalar(
                f"""SELECT {origin.owner} FROM {queue.table}
                    WHERE {queue.waits} AND {origin.rows}
                        AND {origin.owner} > ? AND {origin.owner} <= ?
                    ORDER BY {origin.owner} LIMIT 1""",
                (low, high),
            )
            if owner is None:
                break
            low = owner
            user = UserKey(low) if origin.owner == "user_key" else _importing_user(conn, low)
            if user is not None and (worker is None or is_free(conn, user, worker, kind)):
                found[low] = user
    return found


def _importing_user(conn: Connection, key: int) -> UserKey | None:
    """The user of an import; None if it is not finished."""
    sql = "SELECT user_key FROM imports WHERE id = ? AND state = ?"
    user: UserKey | None = conn.scalar(sql, (key, FINISHED))
    return user


def any_idle_session(conn: Connection, now: datetime, idle_s: float) -> bool:
    """Whether a session has been idle for so many seconds and its summary waits for that."""
    return conn.exists(f"SELECT 1 FROM sessions WHERE {IDLE} LIMIT 1", _idle_times(now, idle_s))


def end_idle_sessions(conn: Connection, now: datetime, idle_s: float) -> None:
    """Marks some idle sessions as ended, the longest idle first."""
    times = _idle_times(now, idle_s)
    rows = conn.execute(
        f"SELECT id, user_key FROM sessions WHERE {IDLE} ORDER BY touched_at LIMIT ?",
        (*times, PROMOTED),
    ).fetchall()
    lock_users(conn, [UserKey(user) for _, user in rows])
    conn.executemany(
        f"UPDATE sessions SET summary_due = ? WHERE id = ? AND {IDLE}",
        [(WHEN_ENDED, key, *times) for key, _ in rows],
    )


def _idle_times(now: datetime, idle_s: float) -> tuple[int, int]:
    """The times up to which, and after which, a session's last turn makes it idle."""
    return to_stored(now - timedelta(seconds=idle_s)), to_stored(now) + BEHIND


def next_session(conn: Connection, rotation: UserRotation) -> tuple[DueSession | None, bool]:
    """The next ended session all of whose passages are embedded.

    Returns:
        The session, if one was found, and whether there are more users to search.
    """
    last = JobKind.SESSION, "user_key"
    begun = user = rotation.latest[last]
    for _ in range(USERS_SEEN):
        following = conn.scalar(
            f"""SELECT user_key FROM sessions WHERE {ENDED} AND user_key > ? ORDER BY user_key
                LIMIT 1""",
            (user,),
        )
        rotation.latest[last] = user = following or 0
        if following is None:
            return None, begun > 0
        found = conn.record(
            DueSession,
            f"""SELECT user_key, s.id FROM sessions s WHERE {ENDED} AND user_key = ?
                    AND NOT EXISTS (SELECT 1 FROM passages p WHERE p.session = s.id
                        AND p.vector IS NULL AND p.held = 0)
                    AND NOT EXISTS (SELECT 1 FROM former_vectors f WHERE f.kind = 'passage'
                        AND f.upto >= (SELECT min(p.id) FROM passages p WHERE p.session = s.id))
                ORDER BY touched_at LIMIT 1""",
            (user,),
        )
        if found is not None:
            return found, True
    return None, True


def waiting_counts(conn: Connection) -> dict[JobKind, int]:
    """Number of waiting jobs of each kind that are not set aside, of all users."""
    counts = {
        work: f"SELECT count(*) FROM {queue.table} WHERE {queue.waits}"
        for work, queue in QUEUES.items()
    }
    counts[JobKind.SESSION] = f"SELECT count(*) FROM sessions WHERE {ENDED}"
    counts[JobKind.IMPORT] = "SELECT count(*) FROM imports WHERE state IN ('failed', 'undone')"
    return {work: conn.scalar(sql) for work, sql in counts.items()}


def any_of(conn: Connection, user: UserKey) -> bool:
    """Whether a job of a user waits that is not set aside."""
    waits = [
        f"SELECT 1 FROM {queue.table} WHERE user_key = :user AND {queue.waits}"
        for queue in QUEUES.values()
    ]
    ended = f"SELECT 1 FROM sessions WHERE user_key = :user AND {ENDED}"
    return conn.exists(" UNION ALL ".join((*waits, ended)) + " LIMIT 1", {"user": user})


def oldest_turn(conn: Connection) -> datetime | None:
    """When the oldest turn of a conversation was said that waits to be understood."""
    oldest = conn.scalar(
        """SELECT min(t.spoken_at) FROM pending_turns p JOIN turns t ON t.id = p.turn
           WHERE p.import IS NULL AND p.held = 0"""
    )
    return None if oldest is None else from_stored(oldest)


def embedding_kinds(rotation: UserRotation) -> Iterator[JobKind]:
    """The kinds of embedding jobs, rotated by one with each call."""
    works = (JobKind.PASSAGE, JobKind.MEMORY, JobKind.SUMMARY)
    first = rotation.first
    rotation.first = (first + 1) % len(works)
    return iter((*works[first:], *works[:first]))
