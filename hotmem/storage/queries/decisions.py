"""Decisions about memories, their reasons, and how they are undone.

A merged memory keeps its row; only its index entry is deleted, so that no search finds it. Undoing
the merge creates the entry again.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import uuid4

from hotmem.errors import InvalidInput
from hotmem.storage.database import Connection
from hotmem.storage.queries import imports, index_entries
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.search.vectors import from_bytes
from hotmem.types import Decision, EvidenceKind, UndoResult, UserKey

MERGED: Final = "merged"
TAGS_CHANGED: Final = "tags consolidated"
ENDED: Final = "ended"
DOUBTED: Final = "doubted"
REPEATED: Final = "repeated"
EDITED: Final = "edited"
EVOLVED: Final = "evolved"
IMPORTED: Final = "imported"
UNDOABLE: Final = (MERGED, TAGS_CHANGED, ENDED, DOUBTED, REPEATED, EDITED, EVOLVED, IMPORTED)
"""Decisions that can be undone."""


def record(
    conn: Connection,
    user: UserKey,
    action: str,
    reason: str,
    memories: Sequence[tuple[int, int | None]],
    now: datetime,
) -> str:
    """Records a decision about memories, each with the one it was merged into; returns its id."""
    name = uuid4().hex
    key = conn.execute(
        """INSERT INTO decisions (user_key, public_id, action, reason, decided_at)
            VALUES (?, ?, ?, ?, ?) RETURNING id""",
        (user, name, action, reason, to_stored(now)),
    ).fetchone()[0]
    conn.executemany(
        "INSERT INTO decision_memories (decision, memory, into_memory) VALUES (?, ?, ?)",
        [(key, memory, into) for memory, into in memories],
    )
    return name


def merge(
    conn: Connection, user: UserKey, into: str, others: Sequence[str], reason: str, now: datetime
) -> str:
    """Merges memories into one, which counts as confirmed by each; returns the decision's id.

    Raises:
        InvalidInput: If one is not among the user's memories, or was merged before.
    """
    keys = [unmerged_key(conn, user, name) for name in (into, *others)]
    if len(set(keys)) < len(keys):
        raise InvalidInput("A memory cannot be merged into itself. Name each once.")
    kept, *merged = keys
    for key in merged:
        conn.execute("UPDATE memories SET merged_into = ? WHERE id = ?", (kept, key))
        index_entries.remove(conn, user, EvidenceKind.MEMORY, key)
    conn.execute(
        "UPDATE memories SET confirmations = confirmations + ? WHERE id = ?", (len(merged), kept)
    )
    return record(conn, user, MERGED, reason, [(key, kept) for key in merged], now)


def undo(conn: Connection, user: UserKey, name: str, now: datetime) -> UndoResult:
    """Undoes a merge, an ending, a doubt, an edit, a consolidation of tags or an evolution.

    A memory that was corrected holds again without the correction; one that was ended otherwise
    holds beside what ended it. A memory that was repeated counts as not repeated. An import is
    marked, to be rolled back in portions.

    Raises:
        InvalidInput: If there is no such decision, it cannot be undone, or it was undone before.
    """
    row = conn.execute(
        """SELECT id, action, undone_at, decided_at FROM decisions
            WHERE user_key = ? AND public_id = ?""",
        (user, name),
    ).fetchone()
    if row is None or row[1] not in UNDOABLE:
        raise InvalidInput(
            f"{name!r} cannot be undone. memory_decisions (`hotmem "
            "decisions`) lists what was decided about this user's memories."
        )
    if row[2] is not None:
        raise InvalidInput(f"{name!r} was undone on {from_stored(row[2]).date()}.")
    merged = conn.execute(
        "SELECT memory, into_memory FROM decision_memories WHERE decision = ?", (row[0],)
    ).fetchall()
    restored = 0
    if row[1] == EDITED or (row[1] == ENDED and _is_correction(conn, user, merged)):
        _undo_edit(conn, row[0], *merged.pop())
        restored = 1
    elif row[1] == REPEATED:
        _undo_repetition(conn, user, merged.pop()[0], row[3])
        restored = 1
    elif row[1] in (ENDED, DOUBTED):
        restored = _undo_effect(conn, user, row[0], row[1])
        merged = []
    for key, kept in merged:
        unmerge(conn, user, key)
        conn.execute(
            "UPDATE memories SET confirmations = greatest(confirmations - 1, 0) WHERE id = ?",
            (kept,),
        )
    tags = conn.execute("SELECT tag FROM decision_tags WHERE decision = ?", (row[0],)).fetchall()
    conn.executemany(
        "UPDATE tags SET merged_into = NULL, archived = 0 WHERE id = ? AND +user_key = ?",
        [(tag, user) for (tag,) in tags],
    )
    returned = _restore_former_evolution(conn, user, row[0]) if row[1] == EVOLVED else 0
    removed = conn.execute(
        "UPDATE imports SET state = ? WHERE decision = ? RETURNING turns + memories",
        (imports.UNDONE, row[0]),
    ).fetchone()
    conn.execute("UPDATE decisions SET undone_at = ? WHERE id = ?", (to_stored(now), row[0]))
    return UndoResult(len(merged) + len(tags) + returned + restored, removed[0] if removed else 0)


def release_merged(conn: Connection, user: UserKey, kept: int) -> None:
    """Unmerges memories merged into one, if they have sources or were stored explicitly."""
    merged = conn.execute(
        """SELECT m.id FROM memories m WHERE m.merged_into = ?
               AND (m.stored_at IS NOT NULL OR EXISTS (SELECT 1 FROM sources x
                   WHERE x.memory = m.id))""",
        (kept,),
    ).fetchall()
    for (key,) in merged:
        unmerge(conn, user, key)


def of_user(conn: Connection, user: UserKey, limit: int) -> list[Decision]:
    """The user's decisions, latest first."""
    rows = conn.execute(
        """SELECT d.public_id, d.action, d.reason, d.decided_at, d.undone_at,
               (SELECT json_group_array(o.public_id) FROM (
                   SELECT m.public_id FROM decision_memories x JOIN memories m ON m.id = x.memory
                   WHERE x.decision = d.id ORDER BY x.memory) o),
               (SELECT m.public_id FROM decision_memories x JOIN memories m ON m.id = x.into_memory
                   WHERE x.decision = d.id ORDER BY x.memory LIMIT 1)
           FROM decisions d WHERE d.user_key = ? ORDER BY d.decided_at DESC, d.id DESC LIMIT ?""",
        (user, limit),
    )
    return [
        Decision(
            id=name,
            action=action,
            reason=reason,
            decided_at=from_stored(decided_at),
            undone_at=None if undone_at is None else from_stored(undone_at),
            memory_ids=tuple(json.loads(memories)),
            into=into,
        )
        for name, action, reason, decided_at, undone_at, memories, into in rows
    ]


