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
from hotmem.storage.queries.effects import apply_effects
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.queries.understandings import MatchSubjects, Supersede, find_effect
from hotmem.storage.queries.users import ensure_entities
from hotmem.storage.search import vectors
from hotmem.text.validation import normalize_value
from hotmem.types import (
    Category,
    DecisionAction,
    EvidenceKind,
    InsertedMemory,
    Kind,
    MemoryMetadata,
    NewMemory,
    RevisedMemory,
    Revision,
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

    If it states one fact of one value, it has the subject and relation of the fact, so that what is
    said later can supersede it. Without a vector it waits to be embedded.

    Returns:
        Its id.
    """
    name = uuid4().hex
    stored = to_stored(now)
    fact = note.fact
    value = note.text if fact is None else fact.object
    key = conn.execute(
        """INSERT INTO memories (user_key, public_id, text, subject, relation, object, value, kind,
           category, importance, hedged, negated, changes, single,
               said_at, order_time, valid_until, stored_at, source, note)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id""",
        (
            user,
            name,
            note.text,
            "" if fact is None else fact.subject,
            "" if fact is None else fact.relation,
            value,
            normalize_value(value),
            note.kind,
            note.category,
            note.importance,
            fact is not None and fact.hedged,
            fact is not None and fact.changes,
            fact is not None,
            stored,
            times.order_time(conn, user, stored, stored),
            None if note.expires_at is None else to_stored(note.expires_at),
            stored,
            note.source,
            note.note,
        ),
    ).fetchone()[0]
    index_entries.add(conn, user, EvidenceKind.MEMORY, key, 0, note.text)
    if vector is not None:
        vectors.put(conn, EvidenceKind.MEMORY, [key], [vector], [signs])
        evolutions.assign(conn, [key])
    for entity in ensure_entities(conn, user, note.entities):
        conn.execute(
            "INSERT INTO memory_entities (entity, memory) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (entity, key),
        )
    _tag(conn, user, key, note, now)
    record(conn, user, DecisionAction.FILED, reason, [(key, None)], now)
    return name


def supersede(
    conn: Connection,
    user: UserKey,
    name: str,
    note: NewMemory,
    revision: Revision,
    speaker: str | None,
    revise: Supersede,
    identify: MatchSubjects,
) -> InsertedMemory:
    """Ends, or puts in doubt, what a new memory contradicts, as if it had been said.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        name: Id of the new memory.
        note: The new memory.
        revision: What its words do to stored memories.
        speaker: The user's name.
        revise: Decides what a fact does.
        identify: Finds the stored subjects that a fact is about.
    """
    key, place, said = conn.execute(
        "SELECT id, order_time, said_at FROM memories WHERE user_key = ? AND public_id = ?",
        (user, name),
    ).fetchone()
    found = [
        find_effect(conn, user, one, from_stored(place), speaker, revise, identify, name)
        for one in note.states
    ]
    effects = [
        *((one.reason, one.ends, one.doubts) for one in found),
        (revision.reason, revision.ends, revision.doubts),
    ]
    settled = {one.confirms for one in found}
    revised: list[RevisedMemory] = []
    for reason, ends, doubts in effects:
        revised += apply_effects(
            conn,
            user,
            memory=key,
            turn=None,
            said_at=from_stored(said),
            reason=reason,
            ends=[one for one in ends if one not in settled],
            doubts=[one for one in doubts if one not in settled],
        )
        settled |= {one.id for one in revised}
    return InsertedMemory(name, tuple(revised))


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
    row = conn.execute(
        "SELECT id FROM memories WHERE user_key = ? AND public_id = ?", (user, name)
    ).fetchone()
    if row is None:
        return False
    (key,) = row
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
    return {
        row[0]: MemoryMetadata(
            kind=Kind(row[1]),
            category=Category(row[2]),
            importance=row[3],
            created=from_stored(row[4]),
            accesses=row[5],
            accessed_at=None if row[6] is None else from_stored(row[6]),
            subcategory=row[7],
        )
        for row in rows
    }


def _tag(conn: Connection, user: UserKey, key: int, note: NewMemory, now: datetime) -> None:
    tags.attach(conn, user, key, note.tags, now, note.tag_vectors)
    tags.attach_found(conn, user, key, note.found_tags, now, note.tag_vectors)
    tags.take(conn, user, note.tag_replacements)
