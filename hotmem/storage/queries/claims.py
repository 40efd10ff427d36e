"""Claims jobs for one worker and finishes them, each in one transaction."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Concatenate, Final, ParamSpec, TypeVar

from hotmem.storage.database import Connection
from hotmem.storage.queries import embedding, jobs, reembedding, turns
from hotmem.storage.queries.index_entries import TABLES
from hotmem.types import EvidenceKind, JobKind, Turn, UserKey

P = ParamSpec("P")
T = TypeVar("T")

EMBEDDED: Final = (JobKind.PASSAGE, JobKind.MEMORY, JobKind.SUMMARY)


@dataclass(frozen=True, slots=True)
class Claimed:
    """Jobs that a worker has the leases of.

    Attributes:
        texts: Rows to embed: kind, row number, text.
        turns: Turns to understand, with their row numbers.
    """

    texts: list[tuple[EvidenceKind, int, str]]
    turns: list[tuple[int, Turn]]


def any_waiting(conn: Connection, encoder: str, worker: str) -> bool:
    """Whether `claim` would find a job."""
    if jobs.is_waiting(conn, JobKind.TURN, worker):
        return True
    return not embedding.superseded(conn, encoder) and any(
        jobs.is_waiting(conn, kind, worker) for kind in EMBEDDED
    )


def claim(
    conn: Connection,
    encoder: str,
    rotation: jobs.UserRotation,
    worker: str,
    max_texts: int,
    max_turns: int,
) -> Claimed:
    """Takes the leases of some jobs, users in turn.

    Args:
        conn: The writer, within a transaction.
        encoder: Identity of the worker's encoder.
        rotation: Which users were served last.
        worker: The worker.
        max_texts: Texts to embed at most.
        max_turns: Turns to understand at most.
    """
    return Claimed(
        embedding.waiting(conn, encoder, max_texts, rotation, worker),
        turns.waiting(conn, rotation, max_turns, worker),
    )


def claim_again(
    conn: Connection, worker: str, limit: int
) -> list[tuple[EvidenceKind, int, str]] | None:
    """Claims the next rows to embed again (`reembedding.following`).

    They are the same for all workers, so that the lease of the first row's user claims all.

    Returns:
        The rows; None if another worker has the lease.
    """
    rows = reembedding.following(conn, limit)
    if not rows:
        return []
    kind, key, _ = rows[0]
    user = conn.scalar(f"SELECT user_key FROM {TABLES[kind]} WHERE id = ?", (key,))
    return rows if _claim_one(conn, user, worker, JobKind(kind)) else None


def claim_session(conn: Connection, user: UserKey, worker: str, session: int) -> bool:
    """Takes the lease of summarising a session; False if it is taken or the session is deleted."""
    there = conn.exists("SELECT 1 FROM sessions WHERE id = ? AND user_key = ?", (session, user))
    return there and _claim_one(conn, user, worker, JobKind.SESSION)


def claim_category(conn: Connection, user: UserKey, worker: str) -> bool:
    """Takes the lease of evolving a user's categories; False if another worker has it."""
    return _claim_one(conn, user, worker, JobKind.CATEGORY)


def finish(
    conn: Connection,
    user: UserKey,
    owner: str,
    kind: JobKind,
    store: Callable[Concatenate[Connection, UserKey, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Stores the result of a user's job and releases its lease."""
    result = store(conn, user, *args, **kwargs)
    jobs.release(conn, user, owner, kind)
    return result


def finish_all(
    conn: Connection,
    owner: str | None,
    kind: JobKind,
    store: Callable[Concatenate[Connection, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Stores the result of jobs of several users and releases all leases of the kind.

    None are released without an owner, while there are more of the jobs that were claimed.
    """
    result = store(conn, *args, **kwargs)
    if owner is not None:
        jobs.release_kind(conn, owner, kind)
    return result


def _claim_one(conn: Connection, user: UserKey, worker: str, kind: JobKind) -> bool:
    return bool(jobs.take(conn, worker, kind, [user]))
