"""Derives memories again from the statements that are left (`hotmem.revision.derivation`).

A memory that follows from its former first statement keeps its row, with vector, tags and
decisions. One whose statements are repetitions of another now is deleted.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple
from uuid import uuid4

from hotmem.revision.derivation import Derived, Link, Said, derive
from hotmem.revision.same_subject import find_same_subjects
from hotmem.storage.database import Connection
from hotmem.storage.queries import index_entries, memories, sessions
from hotmem.storage.queries.decisions import record
from hotmem.storage.queries.edits import KEPT
from hotmem.storage.queries.effects import DERIVED, SAID_AGAIN, Group
from hotmem.storage.queries.times import from_stored, to_stored
from hotmem.storage.rows import record_of
from hotmem.text.validation import ascii_lower
from hotmem.types import DecisionAction, EvidenceKind, StoredMemory, UserKey

SPOKEN: Final = ("ended", "doubted", "repeated", "read")
"""Actions of decisions that follow from what is said; others are a person's."""

STATE: Final = """
    SELECT m.public_id, m.id, m.superseded_by, m.doubted_by,
        m.doubted_in, m.amends IS NOT NULL,
        m.stored_at IS NOT NULL OR EXISTS (
            SELECT 1 FROM decision_memories x JOIN decisions d ON d.id = x.decision
            WHERE x.memory = m.id AND d.undone_at IS NULL AND d.action <> ALL(:spoken)),
        EXISTS (SELECT 1 FROM memories o WHERE o.amends = m.id AND o.merged_into IS NULL)
            OR EXISTS (SELECT 1 FROM decision_memories x JOIN decisions d ON d.id = x.decision
                WHERE x.memory = m.id AND d.undone_at IS NULL AND d.action = 'refiled'
                AND (d.changes LIKE '%"valid_until"%' OR d.changes LIKE '%"doubted_at"%')),
        m.stored_at
    FROM memories m WHERE m.user_key = :user AND m.public_id = ANY(:names) ORDER BY m.id"""

SOURCES: Final = """
    SELECT x.memory, x.turn, min(t.spoken_at), min(t.order_time)
    FROM sources x JOIN turns t ON t.id = x.turn
    WHERE +t.user_key = :user AND x.memory = ANY(:keys)
    GROUP BY x.memory, x.turn ORDER BY x.turn"""

AGAIN: Final = """
    SELECT x.memory, d.decided_at FROM decision_memories x JOIN decisions d ON d.id = x.decision
        JOIN memories m ON m.id = x.memory AND m.stored_at IS DISTINCT FROM d.decided_at
    WHERE +d.user_key = :user AND d.undone_at IS NULL AND x.memory = ANY(:keys)
        AND (d.action = 'confirmed' OR (d.action = 'repeated'
            AND NOT EXISTS (SELECT 1 FROM sources s WHERE s.memory = x.memory)))
    ORDER BY d.decided_at"""
"""When memories were stored again, and said again without a turn that they depend on."""

REPETITION: Final = """
    SELECT d.id FROM decisions d JOIN decision_memories x ON x.decision = d.id
    WHERE d.user_key = :user AND d.action = 'repeated' AND d.decided_at = :at
        AND x.memory = :former"""
"""The record that a statement repeated a memory."""

EFFECTS: Final = """
    SELECT k.public_id, c.public_id, c.id, d.decided_at, d.action = 'ended', d.undone_at IS NOT NULL
    FROM decision_memories x JOIN decisions d ON d.id = x.decision
        JOIN memories k ON k.id = x.memory JOIN memories c ON c.id = x.into_memory
    WHERE +d.user_key = :user AND d.action IN ('ended', 'doubted') AND x.memory = ANY(:keys)
        AND c.merged_into IS DISTINCT FROM c.id
    ORDER BY d.id"""
"""Recorded effects on memories of what is not withdrawn."""


