"""Decisions that a turn made about what was known: listed with their reason, and undone."""

import pytest

from hotmem import InvalidInput, Memory
from hotmem.types import DecisionAction
from tests.conversation import decisions, remember, said, undo


async def tell(memory: Memory, *texts: str) -> None:
    """Store turns, an hour apart."""
    for number, text in enumerate(texts):
        await memory.remember(said(text, minutes=60 * number, name=f"t{number}"))
    await memory.settle()


async def current(memory: Memory) -> set[str]:
    """Return the memories that hold."""
    return {one.text for one in await memory.memories("ana") if one.valid_until is None}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I live in Porto.", "I live in Braga now."),
        ("I like olives.", "I don't like olives any more."),
        ("I play tennis.", "I stopped playing tennis."),
    ],
)
async def test_what_a_turn_ended_is_a_decision_and_holds_again_when_undone(
    memory: Memory, before: str, after: str
) -> None:
    await tell(memory, before)
    old = await current(memory)
    await tell(memory, before, after)
    assert len(old) == 1 and not old & await current(memory)
    (decision,) = await decisions(memory, DecisionAction.ENDED)
    assert decision.into is not None and len(decision.memory_ids) == 1
    assert (await undo(memory, decision.id)).restored == 1
    assert old <= await current(memory)
    with pytest.raises(InvalidInput, match="undone"):
        await undo(memory, decision.id)


async def test_a_correction_is_undone_with_the_corrected_memory(memory: Memory) -> None:
    await tell(memory, "My brother is called Tomas.")
    old = await current(memory)
    await remember(memory, said("No, his name is Thomas, not Tomas.", minutes=5, name="t5"))
    assert not old & await current(memory)
    (decision,) = await decisions(memory, DecisionAction.ENDED)
    assert (await undo(memory, decision.id)).restored == 1
    assert await current(memory) == old


FARO = "I don't live in Braga any more, I live in Faro now."


async def test_a_later_change_is_undone_first(memory: Memory) -> None:
    await tell(memory, "I live in Porto.", "I live in Braga now.", FARO)
    last, first = await decisions(memory, DecisionAction.ENDED)
    await undo(memory, last.id)
    await undo(memory, first.id)
    assert len(await current(memory)) == 3


async def test_forgetting_a_turn_forgets_what_it_decided(memory: Memory) -> None:
    await tell(memory, "I live in Porto.", "I live in Braga now.")
    await memory.forget(user_id="ana", turn_ids=["t1"])
    assert [one.action for one in await decisions(memory)] == ["read"]
