"""Decisions about memories and their reasons. `undoing` undoes them.

A merged memory keeps its row; only its index entry is deleted, so that no search finds it. Undoing
the merge creates the entry again.
"""

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import uuid4

from hotmem.errors import InvalidInput
from hotmem.storage.database import Connection
from hotmem.storage.queries import index_entries, memory_changes
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.search.vectors import from_bytes
from hotmem.types import Decision, DecisionAction, EvidenceKind, UserKey


def record(
    conn: Connection,
    user: UserKey,
    action: DecisionAction,
    reason: str,
    memories: Sequence[tuple[int, int | None]],
    now: datetime,
    *,
    name: str | None = None,
    changes: str | None = None,
    undoes: int | None = None,
) -> str:
    """Records a decision about memories.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        action: What was decided.
        reason: Why.
        memories: Row numbers of the memories, each with that of the one it was merged into, or that
            ended it or put it in doubt.
        now: When.
        name: Its id; None for a new one.
        changes: What it changed (`memory_states`).
        undoes: Row number of the decision that it undoes.

    Returns:
        Its id.
    """
    name = name or uuid4().hex
    key = conn.execute(
        """INSERT INTO decisions (user_key, public_id, action, reason, decided_at, changes, undoes)
            VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id""",
        (user, name, action, reason, to_stored(now), changes, undoes),
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
        merge_into(conn, user, key, kept)
    conn.execute(
        "UPDATE memories SET confirmations = confirmations + ? WHERE id = ?", (len(merged), kept)
    )
    return record(conn, user, DecisionAction.MERGED, reason, [(key, kept) for key in merged], now)


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


def of_user(
    conn: Connection, user: UserKey, limit: int, actions: Collection[DecisionAction] = ()
) -> list[Decision]:
    """The user's stored decisions, latest first; only these actions, unless none is given."""
    wanted = "AND d.action = ANY(:actions)" if actions else ""
    rows = conn.execute(
        f"""SELECT d.public_id, d.action, d.reason, d.decided_at, d.undone_at,
               (SELECT json_group_array(o.public_id) FROM (
                   SELECT m.public_id FROM decision_memories x JOIN memories m ON m.id = x.memory
                   WHERE x.decision = d.id ORDER BY x.memory) o),
               (SELECT m.public_id FROM decision_memories x JOIN memories m ON m.id = x.into_memory
                   WHERE x.decision = d.id ORDER BY x.memory LIMIT 1), d.changes,
               (SELECT u.public_id FROM decisions u WHERE u.id = d.undoes)
           FROM decisions d WHERE d.user_key = :user {wanted}
           ORDER BY d.decided_at DESC, d.id DESC LIMIT :limit""",
        {"user": user, "actions": list(actions), "limit": limit},
    ).fetchall()
    names = _subcategory_names(conn, user) if any(row[7] for row in rows) else {}
    return [
        Decision(
            id=name,
            action=DecisionAction(action),
            reason=reason,
            decided_at=from_stored(decided_at),
            undone_at=None if undone_at is None else from_stored(undone_at),
            memory_ids=tuple(json.loads(memories)),
            into=into,
            changes=memory_changes.shown(changes, names),
            undoes=undoes,
        )
        for name, action, reason, decided_at, undone_at, memories, into, changes, undoes in rows
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
            f"{name!r} is not the id of a memory of this user. search_memory (`hotmem search`) "
            "shows their ids."
        )
    return int(row[0])


def merge_into(conn: Connection, user: UserKey, key: int, into: int) -> None:
    """Hides a memory from every search; one that is withdrawn is merged into itself."""
    conn.execute(
        "UPDATE memories SET merged_into = ? WHERE id = ? AND +user_key = ?", (into, key, user)
    )
    index_entries.remove(conn, user, EvidenceKind.MEMORY, key)


def unmerge(conn: Connection, user: UserKey, key: int) -> None:
    """Makes a memory that was merged or withdrawn a memory of its own, and indexes it again."""
    text, vector = conn.execute(
        "UPDATE memories SET merged_into = NULL WHERE id = ? RETURNING text, vector", (key,)
    ).fetchone()
    index_entries.add(conn, user, EvidenceKind.MEMORY, key, 0, text)
    if vector is not None:
        index_entries.sign(conn, user, EvidenceKind.MEMORY, key, from_bytes([vector])[0])


def _subcategory_names(conn: Connection, user: UserKey) -> dict[int, str]:
    rows = conn.execute(
        """SELECT s.id, s.name FROM subcategories s JOIN evolutions e ON e.id = s.evolution
            WHERE e.user_key = ?""",
        (user,),
    )
    return dict(rows.fetchall())