def unmerged_key(conn: Connection, user: UserKey, name: str) -> int:
    """The row number of a user's memory that is not merged into another.

    Raises:
        InvalidInput: If there is none.
    """
    row = conn.execute(
        "SELECT id FROM memories WHERE user_key = ? AND public_id = ? AND merged_into IS NULL",
        (user, name),
    ).fetchone()
    if row is None:
        raise InvalidInput(
            f"{name!r} is not among this user's memories. search_memory (`hotmem search`) "
            "shows their ids."
        )
    return int(row[0])


def unmerge(conn: Connection, user: UserKey, key: int) -> None:
    """Unmerges a memory and indexes it again."""
    text, vector = conn.execute(
        "UPDATE memories SET merged_into = NULL WHERE id = ? RETURNING text, vector", (key,)
    ).fetchone()
    index_entries.add(conn, user, EvidenceKind.MEMORY, key, 0, text)
    if vector is not None:
        index_entries.sign(conn, user, EvidenceKind.MEMORY, key, from_bytes([vector])[0])


def _undo_effect(conn: Connection, user: UserKey, decision: int, action: str) -> int:
    """Restores memories that a decision ended or put in doubt; returns their number.

    Those that ended or became doubtful for another reason since stay as they are.
    """
    changed, held = (
        (
            "valid_until = NULL, superseded_by = NULL",
            "m.valid_until IS NOT NULL AND m.superseded_by",
        )
        if action == ENDED
        else (
            "doubted_at = NULL, doubted_by = NULL, doubted_in = NULL",
            "m.doubted_at IS NOT NULL AND m.doubted_by",
        )
    )
    restored = conn.execute(
        f"""UPDATE memories AS m SET {changed} WHERE m.user_key = ? AND EXISTS (
                SELECT 1 FROM decision_memories x WHERE x.decision = ? AND x.memory = m.id
                    AND {held} IS NOT DISTINCT FROM x.into_memory) RETURNING id""",
        (user, decision),
    )
    return len(restored.fetchall())