class _Row(NamedTuple):
    """A stored memory, with what else decides on its place in the derivation.

    Attributes:
        key: Its row number.
        superseded_by: Row number of what ended it.
        doubted_by: Row number of what put it in doubt.
        doubted_in: Row number of the turn that did, if no memory was read from it.
        corrects: Whether it is a correction.
        separate: Whether it was stored explicitly, or a person decided something about it.
        fixed: Whether it was corrected, or a person set its validity.
        stored_at: When it was stored explicitly.
        memory: The memory.
        sources: Its turns, each with when it was said and its position.
        again: When it was said or stored again without a turn.
    """

    key: int
    superseded_by: int | None
    doubted_by: int | None
    doubted_in: int | None
    corrects: bool
    separate: bool
    fixed: bool
    stored_at: int | None
    memory: StoredMemory
    sources: Sequence[tuple[int, datetime, datetime]]
    again: Sequence[datetime]

    def said(self) -> Iterator[Said]:
        """Its statements: those of its turns, or the one that was stored, then those without."""
        own_end = self.superseded_by is None or self.fixed
        memory = self.memory if own_end else replace(self.memory, valid_until=None)
        separate = self.separate or self.corrects
        first = (memory.said_at, memory.order_time)
        if self.again and self.stored_at:
            first = (from_stored(self.stored_at),) * 2
        for turn, said_at, order_time in (
            *(self.sources or ((None, *first),)),
            *((None, at, at) for at in self.again),
        ):
            yield Said(memory, turn, said_at, order_time, separate, self.corrects)

    def columns(self) -> dict[str, int | None]:
        """The derived columns, as they are stored."""
        memory = self.memory
        return {
            "valid_until": _stored(memory.valid_until),
            "superseded_by": self.superseded_by,
            "doubted_at": _stored(memory.doubted_at),
            "doubted_by": self.doubted_by,
            "doubted_in": self.doubted_in,
            "said_at": _stored(memory.said_at),
            "order_time": _stored(memory.order_time),
            "confirmations": memory.confirmations,
        }

    @property
    def more(self) -> int:
        """Its confirmations that are no turns."""
        said = max(len(self.sources), 1) + len(self.again)
        return max(self.memory.confirmations - (said - 1), 0)


class _Effect(NamedTuple):
    """A recorded effect of a memory outside the group, or hidden, on one of it."""

    target: str
    cause: int
    at: datetime
    ended: bool


def rederive(conn: Connection, user: UserKey, groups: Collection[Group]) -> int:
    """Derives the memories of some groups again, and stores what is different.

    Args:
        conn: The writer, within a transaction.
        user: The user.
        groups: What has to be derived again.

    Returns:
        How many memories changed.
    """
    speaker = sessions.speaker(conn, user) if groups else None
    changed = 0
    done: set[Group] = set()
    for group in sorted(groups):
        if group not in done:
            rows, same = _load(conn, user, group, speaker)
            relation, _, value = group
            done |= {(relation, ascii_lower(one.memory.subject), value) for one in rows.values()}
            changed += _derive(conn, user, rows, same)
    return changed


def _load(
    conn: Connection, user: UserKey, group: Group, speaker: str | None
) -> tuple[dict[str, _Row], dict[str, Collection[str] | None]]:
    """The memories of a group, and of subjects that are the same, by id; and these subjects."""
    same: dict[str, Collection[str] | None] = {}
    found: dict[str, StoredMemory] = {}
    relation, subject, value = group
    waiting = [subject]
    while waiting:
        one = waiting.pop()
        of_subject = memories.of_group(conn, user, relation, one, value)
        found |= {memory.id: memory for memory in of_subject}
        named = of_subject[0].subject if of_subject else one
        if value or named == speaker or one in same:
            continue
        others = find_same_subjects(named, memories.known_subjects(conn, user, named))
        same[one] = None if others is None else {ascii_lower(other) for other in others}
        waiting += [other for other in same[one] or () if other not in same]
    values = {"user": user, "names": [*found], "spoken": [*SPOKEN]}
    states = conn.execute(STATE, values).fetchall()
    turns: dict[int, list[tuple[int, datetime, datetime]]] = {key: [] for _, key, *_ in states}
    values["keys"] = [*turns]
    for key, turn, spoken_at, order_time in conn.execute(SOURCES, values).fetchall():
        turns[key].append((turn, from_stored(spoken_at), from_stored(order_time)))
    again: dict[int, list[datetime]] = {key: [] for key in turns}
    for key, at in conn.execute(AGAIN, values).fetchall():
        again[key].append(from_stored(at))
    rows: dict[str, _Row] = {}
    for name, *state in states:
        key = state[0]
        rows[name] = record_of(
            _Row, state, memory=found[name], sources=turns[key], again=again[key]
        )
    return rows, same


