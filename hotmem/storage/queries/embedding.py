"""Writes vectors, unless another process has changed the database's encoder meanwhile.

Each function takes the identity of the encoder that made the vectors (`reembedding.identified`). If
the database has another one, rows are stored without vectors and wait to be embedded by it.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from hotmem.storage.database import Connection
from hotmem.storage.queries import (
    evolutions,
    jobs,
    new_memories,
    reembedding,
    users,
)
from hotmem.storage.queries.index_entries import TABLES
from hotmem.storage.queries.users import lock_owners
from hotmem.storage.search import vectors
from hotmem.types import (
    EvidenceKind,
    NewMemory,
    SignBits,
    Vector,
)


def superseded(conn: Connection, encoder: str) -> bool:
    """Whether the database has another encoder than this one."""
    return reembedding.current(conn) != encoder


def waiting(
    conn: Connection,
    encoder: str,
    limit: int,
    rotation: jobs.UserRotation,
    worker: str | None = None,
) -> list[tuple[EvidenceKind, int, str]]:
    """The next texts without a vector, users in turn: kind, row number, text.

    None if the encoder is superseded: a process with the database's encoder embeds them.
    """
    return [] if superseded(conn, encoder) else vectors.waiting(conn, limit, rotation, worker)


def put(
    conn: Connection,
    encoder: str,
    texts: Sequence[tuple[EvidenceKind, int, str]],
    rows: Sequence[Vector],
    signs: Sequence[SignBits],
    *,
    anew: bool = False,
) -> None:
    """Stores vectors and token signs; a memory is assigned to the nearest subcategory.

    Rows whose text has changed since it was read keep waiting.

    Args:
        conn: The writer, within a transaction.
        encoder: Identity of the encoder that made the vectors.
        texts: What was embedded, all of one kind: kind, row number, text.
        rows: Vectors.
        signs: Token signs.
        anew: Whether the rows have vectors of the former encoder (`reembedding.following`).
    """
    if not reembedding.is_current(conn, encoder):
        return
    kind, keys = texts[0][0], [key for _, key, _ in texts]
    lock_owners(conn, TABLES[kind], keys)
    current = dict(reembedding.text_of(conn, kind, keys))
    unchanged = [place for place, (_, key, text) in enumerate(texts) if current.get(key) == text]
    stored = [keys[place] for place in unchanged]
    vectors.put(
        conn,
        kind,
        stored,
        [rows[place] for place in unchanged],
        [signs[place] for place in unchanged],
    )
    if anew:
        reembedding.advance(conn, kind, keys)
        reembedding.postpone(conn, kind, [key for key in keys if key not in stored])
    elif kind is EvidenceKind.MEMORY:
        evolutions.assign(conn, stored)


def skip(conn: Connection, encoder: str, kind: EvidenceKind, keys: Sequence[int]) -> None:
    """Deletes the former vectors of rows that this encoder could not embed again.

    They wait like new rows.
    """
    if not reembedding.is_current(conn, encoder):
        return
    lock_owners(conn, TABLES[kind], keys)
    reembedding.advance(conn, kind, keys)
    reembedding.postpone(conn, kind, keys)


def finish(conn: Connection, encoder: str) -> None:
    """Ends a change to this encoder once no row has a former vector, and assigns new memories."""
    if not reembedding.is_current(conn, encoder):
        return
    reembedding.finish(conn)
    evolutions.assign_all_users(conn)


def insert_memory(
    conn: Connection,
    encoder: str,
    user_id: str,
    memory: NewMemory,
    vector: Vector,
    signs: SignBits,
    now: datetime,
    reason: str,
) -> str:
    """Stores a memory explicitly, with the reason for its classification; returns its id."""
    user = users.ensure(conn, user_id)
    if not reembedding.is_current(conn, encoder):
        without = replace(memory, tag_vectors={})
        return new_memories.insert(conn, user, without, None, signs, now, reason)
    return new_memories.insert(conn, user, memory, vector, signs, now, reason)
