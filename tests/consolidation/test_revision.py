"""What a turn does to known statements: decisions by probability, and on the whole memory."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hotmem import Memory, Role, Turn
from tests.conversation import OpenMemory, remember

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)


async def said(memory: Memory, *texts: str, user: str = "ana") -> None:
    """Say texts in a session each, ten days apart, the last a day ago."""
    for number, text in enumerate(texts):
        at = NOW - timedelta(days=1 + 10 * (len(texts) - 1 - number))
        await remember(memory, Turn(user, f"{user} {number} {len(texts)}", Role.USER, text, at))


@pytest.fixture
async def memory(tmp_path: Path, open_memory: OpenMemory) -> Memory:
    return open_memory(tmp_path / "memory.db")


async def changed(memory: Memory, words: str, user: str = "ana") -> bool:
    """Whether a memory with these words has ended or is possibly outdated."""
    found = [one for one in await memory.memories(user, past=True) if words in one.text]
    return any(one.valid_until or one.doubted_at for one in found)


async def test_a_turn_ends_what_is_over(memory: Memory) -> None:
    async with memory:
        await said(memory, "My sister has a dog called Bruno.", "Bruno died on Sunday.")
        assert await changed(memory, "has a dog")


async def test_two_of_a_kind_end_nothing(memory: Memory) -> None:
    async with memory:
        await said(memory, "My son Leo is nine.", "My other son Max is seven.")
        assert not await changed(memory, "")


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("My aunt Berta has a parrot.", "My aunt Berta lives in Graz."),
        ("My aunt Berta lives in Graz.", "My aunt Berta has a parrot."),
        ("My brother Jo has a boat.", "My brother Jo lives in Graz."),
        ("Uncle Ferdi plays the tuba.", "Uncle Ferdi drives a taxi."),
        ("My friend Ilse breeds alpacas.", "My friend Ilse lives in Zwolle."),
        ("Our neighbour Mr Novak plays chess.", "Mr Novak fell down the stairs on Sunday."),
    ],
)
async def test_other_facts_of_the_same_person_doubt_nothing(
    memory: Memory, known: str, new: str
) -> None:
    async with memory:
        await said(memory, known, new)
        assert not await changed(memory, "")


async def test_what_happened_to_somebody_by_name_ends_what_it_ends(memory: Memory) -> None:
    async with memory:
        await said(memory, "My gran lives with us.", "Gran passed away on Thursday.")
        assert await changed(memory, "lives with")


async def test_a_turn_that_is_not_remembered_itself_changes_what_is_known(memory: Memory) -> None:
    async with memory:
        await said(memory, "Mum is in hospital.", "Mum came home today.")
        assert await changed(memory, "hospital")


async def test_another_name_of_the_only_one_ends_the_former(memory: Memory) -> None:
    async with memory:
        await said(memory, "My boss is called Helen.", "My boss is called Tariq.")
        assert [one.text for one in await memory.memories("ana")] == [
            "The user's boss is called Tariq."
        ]


async def test_a_second_name_of_one_of_several_ends_nothing(memory: Memory) -> None:
    async with memory:
        await said(memory, "My daughter is called Mia.", "My daughter is called Lea.")
        assert not await changed(memory, "")


async def test_another_user_is_out_of_reach(memory: Memory) -> None:
    async with memory:
        await said(memory, "My dog Bruno is a boxer.")
        await said(memory, "Bruno died on Sunday, he was thirteen years old.", user="ben")
        assert not await changed(memory, "")


async def test_turns_of_one_batch_change_each_other(memory: Memory) -> None:
    async with memory:
        for number, text in enumerate(
            ("My sister has a dog called Bruno.", "Bruno died on Sunday.")
        ):
            await memory.remember(
                Turn("ana", "one", Role.USER, text, NOW + timedelta(seconds=number))
            )
        await memory.settle()
        assert await changed(memory, "has a dog")


async def test_unrelated_turns_change_nothing(memory: Memory) -> None:
    """What is said of other things, turn after turn, neither ends nor doubts what lasts."""
    lasting = (
        "I'm allergic to hazelnuts.",
        "My sister Clara works as a vet in Lyon.",
        "My passport number ends in 4471.",
        "I prefer trains to planes.",
    )
    others = (
        "I baked a rhubarb cake for Jonas's birthday.",
        "The plumber is coming on Thursday to fix the kitchen tap.",
        "I've started learning the ukulele.",
        "We cooked ratatouille together on Sunday.",
        "I left my umbrella on the tram.",
        "The landlord inspects the balcony on Friday.",
    )
    async with memory:
        await said(memory, *lasting, *others)
        known = await memory.memories("ana", past=True)
        held = [one for one in known if any(word in one.text for word in ("hazelnut", "4471"))]
        assert held and not any(one.valid_until or one.doubted_at for one in held)
        changed = [one for one in known if one.valid_until or one.doubted_at]
        assert len(changed) <= len(known) // 10


async def test_a_dream_ends_nothing(memory: Memory) -> None:
    async with memory:
        await said(memory, "I live in Berlin.", "In my dream I moved to Paris.")
        assert not await changed(memory, "Berlin")


async def test_a_move_ends_the_former_home(memory: Memory) -> None:
    async with memory:
        await said(memory, "I live in Leeds.", "i moved to york last month")
        assert await changed(memory, "lives in Leeds")
