"""Writes vectors, unless another process has changed the database's encoder meanwhile.

Each function takes the identity of the encoder that made the vectors (`reembedding.identified`). If
the database has another one, rows are stored without vectors and wait to be embedded by it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from hotmem.storage.database import Connection
from hotmem.storage.queries import (
    edits,
    evolutions,
    jobs,
    new_memories,
    reembedding,
    sessions,
    tags,
    users,
)
from hotmem.storage.queries.edits import Wording
from hotmem.storage.queries.index_entries import TABLES
from hotmem.storage.queries.understandings import MatchSubjects, Supersede
from hotmem.storage.queries.users import lock_owners
from hotmem.storage.search import vectors
from hotmem.types import (
    EvidenceKind,
    InsertedMemory,
    NewMemory,
    Revision,
    SignBits,
    UserKey,
    Vector,
)


def superseded(conn: Connection, encoder: str) -> bool:
    """Whether the database has another encoder than this one."""
    return reembedding.current(conn) != encoder


def _is_current(conn: Connection, encoder: str) -> bool:
    """Whether the database has this encoder, and keeps it until this transaction ends."""
    conn.hold_encoder()
    return reembedding.current(conn) == encoder


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
    if not _is_current(conn, encoder):
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
    if not _is_current(conn, encoder):
        return
    lock_owners(conn, TABLES[kind], keys)
    reembedding.advance(conn, kind, keys)
    reembedding.postpone(conn, kind, keys)


def finish(conn: Connection, encoder: str) -> None:
    """Ends a change to this encoder once no row has a former vector, and assigns new memories."""
    if not _is_current(conn, encoder):
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
    if _is_current(conn, encoder):
        embedded = vector
    else:
        memory, embedded = replace(memory, tag_vectors={}), None
    return new_memories.insert(conn, user, memory, embedded, signs, now, reason)


def store_memory(
    conn: Connection,
    encoder: str,
    user_id: str,
    memory: NewMemory,
    vector: Vector,
    signs: SignBits,
    now: datetime,
    reason: str,
    revision: Revision,
    revise: Supersede,
    identify: MatchSubjects,
) -> InsertedMemory:
    """Stores a memory explicitly; ends, or puts in doubt, what it contradicts."""
    name = insert_memory(conn, encoder, user_id, memory, vector, signs, now, reason)
    user = users.ensure(conn, user_id)
    speaker = sessions.speaker(conn, user)
    return new_memories.supersede(conn, user, name, memory, revision, speaker, revise, identify)


def confirm_memory(
    conn: Connection,
    user: UserKey,
    encoder: str,
    memory_id: str,
    memory: NewMemory,
    now: datetime,
    reason: str,
) -> bool:
    """Counts that a memory was stored again; False if it was forgotten meanwhile."""
    if not _is_current(conn, encoder):
        memory = replace(memory, tag_vectors={})
    return new_memories.confirm(conn, user, memory_id, memory, now, reason)


def embed_tags(
    conn: Connection, user: UserKey, encoder: str, keys: Sequence[int], rows: Sequence[Vector]
) -> None:
    """Stores the vectors of tags."""
    if _is_current(conn, encoder):
        tags.embed(conn, user, keys, rows)


def refile(
    conn: Connection,
    user: UserKey,
    encoder: str,
    memory_id: str,
    columns: Mapping[str, Any],
    wanted: Mapping[str, Vector] | None,
    now: datetime,
    reason: str,
) -> None:
    """Changes columns of a memory and, unless `wanted` is None, its tags, here with their vectors.

    Raises:
        InvalidInput: If it is not among the user's memories, or was merged into another.
    """
    embedded = _is_current(conn, encoder)  # before rows are changed that a change of it updates
    rows = wanted if wanted is not None and embedded else {}
    names = None if wanted is None else tuple(wanted)
    edits.refile(conn, user, memory_id, columns, names, rows, now, reason)


def reword(
    conn: Connection,
    user: UserKey,
    encoder: str,
    memory_id: str,
    wording: Wording,
    now: datetime,
    reason: str,
) -> str:
    """Replaces a memory by one with new words; returns the new id.

    Raises:
        InvalidInput: If it is not among the user's memories, or was merged into another.
    """
    if not _is_current(conn, encoder):
        wording = replace(wording, vector=None)
    return edits.reword(conn, user, memory_id, wording, now, reason)
