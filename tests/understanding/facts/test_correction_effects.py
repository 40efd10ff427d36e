"""Effects of a correction on the confidence of its source and on the vocabulary."""

from datetime import timedelta

import pytest

from hotmem import Memory
from hotmem.types import Item, Role
from tests.conversation import START, remember, said

LATER = START + timedelta(days=3)


async def shown(memory: Memory, asked: str, words: str) -> Item:
    block = await memory.recall(asked, user_id="ana", session_id="thursday", at=LATER)
    return next(item for item in block.items if words in item.text)


async def test_a_corrected_source_has_less_confidence_until_it_is_confirmed(memory: Memory) -> None:
    await remember(memory, "My dog is called Paola and my cat is called Minka.")
    before = (await shown(memory, "What's my cat called?", "Minka")).confidence
    await remember(memory, said("No, I said Potola, not Paola.", minutes=1))
    doubted = (await shown(memory, "What's my cat called?", "Minka")).confidence
    assert doubted < before
    await remember(memory, said("My cat is called Minka.", minutes=2))
    assert (await shown(memory, "What's my cat called?", "Minka")).confidence > doubted


async def test_a_corrected_value_is_not_recalled_as_current(memory: Memory) -> None:
    await remember(
        memory, "My dog is called Paola.", said("No, I said Potola, not Paola.", minutes=1)
    )
    for _ in range(2):
        block = await memory.recall(
            "What's my dog called?", user_id="ana", session_id="thursday", at=LATER
        )
        assert "Potola" in block.items[0].text
        assert all(
            item.valid_until is not None
            for item in block.items
            if "Paola" in item.text and "Potola" not in item.text
        )
        await memory.feedback(block, reply="She's called Potola!")


@pytest.mark.parametrize(
    "corrected",
    [
        "No, my sister lives in Denver, not Boston.",
        "no my sister lives in Denver not Boston",
        "no my sister lives in denver not in boston",
    ],
)
async def test_a_correction_needs_no_punctuation(memory: Memory, corrected: str) -> None:
    await remember(memory, "My sister Sarah lives in Boston.", said(corrected, minutes=1))
    homes = [one for one in await memory.memories("ana", past=True) if "lives" in one.text]
    assert {(one.text, one.current) for one in homes} == {
        ("Ana's sister Sarah lives in Denver.", True),
        ("Ana's sister Sarah lives in Boston.", False),
    }


async def test_a_home_corrects_no_place_of_birth(memory: Memory) -> None:
    await remember(memory, "I was born in Cork.", said("i live in Dublin not in Cork", minutes=1))
    assert "Ana was born in Cork." in {one.text for one in await memory.memories("ana")}


async def test_a_corrected_turn_of_the_bot_has_less_confidence(memory: Memory) -> None:
    await remember(
        memory,
        said(
            "The workshop closes at six, right after the lantern parade on Rua Verde.",
            role=Role.ASSISTANT,
        ),
    )
    before = (await shown(memory, "Where is the lantern parade?", "lantern")).confidence
    await remember(memory, said("No, it's Rua Azul, not Rua Verde.", minutes=1))
    assert (await shown(memory, "Where is the lantern parade?", "lantern")).confidence < before


async def test_the_corrected_name_joins_the_vocabulary(memory: Memory) -> None:
    await remember(memory, "No, I said Ottoline, not Caroline.")
    assert "Ottoline" in await memory.lookup.vocabulary("ana")