def _is_correction(
    conn: Connection, user: UserKey, ended: Sequence[tuple[int, int | None]]
) -> bool:
    """Whether one memory ended because a turn corrected a word of it."""
    if len(ended) != 1:
        return False
    sql = "SELECT 1 FROM memories WHERE amends = ? AND id = ? AND +user_key = ?"
    return conn.execute(sql, (*ended[0], user)).fetchone() is not None


def _undo_repetition(conn: Connection, user: UserKey, key: int, said_at: int) -> None:
    """Detaches the turn that repeated a memory, unless it is the memory's only turn."""
    conn.execute(
        """UPDATE memories SET confirmations = greatest(confirmations - 1, 0)
            WHERE id = ? AND +user_key = ?""",
        (key, user),
    )
    spoken_at, order_time = conn.execute(
        """SELECT max(t.spoken_at), max(t.order_time) FROM sources x JOIN turns t ON t.id = x.turn
            WHERE x.memory = ? AND +t.user_key = ? AND t.spoken_at <> ?""",
        (key, user, said_at),
    ).fetchone()
    if spoken_at is None:
        return
    conn.execute(
        """DELETE FROM sources WHERE memory = ?
            AND turn IN (SELECT id FROM turns WHERE user_key = ? AND spoken_at = ?)""",
        (key, user, said_at),
    )
    conn.execute(
        "UPDATE memories SET said_at = ?, order_time = ? WHERE id = ? AND +user_key = ?",
        (spoken_at, order_time, key, user),
    )


def _undo_edit(conn: Connection, decision: int, old: int, new: int) -> None:
    """Restores a memory as it was before an edit, and deletes the edited one.

    Decisions about the edited one refer to the restored one.
    """
    changed = conn.execute(
        """SELECT 1 FROM memories WHERE (id = :new AND merged_into IS NOT NULL)
            OR merged_into = :new
            OR amends = :new""",
        {"new": new},
    ).fetchone()
    if changed:
        raise InvalidInput(
            "The memory was changed again after this edit. Undo the later change first."
        )
    conn.execute(
        """UPDATE memories SET (valid_until, superseded_by) = (SELECT n.valid_until, n.superseded_by
           FROM memories n WHERE n.id = :new)
           WHERE id = :old""",
        {"old": old, "new": new},
    )
    for link in ("superseded_by", "doubted_by"):
        conn.execute(
            f"UPDATE memories SET {link} = :old WHERE {link} = :new", {"old": old, "new": new}
        )
    conn.execute("UPDATE decision_memories SET into_memory = NULL WHERE decision = ?", (decision,))
    conn.execute(
        """UPDATE decision_memories SET memory = :old WHERE memory = :new
            AND NOT EXISTS (SELECT 1 FROM decision_memories o
                WHERE o.decision = decision_memories.decision AND o.memory = :old)""",
        {"old": old, "new": new},
    )
    conn.execute("DELETE FROM memories WHERE id = ?", (new,))


def _restore_former_evolution(conn: Connection, user: UserKey, decision: int) -> int:
    """Makes the former evolution live again; returns its number of subcategories."""
    live = conn.execute(
        "SELECT id, category FROM evolutions WHERE decision = ? AND state = 'live'", (decision,)
    ).fetchone()
    if live is None:
        raise InvalidInput(
            "The category has evolved since, or something was forgotten. Undo the latest "
            "evolution first, or let the category evolve again."
        )
    conn.execute("UPDATE evolutions SET state = 'undone' WHERE id = ?", (live[0],))
    former = conn.execute(
        """UPDATE evolutions SET state = 'live'
           WHERE id = (SELECT max(id) FROM evolutions WHERE user_key = ? AND category = ?
               AND state = 'past') RETURNING id""",
        (user, live[1]),
    ).fetchone()
    if former is None:
        return 0
    return int(
        conn.execute("SELECT count(*) FROM subcategories WHERE evolution = ?", former).fetchone()[0]
    )
