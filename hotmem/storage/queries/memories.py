"""Memories: statements with their metadata and the memories they supersede."""

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from hotmem.storage.database import Connection, Pending
from hotmem.storage.queries.times import to_stored
from hotmem.text.tag_words import tag_key
from hotmem.text.validation import ascii_lower, normalize_value
from hotmem.types import (
    Category,
    Interval,
    Kind,
    KnownSubjects,
    Statement,
    StoredMemory,
    UserKey,
)

TURN_IDS = """(SELECT json_group_array(s.public_id) FROM (
    SELECT t.public_id FROM sources x JOIN turns t ON t.id = x.turn
    WHERE x.memory = m.id ORDER BY x.turn, x.start) s)"""
"""Public ids of the turns a memory comes from. They can be thousands, so they are read only where
they are needed."""


_HOLDS = "(m.valid_until IS NULL OR (m.valid_until > ? AND m.superseded_by IS NULL))"
_OWN = """coalesce((SELECT min(CASE WHEN t.speaker <> u.speaker THEN 1 ELSE 0 END)
    FROM sources x JOIN turns t ON t.id = x.turn JOIN users u ON u.id = m.user_key
    WHERE x.memory = m.id), 0) = 0"""

RECENT_FOR_CORRECTION = 50
"""Latest memories that a correction may refer to."""

RECENT_OF_ENTITY = 500
"""Latest memories of an entity that are considered."""

OF_ENTITY = """
    SELECT memory FROM (SELECT memory FROM memory_entities
        WHERE entity = (SELECT id FROM entities WHERE user_key = ? AND key = ?)
                        ORDER BY memory DESC LIMIT ?) AS latest"""
"""The latest memories of an entity."""


def related(
    conn: Connection,
    user: UserKey,
    statement: Statement,
    order_time: datetime,
    same: Collection[str] = (),
) -> list[StoredMemory]:
    """Memories that a statement can confirm, end or be ended by, latest first, without their turns.

    They have its subject, or one of `same`, in any case, and its relation. They also have its
    value, unless the relation is single-valued or the statement is negated: then they are all that
    hold, or were said, later. If the statement ends a name, the current names are included.
    """
    where = "m.user_key = ? AND lower(m.subject) = ANY(?)"
    values = (user, sorted(map(ascii_lower, {statement.subject, *same})))
    any_value = statement.single or statement.negated
    if any_value:
        moment = to_stored(order_time)
        own: tuple[object, ...] = (moment, moment)
        which = "(m.valid_until IS NULL OR m.valid_until > ? OR m.order_time > ?)"
    else:
        own, which = (normalize_value(statement.object),), "m.value = ?"
    known = _select(
        conn,
        f"{where} AND m.relation = ? AND {which}",
        (*values, statement.relation, *own),
        by="memories_by_relation",
    )
    if statement.ending is not None and not any_value:
        names = f"{where} AND m.relation = ? AND m.valid_until IS NULL"
        known += _select(conn, names, (*values, NAMES), by="memories_by_relation")
    return known


def of_user(
    conn: Connection, user: UserKey, now: datetime, *, past: bool, own: bool = False
) -> list[StoredMemory]:
    """The user's memories, latest first; superseded and expired ones only if `past`.

    If `own`, without those that only other speakers than the user stated.
    """
    where = ["m.user_key = ?"] + [_HOLDS] * (not past) + [_OWN] * own
    values = (user, to_stored(now))[: 1 + (not past)]
    return _select(conn, " AND ".join(where), values, turns=TURN_IDS)


def of_group(
    conn: Connection, user: UserKey, relation: str, subject: str, value: str
) -> list[StoredMemory]:
    """Memories of a relation and a subject, in lower case, and of a value unless it is empty.

    They are without their turns.
    """
    where = "m.user_key = ? AND m.relation = ? AND lower(m.subject) = ?"
    values = (user, relation, subject, value)[: 3 + bool(value)]
    where += " AND m.value = ?" * bool(value)
    return _select(conn, where, values, by="memories_by_relation")


def ask_of_entities(
    conn: Connection, user: UserKey, names: Sequence[str], limit: int
) -> Pending[list[int]]:
    """Row numbers of memories that mention one of the entities, latest first.

    Only the latest memories of each entity are considered.
    """
    keys = dict.fromkeys(name.casefold() for name in names)
    if not keys:
        return list
    values = [value for key in keys for value in (user, key, RECENT_OF_ENTITY)]
    rows = conn.execute(
        f"""SELECT id FROM memories WHERE id IN ({" UNION ".join([OF_ENTITY] * len(keys))})
            AND merged_into IS NULL
            ORDER BY order_time DESC, id DESC LIMIT ?""",
        (*values, limit),
    )
    return lambda: [row[0] for row in rows]


