"""Plans and reminders: found by their kind, first by their time, marked when they are past."""

from datetime import UTC, datetime, timedelta

import pytest

from hotmem import Memory, Role, Turn
from hotmem.operations.requests import SearchOptions
from hotmem.operations.results import FoundItem
from tests.conversation import remember

SAID_AT = datetime(2026, 10, 7, 9, 30, tzinfo=UTC)
"""A Wednesday."""

REMINDERS = SearchOptions(content_type="reminder", limit=100)


async def tell(memory: Memory, *texts: str) -> None:
    for place, text in enumerate(texts):
        at = SAID_AT + timedelta(minutes=place)
        await memory.remember(Turn("ana", "then", Role.USER, text, at, "Ana"))
    await memory.settle()


async def reminders(memory: Memory, query: str) -> list[FoundItem]:
    found = await memory.search_memory(query, user_id="ana", options=REMINDERS)
    return list(found.results)


@pytest.mark.parametrize(
    "said",
    [
        "Remind me to write the rollout document before Friday.",
        "um remind me to write the the rollout document before friday",
    ],
)
async def test_a_search_for_reminders_finds_these_only(memory: Memory, said: str) -> None:
    await tell(memory, "I deployed the auth fixes.", said, "My sister Beth lives in Denver.")
    (found,) = await reminders(memory, "reminders")
    assert "wants to be reminded to write the" in found.content
    assert "before 2026-10-09 (Friday)" in found.content
    (time,) = found.times
    assert (time.start, time.end) == (
        datetime(2026, 10, 8, tzinfo=UTC),
        datetime(2026, 10, 10, tzinfo=UTC),
    )


async def test_few_reminders_are_found_among_many_facts(memory: Memory) -> None:
    names = [f"{one}{two}" for one in ("Al", "Be", "Co", "Di") for two in ("fa", "ro", "mi", "so")]
    facts = [f"My friend {name} collects {kind}." for name in names for kind in KINDS]
    await tell(memory, "I need to call the plumber tomorrow.", *facts)
    found = await reminders(memory, "what do my friends collect")
    assert ["call the plumber" in one.content for one in found] == [True]


KINDS = ("stamps", "coins", "postcards", "shells")


@pytest.mark.parametrize(
    "question",
    [
        "What's on tomorrow?",
        "whats on tomorrow",
        "what do i have this week",
        "Anything I should remember for Thursday?",
    ],
)
@pytest.mark.parametrize(
    "said", ["I'm seeing the vet tomorrow at four.", "vet tomorrow at four for the cat"]
)
async def test_what_is_on_comes_first(memory: Memory, said: str, question: str) -> None:
    await tell(
        memory,
        "I have a brother called Tom.",
        "My sister Beth lives in Denver.",
        said,
        "I'm flying to Rome next Friday.",
    )
    block = await memory.recall(
        question,
        user_id="ana",
        session_id="later",
        at=SAID_AT + timedelta(hours=1),
        deadline_ms=3000,
    )
    assert "vet" in block.items[0].text.casefold()
    assert block.items[0].in_window


async def test_what_is_over_is_marked_as_past(memory: Memory) -> None:
    await tell(memory, "I'm seeing the vet tomorrow at four.", "I'm flying to Rome on Saturday.")
    at = SAID_AT + timedelta(days=2)
    block = await memory.recall(
        "What do I have this week?", user_id="ana", session_id="later", at=at, deadline_ms=3000
    )
    facts = [item for item in block.items if item.memory_id is not None]
    assert [item.past for item in facts] == [False, True]
    assert "now past" in block.text
    assert "Rome" in facts[0].text


async def test_an_answer_has_the_time_of_its_question(memory: Memory) -> None:
    asked = Turn("ana", "then", Role.ASSISTANT, "What's on tomorrow?", SAID_AT)
    said = "eye clinic and my neighbour rose is running me over"
    answered = Turn("ana", "then", Role.USER, said, SAID_AT + timedelta(seconds=5), "Ana")
    await remember(memory, asked, answered)
    block = await memory.recall(
        "whats on tomorrow", user_id="ana", session_id="later", at=SAID_AT + timedelta(hours=1)
    )
    assert block.items[0].text == said


async def test_a_stored_reminder_is_found_by_its_day(memory: Memory) -> None:
    await tell(memory, "My sister Beth lives in Denver.")
    await memory.store_memory(
        "The boiler service is on 9 October 2099.", user_id="ana", context={"kind": "reminder"}
    )
    at = datetime(2099, 10, 8, 9, tzinfo=UTC)
    block = await memory.recall(
        "What's on tomorrow?", user_id="ana", session_id="later", at=at, deadline_ms=3000
    )
    assert "boiler" in block.items[0].text
    options = SearchOptions(content_type="reminder")
    after = at + timedelta(days=5)
    for moment, past in ((at, False), (after, True)):
        found = await memory.search_memory("boiler", user_id="ana", options=options, at=moment)
        assert [one.past for one in found.results] == [past]
