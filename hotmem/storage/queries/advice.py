"""What the state of a user's memory suggests to do."""

from datetime import datetime
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hotmem.storage.database import Connection
from hotmem.storage.queries import reembedding
from hotmem.storage.queries.evolutions import GROWTH
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.search.vectors import from_bytes
from hotmem.types import Category, EvidenceKind, JobKind, Kind, UserKey

CURRENT: Final = "m.merged_into IS NULL AND m.valid_until IS NULL"


class OpenConflict(NamedTuple):
    """A memory that is possibly outdated.

    Attributes:
        id: The memory's id.
        text: Its text.
        said_at: When it was last said, UTC.
        by: Text of what may contradict it; None if no memory was read from that.
        at: When that was said, UTC.
    """

    id: str
    text: str
    said_at: datetime
    by: str | None
    at: datetime


class ComparedMemories(NamedTuple):
    """Memories to be compared with each other; vectors are unit rows, float32."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    vectors: NDArray[np.float32]


class UnusedMemories(NamedTuple):
    """Number of current memories, of those without an access, and of recalls with a reply."""

    memories: int
    unused: int
    recalls: int


def open_conflicts(conn: Connection, user: UserKey, limit: int) -> list[OpenConflict]:
    """Current memories that are possibly outdated, the latest doubt first."""
    rows = conn.execute(
        f"""SELECT m.public_id, m.text, m.said_at,
                coalesce(o.text, (SELECT t.text FROM turns t WHERE t.id = m.doubted_in)),
                m.doubted_at
            FROM memories m LEFT JOIN memories o ON o.id = m.doubted_by
            WHERE m.user_key = :user AND {CURRENT} AND m.doubted_at IS NOT NULL
            ORDER BY m.doubted_at DESC, m.id DESC LIMIT :limit""",
        {"user": user, "limit": limit},
    )
    return [
        OpenConflict(name, text, from_stored(said_at), by, from_stored(at))
        for name, text, said_at, by, at in rows
    ]


def latest(conn: Connection, user: UserKey, limit: int) -> ComparedMemories:
    """The latest current memories that are not in doubt, with vectors of the present encoder."""
    rows = conn.execute(
        f"""SELECT m.public_id, m.text, m.vector FROM memories m
            WHERE m.user_key = :user AND {CURRENT} AND m.doubted_at IS NULL
                AND m.vector IS NOT NULL AND m.id > :first
            ORDER BY m.order_time DESC, m.id DESC LIMIT :limit""",
        {
            "user": user,
            "first": reembedding.boundary(conn, EvidenceKind.MEMORY),
            "limit": limit,
        },
    ).fetchall()
    vectors = from_bytes([row[2] for row in rows]) if rows else np.empty((0, 0), np.float32)
    return ComparedMemories(tuple(row[0] for row in rows), tuple(row[1] for row in rows), vectors)


def reminders(conn: Connection, user: UserKey, limit: int) -> list[int]:
    """Row numbers of current reminders, the earliest first."""
    rows = conn.execute(
        f"""SELECT m.id FROM memories m WHERE m.user_key = :user AND {CURRENT} AND m.kind = :kind
            ORDER BY m.order_time, m.id LIMIT :limit""",
        {"user": user, "kind": Kind.REMINDER, "limit": limit},
    )
    return [key for (key,) in rows]


def grown(conn: Connection, user: UserKey, least: int) -> dict[Category, int]:
    """The categories that have gained enough memories to evolve, and how many they have gained."""
    rows = conn.execute(
        """SELECT m.category, m.memories - coalesce(e.memories, 0) FROM (
               SELECT category, count(*) AS memories FROM memories
               WHERE user_key = :user AND merged_into IS NULL GROUP BY category) m
           LEFT JOIN evolutions e ON e.id = (SELECT max(id) FROM evolutions
               WHERE user_key = :user AND category = m.category AND state <> 'draft')
           WHERE m.memories >= coalesce(e.memories, 0)
               + greatest(:least, :growth * coalesce(e.memories, 0))
           ORDER BY 2 DESC, 1""",
        {"user": user, "least": least, "growth": GROWTH},
    )
    return {Category(category): int(gained) for category, gained in rows}


def unused(conn: Connection, user: UserKey, before: datetime) -> UnusedMemories:
    """How many memories from before a time were never used, and how many recalls there were."""
    values = {"user": user, "before": to_stored(before)}
    memories, never = conn.execute(
        f"""SELECT count(*), coalesce(sum(CASE WHEN m.accesses = 0 THEN 1 ELSE 0 END), 0)
            FROM memories m WHERE m.user_key = :user AND {CURRENT} AND m.said_at < :before""",
        values,
    ).fetchone()
    (recalls,) = conn.execute("SELECT count(*) FROM recalls WHERE user_key = ?", (user,)).fetchone()
    return UnusedMemories(int(memories), int(never), int(recalls))


def set_aside(conn: Connection, user: UserKey) -> dict[JobKind, int]:
    """Number of the user's background jobs that failed and were set aside, by kind."""
    rows = conn.execute(
        """SELECT kind, count(*) FROM failures WHERE user_key = ? AND again_at IS NULL
           GROUP BY kind ORDER BY kind""",
        (user,),
    )
    return {JobKind(kind): int(number) for kind, number in rows}
