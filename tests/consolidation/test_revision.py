"""What a turn does to known statements: decisions by probability, and on the whole memory."""

from datetime import UTC, datetime, timedelta

import pytest

from hotmem import Memory, Role, Turn
from tests.conversation import remember
from tests.tables import named_rows, tables

CASES = tables(__file__)

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)


async def said(memory: Memory, *texts: str, user: str = "ana") -> None:
    """Say texts in a session each, ten days apart, the last a day ago."""
    for number, text in enumerate(texts):
        at = NOW - timedelta(days=1 + 10 * (len(texts) - 1 - number))
        await remember(memory, Turn(user, f"{user} {number} {len(texts)}", Role.USER, text, at))


async def changed(memory: Memory, words: str, user: str = "ana") -> bool:
    """Whether a memory with these words has ended or is possibly outdated."""
    found = [one for one in await memory.memories(user, past=True) if words in one.text]
    return any(one.valid_until or one.doubted_at for one in found)


@pytest.mark.parametrize(("known", "new", "words", "changes"), named_rows(CASES["one_turn"]))
async def test_a_turn_changes_what_it_is_about(
    memory: Memory, known: str, new: str, words: str, changes: bool
) -> None:
    await said(memory, known, new)
    assert await changed(memory, words) is changes


async def test_another_name_of_the_only_one_ends_the_former(memory: Memory) -> None:
    await said(memory, "My boss is called Helen.", "My boss is called Tariq.")
    assert [one.text for one in await memory.memories("ana")] == [
        "The user's boss is called Tariq."
    ]


async def test_another_user_is_out_of_reach(memory: Memory) -> None:
    await said(memory, "My dog Bruno is a boxer.")
    await said(memory, "Bruno died on Sunday, he was thirteen years old.", user="ben")
    assert not await changed(memory, "")


async def test_turns_of_one_batch_change_each_other(memory: Memory) -> None:
    for number, text in enumerate(("My sister has a dog called Bruno.", "Bruno died on Sunday.")):
        await memory.remember(Turn("ana", "one", Role.USER, text, NOW + timedelta(seconds=number)))
    await memory.settle()
    assert await changed(memory, "has a dog")


async def test_unrelated_turns_change_nothing(memory: Memory) -> None:
    """What is said of other things, turn after turn, neither ends nor doubts what lasts."""
    lasting = CASES["lasting"]
    others = CASES["others"]
    await said(memory, *lasting, *others)
    known = await memory.memories("ana", past=True)
    held = [one for one in known if any(word in one.text for word in ("hazelnut", "4471"))]
    assert held and not any(one.valid_until or one.doubted_at for one in held)
    changed = [one for one in known if one.valid_until or one.doubted_at]
    assert len(changed) <= len(known) // 10
