"""Conflicts: what is stored or said, after something that it contradicts, is noticed."""

from datetime import UTC, datetime, timedelta

from hotmem import Memory, Role, Turn
from hotmem.operations.results import Conflict, as_json
from tests.conversation import remember
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)


async def stored(
    memory: Memory, first: str, second: str, user_id: str = "ana"
) -> tuple[str, str, tuple[Conflict, ...]]:
    """Store two statements; return their ids, and what the second contradicts."""
    one = await memory.store_memory(first, user_id=user_id)
    await memory.settle()
    other = await memory.store_memory(second, user_id=user_id)
    return one.id, other.id, other.recommendations.conflicts


async def say(memory: Memory, text: str) -> None:
    """Say something now, and wait until it is understood."""
    await remember(memory, Turn("ana", text, Role.USER, text, datetime.now(UTC)))


@scored(("first", "second"), CASES["contradictory"], floor=0.85)
async def test_what_is_stored_is_compared_with_what_is_stored(
    memory: Memory, first: str, second: str
) -> None:
    user = f"Of “{first}” and “{second}”"
    old, new, conflicts = await stored(memory, first, second, user)
    assert [(one.id, one.old_id, one.old_content) for one in conflicts] == [(new, old, first)]
    (conflict,) = conflicts
    (known,) = [one for one in await memory.memories(user, past=True) if one.id == old]
    ended = conflict.advice == "update"
    assert (known.valid_until is not None, known.doubted_by) == (ended, None if ended else new)
    assert as_json(conflict)["calls"]


async def test_no_merge_with_a_contradicted_memory_is_suggested(memory: Memory) -> None:
    first = await memory.store_memory("My favourite colour is blue.", user_id="ana")
    await memory.settle()
    again = await memory.store_memory(
        "My favourite colour is green.", user_id="ana", context={"note": "said on the phone"}
    )
    assert [one.old_id for one in again.recommendations.conflicts] == [first.id]
    assert again.recommendations.suggested_merges == ()


@scored(("first", "second"), CASES["compatible"], floor=0.7)
async def test_two_of_a_kind_do_not_conflict(memory: Memory, first: str, second: str) -> None:
    user = f"Of “{first}” and “{second}”"
    assert (await stored(memory, first, second, user))[2] == ()


async def test_what_is_said_is_compared_with_what_is_stored(memory: Memory) -> None:
    note = await memory.store_memory("My favourite colour is blue.", user_id="ana")
    await memory.settle()
    await say(memory, "My favourite colour is green.")
    (old,) = [one for one in await memory.memories("ana", past=True) if one.id == note.id]
    assert old.valid_until or old.doubted_by


async def test_what_is_stored_is_compared_with_what_was_said(memory: Memory) -> None:
    await say(memory, "My favourite colour is blue.")
    note = await memory.store_memory("My favourite colour is green.", user_id="ana")
    (conflict,) = note.recommendations.conflicts
    assert "blue" in conflict.old_content


async def test_a_statement_of_somebody_else_contradicts_nothing(memory: Memory) -> None:
    await memory.store_memory("My favourite colour is blue.", user_id="ben")
    note = await memory.store_memory("My favourite colour is green.", user_id="ana")
    assert note.recommendations.conflicts == ()


async def test_an_unresolved_conflict_is_in_the_block_with_both_dates(memory: Memory) -> None:
    *_, (conflict,) = await stored(
        memory, "My favourite colour is blue.", "My favourite colour is green."
    )
    assert conflict.advice == "conflict"
    at = datetime.now(UTC) + timedelta(days=1)
    block = await memory.recall("What's my favourite colour?", user_id="ana", at=at)
    dated = [line for line in block.text.split("\n") if " noted: " in line]
    assert len(dated) == 2 and "green" in block.text


async def test_a_stored_fact_that_is_repeated_outlives_the_turn(memory: Memory) -> None:
    """What was stored without a turn does not depend on one that repeats it."""
    note = await memory.store_memory("My favourite colour is blue.", user_id="ana")
    await memory.settle()
    await say(memory, "My favourite colour is blue.")
    (known,) = await memory.memories("ana")
    assert (known.id, known.confirmations, known.turn_ids) == (note.id, 1, ())
    await memory.forget(user_id="ana", session_id="My favourite colour is blue.")
    assert [one.id for one in await memory.memories("ana")] == [note.id]