def _in_order(rows: Collection[_Row]) -> list[Said]:
    """The statements of memories in the order in which they were stored, by turn.

    One that was stored without a turn stands before the first turn of a later row, and when it was
    stored again, before what was said later.
    """
    numbered = [(row, *one) for row in rows for one in enumerate(row.said())]
    spoken = sorted(
        ((said.turn, row.key, number == 0, said) for row, number, said in numbered if said.turn),
        key=lambda one: one[:2],
    )
    placed = [((place, 1, 0), said) for place, (*_, said) in enumerate(spoken)]
    for row, number, said in numbered:
        if not said.turn:
            later = (
                place
                for place, (_, key, first, other) in enumerate(spoken)
                if (first and key > row.key if number == 0 else other.said_at > said.said_at)
            )
            placed.append(((next(later, len(spoken)), 0, row.key), said))
    return [said for _, said in sorted(placed, key=lambda one: one[0])]


def _derive(
    conn: Connection,
    user: UserKey,
    rows: Mapping[str, _Row],
    same: Mapping[str, Collection[str] | None],
) -> int:
    """Derives one group; returns how many memories changed."""
    links: list[Link] = []
    apart: set[tuple[str, str]] = set()
    beyond: list[_Effect] = []
    keys = [row.key for row in rows.values()]
    for target, cause, key, at, ended, undone in conn.execute(
        EFFECTS, {"user": user, "keys": keys}
    ):
        if undone:
            apart.add((target, cause))
        elif cause in rows:
            links.append(Link(cause, target, from_stored(at), bool(ended)))
        else:
            beyond.append(_Effect(target, key, from_stored(at), bool(ended)))
    derived = derive(_in_order(rows.values()), links, apart, same)
    keys_of: dict[int, int] = {}
    kept: set[str] = set()
    changed = 0
    for one in derived:
        row = rows[one.memory.id]
        split = row.memory.id in kept
        keys_of[id(one)] = _copy(conn, user, row.key) if split else row.key
        kept.add(row.memory.id)
        changed += split
    for one in derived:
        changed += _take_sources(conn, user, keys_of[id(one)], one, rows)
    joined = {
        name: next(one for one in derived for said in one.said if said.memory.id == name)
        for name in rows
        if name not in kept
    }
    for name, into in joined.items():
        first = next(rows[name].said())
        _join(conn, user, rows[name].key, keys_of[id(into)], first.said_at)
    for one in derived:
        more = sum(rows[name].more for name, into in joined.items() if into is one)
        changed += _store(conn, user, one, rows[one.memory.id], keys_of, beyond, more)
    return changed + len(joined)


def _store(
    conn: Connection,
    user: UserKey,
    one: Derived,
    row: _Row,
    keys_of: Mapping[int, int],
    beyond: Sequence[_Effect],
    more: int,
) -> bool:
    """Stores what is different of a memory; returns whether something is."""
    key, memory = keys_of[id(one)], one.memory
    ended_by = None if one.ended_by is None else keys_of[id(one.ended_by)]
    doubted_by = None if one.doubted_by is None else keys_of[id(one.doubted_by)]
    until, doubted_at = memory.valid_until, memory.doubted_at
    for effect in beyond:
        if effect.target == row.memory.id and effect.at >= memory.said_at:
            if effect.ended and (until is None or until > effect.at):
                until, ended_by = effect.at, effect.cause
            elif not effect.ended and (until is None or until > effect.at):
                doubted_at, doubted_by = effect.at, effect.cause
    doubted_in, former = None, row.memory.doubted_at
    if row.doubted_in and doubted_at is None and former and former >= memory.order_time:
        doubted_at, doubted_in = former, row.doubted_in
    if row.fixed:
        until, ended_by = row.memory.valid_until, row.superseded_by
        doubted_at, doubted_by, doubted_in = former, row.doubted_by, row.doubted_in
    said_at, order_time = memory.said_at, memory.order_time
    if not row.sources:
        said_at = max(said_at, row.memory.said_at)
        order_time = max(order_time, row.memory.order_time)
    own = row.more if key == row.key else 0
    values = {
        "valid_until": _stored(until),
        "superseded_by": ended_by,
        "doubted_at": _stored(doubted_at),
        "doubted_by": doubted_by,
        "doubted_in": doubted_in,
        "said_at": _stored(said_at),
        "order_time": _stored(order_time),
        "confirmations": own + more + len(one.said) - 1,
    }
    before = row.columns() if key == row.key else {}
    if before == values:
        return False
    conn.execute(
        f"""UPDATE memories SET {", ".join(f"{name} = :{name}" for name in values)}
            WHERE user_key = :user AND id = :key""",
        {**values, "user": user, "key": key},
    )
    for action, cause, at in (
        (DecisionAction.ENDED, "superseded_by", until),
        (DecisionAction.DOUBTED, "doubted_by", doubted_at),
    ):
        by = values[cause]
        if by is not None and by != before.get(cause) and at is not None:
            record(conn, user, action, DERIVED, [(key, by)], at)
    return True


