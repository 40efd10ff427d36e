"""Statements found by a description of them."""

import pytest

from hotmem import Memory
from hotmem.operations.requested_search import NEAREST, fit, has_all_words
from tests.conversation import said

TOLD = (
    "My name is Ana.",
    "My sister's name is Jelena.",
    "My husband has a bad knee.",
    "My knee hurts since the skiing trip.",
    "I live in Graz, and my dog is called Rex.",
    "I have a dentist appointment on Friday.",
)


async def tell(memory: Memory, *texts: str) -> dict[str, str]:
    """Remember what a user says; the texts by the ids of their turns."""
    turns = [said(text, minutes=place) for place, text in enumerate(texts)]
    for turn in turns:
        await memory.remember(turn)
    await memory.settle()
    return {turn.id: turn.text for turn in turns}


@pytest.mark.parametrize(
    ("description", "text"),
    [
        ("my name is Ana", TOLD[0]),
        ("my sister's name", TOLD[1]),
        ("my knee", TOLD[3]),
        ("I live in Graz", TOLD[4]),
        ("the dentist appointment", TOLD[5]),
    ],
)
async def test_the_statement_that_is_described_is_first(
    memory: Memory, description: str, text: str
) -> None:
    texts = await tell(memory, *TOLD)
    first, second = (await memory.lookup.described(description, user_id="ana"))[:2]
    assert [texts[turn] for turn in first.turn_ids] == [text]
    assert first.complete and first.fit > second.fit + 0.05


async def test_a_statement_that_was_repeated_has_all_its_turns(memory: Memory) -> None:
    repeated = ("My dog is called Rex.", "I live in Graz.", "My dog is called Rex, you know.")
    texts = await tell(memory, *repeated)
    first, *_ = await memory.lookup.described("my dog is called Rex", user_id="ana")
    assert {texts[turn] for turn in first.turn_ids} == {repeated[0], repeated[2]}


async def test_other_facts_of_the_same_turn_bring_no_turns(memory: Memory) -> None:
    texts = await tell(memory, TOLD[4], "My dog is called Rex.")
    first, *_ = await memory.lookup.described("I live in Graz", user_id="ana")
    assert {texts[turn] for turn in first.turn_ids} == {TOLD[4]}


async def test_a_stored_statement_has_no_turns(memory: Memory) -> None:
    stored = await memory.store_memory("The key is under the flowerpot.", user_id="ana")
    (found,) = await memory.lookup.described("where the key is", user_id="ana")
    assert (found.memory_id, found.turn_ids) == (stored.id, ())


async def test_only_the_nearest_statements_are_read(memory: Memory) -> None:
    await tell(memory, *(f"I have {number} postcards from Utrecht." for number in range(3, 60)))
    found = await memory.lookup.described("the postcards", user_id="ana")
    assert 0 < len(found) <= 4 * NEAREST


async def test_an_unknown_user_has_said_nothing(memory: Memory) -> None:
    assert await memory.lookup.described("my knee", user_id="nobody") == ()


def test_somebody_else_lowers_the_fit() -> None:
    assert fit("my knee", "My knee hurts.", 0.5) == pytest.approx(0.55)
    assert fit("my knee", "My husband has a bad knee.", 0.5) == pytest.approx(0.35)
    assert fit("my number", "Wilma's number is 771.", 0.5) == pytest.approx(0.35)
    assert fit("the key", "My daughter has a key.", 0.5) == pytest.approx(0.45)
    assert fit("I live in Graz", "I live in Graz with my brother.", 0.5) == pytest.approx(0.6)
    assert fit("that Tom plays chess", "Maria plays chess.", 0.5) == pytest.approx(0.25)


def test_synonyms_count_as_the_same_word() -> None:
    assert has_all_words("grandma's flat", "My grandmother has an apartment.")
    assert not has_all_words("I'm allergic to milk", "I'm allergic to eggs.")
