"""What is forgotten or withdrawn leaves the memory as the same history without it."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

import pytest

from hotmem.readings import store_understanding
from hotmem.storage import queries
from hotmem.storage.database import Connection, Database
from hotmem.storage.queries.jobs import UserRotation
from hotmem.types import (
    Category,
    DecisionAction,
    Kind,
    NewMemory,
    Statement,
    Understanding,
    UserKey,
)
from hotmem.types.maintenance import ForgetTurns
from tests.storage.contract.story import ENCODER, NOW, adopt, lives_in, turn, user_key

LENGTH: Final = 12
"""Statements of a history."""

TEXT: Final = "It was said."

STORED: Final = """
    SELECT m.text, m.valid_until, (SELECT o.text FROM memories o WHERE o.id = m.superseded_by),
        m.doubted_at, m.confirmations, m.said_at, m.order_time,
        (SELECT json_group_array(s.name) FROM (SELECT t.public_id AS name FROM sources x
            JOIN turns t ON t.id = x.turn WHERE x.memory = m.id ORDER BY t.id) s)
    FROM memories m WHERE m.user_key = ? AND m.merged_into IS NULL ORDER BY m.said_at, m.id"""


def history(seed: int, length: int = LENGTH) -> list[Statement]:
    """Statements that confirm, end and deny each other."""
    random = Random(seed)
    told = []
    for _ in range(length):
        if random.random() < 0.5:
            told.append(lives_in(random.choice(("Leith", "Oban", "Rome", "Faro")), len(TEXT)))
        else:
            told.append(likes(random.choice(("tea", "figs")), negated=random.random() < 0.4))
    return told


def likes(thing: str, *, negated: bool) -> Statement:
    """The statement that Skipper likes a thing, or does not."""
    verb = "does not like" if negated else "likes"
    text, kind, category = f"Skipper {verb} {thing}.", Kind.PREFERENCE, Category.CONTEXTS
    return Statement(
        text, "Skipper", "likes", thing, kind, category, 3, 0, len(TEXT), negated=negated
    )


def tell(
    conn: Connection,
    user: str,
    told: Sequence[Statement],
    without: Collection[int] = (),
    unread: Collection[int] = (),
) -> None:
    """Store turns an hour apart, all but some, and what each of them but some states."""
    for number, statement in enumerate(told):
        if number in without:
            continue
        at = NOW + timedelta(hours=number)
        queries.turns.add(conn, turn(TEXT, user=user, at=at, name=f"t{number}"), at)
        ((key, _),) = queries.turns.waiting(conn, UserRotation(), 1)
        read = Understanding(() if number in unread else (statement,))
        store_understanding(conn, key, read)


def read_again(conn: Connection, told: Mapping[int, Statement]) -> None:
    """Read the turns that wait to be read again, which are named after their numbers."""
    for key, said in queries.turns.waiting(conn, UserRotation(), 99):
        store_understanding(conn, key, Understanding((told[int(said.id.lstrip("aefortb"))],)))


def stored(conn: Connection, user: UserKey) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in conn.execute(STORED, (user,)).fetchall()]


def repeated(conn: Connection, user: UserKey) -> list[tuple[str, datetime]]:
    """What was said again, and when, by the records of decisions."""
    known = {one.id: one.text for one in queries.memories.of_user(conn, user, NOW, past=True)}
    made = queries.decisions.of_user(conn, user, 1000, [DecisionAction.REPEATED])
    return [(known[one.memory_ids[0]], one.decided_at) for one in made]


@pytest.mark.parametrize("seed", range(20))
async def test_a_forgotten_turn_was_never_said(database: Database, seed: int) -> None:
    told, gone = history(seed), seed % LENGTH
    ana, ben = [await database.write_all(user_key, name) for name in ("ana", "ben")]
    await database.write_all(tell, "ana", told)
    await database.write_all(tell, "ben", told, {gone})
    await database.write(queries.forget.remove, ana, ForgetTurns((f"t{gone}",)))
    await database.write_all(read_again, dict(enumerate(told)))
    for state in (stored, repeated):
        assert await database.read(state, ana) == await database.read(state, ben)
    assert not await database.read_all(queries.maintenance.faults)


async def test_deriving_what_is_stored_changes_nothing(database: Database) -> None:
    for seed in range(5):
        user = await database.write_all(user_key, f"user {seed}")
        await database.write_all(tell, f"user {seed}", history(seed))
        before = await database.read(stored, user)
        keys = [
            key for key, _ in await database.read(queries.export_rows.memories, user, 0, 99, 2**62)
        ]
        groups = await database.read(queries.effects.groups_of, user, keys)
        relation, subject, value = min(groups)
        assert await database.read(queries.memories.of_group, user, relation, subject, value)
        assert await database.write(queries.derivation.rederive, user, groups) == 0
        assert await database.read(stored, user) == before


@pytest.mark.parametrize("seed", range(20))
async def test_a_withdrawn_reading_was_never_made(database: Database, seed: int) -> None:
    told = history(seed)
    ana, ben = [await database.write_all(user_key, name) for name in ("ana", "ben")]
    await database.write_all(tell, "ana", told)
    known = await database.read(queries.memories.of_user, ana, NOW, past=True)
    gone = known[seed % len(known)]
    unread = {int(name.removeprefix("t")) for name in gone.turn_ids}
    await database.write_all(tell, "ben", told, (), unread)
    await database.write(queries.undoing.undo, ana, gone.id, NOW + timedelta(days=1))
    assert await database.read(stored, ana) == await database.read(stored, ben)
    assert not await database.read_all(queries.maintenance.faults)


async def test_a_doubt_that_was_settled_by_storing_it_again_stays_settled(
    database: Database,
) -> None:
    told = [likes("tea", negated=False), likes("figs", negated=False)]
    ana = await database.write_all(user_key, "ana")
    await database.write_all(tell, "ana", told)
    await database.write_all(adopt)
    figs, tea = await database.read(queries.memories.of_user, ana, NOW, past=True)
    groups = {("likes", "skipper", "")}

    def doubt(conn: Connection, user: UserKey) -> None:
        cause = queries.decisions.unmerged_key(conn, user, figs.id)
        at, doubts = NOW + timedelta(hours=1), [tea.id]
        effects = queries.effects.apply_effects
        effects(conn, user, memory=cause, turn=None, said_at=at, reason="", doubts=doubts)

    await database.write(doubt, ana)
    assert await database.write(queries.derivation.rederive, ana, groups) == 0
    new, at = NewMemory(tea.text, tea.kind, tea.category, 3), NOW + timedelta(hours=5)
    confirm = queries.new_memories.confirm
    assert await database.write(confirm, ana, ENCODER, tea.id, new, at, "a test")
    before = await database.read(stored, ana)
    assert await database.write(queries.derivation.rederive, ana, groups) == 0
    assert await database.read(stored, ana) == before


async def test_what_is_shown_again_ends_by_what_was_said_while_it_was_hidden(
    database: Database,
) -> None:
    told = [lives_in("Leith", len(TEXT)), likes("tea", negated=False)]
    ana = await database.write_all(user_key, "ana")
    await database.write_all(tell, "ana", told)
    tea, leith = await database.read(queries.memories.of_user, ana, NOW, past=True)
    merged = await database.write(queries.decisions.merge, ana, tea.id, [leith.id], "a test", NOW)
    await database.write_all(tell, "ana", [*told, lives_in("Oban", len(TEXT))], (0, 1))
    await database.write(queries.undoing.undo, ana, merged, NOW + timedelta(days=1))
    found = await database.read(queries.memories.of_user, ana, NOW, past=True)
    ended = {one.text: one.valid_until for one in found}
    assert ended["Skipper lives in Leith."] == NOW + timedelta(hours=2)
    assert ended["Skipper lives in Oban."] is None


async def test_a_name_is_linked_once_whatever_its_case(database: Database) -> None:
    def link(conn: Connection, user: UserKey) -> list[int]:
        (key, _), *_ = queries.turns.waiting(conn, UserRotation(), 1)
        queries.users.link_entities(conn, user, "turn", key, ["Leith", "LEITH", "Oban"])
        leith, oban = queries.users.ensure_entities(conn, user, ["leith", " oban"])
        linked = conn.execute("SELECT entity FROM turn_entities WHERE turn = ?", (key,)).fetchall()
        assert {one for (one,) in linked} == {leith, oban}
        return [one for (one,) in linked]

    ana = await database.write_all(user_key, "ana")
    await database.write_all(queries.turns.add, turn(TEXT), NOW)
    assert len(await database.write(link, ana)) == 2