def _stored(moment: datetime | None) -> int | None:
    return None if moment is None else to_stored(moment)


def _take_sources(
    conn: Connection, user: UserKey, key: int, one: Derived, rows: Mapping[str, _Row]
) -> int:
    """Attaches the turns of a memory's statements to it; returns how many were others'."""
    moved = 0
    if not rows[one.memory.id].sources:
        return moved  # what was stored without a turn does not depend on one that repeats it
    for said in one.said:
        former = rows[said.memory.id].key
        if former != key and said.turn is not None:
            values = {"key": key, "former": former, "turn": said.turn}
            conn.execute(
                """INSERT INTO sources (memory, turn, start, stop)
                    SELECT CAST(:key AS BIGINT), turn, start, stop FROM sources
                    WHERE memory = :former AND turn = :turn ON CONFLICT DO NOTHING""",
                values,
            )
            conn.execute("DELETE FROM sources WHERE memory = :former AND turn = :turn", values)
            found = {**values, "user": user, "at": to_stored(said.said_at)}
            for decision in conn.column(REPETITION, found):
                conn.execute(
                    "DELETE FROM decisions WHERE user_key = ? AND id = ?", (user, decision)
                )
                if said is not one.said[0]:
                    action = DecisionAction.REPEATED
                    record(conn, user, action, SAID_AGAIN, [(key, None)], said.said_at)
            moved += 1
    return moved


def _join(conn: Connection, user: UserKey, key: int, into: int, said_at: datetime) -> None:
    """Deletes a memory that repeats another, with its links and decisions attached to that."""
    values = {"user": user, "key": key, "into": into}
    for link in ("superseded_by", "doubted_by"):
        conn.execute(
            f"UPDATE memories SET {link} = :into WHERE +user_key = :user AND {link} = :key", values
        )
    conn.execute(
        "UPDATE decision_memories SET into_memory = :into WHERE into_memory = :key", values
    )
    conn.execute(
        """INSERT INTO decision_memories (decision, memory, into_memory)
            SELECT decision, CAST(:into AS BIGINT), into_memory FROM decision_memories
            WHERE memory = :key ON CONFLICT DO NOTHING""",
        values,
    )
    conn.execute("DELETE FROM memories WHERE +user_key = :user AND id = :key", values)
    record(conn, user, DecisionAction.REPEATED, SAID_AGAIN, [(into, None)], said_at)


def _copy(conn: Connection, user: UserKey, key: int) -> int:
    """A new memory with the content of another, for statements that repeat it no longer.

    It waits to be embedded like any new one.
    """
    new: int
    new, text = conn.execute(
        f"""INSERT INTO memories (user_key, public_id, text, subject, relation, object, value,
                category_percent, {KEPT})
            SELECT user_key, CAST(? AS TEXT), text, subject, relation, object, value,
                category_percent, {KEPT}
            FROM memories WHERE user_key = ? AND id = ? RETURNING id, text""",
        (uuid4().hex, user, key),
    ).fetchone()
    for table, column in (("memory_entities", "entity"), ("memory_tags", "tag")):
        conn.execute(
            f"""INSERT INTO {table} ({column}, memory)
                SELECT {column}, CAST(? AS BIGINT) FROM {table} WHERE memory = ?""",
            (new, key),
        )
    index_entries.add(conn, user, EvidenceKind.MEMORY, new, 0, text)
    return new
