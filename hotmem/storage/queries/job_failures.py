"""Failed jobs: pauses between attempts, and jobs set aside after their last attempt."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from hotmem.storage.database import Connection
from hotmem.storage.queries.jobs import QUEUES
from hotmem.storage.queries.times import BEHIND, from_stored, to_stored
from hotmem.storage.queries.users import lock_users
from hotmem.text.validation import ascii_lower
from hotmem.types import EvidenceKind, FailedJob, JobKind, LocatedRow, UserKey

HELD: Final = {work: (queue.table, queue.key) for work, queue in QUEUES.items()} | {
    JobKind.SESSION: ("sessions", "id")
}
"""Tables whose rows are marked while their job pauses, and their keys. Categories and imports are
few and have no mark."""


UNDONE: Final = {JobKind.TURN: "TRUE", JobKind.SESSION: "summary_due <> 0"}
"""Conditions of rows whose job no other worker has done meanwhile; the rest wait for a vector."""


NOT_HELD: Final = """NOT EXISTS (SELECT 1 FROM failures f WHERE f.kind = '{work}' AND f.key = {key}
    AND f.user_key = {user} AND f.again_at IS DISTINCT FROM 0)"""
"""Condition of a category or import whose job does not pause. `again_at` is 0 once the pause is
over."""


PAUSE_GROWTH: Final = 4
"""Factor by which each pause is longer than the one before."""


LONGEST_PAUSE_S: Final = 3600.0
"""Longest pause in seconds."""


PUBLIC_NAME: Final = """CASE f.kind
    WHEN 'turn' THEN (SELECT public_id FROM turns WHERE id = CAST(f.key AS BIGINT))
    WHEN 'passage' THEN (SELECT t.public_id FROM passages p JOIN turns t ON t.id = p.turn
        WHERE p.id = CAST(f.key AS BIGINT))
    WHEN 'memory' THEN (SELECT public_id FROM memories WHERE id = CAST(f.key AS BIGINT))
    WHEN 'summary' THEN (SELECT public_id FROM sessions WHERE id = CAST(f.key AS BIGINT))
    WHEN 'session' THEN (SELECT public_id FROM sessions WHERE id = CAST(f.key AS BIGINT))
    WHEN 'import' THEN (SELECT d.public_id FROM imports i JOIN decisions d ON d.id = i.decision
        WHERE i.id = CAST(f.key AS BIGINT))
    ELSE f.key END"""
"""The public name of a job's row: the id of a turn, memory, session or decision, or a category."""


def record(
    conn: Connection,
    work: JobKind,
    key: int | str,
    error: str,
    attempts: int,
    pause_s: float,
    now: datetime,
    user: UserKey | None,
) -> None:
    """Records that a job failed: it pauses or, after its last attempt, is set aside.

    Nothing is recorded if it was done meanwhile.

    Args:
        conn: The writer, within a transaction.
        work: Kind of job.
        key: Key of its row.
        error: The name of the error's type; its message may hold speech.
        attempts: Attempts that a job has.
        pause_s: Seconds of the first pause.
        now: The wall clock.
        user: The user, needed for a category only; None reads the user from the row.
    """
    table, column = HELD.get(work, ("imports", "id"))
    if user is None:
        user = conn.scalar(f"SELECT user_key FROM {table} WHERE {column} = ?", (key,))
        if user is None:
            return
    conn.lock_user(user)
    if work in HELD:
        sql = f"""UPDATE {table} SET held = 1 WHERE {column} = ? AND user_key = ?
                  AND {UNDONE.get(work, "vector IS NULL")} RETURNING user_key"""
        if not conn.exists(sql, (key, user)):
            return
    before = "SELECT tries FROM failures WHERE kind = ? AND key = ? AND user_key = ?"
    tries = 1 + (conn.scalar(before, (work, str(key), user)) or 0)
    pause = timedelta(seconds=min(pause_s * PAUSE_GROWTH ** min(tries - 1, 20), LONGEST_PAUSE_S))
    row = {
        "kind": work,
        "key": str(key),
        "user_key": user,
        "tries": tries,
        "error": error,
        "failed_at": to_stored(now),
        "again_at": None if tries >= attempts else to_stored(now + pause),
    }
    conn.upsert("failures", row)


def clear(conn: Connection, user: UserKey, work: JobKind, key: int | str) -> None:
    """Deletes the failure of a category's job that succeeded.

    Failures of other jobs are deleted with their rows.
    """
    conn.execute(
        "DELETE FROM failures WHERE kind = ? AND key = ? AND user_key = ?", (work, str(key), user)
    )


def next_retry(conn: Connection, now: datetime) -> datetime | None:
    """When the next pause ends; None without one."""
    again_at = conn.scalar(
        "SELECT min(CASE WHEN again_at > ? THEN ? ELSE again_at END) FROM failures "
        "WHERE again_at > 0",
        (_latest_end(now), to_stored(now)),
    )
    return None if again_at is None else from_stored(again_at)


def _latest_end(now: datetime) -> int:
    """When any pause ends at most; one that ends later was begun by a clock that was ahead."""
    return to_stored(now + timedelta(seconds=LONGEST_PAUSE_S))


