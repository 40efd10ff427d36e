"""Chooses background work, in turn from all users who have some, and keeps account of what of it failed.

What was said comes before what came with imports, and what came with an import that is not finished
does not come. Within a user, and within an import, the oldest comes first. Each choice seeks in an
index: it costs the same with one waiting row as with a million.

    waiting ─▶ done
       │ ▲
       ▼ │ after a pause, each longer than the one before
     failed ─▶ set aside, once it has been tried often enough: until the memory is opened again, or somebody gives it its tries back
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from hotmem.storage.database import Connection
from hotmem.storage.queries import leases
from hotmem.storage.queries.imports import TAKEN
from hotmem.storage.queries.leases import Claimant
from hotmem.storage.queries.order import BEHIND
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.types import FailedJob, JobKind, UserKey


class Queue(NamedTuple):
    """Where a sort of work waits: a table, its key, and the condition on which a row waits."""

    table: str
    key: str
    waits: str


WHEN_IDLE: Final = 1
WHEN_ENDED: Final = 2
"""What `sessions.summary_due` holds, besides 0 for none. One that has been idle for its time
counts as ended."""

EMBEDDED: Final = """vector IS NULL AND held = 0
    AND id > coalesce((SELECT upto FROM former_vectors WHERE kind = '{kind}'), 0)"""
"""What waits to be embedded; up to the last row that is to be embedded anew, nothing is, until
that is done."""

QUEUES: Final = {
    JobKind.TURN: Queue("pending_turns", "turn", "held = 0"),
    JobKind.PASSAGE: Queue("passages", "id", EMBEDDED.format(kind=JobKind.PASSAGE)),
    JobKind.MEMORY: Queue("memories", "id", EMBEDDED.format(kind=JobKind.MEMORY)),
    JobKind.SUMMARY: Queue("summaries", "id", EMBEDDED.format(kind=JobKind.SUMMARY)),
}

HELD: Final = {work: (queue.table, queue.key) for work, queue in QUEUES.items()} | {
    JobKind.SESSION: ("sessions", "id")
}
"""Tables whose rows are marked while they are left alone, and their keys. Categories and imports
have none: they are few."""

NOT_HELD: Final = """NOT EXISTS (SELECT 1 FROM failures f WHERE f.kind = '{work}' AND f.key = {key}
    AND f.user_key = {user} AND f.again_at IS NOT 0)"""
"""The condition on which one of those few is not left alone. `again_at` is 0 from when the pause
is over."""

PAUSE_GROWTH: Final = 4
"""Times the pause before it that each pause is: three tries by default are within five seconds,
eight within six hours."""

LONGEST_PAUSE_S: Final = 3600.0
"""Seconds of a pause at most."""

PROMOTED: Final = 256
"""Idle sessions whose summaries fall due in one transaction, under a millisecond."""

USERS_SEEN: Final = 64
"""Users whose sessions are looked through at once for one to summarise; the next look goes on
behind them."""

IDLE: Final = f"summary_due = {WHEN_IDLE} AND held = 0 AND (touched_at <= ? OR touched_at > ?)"
OVER: Final = f"summary_due = {WHEN_ENDED} AND held = 0"
"""Sessions whose idle time is over, or that were touched by a clock that was ahead, and those
that are over."""

NAMED: Final = """CASE f.kind
    WHEN 'turn' THEN (SELECT public_id FROM turns WHERE id = f.key)
    WHEN 'passage' THEN (SELECT t.public_id FROM passages p JOIN turns t ON t.id = p.turn
        WHERE p.id = f.key)
    WHEN 'memory' THEN (SELECT public_id FROM memories WHERE id = f.key)
    WHEN 'summary' THEN (SELECT public_id FROM sessions WHERE id = f.key)
    WHEN 'session' THEN (SELECT public_id FROM sessions WHERE id = f.key)
    WHEN 'import' THEN (SELECT d.public_id FROM imports i JOIN decisions d ON d.id = i.decision
        WHERE i.id = f.key)
    ELSE f.key END"""
"""What a person knows a piece by: the id of a turn, a memory, a session or a decision, or a
category's name."""

