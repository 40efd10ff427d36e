"""Decisions are undone, and undoings taken back: filings, readings, endings, merges."""

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest

from hotmem.errors import InvalidInput
from hotmem.storage import Storage, queries
from hotmem.storage.database import Connection, Database
from hotmem.storage.queries.edits import Wording
from hotmem.types import (
    Category,
    Decision,
    DecisionAction,
    EvidenceKind,
    Kind,
    NewMemory,
    UndoResult,
    UserKey,
    Vector,
)
from hotmem.types.maintenance import ForgetEntity, ForgetMemory, ForgetTurns
from tests.letters import LetterEncoder
from tests.storage.contract.story import ENCODER, NOW, memories_of, move, note, postings, say, turn
from tests.storage.contract.test_editing import evolve

MEMORY: Final = EvidenceKind.MEMORY
DAY: Final = timedelta(days=1)
GRACE: Final = timedelta(days=30)
LIRA: Final = "The Lira is a ship."


async def listed(database: Database, user: UserKey, *actions: DecisionAction) -> list[Decision]:
    """The user's decisions, latest first."""
    return await database.read(queries.decisions.with_readings, user, 99, actions)


async def undo(database: Database, user: UserKey, name: str, days: int = 1) -> UndoResult:
    return await database.write(queries.undoing.undo, user, name, NOW + days * DAY)


async def refile(
    database: Database,
    user: UserKey,
    name: str,
    columns: Mapping[str, Any],
    tags: Mapping[str, Vector] | None = None,
) -> Decision:
    """Refile a memory; return the decision."""
    write, at = queries.edits.refile, NOW + DAY
    await database.write(write, user, ENCODER, name, columns, tags, at, "a test")
    return (await listed(database, user, DecisionAction.REFILED))[0]


def state(conn: Connection, user: UserKey) -> dict[str, Any]:
    """The user's memories by text, as an export has them, and the terms of their index."""
    records = {one.text: one for _, one in queries.export_rows.memories(conn, user, 0, 99, 99)}
    terms = ("lira", "leith", "oban", "heron")
    return records | {term: postings(conn, user, term, MEMORY) for term in terms}


async def test_a_refiling_restores_all_that_it_changed(database: Database, ana: UserKey) -> None:
    await database.write_all(note, "The Heron likes fish.", ana)
    name = await database.write_all(note, LIRA, ana, tags=["ships", "wood"])
    await evolve(database, ana)
    before = await database.read(state, ana)
    assert before[LIRA].subcategory == "ferry"
    columns = {
        "category": Category.LEARNINGS,
        "kind": Kind.PREFERENCE,
        "importance": 5,
        "note": "from “Ana”\nin Ünïcode",
        "valid_until": NOW + 9 * DAY,
    }
    row = LetterEncoder().encode(["boats"])[0]
    decision = await refile(database, ana, name, columns, {"boats": row})
    after = await database.read(state, ana)
    assert (after[LIRA].tags, after[LIRA].subcategory) == (("boats",), None)
    changes = {one.field: (one.before, one.after) for one in decision.changes}
    assert changes["category"] == ("contexts", "learnings")
    assert changes["tags"] == ("ships, wood", "boats")
    assert changes["subcategories"] == ("ferry", None)
    assert changes["valid_until"] == (None, (NOW + 9 * DAY).isoformat())
    undone = await undo(database, ana, decision.id)
    assert await database.read(state, ana) == before
    with pytest.raises(InvalidInput, match="was undone on"):
        await undo(database, ana, decision.id)
    latest, *_ = await listed(database, ana)
    assert (latest.id, latest.action, latest.undoes) == (undone.decision, "undone", decision.id)
    redone = await undo(database, ana, undone.decision)
    assert await database.read(state, ana) == after
    with pytest.raises(InvalidInput, match="Undo the decision itself"):
        await undo(database, ana, redone.decision)
    await undo(database, ana, decision.id)
    assert await database.read(state, ana) == before


