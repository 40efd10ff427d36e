"""Progressive search: tier after tier, from digests to turns, until enough good results are in.

Each tier adds what it finds to what was found before, and all of it is weighed together, so that
after the last one the results are those of a search of everything.
"""

import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

from hotmem.operations.requests import SearchOptions
from hotmem.operations.results import Progress, Tier
from hotmem.operations.scoring import ScoredSearch
from hotmem.options import SearchingOptions
from hotmem.recall import RecallContext
from hotmem.retrieval.candidates import load_candidates
from hotmem.retrieval.context import RecallRequest
from hotmem.retrieval.fanout import search_layers
from hotmem.retrieval.fusion import Candidate
from hotmem.retrieval.rank_fusion import RANK_CONSTANT
from hotmem.storage.search.searches import ClusterSearch
from hotmem.types import EvidenceKind, Hit, Layer, Query

TIER_LAYERS: Final[Mapping[Tier, tuple[Layer, ...]]] = {
    Tier.DIGESTS: (),
    Tier.MEMORIES: (Layer.FACTS,),
    Tier.SUMMARIES: (Layer.SESSIONS,),
    Tier.TURNS: (Layer.SEMANTIC, Layer.VERBATIM),
}
"""The layers that a tier asks."""

DIGESTS_READ: Final = 3
"""Subcategories whose digests the first tier reads."""

ScoreCandidates = Callable[[Sequence[Candidate]], Coroutine[Any, Any, ScoredSearch]]
"""Ranks candidates."""


@dataclass(frozen=True, slots=True)
class TierResult:
    """What is known after a tier.

    The tier, its milliseconds, and everything found so far, ranked.
    """

    tier: Tier
    ms: float
    weighed: ScoredSearch

    def mean(self, count: int) -> float:
        """Mean relevance of the best results, 0 to 1; 0 while there are fewer."""
        best = self.weighed.ranked[:count]
        return sum(one.relevance for _, one in best) / count if len(best) == count else 0.0


def relevant_tiers(options: SearchOptions) -> tuple[Tier, ...]:
    """The tiers that can hold what is searched for."""
    stored = options.include_stored and options.content_type not in ("turn", "summary")
    summaries = options.content_type in (None, "turn", "summary")
    said = options.include_conversation and options.content_type in (None, "turn")
    wanted = {
        Tier.DIGESTS: stored,
        Tier.MEMORIES: stored,
        Tier.SUMMARIES: summaries,
        Tier.TURNS: said,
    }
    return tuple(tier for tier in Tier if wanted[tier])


async def search_tiers(
    reader: RecallContext,
    request: RecallRequest,
    query: Query,
    searched: Sequence[Tier],
    weigh: ScoreCandidates,
) -> AsyncGenerator[TierResult, None]:
    """The state after each tier, in order; who has enough asks for no more.

    Args:
        reader: The live parts of the read path.
        request: The query as it was asked.
        query: The query, analysed.
        searched: The tiers.
        weigh: Ranks all candidates found so far.
    """
    hits: list[Hit] = []
    for tier in searched:
        started = time.perf_counter()
        hits += await (
            _digests(reader, query) if tier is Tier.DIGESTS else _layers(reader, query, tier)
        )
        found, _ = await load_candidates(reader, request, query, hits, None)
        weighed = await weigh(found)
        yield TierResult(tier, 1000 * (time.perf_counter() - started), weighed)


async def search_progressively(
    steps: AsyncGenerator[TierResult, None], searched: Sequence[Tier], usual: SearchingOptions
) -> tuple[ScoredSearch, Progress]:
    """What is found as soon as it is enough.

    Args:
        steps: What `search_tiers` yields, one step or more.
        searched: Its tiers.
        usual: What is enough.
    """
    milliseconds: dict[Tier, float] = {}
    async with aclosing(steps):
        async for step in steps:
            milliseconds[step.tier] = step.ms
            mean, early = step.mean(usual.suffices), step.tier is not searched[-1]
            if mean >= usual.good:
                break
    reason = (
        f"the best {usual.suffices} have a mean relevance of {mean:.2f}, {usual.good} is enough"
        if early
        else "all tiers were searched"
    )
    return step.weighed, Progress(tuple(milliseconds), early, reason, milliseconds)


async def _digests(reader: RecallContext, query: Query) -> list[Hit]:
    """The statements that stand for the subcategories which the query is nearest to."""
    (found,) = await reader.engine.search(query.user, ClusterSearch(query.vectors, DIGESTS_READ))
    return [
        Hit(Layer.FACTS, EvidenceKind.MEMORY, key, 1 / (RANK_CONSTANT + rank))
        for rank, (key, _) in enumerate(found)
    ]


async def _layers(reader: RecallContext, query: Query, tier: Tier) -> list[Hit]:
    hits, _ = await search_layers(
        [search for search in reader.layers if search.layer in TIER_LAYERS[tier]], query, None
    )
    return hits