LAST: Final = 2**62
"""Above every row number."""


class Served:
    """Whose work was taken last, of each sort: users' and imports' numbers.

    It lives as long as the program; it need not be durable.
    """

    def __init__(self) -> None:
        self.user: defaultdict[JobKind, int] = defaultdict(int)
        self.imported: defaultdict[JobKind, int] = defaultdict(int)
        self.first = 0


def following(
    conn: Connection, kind: JobKind, served: Served, limit: int, claimant: Claimant | None = None
) -> list[int]:
    """Keys of the next waiting rows, users in turn, each user's oldest first.

    Args:
        conn: A connection; the writer, if there is a claimant.
        kind: Kind of job.
        served: Which users were served last.
        limit: Rows at most.
        claimant: Takes leases of the users, and skips users whose lease another worker has.
    """
    queue = QUEUES[kind]
    told = "import IS NULL"
    users = _next_owners(conn, kind, told, "user_key", served.user[kind], limit, claimant)
    keys: list[int] = []
    for place, user in enumerate(users):
        share = -(-(limit - len(keys)) // (len(users) - place))
        keys += _oldest(conn, queue, f"{told} AND user_key = ?", user, share)
        served.user[kind] = user
    if claimant is not None:
        leases.take(conn, claimant, kind, users)
    if len(keys) < limit:
        imports = _next_owners(
            conn,
            kind,
            "import IS NOT NULL",
            "import",
            served.imported[kind],
            limit - len(keys),
            claimant,
        )
        for place, key in enumerate(imports):
            share = -(-(limit - len(keys)) // (len(imports) - place))
            keys += _oldest(conn, queue, "import = ?", key, share)
            served.imported[kind] = key
        if claimant is not None:
            importing = conn.execute("SELECT id, user_key FROM imports").fetchall()
            leases.take(conn, claimant, kind, [user for key, user in importing if key in imports])
    return keys


def is_waiting(conn: Connection, kind: JobKind, claimant: Claimant) -> bool:
    """Whether a job of a kind waits whose lease no other worker has."""
    served = Served()
    return bool(
        _next_owners(conn, kind, "import IS NULL", "user_key", served.user[kind], 1, claimant)
        or _next_owners(
            conn, kind, "import IS NOT NULL", "import", served.imported[kind], 1, claimant
        )
    )


def _next_owners(
    conn: Connection,
    kind: JobKind,
    condition: str,
    owner: str,
    after: int,
    limit: int,
    claimant: Claimant | None,
) -> list[int]:
    """Users, or imports, with waiting rows, from a number on and once around."""
    queue = QUEUES[kind]
    free, values = "", tuple[object, ...]()
    if claimant is not None:
        sql, values = claimant.is_free(kind, f"{queue.table}.user_key")
        free = f"AND {sql}"
    found: list[int] = []
    for low, high in ((after, LAST), (-1, after)):
        while len(found) < limit:
            row = conn.execute(
                f"""SELECT {owner} FROM {queue.table}
                    WHERE {queue.waits} AND {condition} AND {owner} > ? AND {owner} <= ? {free}
                    ORDER BY {owner} LIMIT 1""",
                (low, high, *values),
            ).fetchone()
            if row is None:
                break
            low = row[0]
            if owner == "user_key" or _is_finished_import(conn, low):
                found.append(low)
    return found


def _is_finished_import(conn: Connection, key: int) -> bool:
    sql = "SELECT 1 FROM imports WHERE id = ? AND state = ?"
    return conn.execute(sql, (key, TAKEN)).fetchone() is not None


def _oldest(conn: Connection, queue: Queue, condition: str, owner: int, limit: int) -> list[int]:
    rows = conn.execute(
        f"""SELECT {queue.key} FROM {queue.table} WHERE {queue.waits} AND {condition}
            ORDER BY user_key, {queue.key} LIMIT ?""",
        (owner, limit),
    )
    return [row[0] for row in rows]


def idle(conn: Connection, now: datetime, idle_s: float) -> bool:
    """Whether a session has been untouched for so many seconds whose summary waits for that."""
    return (
        conn.execute(f"SELECT 1 FROM sessions WHERE {IDLE} LIMIT 1", _idle(now, idle_s)).fetchone()
        is not None
    )


def end_idle(conn: Connection, now: datetime, idle_s: float) -> None:
    """Says of some of those sessions, the longest idle first, that they are over."""
    conn.execute(
        f"""UPDATE sessions SET summary_due = ? WHERE id IN (SELECT id FROM sessions WHERE {IDLE}
            ORDER BY touched_at LIMIT ?)""",
        (WHEN_ENDED, *_idle(now, idle_s), PROMOTED),
    )


def _idle(now: datetime, idle_s: float) -> tuple[int, int]:
    """The times up to which and after which what was touched is idle."""
    return to_stored(now - timedelta(seconds=idle_s)), to_stored(now) + BEHIND


def session(conn: Connection, served: Served) -> tuple[int | None, bool]:
    """The next session that is over and has no words that wait to be embedded, or to be embedded anew.

    Returns:
        The session, if one was found, and whether there is more to look through.
    """
    begun = user = served.user[JobKind.SESSION]
    for _ in range(USERS_SEEN):
        row = conn.execute(
            f"""SELECT user_key FROM sessions WHERE {OVER} AND user_key > ? ORDER BY user_key
                LIMIT 1""",
            (user,),
        ).fetchone()
        if row is None:
            served.user[JobKind.SESSION] = 0
            return None, begun > 0
        served.user[JobKind.SESSION] = user = row[0]
        found = conn.execute(
            f"""SELECT s.id FROM sessions s WHERE {OVER} AND user_key = ?
                    AND NOT EXISTS (SELECT 1 FROM passages p WHERE p.session = s.id
                        AND p.vector IS NULL AND p.held = 0)
                    AND NOT EXISTS (SELECT 1 FROM former_vectors f WHERE f.kind = 'passage'
                        AND f.upto >= (SELECT min(p.id) FROM passages p WHERE p.session = s.id))
                ORDER BY touched_at LIMIT 1""",
            (user,),
        ).fetchone()
        if found is not None:
            return found[0], True
    return None, True


def failed(
    conn: Connection,
    work: JobKind,
    key: int | str,
    error: str,
    attempts: int,
    pause_s: float,
    now: datetime,
    user: UserKey | None,
) -> None:
    """Notes that a piece of work failed: it pauses or, if that was its last try, is set aside.

    Args:
        conn: The writer, within a transaction.
        work: What sort of work.
        key: Which piece.
        error: The name of the error's type; its message may hold speech.
        attempts: Tries that a piece has.
        pause_s: Seconds of the first pause.
        now: The wall clock.
        user: Whose; needed of a category alone.
    """
    if work in HELD:
        table, column = HELD[work]
        row = conn.execute(
            f"UPDATE {table} SET held = 1 WHERE {column} = ? RETURNING user_key", (key,)
        ).fetchone()
        if row is None:
            return
        user = row[0]
    elif user is None:
        (user,) = conn.execute("SELECT user_key FROM imports WHERE id = ?", (key,)).fetchone()
    of_piece = {"work": work, "key": key, "user": user}
    before = conn.execute(
        "SELECT tries FROM failures WHERE kind = :work AND key = :key AND user_key = :user",
        of_piece,
    ).fetchone()
    tries = 1 + (before[0] if before else 0)
    pause = timedelta(seconds=min(pause_s * PAUSE_GROWTH ** min(tries - 1, 20), LONGEST_PAUSE_S))
    conn.execute(
        """INSERT OR REPLACE INTO failures (kind, key, user_key, tries, error, failed_at, again_at)
           VALUES (:work, :key, :user, :tries, :error, :failed_at, :again_at)""",
        of_piece
        | {
            "tries": tries,
            "error": error,
            "failed_at": to_stored(now),
            "again_at": None if tries >= attempts else to_stored(now + pause),
        },
    )


def succeeded(conn: Connection, work: JobKind, key: int | str, user: UserKey) -> None:
    """Drops the account of a piece that failed before: of a category.

    All others' go with what they wait in.
    """
    conn.execute(
        "DELETE FROM failures WHERE kind = ? AND key = ? AND user_key = ?", (work, key, user)
    )


def paused(conn: Connection) -> datetime | None:
    """When the next pause is over; None without one."""
    (again_at,) = conn.execute("SELECT min(again_at) FROM failures WHERE again_at > 0").fetchone()
    return None if again_at is None else from_stored(again_at)


def resume(conn: Connection, now: datetime) -> None:
    """Lets what has paused long enough wait again."""
    _release(
        conn,
        conn.execute(
            "SELECT kind, key, user_key FROM failures WHERE again_at > 0 AND again_at <= ?",
            (to_stored(now),),
        ).fetchall(),
    )


def any_set_aside(conn: Connection) -> bool:
    """Whether anything was set aside."""
    return (
        conn.execute("SELECT 1 FROM failures WHERE again_at IS NULL LIMIT 1").fetchone() is not None
    )


def retry(conn: Connection, before: datetime, given: int, limit: int) -> int:
    """Gives some of what was set aside before a time one more try, the longest ago first.

    Returns how many.

    Args:
        conn: The writer, within a transaction.
        before: The time.
        given: How many were given one since. If all of those failed again, nothing is.
        limit: How many at most.
    """
    since = to_stored(before)
    (again,) = conn.execute(
        "SELECT count(*) FROM failures WHERE again_at IS NULL AND failed_at >= ?", (since,)
    ).fetchone()
    if given and again >= given:
        return 0
    rows = conn.execute(
        """SELECT kind, key, user_key FROM failures WHERE again_at IS NULL AND failed_at < ?
            ORDER BY failed_at LIMIT ?""",
        (since, limit),
    ).fetchall()
    _release(conn, rows)
    return len(rows)


def forgive(conn: Connection) -> int:
    """Gives everything that failed all its tries back; returns how many pieces."""
    rows = conn.execute("SELECT kind, key, user_key FROM failures").fetchall()
    _release(conn, rows)
    conn.execute("DELETE FROM failures")
    return len(rows)


def failures(conn: Connection, limit: int) -> list[FailedJob]:
    """What failed and was not done since, the latest first."""
    rows = conn.execute(
        f"""SELECT u.public_id, f.kind, ({NAMED}), f.tries, f.error, f.failed_at, f.again_at
            FROM failures f JOIN users u ON u.id = f.user_key """
        "ORDER BY f.failed_at DESC LIMIT ?",
        (limit,),
    )
    return [
        FailedJob(
            user,
            JobKind(kind),
            str(piece),
            tries,
            error,
            from_stored(failed_at),
            None if again_at is None else from_stored(again_at),
        )
        for user, kind, piece, tries, error, failed_at, again_at in rows
    ]


def waiting(conn: Connection) -> dict[JobKind, int]:
    """How much of each sort waits and was not set aside, all users together."""
    counts = {
        work: f"SELECT count(*) FROM {queue.table} WHERE {queue.waits}"
        for work, queue in QUEUES.items()
    }
    counts[JobKind.SESSION] = f"SELECT count(*) FROM sessions WHERE {OVER}"
    counts[JobKind.IMPORT] = "SELECT count(*) FROM imports WHERE state IN ('failed', 'undone')"
    return {work: conn.execute(sql).fetchone()[0] for work, sql in counts.items()}


def _release(conn: Connection, pieces: list[tuple[str, int | str, int]]) -> None:
    for kind, key, user in pieces:
        work = JobKind(kind)
        if work in HELD:
            table, column = HELD[work]
            conn.execute(f"UPDATE {table} SET held = 0 WHERE {column} = ?", (key,))
        conn.execute(
            "UPDATE failures SET again_at = 0 WHERE kind = ? AND key = ? AND user_key = ?",
            (kind, key, user),
        )


def rotated(served: Served) -> Iterator[JobKind]:
    """The sorts of rows to be embedded, each first in its turn."""
    works = (JobKind.PASSAGE, JobKind.MEMORY, JobKind.SUMMARY)
    first = served.first
    served.first = (first + 1) % len(works)
    return iter((*works[first:], *works[:first]))