def of_kind(
    conn: Connection, user: UserKey, kind: Kind, among: Sequence[int], latest: int
) -> list[int]:
    """Row numbers of a kind: those among some, and the latest ones, latest first."""
    chosen = conn.column(
        "SELECT id FROM memories WHERE id = ANY(?) AND +user_key = ? AND kind = ?",
        ([*among], user, kind),
    )
    newest = conn.column(
        """SELECT id FROM memories WHERE user_key = ? AND kind = ? AND merged_into IS NULL
            ORDER BY order_time DESC, id DESC LIMIT ?""",
        (user, kind, latest),
    )
    return list(dict.fromkeys([*newest, *chosen]))


def latest_of(
    conn: Connection,
    user: UserKey,
    kinds: Sequence[Kind],
    categories: Sequence[Category],
    period: Interval | None,
    latest: int,
) -> list[int]:
    """Row numbers of the latest memories of some kinds or categories, said in a period.

    Args:
        conn: A connection.
        user: The user.
        kinds: Kinds.
        categories: Categories; a memory has one of these or one of the kinds. Without either it may
            have any.
        period: When it was last said or stored; None for any time.
        latest: How many.
    """
    where = ""
    values: list[object] = [user]
    if kinds or categories:
        where += " AND (kind = ANY(?) OR category = ANY(?))"
        values += [list(map(str, kinds)), list(map(str, categories))]
    if period is not None:
        where += " AND said_at >= ? AND said_at < ?"
        values += [to_stored(period.start), to_stored(period.end)]
    return conn.column(
        f"""SELECT id FROM memories WHERE user_key = ? AND merged_into IS NULL{where}
            ORDER BY order_time DESC, id DESC LIMIT ?""",
        (*values, latest),
    )


def tagged(conn: Connection, user: UserKey, names: Sequence[str], latest: int) -> list[int]:
    """Row numbers of the latest memories with one of the tags, in any spelling.

    A tag that is merged into one of them, or that one of them is merged into, counts as that.
    """
    return conn.column(
        """SELECT DISTINCT m.id, m.order_time FROM tags o JOIN memory_tags x ON x.tag = o.id
            JOIN memories m ON m.id = x.memory
            WHERE o.user_key = ? AND m.merged_into IS NULL AND coalesce(o.merged_into, o.id) IN
                (SELECT coalesce(g.merged_into, g.id) FROM tags g
                 WHERE g.user_key = ? AND g.key = ANY(?))
            ORDER BY m.order_time DESC, m.id DESC LIMIT ?""",
        (user, user, [tag_key(name) for name in names], latest),
    )


def stored_reminders(conn: Connection, user: UserKey, limit: int) -> list[int]:
    """Row numbers of the latest reminders that no turn states."""
    return conn.column(
        """SELECT m.id FROM memories m WHERE m.user_key = ? AND m.category = ? AND m.kind = ?
            AND m.merged_into IS NULL
            AND NOT EXISTS (SELECT 1 FROM sources x WHERE x.memory = m.id)
            ORDER BY m.id DESC LIMIT ?""",
        (user, Category.REMINDERS, Kind.REMINDER, limit),
    )


def record_access(conn: Connection, user: UserKey, ids: Sequence[str], now: datetime) -> None:
    """Counts an access of each memory."""
    conn.executemany(
        """UPDATE memories SET accesses = accesses + 1, accessed_at = ? WHERE user_key = ?
            AND public_id = ?""",
        [(to_stored(now), user, memory) for memory in ids],
    )


def latest_until(conn: Connection, user: UserKey, until: datetime) -> list[StoredMemory]:
    """The latest current memories up to a time."""
    current = "m.user_key = ? AND m.valid_until IS NULL AND m.order_time <= ?"
    return _select(conn, current, (user, to_stored(until)), RECENT_FOR_CORRECTION)


TURN_TIME: Final = "(SELECT order_time FROM turns WHERE user_key = ? AND id = ?)"
"""The place of a turn in the order of statements."""


def current_around(
    conn: Connection,
    user: UserKey,
    turn: int | None,
    keys: Sequence[int],
    latest: int,
    after: bool = False,
) -> list[StoredMemory]:
    """Memories that held when a turn was said, or after it, and are not from it, latest first.

    Args:
        conn: A connection.
        user: The user.
        turn: Row number of the turn; None for all current memories.
        keys: Row numbers of memories.
        latest: How many of the latest to add to them.
        after: Whether those said after the turn are read, and not those from before it.
    """
    held, values = "m.valid_until IS NULL", tuple[object, ...]()
    if after:
        held, values = f"{held} AND m.order_time > {TURN_TIME}", (user, turn)
    elif turn is not None:
        held = f"""m.order_time <= {TURN_TIME} AND ({held} OR m.valid_until > {TURN_TIME})
            AND NOT EXISTS (SELECT 1 FROM sources x WHERE x.memory = m.id AND x.turn = ?)"""
        values = (user, turn, user, turn, turn)
    some = f"+m.user_key = ? AND m.id = ANY(?) AND {held}"
    found = _select(conn, some, (user, [*keys], *values), by=None)
    found += _select(conn, f"m.user_key = ? AND {held}", (user, *values), latest)
    return list({memory.id: memory for memory in found}.values())


