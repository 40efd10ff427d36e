"""Search: filters, rankings and results."""

import asyncio
import threading
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem import InvalidInput, Layer, Memory
from hotmem.memory.runtime import MAX_CONCURRENT_RECALLS
from hotmem.operations.requests import ScoreWeights, SearchOptions, TimeRange
from hotmem.operations.scoring import design_score
from hotmem.ranking.relevance import MEDIUM_RELEVANCE
from hotmem.storage.sqlite.connection import Connection
from tests.conversation import START, remember, said
from tests.tables import tables

CASES = tables(__file__)


async def tell(memory: Memory) -> None:
    """Two sessions, a day apart, and something stored."""
    await memory.remember(said("My dog Potola ate a sock on Sunday."))
    await memory.remember(said("We took her to the vet in Porto.", minutes=1))
    await memory.remember(
        said("I started painting the kitchen yellow.", session="tuesday", minutes=1500)
    )
    await memory.end_session(user_id="ana", session_id="monday")
    await memory.end_session(user_id="ana", session_id="tuesday")
    await memory.settle()
    await memory.store_memory(
        "Potola's chip number is 981 020.", user_id="ana", context={"importance": 4, "kind": "fact"}
    )


async def test_a_word_finds_turns_and_memories(memory: Memory) -> None:
    await tell(memory)
    found = await memory.search_memory("Potola", user_id="ana")
    assert {
        "Ana's dog Potola ate a sock on 2026-03-01 (Sunday).",
        "Potola's chip number is 981 020.",
    } <= {one.content for one in found.results}
    assert found.total_found >= 2
    assert all("potola" in map(str.lower, one.matched_concepts) for one in found.results[:2])
    assert "Potola" in found.query_analysis.concepts
    scores = [one.relevance_score for one in found.results]
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores)


@pytest.mark.parametrize("ranking", ["learned", "design"])
async def test_filters(memory: Memory, ranking: str) -> None:
    await tell(memory)

    async def contents(query: str = "Potola", **options: object) -> set[str]:
        found = await memory.search_memory(
            query, user_id="ana", options={"ranking": ranking, "min_relevance": 0.0} | options
        )
        return {one.content for one in found.results}

    stored, spoken = "Potola's chip number is 981 020.", "My dog Potola ate a sock on Sunday."
    assert stored not in await contents(include_stored=False)
    assert {spoken} <= await contents(include_stored=False)
    assert spoken not in await contents(include_conversation=False)
    assert stored in await contents(include_conversation=False)
    assert spoken not in await contents(min_importance=4, include_conversation=True)
    assert stored in await contents(min_importance=4)
    assert stored not in await contents(min_importance=5)
    assert {stored} & await contents(content_type="turn") == set()
    assert spoken in await contents(content_type="turn")
    assert await contents(content_type="rule") == set()
    assert spoken not in await contents(
        time_range=TimeRange(start=datetime.now(UTC) - timedelta(hours=1))
    )
    assert await contents(time_range={"end": START.isoformat()}) == set()
    assert len(await contents(limit=1)) == 1


async def test_a_search_counts_as_access(memory: Memory) -> None:
    await tell(memory)
    options = SearchOptions(include_conversation=False)
    (before,) = [
        one
        for one in (
            await memory.search_memory("chip number", user_id="ana", options=options)
        ).results
        if "chip" in one.content
    ]
    (after,) = [
        one
        for one in (
            await memory.search_memory("chip number", user_id="ana", options=options)
        ).results
        if "chip" in one.content
    ]
    assert before.last_accessed is None
    assert after.last_accessed is not None


async def test_a_result_that_does_not_fit_counts_no_access(memory: Memory) -> None:
    await tell(memory)
    options = SearchOptions(include_conversation=False, min_relevance=0)
    for _ in range(2):
        found = await memory.search_memory("chip number", user_id="ana", options=options)
    weak = [one for one in found.results if one.relevance_score < MEDIUM_RELEVANCE]
    assert weak and all(one.last_accessed is None for one in weak)


async def test_debug_information(memory: Memory) -> None:
    await tell(memory)
    assert (await memory.search_memory("Potola", user_id="ana")).debug is None
    debug = (
        await memory.search_memory("Potola", user_id="ana", options={"return_debug": True})
    ).debug
    assert debug is not None
    assert debug.duplicates_before - debug.duplicates_after == debug.duplicates_removed
    assert set(debug.milliseconds) == {"query", "layers", "evidence", "ranking"}
    assert Layer.VERBATIM in debug.sources and debug.sources[Layer.VERBATIM].count >= 1
    assert debug.weights[Layer.FACTS] == 1.0


