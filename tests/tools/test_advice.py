"""Advice of `discover_memory_tools`: true, useful, and each call does what it says."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hotmem import Memory, Role, Turn
from hotmem.storage import queries
from hotmem.tools.registry import FOR_MODELS, tool
from hotmem.types import JobKind
from tests.conversation import remember

NOW = datetime.now(UTC)


async def advised(memory: Memory, about: str, user: str = "ana") -> list[dict[str, Any]]:
    """The advice about something."""
    found = await tool("discover_memory_tools").call(memory, user, {})
    return [one for one in found["advice"] if one["about"] == about]


async def follow(memory: Memory, call: dict[str, Any]) -> dict[str, Any]:
    """Make an advised call."""
    done: dict[str, Any] = await tool(call["tool"]).call(memory, "ana", call["arguments"])
    return done


async def store(memory: Memory, *texts: str) -> list[str]:
    """Store statements; return their ids."""
    found = [(await memory.store_memory(text, user_id="ana")).id for text in texts]
    await memory.settle()
    return found


async def test_who_only_stored_notes_is_not_told_to_end_a_session(memory: Memory) -> None:
    await store(memory, "The boiler's serial number is 44 B 19.", "Rui plays the cello.")
    found = await tool("discover_memory_tools").call(memory, "ana", {})
    assert found["advice"] == []
    assert found["health"]["parts"]["summarised"]["share"] == 1


async def test_a_stranger_gets_no_advice(memory: Memory) -> None:
    assert (await tool("discover_memory_tools").call(memory, "nobody", {}))["advice"] == []


@pytest.mark.parametrize(("choice", "holds"), [(0, False), (1, True)])
async def test_a_conflict_can_be_settled_either_way(
    memory: Memory, choice: int, holds: bool
) -> None:
    old, _ = await store(memory, "My favourite colour is blue.", "My favourite colour is green.")
    (advice,) = await advised(memory, "conflict")
    assert "blue" in advice["text"] and "green" in advice["text"]
    assert advice["memory_ids"] == [old]
    await follow(memory, advice["calls"][choice])
    assert await advised(memory, "conflict") == []
    assert (old in [one.id for one in await memory.memories("ana")]) == holds


async def test_a_bot_asks_the_user_about_a_conflict(memory: Memory) -> None:
    await store(memory, "My favourite colour is blue.", "My favourite colour is green.")
    found = await tool("discover_memory_tools", FOR_MODELS).call(memory, "ana", {})
    (advice,) = found["advice"]
    assert advice["about"] == "conflict" and advice["calls"] == []


async def test_statements_that_share_a_name_are_no_duplicates(memory: Memory) -> None:
    for text in (
        "Nadia's daughter is called Mila.",
        "Nadia's daughter Mila plays the cello.",
        "Nadia's aunt is called Gerda.",
        "Nadia spent a weekend in Hallstatt with Nadia's aunt Gerda.",
    ):
        await memory.store_memory(text, user_id="ana", context={"note": "told at home"})
    await memory.settle()
    assert await advised(memory, "duplicate") == []


async def test_duplicates_are_merged(memory: Memory) -> None:
    first = await memory.store_memory(
        "The wifi password at the cottage is bluefinch77.", user_id="ana", context={"note": "mine"}
    )
    again = await memory.store_memory(
        "For the cottage, the wifi password is bluefinch77.",
        user_id="ana",
        context={"note": "told"},
    )
    assert not again.merged
    (advice,) = await advised(memory, "duplicate")
    assert {*advice["memory_ids"]} == {first.id, again.id}
    await follow(memory, advice["calls"][0])
    assert await advised(memory, "duplicate") == []
    assert len(await memory.memories("ana")) == 1


async def test_a_reminder_that_is_over_is_ended(memory: Memory) -> None:
    for text, days in (("Remind me to water the plants tomorrow.", 9), ("Remind me to sing.", 9)):
        at = NOW - timedelta(days=days)
        await memory.remember(Turn("ana", text, Role.USER, text, at))
    await memory.settle()
    (advice,) = await advised(memory, "reminder over")
    assert "plants" in advice["text"]
    await follow(memory, advice["calls"][0])
    assert await advised(memory, "reminder over") == []
    assert any("sing" in one.text for one in await memory.memories("ana"))


async def test_tags_of_one_meaning_are_merged(memory: Memory) -> None:
    for text, tag in (("The bread oven is broken.", "baking"), ("Rui eats late.", "bakings")):
        await memory.store_memory(text, user_id="ana", context={"tags": [tag]})
    (advice,) = await advised(memory, "tags")
    assert "bak" in advice["text"]
    done = await follow(memory, advice["calls"][0])
    assert done["merged"] and await advised(memory, "tags") == []


async def test_a_category_that_has_grown_evolves(memory: Memory) -> None:
    await store(memory, *(f"Rui read book number {number} twice." for number in range(6)))
    grown = await advised(memory, "category")
    assert grown
    for one in grown:
        await follow(memory, one["calls"][0])
    assert await advised(memory, "category") == []


async def test_jobs_that_were_set_aside_are_retried(memory: Memory) -> None:
    await remember(memory, Turn("ana", "one", Role.USER, "My dog is called Potola.", NOW))
    database = memory.runtime.database
    user = await database.read_all(queries.users.find, "ana")
    await database.write_all(
        queries.job_failures.record, JobKind.CATEGORY, "contexts", "OSError", 1, 1.0, NOW, user
    )
    (advice,) = await advised(memory, "not understood")
    assert await follow(memory, advice["calls"][0]) == {"jobs": 1}
    assert await advised(memory, "not understood") == []


async def test_memories_that_no_reply_used_are_shown_after_enough_recalls(memory: Memory) -> None:
    at = NOW - timedelta(days=60)
    await remember(memory, Turn("ana", "one", Role.USER, "My dog is called Potola.", at))
    assert await advised(memory, "never used") == []
    for _ in range(30):
        block = await memory.recall("What is my dog called?", user_id="ana")
        await memory.feedback(block, reply="It is raining in Lima.")
    (advice,) = await advised(memory, "never used")
    shown = await follow(memory, advice["calls"][0])
    assert shown["never_used"] >= 1