def turns_of(conn: Connection, user: UserKey, keys: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """Public ids of all turns that each of some memories comes from, by its row number."""
    found: dict[int, tuple[str, ...]] = {}
    for key, turn in conn.execute(
        """SELECT x.memory, t.public_id FROM memories m JOIN sources x ON x.memory = m.id
            JOIN turns t ON t.id = x.turn WHERE +m.user_key = ? AND m.id = ANY(?)
            GROUP BY x.memory, t.id, t.public_id ORDER BY x.memory, t.id""",
        (user, [*keys]),
    ):
        found[key] = (*found.get(key, ()), turn)
    return found


def _select(
    conn: Connection,
    where: str,
    values: Sequence[object],
    limit: int | None = None,
    *,
    by: str | None = "memories_in_order",
    turns: str = "'[]'",
) -> list[StoredMemory]:
    """Memories, latest first, read through the named index; by row number if it is None.

    SQLite would choose the index that avoids sorting, and read all of the user's memories.
    """
    most, values = ("", values) if limit is None else ("LIMIT ?", (*values, limit))
    index = "" if by is None else f"INDEXED BY {by}"
    return conn.records(
        StoredMemory,
        f"""SELECT m.public_id, m.text, m.subject, m.relation, m.object, m.kind, m.category,
            m.importance, m.negated, m.changes, m.single,
                m.said_at, m.order_time, m.valid_until, m.confirmations, {turns}, m.doubted_at,
                (SELECT o.public_id FROM memories o WHERE o.id = m.doubted_by), m.hedged
            FROM memories m {index} WHERE {where} AND m.merged_into IS NULL
                ORDER BY m.order_time DESC, m.id DESC {most}""",
        values,
    )


NAMES, POSSESSES = "is called", "has"
"""Relations that state a subject's name, and what it has."""


CURRENT: Final = "m.user_key = :user AND m.valid_until IS NULL AND m.merged_into IS NULL"

SUBJECTS: Final = f"""
    SELECT min(m.subject) FROM memories m INDEXED BY memories_by_relation
    WHERE {CURRENT} AND m.subject <> ''
    GROUP BY m.relation, lower(m.subject) ORDER BY m.relation, lower(m.subject)"""
"""The subjects of each relation's current facts. All facts are read once: seeking one subject after
the other in the index is quadratic in PostgreSQL, where row level security keeps a condition that
calls a function, such as `lower`, out of index scans."""

FACTS: Final = f"""
    SELECT m.subject, m.object, m.single FROM memories m INDEXED BY memories_by_relation
    WHERE {CURRENT} AND m.relation = :relation AND m.negated = 0"""

IN_ORDER: Final = "ORDER BY lower(m.subject), m.value, m.id"


STEM_LETTERS = 3
"""Letters that a word and its plural share at least."""


_OWNED = re.compile(r"['’]s? ")
"""Separator between an owner and what is owned: "Ana's dog", "Ana's parents' house"."""


def known_subjects(conn: Connection, user: UserKey, subject: str) -> KnownSubjects:
    """Subjects of the user's current facts that share a word with a subject."""
    words = tuple(word[: max(STEM_LETTERS, len(word) - 1)] for word in _own_words(subject))
    owners = [subject[: mark.start()] for mark in _OWNED.finditer(subject)]
    similar = [
        other
        for other in conn.column(SUBJECTS, {"user": user})
        if any(word.startswith(words) for word in _own_words(other))
    ]
    owned = (
        row
        for owner in owners
        for row in conn.execute(
            f"{FACTS} AND lower(m.subject) = :owner {IN_ORDER}",
            {"user": user, "relation": POSSESSES, "owner": ascii_lower(owner)},
        )
    )
    names = conn.execute(f"{FACTS} {IN_ORDER}", {"user": user, "relation": NAMES})
    return KnownSubjects(
        tuple(dict.fromkeys(similar)),
        tuple((owner, name, bool(sole)) for owner, name, sole in names),
        tuple((owner, value) for owner, value, _ in owned),
    )


def current_subjects(conn: Connection, user: UserKey) -> tuple[str, ...]:
    """The subjects of the user's current facts, each once."""
    return tuple(dict.fromkeys(conn.column(SUBJECTS, {"user": user})))


def _own_words(subject: str) -> list[str]:
    """The words of a subject without those of its first owner: "son", "max" of "Ana's son Max"."""
    return re.findall(r"\w+", _OWNED.split(subject.casefold(), maxsplit=1)[-1])
