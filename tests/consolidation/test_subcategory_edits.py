"""Subcategories that a person renames, merges, splits and pins, by tool."""

import pytest

from hotmem import InvalidInput, Memory
from hotmem.tools.registry import tool
from hotmem.types import Category
from tests.consolidation.test_evolution import evolved, placed, statements, store
from tests.conversation import undo

OWN = Category.LEARNINGS


async def names(memory: Memory) -> dict[str, int]:
    """Number of memories of each subcategory."""
    return {one.name: one.memories for one in await memory.subcategories.of_user("ana")}


async def test_what_a_person_renamed_and_merged_stays(memory: Memory) -> None:
    await evolved(memory)
    plants, *others = await names(memory)
    edit = tool("edit_subcategory")
    answer = await edit.call(
        memory, "ana", {"category": "learnings", "name": plants, "new_name": "Window sill"}
    )
    assert {one["name"]: one["pinned"] for one in answer["subcategories"]} == {
        "Window sill": True
    } | dict.fromkeys(others, False)
    into, *rest = others
    await edit.call(memory, "ana", {"category": "learnings", "name": into, "merge": rest})
    before, where = await names(memory), await placed(memory)
    assert set(before) == {"Window sill", into}
    await store(memory, *statements("cooking tricks")[:15])
    await memory.subcategories.evolve("ana", category=OWN)
    after, now = await names(memory), await placed(memory)
    assert set(before) < set(after)
    assert {text: now[text] for text, name in where.items() if name} == {
        text: name for text, name in where.items() if name
    }


async def test_a_subcategory_is_split_by_topic(memory: Memory) -> None:
    await evolved(memory)
    first, *others = await names(memory)
    await memory.subcategories.merge("ana", OWN, first, others)
    (merged,) = (await names(memory)).values()
    decision = await memory.subcategories.split("ana", OWN, first)
    parts = await memory.subcategories.of_user("ana")
    assert 2 <= len(parts) <= 3 and all(part.pinned for part in parts)
    assert merged - 3 <= sum(part.memories for part in parts) <= 36
    await undo(memory, decision)
    assert await names(memory) == {first: merged}


async def test_one_topic_is_not_split(memory: Memory) -> None:
    await store(memory, *statements("plant care")[:8], *statements("personal finance")[:8])
    await memory.subcategories.evolve("ana", category=OWN)
    small = min(await memory.subcategories.of_user("ana"), key=lambda one: one.memories)
    with pytest.raises(InvalidInput, match="No two topics"):
        for _ in range(5):
            await memory.subcategories.split("ana", OWN, small.name)
            small = min(await memory.subcategories.of_user("ana"), key=lambda one: one.memories)


async def test_invalid_changes_are_refused(memory: Memory) -> None:
    await evolved(memory)
    (first, *_) = await names(memory)
    edit, own = tool("edit_subcategory"), {"category": "learnings", "name": first}
    for change in ({}, {"new_name": "x", "pinned": True}):
        with pytest.raises(InvalidInput, match="exactly one"):
            await edit.call(memory, "ana", own | change)
    with pytest.raises(InvalidInput, match="new_name"):
        await edit.call(memory, "ana", own | {"new_name": " "})
    await memory.subcategories.rename("ana", OWN, first, " two\n\twords ")
    first = "two words"
    assert first in await names(memory)
    for user, name in (("ana", "songs"), ("nobody", first)):
        with pytest.raises(InvalidInput, match="has no subcategory"):
            await memory.subcategories.pin(user, OWN, name)
        with pytest.raises(InvalidInput, match="has no subcategory"):
            await memory.subcategories.split(user, OWN, name)
    with pytest.raises(InvalidInput, match="contexts, projects"):
        await memory.subcategories.rename("ana", "songs", first, "x")  # type: ignore[arg-type]
    await memory.subcategories.pin("ana", OWN, first)
    assert [one.name for one in await memory.subcategories.of_user("ana") if one.pinned] == [first]