def resume(conn: Connection, now: datetime) -> None:
    """Makes jobs wait again whose pause is over."""
    ended = "again_at > 0 AND (again_at <= ? OR again_at > ?)"
    _release(conn, ended, (to_stored(now), _latest_end(now)))


def any_set_aside(conn: Connection) -> bool:
    """Whether any job was set aside."""
    return conn.exists("SELECT 1 FROM failures WHERE again_at IS NULL LIMIT 1")


def retry(conn: Connection, before: datetime, given: int, limit: int) -> int:
    """Gives jobs set aside before a time one more attempt, the earliest first.

    Args:
        conn: The writer, within a transaction.
        before: The time.
        given: Number of jobs given one since. If all of those failed again, none is given.
        limit: Jobs at most.

    Returns:
        Number of jobs given another attempt.
    """
    since = to_stored(before)
    ahead = since + 2 * BEHIND  # failed by a clock that was ahead: no look is a day after `before`
    again = conn.scalar(
        """SELECT count(*) FROM failures
           WHERE again_at IS NULL AND failed_at >= ? AND failed_at <= ?""",
        (since, ahead),
    )
    if given and again >= given:
        return 0
    earlier = """again_at IS NULL AND (failed_at < ? OR failed_at > ?)
        ORDER BY failed_at LIMIT ?"""
    return _release(conn, earlier, (since, ahead, limit))


def reset(conn: Connection, user: UserKey) -> int:
    """Deletes the failures of one user, so that the jobs wait again; returns how many."""
    released = _release(conn, "user_key = ?", (user,))
    conn.execute("DELETE FROM failures WHERE user_key = ?", (user,))
    return released


def reset_all(conn: Connection) -> int:
    """Deletes all failures, so that the jobs wait again; returns how many."""
    released = _release(conn, "TRUE", ())
    conn.execute("DELETE FROM failures")
    return released


def latest(conn: Connection, limit: int) -> list[FailedJob]:
    """Failed jobs that have not succeeded since, the latest first."""
    return conn.records(
        FailedJob,
        f"""SELECT u.public_id, f.kind, ({PUBLIC_NAME}), f.tries, f.error, f.failed_at, f.again_at
            FROM failures f JOIN users u ON u.id = f.user_key """
        "ORDER BY f.failed_at DESC, f.kind, f.key, f.user_key LIMIT ?",
        (limit,),
    )


def _release(conn: Connection, which: str, values: Sequence[int]) -> int:
    """Makes jobs wait again; returns how many."""
    pieces: list[tuple[str, str, int]] = conn.execute(
        f"SELECT kind, key, user_key FROM failures WHERE {which}", values
    ).fetchall()
    lock_users(conn, [UserKey(user) for _, _, user in pieces])
    for kind, key, user in pieces:
        work = JobKind(kind)
        if work in HELD:
            table, column = HELD[work]
            conn.execute(f"UPDATE {table} SET held = 0 WHERE {column} = ?", (int(key),))
        conn.execute(
            "UPDATE failures SET again_at = 0 WHERE kind = ? AND key = ? AND user_key = ?",
            (kind, key, user),
        )
    return len(pieces)


MEMORY: Final = """
    SELECT '{kind}', m.id, m.public_id, m.text, m.vector IS NOT NULL,
        (SELECT o.public_id FROM memories o WHERE o.id = m.merged_into)
    FROM memories m WHERE m.user_key = :user AND {which}
        ORDER BY m.merged_into IS NOT NULL, m.said_at DESC, m.id DESC LIMIT :most"""

PASSAGE: Final = """
    SELECT '{kind}', p.id, t.public_id, substr(t.text, p.start + 1, p.stop - p.start),
        p.vector IS NOT NULL
    FROM turns t JOIN passages p ON p.turn = t.id WHERE t.user_key = :user AND {which}
        ORDER BY t.spoken_at DESC, p.id LIMIT :most"""


def located(conn: Connection, user: UserKey, expected: str, most: int) -> list[LocatedRow]:
    """The memory or turn of an id, otherwise the latest memories and passages with the words.

    Case is ignored.

    Args:
        conn: A connection.
        user: The user.
        expected: A memory's id, a turn's id, or words in this order.
        most: Rows at most.
    """
    found: list[LocatedRow] = []
    words = "lower({text}) LIKE :sought ESCAPE '\\'"
    said = "substr(t.text, p.start + 1, p.stop - p.start)"
    for memory, passage, sought in (
        ("m.public_id = :sought", "t.public_id = :sought", expected),
        (words.format(text="m.text"), words.format(text=said), _pattern(expected)),
    ):
        for kind, sql, which in (
            (EvidenceKind.MEMORY, MEMORY, memory),
            (EvidenceKind.PASSAGE, PASSAGE, passage),
        ):
            asked = {"user": user, "sought": sought, "most": most - len(found)}
            found += conn.records(LocatedRow, sql.format(kind=kind, which=which), asked)
        if found:
            break
    return found


def _pattern(words: str) -> str:
    """The LIKE pattern of texts in lower case that contain the words."""
    literal = re.sub(r"([%_\\])", r"\\\1", ascii_lower(words))
    return f"%{literal}%"
