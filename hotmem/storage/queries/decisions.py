"""Decisions about memories, their reasons, and what they changed. `undoing` undoes them.

A merged memory keeps its row; only its index entry is deleted, so that no search finds it. Undoing
the merge creates the entry again.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias
from uuid import uuid4

from hotmem.errors import InvalidInput
from hotmem.storage.database import Connection
from hotmem.storage.queries import index_entries
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.rows import record_of
from hotmem.storage.search.vectors import from_bytes
from hotmem.types import Decision, DecisionAction, EvidenceKind, MemoryChange, UserKey

State: TypeAlias = dict[str, Any]
"""Values of a memory by field."""

Changes: TypeAlias = dict[str, dict[str, list[Any]]]
"""The value before and after, by memory id and field."""

MOMENTS: Final = frozenset({"valid_until", "doubted_at", "said_at", "order_time"})
"""Fields that are times."""


def difference(before: Mapping[str, State], after: Mapping[str, State]) -> Changes:
    """What has changed of the memories that still exist."""
    changes = {
        memory: {
            field: [value, after[memory][field]]
            for field, value in state.items()
            if after[memory][field] != value
        }
        for memory, state in before.items()
        if memory in after
    }
    return {memory: fields for memory, fields in changes.items() if fields}


def to_json(changes: Changes) -> str | None:
    """Changes as they are stored; None if there are none."""
    return json.dumps(changes, ensure_ascii=False) if changes else None


def texts(changes: str | None) -> Iterator[str]:
    """All texts in stored changes: notes, tags and ids."""
    waiting = [] if changes is None else [json.loads(changes)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()


def former_categories(changes: str | None) -> set[str]:
    """The categories that the memories of stored changes had before or after."""
    return {
        value
        for fields in ({} if changes is None else json.loads(changes)).values()
        for value in fields.get("category", ())
    }


def shown(changes: str | None, names: Mapping[int, str]) -> tuple[MemoryChange, ...]:
    """Stored changes for people.

    Args:
        changes: The changes.
        names: Names of subcategories, by row number; those that no longer exist are left out.
    """

    def written(field: str, value: Any) -> str | None:  # noqa: ANN401 - any value of a field
        if value is None:
            return None
        if field in MOMENTS:
            return from_stored(value).isoformat()
        if field == "subcategories":
            value = [names[one] for one in value if one in names]
        return ", ".join(value) or None if isinstance(value, list) else str(value)

    return tuple(
        MemoryChange(memory, field, written(field, before), written(field, after))
        for memory, fields in ({} if changes is None else json.loads(changes)).items()
        for field, (before, after) in fields.items()
    )


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
    key = conn.scalar(
        """INSERT INTO decisions (user_key, public_id, action, reason, decided_at, changes, undoes)
            VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id""",
        (user, name, action, reason, to_stored(now), changes, undoes),
    )
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
    merged = conn.column(
        """SELECT m.id FROM memories m WHERE m.merged_into = ?
               AND (m.stored_at IS NOT NULL OR EXISTS (SELECT 1 FROM sources x
                   WHERE x.memory = m.id))""",
        (kept,),
    )
    for key in merged:
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
        record_of(Decision, row[:-2], changes=shown(row[-2], names), undoes=row[-1]) for row in rows
    ]


def unmerged_key(conn: Connection, user: UserKey, name: str) -> int:
    """The row number of a user's memory that is not merged into another.

    Raises:
        InvalidInput: If there is none.
    """
    key = conn.scalar(
        "SELECT id FROM memories WHERE user_key = ? AND public_id = ? AND merged_into IS NULL",
        (user, name),
    )
    if key is None:
        raise InvalidInput(
            f"{name!r} is not the id of a memory of this user. search_memory (`hotmem search`) "
            "shows their ids."
        )
    return int(key)


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


IS_READ: Final = """
    m.user_key = :user AND m.stored_at IS NULL AND m.amends IS NULL AND m.import IS NULL
        AND NOT EXISTS (SELECT 1 FROM decisions d
            WHERE d.user_key = m.user_key AND d.public_id = m.public_id)"""
"""Whether the reading of a memory is not stored. That of a correction or of an import is not
listed: the memory belongs to that decision."""

DERIVED: Final = f"""
    SELECT m.id, m.public_id, m.relation, m.kind, m.category, m.importance, m.category_percent,
        (SELECT t.public_id FROM sources x JOIN turns t ON t.id = x.turn WHERE x.memory = m.id
            ORDER BY t.spoken_at, t.id LIMIT 1),
        coalesce((SELECT min(t.spoken_at) FROM sources x JOIN turns t ON t.id = x.turn
            WHERE x.memory = m.id), m.said_at)
    FROM memories m WHERE {IS_READ}"""

LATEST: Final = f"SELECT m.id FROM memories m WHERE {IS_READ} ORDER BY +m.id DESC LIMIT :limit"


def with_readings(
    conn: Connection, user: UserKey, limit: int, actions: Collection[DecisionAction] = ()
) -> list[Decision]:
    """The user's decisions with those derived from memories, latest first.

    Args:
        conn: A connection.
        user: The user.
        limit: Decisions at most.
        actions: Only these actions; empty for all.
    """
    found = of_user(conn, user, limit, actions)
    if not actions or DecisionAction.READ in actions:
        keys = conn.column(LATEST, {"user": user, "limit": limit})
        details = f"{DERIVED} AND m.id = ANY(:keys) ORDER BY m.id DESC"
        rows = conn.execute(details, {"user": user, "keys": keys})
        found += map(_decision, rows.fetchall())
    return sorted(found, key=lambda one: one.decided_at, reverse=True)[:limit]


def reading_of(conn: Connection, user: UserKey, key: int) -> Decision | None:
    """The derived reading of a memory; None if it has none."""
    row = conn.execute(f"{DERIVED} AND m.id = :key", {"user": user, "key": key}).fetchone()
    return None if row is None else _decision(row)


def store_reading(conn: Connection, user: UserKey, name: str) -> None:
    """Stores the reading of a memory of this id, if there is one, so that it can be undone."""
    row = conn.execute(
        f"{DERIVED} AND m.public_id = :name", {"user": user, "name": name}
    ).fetchone()
    if row is not None:
        reading = _decision(row)
        record(
            conn,
            user,
            DecisionAction.READ,
            reading.reason,
            [(row[0], None)],
            reading.decided_at,
            name=name,
        )


def _decision(row: tuple[Any, ...]) -> Decision:
    _, name, relation, kind, category, importance, percent, turn, read_at = row
    origin = f"read from the turn {turn}" if turn else "read from a turn that was forgotten"
    found = f"as “{relation}”" if relation else "kept as a sentence"
    sure = "" if percent is None else f", {percent}% sure of the category"
    return Decision(
        id=name,
        action=DecisionAction.READ,
        reason=f"{origin}, {found}; {category}, {kind}, importance {importance} of 5{sure}",
        decided_at=from_stored(read_at),
        undone_at=None,
        memory_ids=(name,),
        into=None,
    )