async def test_the_conversation_weight(memory: Memory) -> None:
    await tell(memory)
    by_weight = {}
    for weight in (0.0, 0.5, 1.0):
        options = {"conversation_weight": weight, "min_relevance": 0.0, "limit": 100}
        found = await memory.search_memory("Potola Porto", user_id="ana", options=options)
        by_weight[weight] = {one.content: one.relevance_score for one in found.results}
    spoken, stored = "My dog Potola ate a sock on Sunday.", "Potola's chip number is 981 020."
    assert by_weight[0.0][spoken] == 0.0 < by_weight[0.5][spoken] < by_weight[1.0][spoken]
    assert by_weight[1.0][stored] == 0.0 < by_weight[0.5][stored]


async def test_a_greeting_is_searched(memory: Memory) -> None:
    await remember(memory, "Hello my friend, lovely weather.")
    assert (
        await memory.search_memory("hello", user_id="ana", options={"min_relevance": 0.0})
    ).results


async def test_an_unknown_user_has_no_results(memory: Memory) -> None:
    assert (await memory.search_memory("dog", user_id="nobody")).total_found == 0
    found = await memory.search_contextual("dog", user_id="nobody", max_tokens=100)
    assert (found.sessions, found.fallback, found.elsewhere) == ((), True, ())
    assert "Nothing was found" in found.text


@pytest.mark.parametrize(("options", "named"), CASES["an_invalid_option_is_named"])
async def test_an_invalid_option_is_named(
    memory: Memory, options: dict[str, object], named: str
) -> None:
    with pytest.raises(InvalidInput, match=named):
        await memory.search_memory("dog", user_id="ana", options=options)


def test_the_design_ranking_by_arithmetic() -> None:
    assert design_score(
        meaning=0.5, words=0.5, importance=0.5, days=0, accesses=0
    ) == pytest.approx(0.2 + 0.15 + 0.05 + 0.1)
    assert design_score(meaning=1, words=1, importance=1, days=30, accesses=3) == pytest.approx(
        0.4 + 0.3 + 0.1 + 0.05 + 0.05
    )


def test_weights_of_the_design_ranking_by_arithmetic() -> None:
    only = ScoreWeights(meaning=0, words=3, importance=1, recency=0, use=0)
    assert design_score(
        meaning=1, words=0.5, importance=0.2, days=0, accesses=9, weights=only
    ) == pytest.approx((3 * 0.5 + 0.2) / 4)


async def test_the_weights_of_a_search_rank(memory: Memory) -> None:
    await tell(memory)
    await memory.store_memory(
        "The vet's telephone is out of order.", user_id="ana", context={"importance": 5}
    )

    async def first(**weights: float) -> str:
        none = dict.fromkeys(("meaning", "words", "importance", "recency", "use"), 0.0)
        options = {"ranking": "design", "weights": none | weights}
        found = await memory.search_memory("the chip of Potola", user_id="ana", options=options)
        return found.results[0].content

    assert await first(words=1) == "Potola's chip number is 981 020."
    assert await first(importance=1) == "The vet's telephone is out of order."


shares = st.floats(0, 1)


@given(shares, shares, shares, st.floats(0, 10_000), st.integers(0, 10_000))
def test_the_design_ranking_is_between_0_and_1(
    meaning: float, words: float, importance: float, days: float, accesses: int
) -> None:
    assert 0 <= design_score(meaning, words, importance, days, accesses) <= 1


async def test_a_search_waiting_for_the_writer_does_not_block_recalls(memory: Memory) -> None:
    await memory.store_memory("The boiler's number is 44.", user_id="ana")
    writing, done = threading.Event(), threading.Event()

    def long_write(_conn: Connection) -> None:
        writing.set()
        done.wait(60)

    write = asyncio.create_task(memory.runtime.database.write_all(long_write))
    await asyncio.to_thread(writing.wait)
    searches = [
        asyncio.create_task(memory.search_memory("the boiler's number", user_id="ana"))
        for _ in range(MAX_CONCURRENT_RECALLS + 1)
    ]
    try:
        await asyncio.sleep(0.3)
        async with asyncio.timeout(30):
            assert (
                "44"
                in (await memory.recall("What's the number of the boiler?", user_id="ana")).text
            )
        assert not any(search.done() for search in searches)
    finally:
        done.set()
        await write
    assert all([one.results for one in await asyncio.gather(*searches)])
    (boiler,) = (await memory.search_memory("the boiler's number", user_id="ana")).results
    assert boiler.last_accessed is not None


async def test_only_relevant_statements_are_counted(memory: Memory) -> None:
    await tell(memory)
    for number in range(8):
        await memory.store_memory(f"Shelf {number} holds jars of paint.", user_id="ana")
    found = await memory.search_memory("Potola", user_id="ana", options={"limit": 20})
    assert 0 < found.total_found < len(found.results)
    assert found.total_found == sum(one.relevance_score >= 0.1 for one in found.results)
