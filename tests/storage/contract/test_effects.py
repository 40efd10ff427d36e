"""Effects of what is said on stored memories: endings and doubts, their undo and their deletion."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import pytest

from hotmem.readings import store_note
from hotmem.storage import Storage, queries
from hotmem.storage.database import Connection, Database
from hotmem.types import (
    Category,
    DecisionAction,
    EvidenceKind,
    InsertedMemory,
    Kind,
    MemoryRecord,
    NewMemory,
    Revision,
    UserKey,
)
from hotmem.types.maintenance import ForgetMemory, ForgetTurns
from tests.letters import NO_SIGNS, LetterEncoder
from tests.storage.contract.story import ENCODER, NOW, embed, lives_in, move, note, say, turn

MEMORY, PASSAGE = EvidenceKind.MEMORY, EvidenceKind.PASSAGE
DAY: Final = timedelta(days=1)
LATER: Final = NOW + 9 * DAY
GRACE: Final = timedelta(days=30)


def key_of(conn: Connection, user: UserKey, name: str) -> int:
    """The row number of a memory."""
    return queries.decisions.unmerged_key(conn, user, name)


async def records(database: Database, user: UserKey) -> dict[str, MemoryRecord]:
    """The user's memories by text, as an export has them."""
    found = await database.read(queries.export_rows.memories, user, 0, 99, 99)
    return {record.text: record for _, record in found}


async def home(database: Database) -> None:
    """Skipper says that they live in Leith."""
    await database.write_all(say, "I live in Leith.", session="first")
    await database.write_all(move, "Leith")


async def contradict(
    database: Database, user: UserKey, *, by_memory: bool, ends: bool = False
) -> str | None:
    """Skipper says something that puts their home in doubt, or ends it; returns the new memory."""
    await database.write_all(say, "They moved, I think.", session="second")
    await database.write_all(move, None)
    new = await database.write_all(note, "Skipper may have moved.", user) if by_memory else None
    (*_, (turn, _)) = await database.read(queries.turns.of_user, user, 0, 9)
    old = (await records(database, user))["Skipper lives in Leith."].id

    def apply(conn: Connection, user: UserKey) -> None:
        queries.effects.apply_effects(
            conn,
            user,
            memory=None if new is None else key_of(conn, user, new),
            turn=turn,
            said_at=LATER,
            reason="a test",
            ends=[old] if ends else [],
            doubts=[old],
        )

    await database.write(apply, user)
    return new


@pytest.mark.parametrize("by_memory", [True, False])
async def test_a_doubt_has_its_time_and_cause_and_can_be_undone(
    database: Database, ana: UserKey, by_memory: bool
) -> None:
    await home(database)
    new = await contradict(database, ana, by_memory=by_memory)
    doubted = (await records(database, ana))["Skipper lives in Leith."]
    assert (doubted.doubted_at, doubted.doubted_by, doubted.valid_until) == (LATER, new, None)
    assert doubted.doubted_in == (None if by_memory else "second-0")
    (stored,) = [
        one
        for one in await database.read(queries.memories.of_user, ana, NOW, past=False)
        if one.relation
    ]
    assert (stored.doubted_at, stored.doubted_by, stored.current) == (LATER, new, True)
    decision, *_ = await database.read(queries.decisions.of_user, ana, 9)
    assert (decision.action, decision.reason) == ("doubted", "a test")
    assert (decision.memory_ids, decision.into) == ((doubted.id,), new)
    assert (await database.write(queries.undoing.undo, ana, decision.id, LATER)).restored == 1
    cleared = (await records(database, ana))["Skipper lives in Leith."]
    assert (cleared.doubted_at, cleared.doubted_by, cleared.doubted_in) == (None, None, None)


async def test_an_ending_has_precedence_and_can_be_undone(database: Database, ana: UserKey) -> None:
    await home(database)
    new = await contradict(database, ana, by_memory=True, ends=True)
    ended = (await records(database, ana))["Skipper lives in Leith."]
    assert (ended.valid_until, ended.superseded_by, ended.doubted_at) == (LATER, new, None)
    decision, *_ = await database.read(queries.decisions.of_user, ana, 9)
    assert (decision.action, decision.into) == ("ended", new)
    await database.write(queries.undoing.undo, ana, decision.id, LATER)
    restored = (await records(database, ana))["Skipper lives in Leith."]
    assert (restored.valid_until, restored.superseded_by) == (None, None)


