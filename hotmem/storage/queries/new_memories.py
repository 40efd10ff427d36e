"""Memories stored explicitly rather than extracted from turns."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

from hotmem.storage.database import Connection
from hotmem.storage.queries import (
    decisions,
    evolutions,
    index_entries,
    memory_states,
    reembedding,
    subcategories,
    tags,
    times,
)
from hotmem.storage.queries.decisions import record
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.queries.users import link_entities
from hotmem.storage.rows import record_of
from hotmem.storage.search import vectors
from hotmem.text.validation import normalize_value
from hotmem.types import (
    DecisionAction,
    EvidenceKind,
    MemoryMetadata,
    NewMemory,
    SignBits,
    UserKey,
    Vector,
)


def insert(
    conn: Connection,
    user: UserKey,
    note: NewMemory,
    vector: Vector | None,
    signs: SignBits,
    now: datetime,
    reason: str,
) -> str:
    """Stores a memory, searchable at once, with the reason of its classification.

    If it states one fact, it has the subject and relation of the fact, so that what is said later
    can repeat or supersede it. Without a vector it waits to be embedded.

    Returns:
        Its id.
    """
    name = uuid4().hex
    stored = to_stored(now)
    fact = note.fact
    value = note.text if fact is None else fact.object
    row = {
        "user_key": user,
        "public_id": name,
        "text": note.text,
        "subject": "" if fact is None else fact.subject,
        "relation": "" if fact is None else fact.relation,
        "object": value,
        "value": normalize_value(value),
        "kind": note.kind,
        "category": note.category,
        "importance": note.importance,
        "hedged": fact is not None and fact.hedged,
        "negated": 0,
        "changes": fact is not None and fact.changes,
        "single": fact is not None and fact.single,
        "said_at": stored,
        "order_time": times.order_time(conn, user, stored, stored),
        "valid_until": None if note.expires_at is None else to_stored(note.expires_at),
        "stored_at": stored,
        "source": note.source,
        "note": note.note,
    }
    key = conn.insert("memories", row)
    index_entries.add(conn, user, EvidenceKind.MEMORY, key, 0, note.text)
    if vector is not None:
        vectors.put(conn, EvidenceKind.MEMORY, [key], [vector], [signs])
        evolutions.assign(conn, [key])
    link_entities(conn, user, "memory", key, note.entities)
    _tag(conn, user, key, note, now)
    record(conn, user, DecisionAction.FILED, reason, [(key, None)], now)
    return name


def said(conn: Connection, user: UserKey, name: str) -> tuple[int, datetime, datetime]:
    """A memory's row number, its position in the order of statements, and when it was stored."""
    key, order_time, said_at = conn.execute(
        "SELECT id, order_time, said_at FROM memories WHERE user_key = ? AND public_id = ?",
        (user, name),
    ).fetchone()
    return key, from_stored(order_time), from_stored(said_at)


def confirm(
    conn: Connection,
    user: UserKey,
    encoder: str,
    name: str,
    note: NewMemory,
    now: datetime,
    reason: str,
) -> bool:
    """Counts that a memory was stored again; adds the tags and higher importance of the new one.

    False if it no longer exists.
    """
    if not reembedding.is_current(conn, encoder):
        note = replace(note, tag_vectors={})
    key = times.row_of(conn, user, "memories", name)
    if key is None:
        return False
    decisions.store_reading(conn, user, name)  # with the importance that it had
    before = memory_states.of(conn, user, [key])
    conn.execute(
        """UPDATE memories SET confirmations = confirmations + 1, said_at = ?, order_time = ?,
           importance = greatest(importance, ?),
           doubted_at = NULL, doubted_by = NULL, doubted_in = NULL
           WHERE user_key = ? AND id = ?""",
        (
            to_stored(now),
            times.order_time(conn, user, to_stored(now), to_stored(now)),
            note.importance,
            user,
            key,
        ),
    )
    _tag(conn, user, key, note, now)
    changes = decisions.difference(before, memory_states.of(conn, user, [key]))
    record(
        conn,
        user,
        DecisionAction.CONFIRMED,
        reason,
        [(key, None)],
        now,
        changes=decisions.to_json(changes),
    )
    return True


def metadata(conn: Connection, user: UserKey, keys: Sequence[int]) -> dict[int, MemoryMetadata]:
    """Metadata of memories in search results, by row number."""
    rows = conn.execute(
        f"""SELECT m.id, m.kind, m.category, m.importance, coalesce(m.stored_at, m.said_at),
           m.accesses, m.accessed_at, ({subcategories.NAME_OF_MEMORY})
           FROM memories m WHERE +m.user_key = ? AND m.id = ANY(?)""",
        (user, list(keys)),
    )
    return {key: record_of(MemoryMetadata, row) for key, *row in rows}


def _tag(conn: Connection, user: UserKey, key: int, note: NewMemory, now: datetime) -> None:
    tags.attach(conn, user, key, note.tags, now, note.tag_vectors)
    tags.attach_found(conn, user, key, note.found_tags, now, note.tag_vectors)
    tags.take(conn, user, note.tag_replacements)
