"""Claims jobs for one worker."""

from dataclasses import dataclass
from typing import Final

from hotmem.storage.database import Connection
from hotmem.storage.queries import embedding, jobs, reembedding, turns
from hotmem.storage.queries.index_entries import TABLES
from hotmem.types import EvidenceKind, JobKind, Turn, UserKey

CLAIMED: Final = tuple(kind for kind in JobKind if kind is not JobKind.EXTRACTION)
"""Kinds whose leases a worker has until it claims again, or pauses."""


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
        jobs.is_waiting(conn, kind, worker) for kind in jobs.EMBEDDED
    )


def claim(
    conn: Connection,
    encoder: str,
    rotation: jobs.UserRotation,
    worker: str,
    max_texts: int,
    max_turns: int,
) -> Claimed:
    """Takes the leases of some jobs, users in turn, in place of those that the worker had.

    Args:
        conn: The writer, within a transaction.
        encoder: Identity of the worker's encoder.
        rotation: Which users were served last.
        worker: The worker.
        max_texts: Texts to embed at most.
        max_turns: Turns to understand at most.
    """
    jobs.release(conn, worker, CLAIMED)
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
    sql = f"SELECT user_key FROM {TABLES[kind]} WHERE id = ?"
    user = UserKey(conn.execute(sql, (key,)).fetchone()[0])
    return rows if jobs.take(conn, worker, JobKind(kind), [user]) else None
