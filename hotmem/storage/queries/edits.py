"""Memories that a person changed: their words, where they are filed, whether they hold.

Words are not overwritten: the memory with the new ones takes the place of the old one, as one that
was corrected in speech does, and keeps all else of it. So the history shows what it was, and the
edit can be taken back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

import numpy as np

from hotmem.storage.database import Connection
from hotmem.storage.queries import decisions, index_entries, placement, tags
from hotmem.storage.queries.decisions import EDITED, record, unmerged_key
from hotmem.storage.queries.entities import ensure
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.search import vectors
from hotmem.text.validation import normalize_value
from hotmem.types import EvidenceKind, UndoResult, UserKey, Vector

KEPT: Final = (
    "kind, category, importance, hedged, negated, changes, single, said_at, "
    "order_time, confirmations, accesses, accessed_at, source, note"
)
"""Columns that a memory with new words has from the old one."""


@dataclass(frozen=True, slots=True)
class Wording:
    """New words of a memory.

    The statement, its parts as far as they are known, names in it, and its embedding, None where
    that is to be made.
    """

    text: str
    subject: str
    relation: str
    object: str
    entities: tuple[str, ...]
    vector: Vector | None


def reword(
    conn: Connection, user: UserKey, name: str, wording: Wording, now: datetime, reason: str
) -> str:
    """Puts a memory with new words in the place of one; returns its id.

    Raises:
        InvalidInput: If the memory is not among the user's, or another stands for it.
    """
    old = unmerged_key(conn, user, name)
    new_name = uuid4().hex
    new: int = conn.execute(
        f"""INSERT INTO memories (user_key, public_id, text, subject, relation, object, value,
            stored_at, amends, valid_until, superseded_by, {KEPT})
            SELECT user_key, ?, ?, ?, ?, ?, ?, ?, id, valid_until, superseded_by, {KEPT}
                FROM memories WHERE id = ? RETURNING id""",
        (
            new_name,
            wording.text,
            wording.subject,
            wording.relation,
            wording.object,
            normalize_value(wording.object),
            to_stored(now),
            old,
        ),
    ).fetchone()[0]
    conn.execute(
        """INSERT INTO sources (memory, turn, start, stop) SELECT ?, turn, start, stop FROM sources
            WHERE memory = ?""",
        (new, old),
    )
    conn.execute(
        "INSERT INTO memory_tags (memory, tag) SELECT ?, tag FROM memory_tags WHERE memory = ?",
        (new, old),
    )
    conn.execute(
        """UPDATE memories SET valid_until = coalesce(valid_until, ?), superseded_by = ?
            WHERE id = ?""",
        (to_stored(now), new, old),
    )
    index_entries.add(conn, EvidenceKind.MEMORY, user, new, 0, wording.text)
    if wording.vector is not None:
        vectors.put(
            conn, EvidenceKind.MEMORY, [new], [wording.vector], [np.empty((0, 0), dtype=np.uint8)]
        )
        placement.assign(conn, [new])
    for entity in ensure(conn, user, wording.entities):
        conn.execute(
            "INSERT OR IGNORE INTO memory_entities (entity, memory) VALUES (?, ?)", (entity, new)
        )
    record(conn, user, EDITED, reason, [(old, new)], now)
    return new_name


def refile(
    conn: Connection,
    user: UserKey,
    name: str,
    columns: Mapping[str, Any],
    now: datetime,
    reason: str,
) -> None:
    """Changes where a memory is filed and when it stops being true.

    Args:
        conn: A connection.
        user: Whose.
        name: The memory's id.
        columns: New values of kind, category, importance, note or valid_until, each by its name.
        now: The wall clock.
        reason: What was changed, for the record.

    Raises:
        InvalidInput: If the memory is not among the user's, or another stands for it.
    """
    key = unmerged_key(conn, user, name)
    for column, value in columns.items():
        stored = to_stored(value) if isinstance(value, datetime) else value
        conn.execute(f"UPDATE memories SET {column} = ? WHERE id = ?", (stored, key))
    if "valid_until" in columns:
        conn.execute("UPDATE memories SET superseded_by = NULL WHERE id = ?", (key,))
    if "category" in columns:
        conn.execute("DELETE FROM subcategory_members WHERE memory = ?", (key,))
        placement.assign(conn, [key])
    record(conn, user, "refiled", reason, [(key, None)], now)


def retag(
    conn: Connection,
    user: UserKey,
    name: str,
    wanted: Sequence[str],
    rows: Mapping[str, Vector],
    now: datetime,
) -> None:
    """Files a memory under these tags, here with embeddings of new ones, and no others.

    A tag that nothing is filed under any more goes.

    Raises:
        InvalidInput: If the memory is not among the user's, or another stands for it.
    """
    key = unmerged_key(conn, user, name)
    before = conn.execute(
        "DELETE FROM memory_tags WHERE memory = ? RETURNING tag", (key,)
    ).fetchall()
    tags.attach(conn, user, key, wanted, now, rows)
    conn.executemany(
        """DELETE FROM tags WHERE id = :tag AND NOT EXISTS (SELECT 1 FROM memory_tags
               WHERE tag = :tag)
               AND NOT EXISTS (SELECT 1 FROM tags WHERE merged_into = :tag)""",
        [{"tag": tag} for (tag,) in before],
    )


def standing(conn: Connection, user: UserKey, name: str) -> dict[str, Any]:
    """What a memory is now: its words, their parts, where it is filed, and until when it holds.

    Raises:
        InvalidInput: If the memory is not among the user's, or another stands for it.
    """
    columns = (
        "text",
        "subject",
        "relation",
        "object",
        "kind",
        "category",
        "importance",
        "note",
        "valid_until",
    )
    row = conn.execute(
        f"SELECT {', '.join(columns)} FROM memories WHERE id = ?", (unmerged_key(conn, user, name),)
    ).fetchone()
    held = dict(zip(columns, row, strict=True))
    held["valid_until"] = None if held["valid_until"] is None else from_stored(held["valid_until"])
    return held


def undo(conn: Connection, user: UserKey, decision: str, now: datetime) -> UndoResult:
    """Undoes a merge, an edit, a consolidation of tags or an evolution.

    What an import brought is removed later, in portions (`import_rollback`).

    Raises:
        InvalidInput: If there is no such decision, or it was undone before.
    """
    restored = decisions.undo(conn, user, decision, now)
    placement.assign_remaining(conn, user)
    return restored