async def test_a_later_refiling_is_undone_first(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    name = await database.write_all(note, LIRA, ana)
    first = await refile(database, ana, name, {"category": Category.LEARNINGS})
    other = await refile(database, ana, name, {"importance": 5})
    second = await refile(database, ana, name, {"category": Category.PROJECTS})
    with pytest.raises(InvalidInput, match="Undo the later change first"):
        await undo(database, ana, first.id)
    with pytest.raises(InvalidInput, match="cannot be undone"):
        await undo(database, ben, second.id)
    for one in (second, first):
        await undo(database, ana, one.id)
    found = (await database.read(state, ana))[LIRA]
    assert (found.category, found.importance) == ("contexts", 5), "another change stays"
    await undo(database, ana, other.id)
    assert (await database.read(state, ana))[LIRA].importance == 3


async def test_a_doubt_that_was_settled_comes_back_with_its_cause(
    database: Database, ana: UserKey
) -> None:
    name = await database.write_all(note, LIRA, ana)
    cause = await database.write_all(note, "The Lira may be a boat.", ana)
    key = await database.read(queries.decisions.unmerged_key, ana, name)
    doubted = DecisionAction.DOUBTED
    await database.write(queries.effects.apply_later, ana, key, cause, doubted, "a test")
    before = await database.read(state, ana)
    settled = await refile(database, ana, name, {"doubted_at": None})
    assert (await database.read(state, ana))[LIRA].doubted_by is None
    undone = await undo(database, ana, settled.id)
    assert await database.read(state, ana) == before
    await undo(database, ana, undone.decision)
    await database.write(queries.forget.remove_memory, ana, cause)
    await undo(database, ana, settled.id)
    assert (await database.read(state, ana))[LIRA].doubted_at is None, "its cause is forgotten"


async def test_what_was_stored_again_counts_as_before(database: Database, ana: UserKey) -> None:
    name = await database.write_all(note, LIRA, ana)
    before = await database.read(state, ana)
    again = NewMemory(LIRA, Kind.FACT, Category.CONTEXTS, 5, tags=("ships",))
    confirm = queries.new_memories.confirm
    await database.write(confirm, ana, ENCODER, name, again, NOW + DAY, "a test")
    (decision,) = await listed(database, ana, DecisionAction.CONFIRMED)
    assert (await database.read(state, ana))[LIRA].importance == 5
    await undo(database, ana, decision.id)
    assert await database.read(state, ana) == before


async def told(database: Database) -> None:
    """Skipper says that they live in Leith, and then in Oban."""
    for number, place in enumerate(("Leith", "Oban")):
        await database.write_all(say, f"I live in {place}.", session=f"s{number}")
        await database.write_all(move, place)


async def test_a_fact_that_was_read_is_a_decision(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    await told(database)
    oban, leith = await listed(database, ana, DecisionAction.READ)
    assert leith.reason == (
        "read from the turn s0-0, as “lives in”; contexts, fact, importance 3 of 5"
    )
    assert (leith.memory_ids, leith.decided_at, leith.undone_at) == ((leith.id,), NOW, None)
    assert sorted(one.action for one in await listed(database, ana)) == ["ended", "read", "read"]
    assert len(await database.read(queries.decisions.with_readings, ana, 1, ())) == 1
    assert await listed(database, ben) == []
    assert [one.action for one in await database.read(queries.decisions.of_user, ana, 99)] == [
        "ended"
    ], "no row is stored for it"
    key = await database.read(queries.decisions.unmerged_key, ana, oban.id)
    assert await database.read(queries.decisions.reading_of, ana, key) == oban
    assert await database.read(queries.decisions.reading_of, ben, key) is None


async def test_a_reading_is_withdrawn_with_its_effects_and_taken_back(
    storage: Storage, ana: UserKey, ben: UserKey
) -> None:
    database = storage.database
    await told(database)
    before = await database.read(state, ana)
    assert before["Skipper lives in Leith."].valid_until is not None
    oban, _ = await listed(database, ana, DecisionAction.READ)
    with pytest.raises(InvalidInput, match="cannot be undone"):
        await undo(database, ben, oban.id)
    undone = await undo(database, ana, oban.id)
    assert (undone.restored, undone.removed) == (1, 1)
    after = await database.read(state, ana)
    assert after["Skipper lives in Leith."].valid_until is None
    assert after["oban"] == [] and after["leith"]
    assert await database.read(memories_of, ana) == ["Skipper lives in Leith."]
    assert {one.id for one in await listed(database, ana) if one.undone_at} >= {oban.id}
    await undo(database, ana, undone.decision, 2)
    assert await database.read(state, ana) == before
    await undo(database, ana, oban.id, 3)
    assert await database.read(state, ana) == after
    await database.write_all(say, "I live in Oban.", session="again")
    await database.write_all(move, "Oban")
    assert len(await database.read(memories_of, ana)) == 2, "it was said again"


async def test_a_withdrawn_fact_is_forgotten_with_its_turn_and_restored_with_it(
    storage: Storage, ana: UserKey
) -> None:
    database = storage.database
    await told(database)
    oban, _ = await listed(database, ana, DecisionAction.READ)
    await undo(database, ana, oban.id)
    before = await database.read(state, ana), await listed(database, ana)
    await storage.forgetting.forget(ana, ForgetTurns(("s1-0",)), grace=GRACE)
    assert [one.action for one in await listed(database, ana)] == ["read"]
    assert "Skipper lives in Oban." not in await database.read(state, ana)
    await storage.forgetting.restore(ana)
    assert (await database.read(state, ana), await listed(database, ana)) == before


def update(conn: Connection, column: str, value: object, name: str) -> None:
    """Set a column of a memory."""
    conn.execute(f"UPDATE memories SET {column} = ? WHERE public_id = ?", (value, name))


async def test_what_was_said_in_jest_is_withdrawn_and_taken_back(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    await told(database)
    await database.write_all(say, "I live in Rome.", session="s2")
    await database.write_all(move, "Rome")
    before = await database.read(state, ana)
    jest = turn("Just kidding!", session="s2", name="joke")
    await database.write_all(queries.turns.add, jest, NOW)
    (*_, (joke, _)) = await database.read(queries.turns.of_user, ana, 0, 99)
    retract = queries.undoing.retract_previous_turn
    await database.write(retract, ben, joke + 9, NOW + DAY)
    assert await database.read(state, ana) == before
    await database.write(retract, ana, joke, NOW + DAY)
    assert "Skipper lives in Rome." not in await database.read(memories_of, ana)
    assert (await database.read(state, ana))["Skipper lives in Oban."].valid_until is None
    withdrawn = [one for one in await listed(database, ana) if one.reason.endswith("in jest")]
    assert [one.action for one in withdrawn] == ["undone"]
    await undo(database, ana, withdrawn[0].id)
    assert await database.read(state, ana) == before


async def test_what_was_edited_since_is_no_jest(database: Database, ana: UserKey) -> None:
    await told(database)
    oban, _ = await listed(database, ana, DecisionAction.READ)
    text = "Skipper lives in Rome."
    wording = Wording(text, "Skipper", "lives in", "Rome", (), LetterEncoder().encode([text])[0])
    await database.write(queries.edits.reword, ana, ENCODER, oban.id, wording, NOW, "a test")
    before = await database.read(state, ana)
    await joke(database, ana, "s1")
    assert await database.read(state, ana) == before
    assert before[text].valid_until is None


async def joke(database: Database, user: UserKey, session: str) -> None:
    """Add a turn that takes the previous one of the session back."""
    await database.write_all(queries.turns.add, turn("Kidding!", session=session, name="j"), NOW)
    (*_, (key, _)) = await database.read(queries.turns.of_user, user, 0, 99)
    await database.write(queries.undoing.retract_previous_turn, user, key, NOW + DAY)


async def test_a_merge_into_a_jest_can_still_be_undone(database: Database, ana: UserKey) -> None:
    other = await database.write_all(note, LIRA, ana)
    untold = await database.write_all(note, "The Lira sails.", ana)
    await database.write_all(say, "I live in Rome.")
    await database.write_all(move, "Rome")
    (rome,) = await listed(database, ana, DecisionAction.READ)
    await database.write_all(update, "stored_at", None, untold)
    merge = queries.decisions.merge
    merged = await database.write(merge, ana, rome.id, [other, untold], "a test", NOW)
    await joke(database, ana, "harbour")
    assert set(await database.read(memories_of, ana)) == {LIRA, "The Lira sails."}
    assert (await undo(database, ana, merged)).restored == 0
    assert set(await database.read(memories_of, ana)) == {LIRA, "The Lira sails."}
    assert not await database.read_all(queries.maintenance.faults)


async def test_an_imported_fact_that_was_said_in_jest_is_deleted(
    database: Database, ana: UserKey
) -> None:
    await told(database)
    oban, _ = await listed(database, ana, DecisionAction.READ)
    begin = partial(queries.imports.begin, new_user=False)
    source = await database.write(begin, ana, "a test", "", NOW)
    await database.write_all(update, "import", source.key, oban.id)
    await joke(database, ana, "s1")
    left = await database.read(state, ana)
    assert "Skipper lives in Oban." not in left
    assert left["Skipper lives in Leith."].valid_until is None


async def test_a_refiled_fact_keeps_the_reason_of_its_reading(
    database: Database, ana: UserKey
) -> None:
    await told(database)
    oban, _ = await listed(database, ana, DecisionAction.READ)
    await refile(database, ana, oban.id, {"category": Category.PROJECTS})
    again, _ = await listed(database, ana, DecisionAction.READ)
    assert again == oban
    stored = await database.read(queries.decisions.of_user, ana, 99)
    assert [one.action for one in stored if one.id == oban.id] == ["read"]


async def test_a_stored_statement_is_withdrawn_unless_it_was_changed_since(
    database: Database, ana: UserKey
) -> None:
    first = await database.write_all(note, LIRA, ana)
    second = await database.write_all(note, "The Lira sails.", ana)
    filed = {one.memory_ids[0]: one for one in await listed(database, ana, DecisionAction.FILED)}
    before = await database.read(state, ana)
    merged = await database.write(queries.decisions.merge, ana, first, [second], "a test", NOW)
    for name in (first, second):
        with pytest.raises(InvalidInput, match="Undo the later change first"):
            await undo(database, ana, filed[name].id)
    unmerged = await undo(database, ana, merged)
    assert await database.read(state, ana) == before
    await undo(database, ana, unmerged.decision)
    found = await database.read(state, ana)
    assert (found["The Lira sails."].merged_into, found[LIRA].confirmations) == (first, 1)
    assert len(found["lira"]) == 1
    await undo(database, ana, merged)
    withdrawn = await undo(database, ana, filed[first].id)
    assert await database.read(memories_of, ana) == ["The Lira sails."]
    await undo(database, ana, withdrawn.decision)
    assert await database.read(state, ana) == before


async def test_what_cannot_be_taken_back_says_what_to_do(database: Database, ana: UserKey) -> None:
    for number in range(2):
        await database.write_all(say, "I live in Leith.", session=f"s{number}")
        await database.write_all(move, "Leith")
    (repeated,) = await listed(database, ana, DecisionAction.REPEATED)
    undone = await undo(database, ana, repeated.id)
    with pytest.raises(InvalidInput, match="store_memory"):
        await undo(database, ana, undone.decision)


async def test_words_in_recorded_changes_are_forgotten(storage: Storage, ana: UserKey) -> None:
    """Also a note that was removed, and names of subcategories that a memory has left."""
    database = storage.database
    await database.write_all(note, "The Heron likes fish.", ana)
    name = await database.write_all(note, LIRA, ana)
    await evolve(database, ana)
    await refile(database, ana, name, {"note": "Ask\nGustav, “Ünïcode”."})
    await refile(database, ana, name, {"note": None})
    for word in ("Gustav", "Ünïcode"):
        assert await database.read(mentions, ana, word)
    await database.write(queries.forget.remove_entity, ana, "Gustav")
    assert not await database.read(mentions, ana, "Gustav")
    await refile(database, ana, name, {"note": "Ask\nHedda."})
    await refile(database, ana, name, {"note": None})
    await storage.forgetting.forget(ana, ForgetMemory(name), grace=GRACE)
    await storage.forgetting.forget(ana, ForgetEntity("Hedda"))
    assert await storage.forgetting.restore(ana) is None, "the kept rows had the name"
    name = await database.write_all(note, LIRA, ana)
    await evolve(database, ana)
    await refile(database, ana, name, {"category": Category.LEARNINGS})
    await database.write(queries.forget.remove_memory, ana, name)
    (left,) = await database.read(queries.subcategories.of_user, ana)
    assert "ferry" not in (left.name, *left.keywords), "no memory has the word any more"


def mentions(conn: Connection, user: UserKey, word: str) -> bool:
    """Whether a recorded decision has a word."""
    rows = conn.execute("SELECT reason, changes FROM decisions WHERE user_key = ?", (user,))
    return any(word in text for row in rows.fetchall() for text in row if text)


def states(conn: Connection, user: UserKey, name: str) -> tuple[list[int], list[str]]:
    """Which row numbers are memories of the user, and the ids of those with a state."""
    key = queries.decisions.unmerged_key(conn, user, name)
    states = queries.memory_states.of(conn, user, [key, key + 9])
    queries.memory_states.reverse(conn, user, "{}", NOW)
    queries.tags.replace(conn, user, key, ["ships"], NOW)
    return queries.memory_states.existing(conn, user, [key, key + 9]), list(states)


async def test_states_are_a_users_own(database: Database, ana: UserKey, ben: UserKey) -> None:
    name = await database.write_all(note, LIRA, ana)
    keys, names = await database.write(states, ana, name)
    assert names == [name]
    assert await database.read(queries.memory_states.of, ben, keys) == {}
    assert await database.read(queries.memory_states.existing, ben, keys) == []
    await database.write(queries.decisions.store_reading, ana, name)
    assert [one.action for one in await listed(database, ana)] == ["filed"], "it was not read"


def hide(conn: Connection, user: UserKey, name: str) -> None:
    """Withdraw a memory and show it again."""
    key = queries.decisions.unmerged_key(conn, user, name)
    queries.decisions.merge_into(conn, user, key, key)
    assert postings(conn, user, "lira", MEMORY) == []
    queries.decisions.unmerge(conn, user, key)


async def test_a_hidden_memory_is_found_once_it_is_shown_again(
    database: Database, ana: UserKey
) -> None:
    name = await database.write_all(note, LIRA, ana)
    before = await database.read(state, ana)
    await database.write(hide, ana, name)
    assert await database.read(state, ana) == before


async def test_a_statement_stored_again_is_forgotten_with_its_withdrawn_copy(
    database: Database, ana: UserKey, ben: UserKey
) -> None:
    for user in (ana, ben):
        await database.write_all(note, LIRA, user)
        (filed,) = await listed(database, user, DecisionAction.FILED)
        await undo(database, user, filed.id)
    other = await database.write_all(note, "The Lira sails.", ana)
    again = await database.write_all(note, LIRA, ana)
    await database.write(queries.forget.remove, ana, ForgetMemory(again))
    assert await database.write(texts_of, ana) == ["The Lira sails."]
    assert await database.write(texts_of, ben) == [LIRA]
    await database.write(queries.forget.remove, ana, ForgetMemory(other))
    assert await listed(database, ana) == []


async def test_what_was_stated_again_while_withdrawn_is_there_once(
    database: Database, ana: UserKey
) -> None:
    first = await database.write_all(note, LIRA, ana, tags=["ships"])
    (filed,) = await listed(database, ana, DecisionAction.FILED)
    undone = await undo(database, ana, filed.id)
    stats = await database.read(queries.maintenance.stats, ana)
    assert (stats.memories, stats.stored, dict(stats.tags)) == (0, 0, {})
    again = await database.write_all(note, LIRA, ana, tags=["ships"])
    await undo(database, ana, undone.decision)
    stats = await database.read(queries.maintenance.stats, ana)
    assert (stats.memories, stats.stored, stats.merged, dict(stats.tags)) == (1, 1, 1, {"ships": 1})
    (merged,) = await listed(database, ana, DecisionAction.MERGED)
    assert (merged.memory_ids, merged.into) == ((first,), again)
    assert (await undo(database, ana, merged.id)).restored == 1
    assert await database.read(memories_of, ana) == [LIRA, LIRA]
    assert not await database.read_all(queries.maintenance.faults)


def texts_of(conn: Connection, user: UserKey) -> list[str]:
    """Texts of all stored memories, withdrawn ones included."""
    rows = conn.execute("SELECT text FROM memories WHERE user_key = ? ORDER BY id", (user,))
    return [text for (text,) in rows]