async def test_what_a_memory_superseded_holds_again(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    await home(database)
    new = await contradict(database, ana, by_memory=True, ends=True)
    assert new is not None
    keys = [await database.read(key_of, ana, new)]
    await database.write(queries.effects.take_out, ben, keys)
    assert (await records(database, ana))["Skipper lives in Leith."].valid_until == LATER
    await database.write(queries.effects.take_out, ana, keys)
    assert (await records(database, ana))["Skipper lives in Leith."].valid_until is None


async def test_an_undone_ending_keeps_another(database: Database, ana: UserKey) -> None:
    await home(database)
    await database.write_all(say, "I live in Oban.", session="oban")
    await database.write_all(move, "Oban")
    first, *_ = await database.read(queries.decisions.of_user, ana, 9)
    assert first.action == "ended"
    await database.write(queries.undoing.undo, ana, first.id, LATER)
    await contradict(database, ana, by_memory=True, ends=True)
    assert (await records(database, ana))["Skipper lives in Leith."].valid_until == LATER


async def test_a_confirmed_memory_is_no_longer_in_doubt(database: Database, ana: UserKey) -> None:
    await home(database)
    await contradict(database, ana, by_memory=True)

    def repeat(conn: Connection, days: int) -> None:
        said_at = LATER + days * DAY
        conn.execute("UPDATE turns SET order_time = ? + 1", (queries.times.to_stored(said_at),))

    await database.write_all(say, "I live in Leith.", session="third")
    await database.write_all(repeat, -1)
    await database.write_all(move, "Leith")
    assert (await records(database, ana))["Skipper lives in Leith."].doubted_at == LATER
    await database.write_all(say, "I live in Leith.", session="fourth")
    await database.write_all(repeat, 1)
    await database.write_all(move, "Leith")
    assert (await records(database, ana))["Skipper lives in Leith."].doubted_at is None


async def test_a_repetition_is_undone_with_its_turn(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    for user in ("ana", "ben"):
        for name, at in (("first", NOW), ("second", LATER)):
            said = turn("I live in Leith.", user=user, session=name, at=at, name=name)
            await database.write_all(queries.turns.add, said, at)
            await database.write_all(move, "Leith")
    theirs = await records(database, ben)
    (repeated,) = (await records(database, ana)).values()
    assert (repeated.confirmations, repeated.said_at) == (1, LATER)
    (decision,) = await database.read(queries.decisions.of_user, ana, 9)
    assert decision.action == "repeated"
    await database.write(queries.undoing.undo, ana, decision.id, LATER)
    (undone,) = (await records(database, ana)).values()
    assert (undone.confirmations, undone.said_at) == (0, NOW)
    assert [span.turn_id for span in undone.words] == ["first"]
    assert await records(database, ben) == theirs


async def test_sources_that_go_are_counted(database: Database, ana: UserKey, ben: UserKey) -> None:
    for session in ("first", "second"):
        await database.write_all(say, "I live in Leith.", session=session)
        await database.write_all(move, "Leith")
    (before,) = (await records(database, ana)).values()
    key = await database.read(key_of, ana, before.id)
    await database.write(queries.effects.count_sources_gone, ben, [(key, 1)])
    assert (await records(database, ana))[before.text] == before
    await database.write(queries.effects.count_sources_gone, ana, [(key, 1)])
    assert (before.confirmations, (await records(database, ana))[before.text].confirmations) == (
        1,
        0,
    )


@pytest.mark.parametrize("by_memory", [True, False])
async def test_a_doubt_goes_with_its_cause_and_is_restored_with_it(
    storage: Storage, ana: UserKey, by_memory: bool
) -> None:
    database = storage.database
    await home(database)
    new = await contradict(database, ana, by_memory=by_memory)
    before = (await records(database, ana))["Skipper lives in Leith."]
    target = ForgetMemory(new) if new is not None else ForgetTurns(("second-0",))
    await storage.forgetting.forget(ana, target, grace=GRACE)
    after = (await records(database, ana))["Skipper lives in Leith."]
    assert (after.doubted_at, after.doubted_by, after.doubted_in) == (None, None, None)
    await storage.forgetting.restore(ana)
    assert (await records(database, ana))["Skipper lives in Leith."] == before


async def test_doubts_are_loaded_with_memories_and_their_passages(
    storage: Storage, ana: UserKey
) -> None:
    database = storage.database
    await home(database)
    new = await contradict(database, ana, by_memory=True)
    await database.write_all(embed)
    old = (await records(database, ana))["Skipper lives in Leith."].id
    key = await database.read(key_of, ana, old)
    assert new is not None
    cause = await database.read(key_of, ana, new)
    page = await database.read_all(
        lambda conn: conn.search.index_page(conn, ana, PASSAGE, 0, 9)().keys.tolist()
    )
    evidence = await database.read(queries.evidence.load, ana, {PASSAGE: page, MEMORY: [key]})
    found = {(one.kind, one.text): one for one in evidence}
    for of in ((MEMORY, "Skipper lives in Leith."), (PASSAGE, "I live in Leith.")):
        assert (found[of].doubted_at, found[of].replaced_by) == (LATER, cause)
        assert found[of].valid_until is None
    assert found[MEMORY, "Skipper may have moved."].doubted_at is None
    assert found[PASSAGE, "They moved, I think."].doubted_at is None


async def test_a_memory_that_was_already_contradicted_is_in_doubt(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    first = await database.write_all(note, "The Lira is blue.", ana)
    second = await database.write_all(note, "The Lira is red.", ana)

    key = await database.read(key_of, ana, first)
    mark = queries.effects.apply_later
    action = DecisionAction.DOUBTED
    await database.write(mark, ben, key, second, action, "a test")
    assert (await records(database, ana))["The Lira is blue."].doubted_at is None
    await database.write(mark, ana, key, second, action, "a test")
    found = (await records(database, ana))["The Lira is blue."]
    assert (found.doubted_at, found.doubted_by) == (NOW, second)

    def clear(conn: Connection, user: UserKey) -> None:
        keys = [key_of(conn, user, second)]
        queries.effects.clear_caused_doubts(conn, user, memories=keys)

    await database.write(clear, ana)
    assert (await records(database, ana))["The Lira is blue."].doubted_at is None


@pytest.mark.parametrize("certain", [True, False])
async def test_a_stored_fact_supersedes_as_if_it_had_been_said(
    database: Database, ana: UserKey, certain: bool
) -> None:
    """It ends the former value, also of a stored one, and puts in doubt what else it may change."""
    await home(database)

    def store(conn: Connection, place: str, at: datetime, revision: Revision) -> InsertedMemory:
        text = f"Skipper lives in {place}."
        fact = replace(lives_in(place, len(text)), hedged=not certain)
        new = NewMemory(text, Kind.FACT, Category.CONTEXTS, 3, states=(fact,))
        row = LetterEncoder().encode([text])[0]
        return store_note(conn, ENCODER, "ana", new, row, NO_SIGNS, at, "a test", revision)

    boat = await database.write_all(note, "The boat is in Leith.", ana)
    revision = Revision((), (boat,), "a test")
    first = await database.write_all(store, "Oban", NOW + DAY, revision)
    assert {(one.text, one.ended) for one in first.revised} == {
        ("Skipper lives in Leith.", certain),
        ("The boat is in Leith.", False),
    }
    second = await database.write_all(store, "Mallaig", LATER, Revision())
    assert ("Skipper lives in Oban.", certain) in {(one.text, one.ended) for one in second.revised}
    again = await database.write_all(store, "Mallaig", LATER + DAY, Revision((), (second.id,), ""))
    assert again.revised == (), "it says the same"
    found = await records(database, ana)
    assert (found["Skipper lives in Oban."].valid_until is not None) == certain
    decision, *_ = [
        one
        for one in await database.read(queries.decisions.of_user, ana, 9)
        if one.id == second.revised[0].decision
    ]
    await database.write(queries.undoing.undo, ana, decision.id, LATER)
    restored = {one.id: one for one in (await records(database, ana)).values()}
    assert restored[second.revised[0].id].valid_until is None
    assert restored[second.revised[0].id].doubted_at is None
