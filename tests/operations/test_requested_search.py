"""Searches for memories of a kind, a tag or a period, with and without a topic."""

from datetime import UTC, datetime, timedelta

import pytest

from hotmem import Memory
from hotmem.operations.requests import StoreContext
from hotmem.operations.store import store_statement
from hotmem.types import Category, Kind
from hotmem.understanding.query.requested import RequestedKind

AT = datetime(2026, 7, 1, 8, 20, tzinfo=UTC)
"""A Wednesday."""

INVOICE = "Send the second invoice on 3 July."
RECITAL = "The cello recital is on Saturday 4 July at 15:00."
SERVICE = "Book the yearly boiler service by 10 October."
CHOSEN = "We decided to build the bakery's site with Astro."
TAKEN = "For the dentist's site I take Postgres, not Mongo."
TAX = "The office room can be deducted from the income."
LINK = "How to tile a niche: https://clips.example/niche"
RESET = "Undo the last commit: git reset --soft HEAD~1"
TEA = "I drink green tea in the morning."
DOG = "My dog Rufus is afraid of thunder."
VET = "The vet reminded us of the rabies booster."
BIKE = "My bicycle is red."

NOTES: tuple[tuple[str, StoreContext, int], ...] = (
    (RECITAL, StoreContext(kind=Kind.REMINDER, tags=("cello",)), 20),
    (SERVICE, StoreContext(kind=Kind.REMINDER), 18),
    (INVOICE, StoreContext(kind=Kind.REMINDER), 15),
    (CHOSEN, StoreContext(category=Category.PROJECTS), 140),
    (TAKEN, StoreContext(category=Category.PROJECTS), 80),
    (TAX, StoreContext(tags=("tax",)), 40),
    (LINK, StoreContext(category=Category.REFERENCES), 60),
    (RESET, StoreContext(category=Category.REFERENCES), 120),
    (TEA, StoreContext(kind=Kind.PREFERENCE), 50),
    (DOG, StoreContext(), 45),
    (VET, StoreContext(kind=Kind.FACT), 44),
    (BIKE, StoreContext(), 3),
)
"""Texts, metadata, and the days ago that they were stored."""


@pytest.fixture
async def notes(memory: Memory) -> Memory:
    """A memory with the notes."""
    runtime = memory.runtime
    for text, context, days in NOTES:
        moment = AT - timedelta(days=days)
        await runtime.storing.run(
            store_statement(runtime.recall, runtime.write, "ana", text, context, moment)
        )
    await memory.settle()
    return memory


async def contents(memory: Memory, query: str, **options: object) -> list[str]:
    found = await memory.search_memory(query, user_id="ana", options=options, at=AT)
    return [one.content for one in found.results]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("reminders", [INVOICE, RECITAL, SERVICE]),
        ("Reminders for this week", [INVOICE, RECITAL]),
        ("what do I have to do by Friday", [INVOICE]),
        ("everything tagged tax", [TAX]),
        ("everything tagged Taxes", [TAX]),
        ("#cello", [RECITAL]),
        ("preferences", [TEA]),
        ("shell commands I noted", [RESET]),
        ("links I saved", [LINK]),
        ("what did I note last week", [BIKE]),
        ("what did I note in January", []),
        ("anything from the last four days", [BIKE]),
    ],
)
async def test_without_a_topic_the_results_are_those_that_match(
    notes: Memory, query: str, expected: list[str]
) -> None:
    found = await contents(notes, query)
    if expected:
        assert found == expected
    else:  # nothing was stored then, so the words are searched
        assert len(found) > 3


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("decisions about the bakery", CHOSEN),
        ("what did we decide for the dentist", TAKEN),
        ("links about tiles", LINK),
        ("reminders about the boiler", SERVICE),
        ("everything tagged thunder storms", DOG),
        ("notes about my dog", DOG),
        ("what reminders did the vet give us", VET),
    ],
)
async def test_with_a_topic_its_words_rank(notes: Memory, query: str, first: str) -> None:
    assert (await contents(notes, query))[0] == first


async def test_what_was_understood_is_reported(notes: Memory) -> None:
    found = await notes.search_memory("decisions about the bakery", user_id="ana", at=AT)
    requested = found.query_analysis.requested
    assert requested is not None
    assert (requested.kind, requested.topic) == (RequestedKind.DECISIONS, "bakery")
    found = await notes.search_memory("what is my dog afraid of", user_id="ana", at=AT)
    assert found.query_analysis.requested is None
    trace = await notes.trace_search(
        "reminders for this week", user_id="ana", options={"expected": "boiler service"}, at=AT
    )
    assert [one.result.content for one in trace.results] == [INVOICE, RECITAL]
    assert trace.expected is not None and not trace.expected[0].found
    assert trace.expected[0].reason


async def test_a_memory_that_no_layer_finds_is_found_by_its_kind(notes: Memory) -> None:
    runtime = notes.runtime
    for number in range(60):
        await runtime.storing.run(
            store_statement(
                runtime.recall,
                runtime.write,
                "ana",
                f"Parcel {number} is a reminder to nobody.",
                StoreContext(kind=Kind.FACT),
                AT - timedelta(days=1),
            )
        )
    await notes.settle()
    assert (await contents(notes, "reminders"))[:3] == [INVOICE, RECITAL, SERVICE]


async def test_the_options_still_filter(notes: Memory) -> None:
    assert TAX not in await contents(notes, "everything tagged tax", content_type="preference")
    assert await contents(notes, "reminders", limit=1) == [INVOICE]
    assert INVOICE not in await contents(notes, "reminders", include_stored=False)


async def test_a_search_by_words_is_ranked_as_before(notes: Memory) -> None:
    found = await contents(notes, "what is my dog afraid of")
    assert found[0] == DOG
