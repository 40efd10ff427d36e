"""Readings: the decision that something said is a fact, and how the fact is classified.

There is one for every fact that was read from a turn, so none is stored: it is derived from the
memory, whose id it has. It becomes a row of its own once it is undone.
"""

from collections.abc import Collection
from typing import Any, Final

from hotmem.storage.database import Connection
from hotmem.storage.queries import decisions
from hotmem.storage.queries.times import from_stored
from hotmem.types import (
    Decision,
    DecisionAction,
    UserKey,
)

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


def of_user(
    conn: Connection, user: UserKey, limit: int, actions: Collection[DecisionAction] = ()
) -> list[Decision]:
    """The user's decisions with those derived from memories, latest first.

    Args:
        conn: A connection.
        user: The user.
        limit: Decisions at most.
        actions: Only these actions; empty for all.
    """
    found = decisions.of_user(conn, user, limit, actions)
    if not actions or DecisionAction.READ in actions:
        keys = [key for (key,) in conn.execute(LATEST, {"user": user, "limit": limit}).fetchall()]
        details = f"{DERIVED} AND m.id = ANY(:keys) ORDER BY m.id DESC"
        rows = conn.execute(details, {"user": user, "keys": keys})
        found += map(_decision, rows.fetchall())
    return sorted(found, key=lambda one: one.decided_at, reverse=True)[:limit]


def of_memory(conn: Connection, user: UserKey, key: int) -> Decision | None:
    """The derived reading of a memory; None if it has none."""
    row = conn.execute(f"{DERIVED} AND m.id = :key", {"user": user, "key": key}).fetchone()
    return None if row is None else _decision(row)


def store(conn: Connection, user: UserKey, name: str) -> None:
    """Stores the reading of a memory of this id, if there is one, so that it can be undone."""
    row = conn.execute(
        f"{DERIVED} AND m.public_id = :name", {"user": user, "name": name}
    ).fetchone()
    if row is not None:
        reading = _decision(row)
        decisions.record(
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
