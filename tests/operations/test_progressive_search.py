"""Progressive search: tiers, when it stops, and its equivalence to a search at once."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem import Memory, Options
from hotmem.models import CachedEncoder, Language
from hotmem.operations.progressive_search import TierResult, relevant_tiers, search_progressively
from hotmem.operations.requests import SearchOptions
from hotmem.operations.results import Tier
from hotmem.operations.scoring import ScoredSearch
from hotmem.options import SearchingOptions
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.types import Layer, Profile
from tests.conversation import START, life, said
from tests.ranking.statements import evidence, query

LATER = START + timedelta(days=160)
QUESTIONS = (
    "What did Rui do in Porto?",
    "Who is allergic to walnuts?",
    "Who broke a wrist?",
    "boiler serial number",
)


Opening = Callable[[SearchingOptions], Awaitable[Memory]]


@pytest.fixture
async def opened(
    database: Path, encoder: CachedEncoder, language: Language
) -> AsyncIterator[Opening]:
    """Opens a memory with options of searching."""
    async with AsyncExitStack() as stack:

        async def opening(options: SearchingOptions) -> Memory:
            return await stack.enter_async_context(
                Memory.open(
                    database, Options(searching=options), encoder=encoder, language=language
                )
            )

        yield opening


async def tell(memory: Memory) -> None:
    """A life in 150 turns, summarised, and things stored that evolve."""
    for turn in life():
        await memory.remember(turn)
    for session in range(10):
        await memory.end_session(user_id="ana", session_id=f"week {session}")
    await memory.remember(said("I live in Utrecht.", session="last", minutes=216_000))
    await memory.settle()
    await memory.store_memory("The boiler's serial number is 44 B 19.", user_id="ana")
    await memory.evolve("ana")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (SearchOptions(), tuple(Tier)),
        (SearchOptions(include_stored=False), (Tier.SUMMARIES, Tier.TURNS)),
        (SearchOptions(include_conversation=False), (Tier.DIGESTS, Tier.MEMORIES, Tier.SUMMARIES)),
        (SearchOptions(content_type="reminder"), (Tier.DIGESTS, Tier.MEMORIES)),
        (SearchOptions(content_type="summary"), (Tier.SUMMARIES,)),
        (SearchOptions(content_type="turn"), (Tier.SUMMARIES, Tier.TURNS)),
    ],
)
def test_tiers_excluded_by_the_options(options: SearchOptions, expected: tuple[Tier, ...]) -> None:
    assert relevant_tiers(options) == expected


def found(relevances: Sequence[float]) -> ScoredSearch:
    """Statements of these relevances."""
    scores = sorted(relevances, reverse=True)
    judged = [ScoredCandidate(evidence(), one, 1.0, (Layer.FACTS,), False) for one in scores]
    table = np.empty((0, 0), dtype=np.float32)
    return ScoredSearch(
        query(),
        Profile(),
        (),
        table,
        judged,
        {},
        judged,
        judged,
        0,
        scores,
        0.0,
        list(zip(scores, judged, strict=True)),
    )


@given(
    st.lists(st.lists(st.floats(0, 1), max_size=5), min_size=4, max_size=4),
    st.integers(1, 4),
    st.floats(0.1, 1),
)
async def test_the_search_stops_at_the_first_tier_with_enough(
    found_by: list[list[float]], suffices: int, good: float
) -> None:
    asked = []

    async def steps() -> AsyncGenerator[TierResult, None]:
        for tier, relevances in zip(Tier, found_by, strict=True):
            asked.append(tier)
            yield TierResult(tier, 1.0, found(relevances))

    weighed, progress = await search_progressively(
        steps(), tuple(Tier), SearchingOptions(progressive=True, suffices=suffices, good=good)
    )
    enough = [
        len(one) >= suffices and sum(sorted(one, reverse=True)[:suffices]) / suffices >= good
        for one in found_by
    ]
    expected = next((place for place, yes in enumerate(enough) if yes), 3)
    assert progress.searched == tuple(Tier)[: expected + 1] == tuple(asked)
    assert progress.stopped_early == (expected < 3)
    assert [score for score, _ in weighed.results] == sorted(found_by[expected], reverse=True)
    assert progress.milliseconds == dict.fromkeys(asked, 1.0)


@pytest.mark.slow
async def test_all_tiers_find_the_results_of_a_search_at_once(opened: Opening) -> None:
    memory = await opened(SearchingOptions(progressive=True, good=1.1))
    await tell(memory)
    for question in QUESTIONS:
        by_tier, at_once = [
            await memory.search_memory(
                question,
                user_id="ana",
                options={"progressive": progressive, "limit": 5},
                at=LATER,
            )
            for progressive in (True, False)
        ]
        assert at_once.progress is None and by_tier.progress is not None
        assert by_tier.progress.searched == tuple(Tier) and not by_tier.progress.stopped_early
        assert by_tier.progress.reason == "All tiers were searched."
        assert by_tier.results[0].content == at_once.results[0].content, question


@pytest.mark.slow
async def test_enough_results_end_the_search(opened: Opening) -> None:
    memory = await opened(SearchingOptions(progressive=True, good=0.0001))
    await tell(memory)
    result = await memory.search_memory(
        "Who is allergic to walnuts?",
        user_id="ana",
        options={"return_debug": True, "min_relevance": 0.0},
        at=LATER,
    )
    progress = result.progress
    assert (
        progress is not None and progress.stopped_early and progress.searched[-1] is not Tier.TURNS
    )
    assert "is enough" in progress.reason and set(progress.milliseconds) == set(progress.searched)
    assert all(ms > 0 for ms in progress.milliseconds.values())
    assert result.debug is not None and set(result.debug.milliseconds) == {"query", "tiers"}


async def test_the_setting_applies_without_an_option(opened: Opening) -> None:
    memory = await opened(SearchingOptions(progressive=False))
    await memory.store_memory("The boiler's serial number is 44 B 19.", user_id="ana")
    assert (await memory.search_memory("boiler", user_id="ana")).progress is None
    asked = await memory.search_memory("boiler", user_id="ana", options={"progressive": True})
    assert asked.progress is not None and asked.progress.searched
