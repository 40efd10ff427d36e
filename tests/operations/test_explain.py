"""Traces of searches: every way in which an expected statement is found or lost."""

from datetime import UTC, datetime, timedelta

import pytest

from hotmem import InvalidInput, Memory
from hotmem.operations.results import SearchTrace
from hotmem.tools.maintenance import MergeArguments, merge_memories
from hotmem.types import EvidenceKind, Layer
from tests.conversation import START, remember, said
from tests.tables import tables

CASES = tables(__file__)

STORED = "Potola's chip number is 981 020."


async def tell(memory: Memory) -> str:
    """Add turns, a former fact and a stored statement; return the id of that."""
    for place, text in enumerate(
        (
            "My dog Potola ate a sock on Sunday.",
            "We took her to the vet in Porto.",
            "I painted the kitchen yellow.",
        )
    ):
        await memory.remember(said(text, minutes=place, name=f"t{place}"))
    await remember(
        memory,
        said("I live in Utrecht.", session="tuesday", minutes=1500),
        said(
            "I don't live in Utrecht any more, I live in Leeds now.", session="friday", minutes=6000
        ),
    )
    return (
        await memory.store_memory(STORED, user_id="ana", context={"kind": "fact", "importance": 2})
    ).id


async def traced(memory: Memory, query: str = "Potola", **options: object) -> SearchTrace:
    return await memory.trace_search(query, user_id="ana", options=options)


async def test_the_results_are_those_of_a_search_with_reasons(memory: Memory) -> None:
    await tell(memory)
    found = await memory.search_memory("Potola", user_id="ana", options={"limit": 2})
    trace = await traced(memory, limit=2)
    assert [one.result.id for one in trace.results] == [one.id for one in found.results]
    assert trace.analysis == found.query_analysis and trace.expected is None
    assert {report.layer for report in trace.layers} == set(Layer) and trace.candidates[
        EvidenceKind.PASSAGE
    ] >= 3
    assert all(one.layers for one in trace.results) and all(one.why for one in trace.results)
    assert [abs(reason.adds) for reason in trace.results[0].why] == sorted(
        (abs(reason.adds) for reason in trace.results[0].why), reverse=True
    )
    assert set(trace.milliseconds) == {"query", "layers", "evidence", "ranking", "explaining"}
    assert sum(trace.dropped.values()) + len(trace.results) == sum(trace.candidates.values())


async def test_tracing_counts_no_access(memory: Memory) -> None:
    await tell(memory)
    await traced(memory, expected=STORED)
    found = await memory.search_memory(
        "chip number", user_id="ana", options={"include_conversation": False}
    )
    assert found.results[0].last_accessed is None


@pytest.mark.parametrize(
    ("query", "expected", "options", "found", "reason"),
    [
        *CASES["found_or_lost"],
        (
            "Potola's chip number",
            "chip number",
            {"time_range": {"end": START}},
            False,
            "The option time_range excludes it",
        ),
    ],
)
async def test_why_something_was_found_or_lost(
    memory: Memory, query: str, expected: str, options: dict[str, object], found: bool, reason: str
) -> None:
    await tell(memory)
    trace = await traced(memory, query, expected=expected, **options)
    assert trace.expected
    assert (trace.expected[0].found, reason in trace.expected[0].reason) == (found, True), (
        trace.expected[0].reason
    )


async def test_ranks_cosine_and_words_are_reported(memory: Memory) -> None:
    name = await tell(memory)
    trace = await traced(memory, "chip of Potola", expected=name)
    assert trace.expected is not None
    (verdict,) = trace.expected
    assert (
        verdict.id == name and verdict.content == STORED and verdict.ranks[Layer.FACTS].place == 1
    )
    assert (
        verdict.cosine is not None
        and 0.2 < verdict.cosine < 1
        and verdict.words == ("chip", "potola")
    )
    assert verdict.relevance is not None


async def test_beyond_the_limit(memory: Memory) -> None:
    await tell(memory)
    trace = await traced(memory, limit=1, min_relevance=0.0)
    last = (await traced(memory, limit=100, min_relevance=0.0)).results[-1].result
    lost = await traced(memory, limit=1, min_relevance=0.0, expected=last.content)
    assert (
        lost.expected
        and not lost.expected[0].found
        and "and the limit is 1" in lost.expected[0].reason
    )
    assert "beyond the limit of 1" in trace.dropped


async def test_a_merged_memory(memory: Memory) -> None:
    kept = await tell(memory)
    other = (await memory.store_memory("981 020 is written on the dog's chip.", user_id="ana")).id
    await merge_memories(memory, "ana", MergeArguments(into=kept, ids=(other,)))
    trace = await traced(memory, expected=other)
    assert trace.expected and kept in trace.expected[0].reason and not trace.expected[0].found


async def test_a_duplicate(memory: Memory) -> None:
    await remember(memory, said("My dog is called Potola.", name="first"))
    trace = await traced(memory, "What is my dog called?", expected="My dog is called Potola.")
    assert trace.expected
    turn = next(one for one in trace.expected if one.id == "first")
    assert turn.found and "repeats another statement" in turn.reason


async def test_a_statement_that_no_layer_found(memory: Memory) -> None:
    for number in range(120):
        await memory.remember(said(f"My boat number {number} is blue and fast.", minutes=number))
    await remember(
        memory, said("The weather forecast bored Leif.", session="other", minutes=9000, name="leif")
    )
    trace = await traced(memory, "Which boat is fast and blue?", expected="leif")
    assert trace.expected and trace.expected[0].ranks == {}
    assert "No layer found it: its cosine is" in trace.expected[0].reason


async def test_an_expected_statement_that_does_not_exist(memory: Memory) -> None:
    await tell(memory)
    assert (await traced(memory, expected="a violin")).expected == ()
    assert (
        await memory.trace_search("dog", user_id="nobody", options={"expected": "dog"})
    ).expected == ()
    with pytest.raises(InvalidInput, match="expected is ''"):
        await traced(memory, expected="")


async def test_at_another_time(memory: Memory) -> None:
    await tell(memory)
    trace = await memory.trace_search(
        "What happened yesterday?", user_id="ana", at=datetime(2026, 3, 3, 12, tzinfo=UTC)
    )
    assert trace.time is not None and trace.time.end - trace.time.start == timedelta(days=1)
