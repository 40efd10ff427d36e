"""Edits of memories by a person: text, classification, validity.

The text is not overwritten: a memory with the new text supersedes the old one, as after a spoken
correction, and takes over the rest of it. The history shows both, and the edit can be undone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

import numpy as np

from hotmem.errors import InvalidInput
from hotmem.storage.database import Connection
from hotmem.storage.queries import (
    decisions,
    evolutions,
    index_entries,
    memory_states,
    reembedding,
    tags,
)
from hotmem.storage.queries.decisions import record, unmerged_key
from hotmem.storage.queries.times import from_stored, short, to_stored
from hotmem.storage.queries.users import link_entities
from hotmem.storage.search import vectors
from hotmem.text.validation import normalize_value
from hotmem.types import DecisionAction, EvidenceKind, UserKey, Vector

KEPT: Final = (
    "kind, category, importance, hedged, negated, changes, single, said_at, "
    "order_time, confirmations, accesses, accessed_at, source, note"
)
"""Columns that a reworded memory takes over from the old one."""


FIELDS: Final = (
    "text, subject, relation, object, kind, category, importance, note, valid_until, doubted_at"
)
"""Columns that an edit may change."""


@dataclass(frozen=True, slots=True)
class Wording:
    """New text of a memory, with its statement, entities and vector.

    A vector of None is computed later.
    """

    text: str
    subject: str
    relation: str
    object: str
    entities: tuple[str, ...]
    vector: Vector | None


def reword(
    conn: Connection,
    user: UserKey,
    encoder: str,
    name: str,
    wording: Wording,
    now: datetime,
    reason: str,
) -> str:
    """Supersedes a memory by one with a new text; returns the new id.

    Raises:
        InvalidInput: If it is not among the user's memories, or was merged or replaced.
    """
    vector = wording.vector if reembedding.is_current(conn, encoder) else None
    old = _editable_key(conn, user, name)
    new_name = uuid4().hex
    texts = ", ".join(["CAST(? AS TEXT)"] * 6)
    new: int = conn.scalar(
        f"""INSERT INTO memories (user_key, public_id, text, subject, relation, object, value,
            stored_at, amends, valid_until, superseded_by, {KEPT})
            SELECT user_key, {texts}, CAST(? AS BIGINT), id, valid_until, superseded_by, {KEPT}
                FROM memories WHERE user_key = ? AND id = ? RETURNING id""",
        (
            new_name,
            wording.text,
            wording.subject,
            wording.relation,
            wording.object,
            normalize_value(wording.object),
            to_stored(now),
            user,
            old,
        ),
    )
    conn.execute(
        """INSERT INTO sources (memory, turn, start, stop)
            SELECT CAST(? AS BIGINT), turn, start, stop FROM sources WHERE memory = ?""",
        (new, old),
    )
    conn.execute(
        """INSERT INTO memory_tags (memory, tag, found)
            SELECT CAST(? AS BIGINT), tag, found FROM memory_tags WHERE memory = ?""",
        (new, old),
    )
    conn.execute(
        """UPDATE memories SET valid_until = coalesce(valid_until, ?), superseded_by = ?
            WHERE id = ?""",
        (to_stored(now), new, old),
    )
    index_entries.add(conn, user, EvidenceKind.MEMORY, new, 0, wording.text)
    if vector is not None:
        vectors.put(conn, EvidenceKind.MEMORY, [new], [vector], [np.empty((0, 0), dtype=np.uint8)])
        evolutions.assign(conn, [new])
    link_entities(conn, user, "memory", new, wording.entities)
    record(conn, user, DecisionAction.EDITED, reason, [(old, new)], now)
    return new_name


def refile(
    conn: Connection,
    user: UserKey,
    encoder: str,
    name: str,
    columns: Mapping[str, Any],
    wanted: Mapping[str, Vector] | None,
    now: datetime,
    reason: str,
) -> None:
    """Changes the classification of a memory, its tags, and when it expires.

    Args:
        conn: A connection.
        user: The user.
        encoder: The encoder of the vectors.
        name: The memory's id.
        columns: New values of kind, category, importance, note, valid_until or doubted_at, by
            column name. A memory whose validity is set is no longer in doubt.
        wanted: Tags that replace the present ones, with their vectors; None leaves them.
        now: The wall clock.
        reason: What was changed, for the decision.

    Raises:
        InvalidInput: If it is not among the user's memories, or was merged or replaced.
    """
    # before rows are changed that a change of the encoder updates
    embedded = reembedding.is_current(conn, encoder)
    key = _editable_key(conn, user, name)
    decisions.store_reading(conn, user, name)  # with the classification that it had
    before = memory_states.of(conn, user, [key])
    for column, value in columns.items():
        stored = to_stored(value) if isinstance(value, datetime) else value
        conn.execute(f"UPDATE memories SET {column} = ? WHERE id = ?", (stored, key))
    if "valid_until" in columns:
        conn.execute("UPDATE memories SET superseded_by = NULL WHERE id = ?", (key,))
    if "valid_until" in columns or "doubted_at" in columns:
        conn.execute(
            """UPDATE memories SET doubted_at = NULL, doubted_by = NULL, doubted_in = NULL
                WHERE user_key = ? AND id = ?""",
            (user, key),
        )
    if "category" in columns:
        conn.execute("DELETE FROM subcategory_members WHERE memory = ?", (key,))
        evolutions.assign(conn, [key])
    if wanted is not None:
        tags.replace(conn, user, key, tuple(wanted), now, wanted if embedded else {})
    changes = decisions.difference(before, memory_states.of(conn, user, [key]))
    record(
        conn,
        user,
        DecisionAction.REFILED,
        reason,
        [(key, None)],
        now,
        changes=decisions.to_json(changes),
    )


def current_fields(conn: Connection, user: UserKey, name: str) -> dict[str, Any]:
    """The current text, statement, classification and expiry of a memory.

    Raises:
        InvalidInput: If it is not among the user's memories, or was merged or replaced.
    """
    row = conn.execute(
        f"SELECT {FIELDS} FROM memories WHERE id = ?", (_editable_key(conn, user, name),)
    ).fetchone()
    fields = dict(zip(FIELDS.split(", "), row, strict=True))
    for moment in ("valid_until", "doubted_at"):
        if fields[moment] is not None:
            fields[moment] = from_stored(fields[moment])
    return fields


def _editable_key(conn: Connection, user: UserKey, name: str) -> int:
    """The row number of a memory that no edit or correction replaced.

    Raises:
        InvalidInput: If it is not among the user's memories, or was merged or replaced.
    """
    key = unmerged_key(conn, user, name)
    later = conn.scalar(
        """SELECT public_id FROM memories WHERE user_key = ? AND amends = ?
            AND merged_into IS NULL ORDER BY id DESC""",
        (user, key),
    )
    if later is not None:
        raise InvalidInput(
            f"{short(name)!r} was replaced by {short(later)!r}. Change that one, or undo the"
            " replacement (`hotmem decisions` lists it, `hotmem undo` undoes it)."
        )
    return key
