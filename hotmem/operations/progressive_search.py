"""Progressive search: tier after tier, from digests to turns, until enough good results are found.

The candidates of each tier are scored together with those of the tiers before, so that the results
after the last tier are those of a search at once.
"""

import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

from hotmem.operations.kind_search import hits_of_kind
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
from hotmem.types import EvidenceKind, Hit, Kind, Layer, Query

TIER_LAYERS: Final[Mapping[Tier, tuple[Layer, ...]]] = {
    Tier.DIGESTS: (),
    Tier.MEMORIES: (Layer.FACTS,),
    Tier.SUMMARIES: (Layer.SESSIONS,),
    Tier.TURNS: (Layer.SEMANTIC, Layer.VERBATIM),
}
"""The layers that each tier searches."""

DIGESTS_READ: Final = 3
"""Number of subcategories whose digests the first tier reads."""

ScoreCandidates = Callable[[Sequence[Candidate]], Coroutine[Any, Any, ScoredSearch]]
"""Scores candidates."""


@dataclass(frozen=True, slots=True)
class TierResult:
    """Result of a tier.

    Attributes:
        tier: The tier.
        ms: Its time in milliseconds.
        scored: Everything found so far, scored.
    """

    tier: Tier
    ms: float
    scored: ScoredSearch

    def mean(self, count: int) -> float:
        """Mean relevance of the best `count` results, 0 to 1; 0 if there are fewer."""
        best = self.scored.results[:count]
        return sum(one.relevance for _, one in best) / count if len(best) == count else 0.0


def relevant_tiers(options: SearchOptions) -> tuple[Tier, ...]:
    """The tiers that the options do not exclude."""
    stored = options.include_stored and options.content_type not in ("turn", "summary")
    summaries = options.content_type in (None, "turn", "summary")
    spoken = options.include_conversation and options.content_type in (None, "turn")
    wanted = {
        Tier.DIGESTS: stored,
        Tier.MEMORIES: stored,
        Tier.SUMMARIES: summaries,
        Tier.TURNS: spoken,
    }
    return tuple(tier for tier in Tier if wanted[tier])


async def search_tiers(
    context: RecallContext,
    request: RecallRequest,
    query: Query,
    tiers: Sequence[Tier],
    score: ScoreCandidates,
    kind: Kind | None = None,
) -> AsyncGenerator[TierResult, None]:
    """Search tier after tier, for as long as results are consumed.

    Args:
        context: The resources of the read path.
        request: The request.
        query: The analysed query.
        tiers: The tiers, in order.
        score: Scores all candidates found so far.
        kind: The kind of memory to find; None for all.

    Yields:
        The result of each tier.
    """
    hits: list[Hit] = []
    for tier in tiers:
        started = time.perf_counter()
        hits += await (
            _digests(context, query) if tier is Tier.DIGESTS else _layers(context, query, tier)
        )
        wanted = hits if kind is None else await hits_of_kind(context, query, hits, kind)
        candidates, _ = await load_candidates(context, request, query, wanted, None)
        scored = await score(candidates)
        yield TierResult(tier, 1000 * (time.perf_counter() - started), scored)


async def search_progressively(
    steps: AsyncGenerator[TierResult, None], tiers: Sequence[Tier], options: SearchingOptions
) -> tuple[ScoredSearch, Progress]:
    """Search tiers until enough good results are found.

    Args:
        steps: The results of `search_tiers`, one or more.
        tiers: Its tiers.
        options: When enough is found.
    """
    milliseconds: dict[Tier, float] = {}
    async with aclosing(steps):
        async for step in steps:
            milliseconds[step.tier] = step.ms
            mean, early = step.mean(options.suffices), step.tier is not tiers[-1]
            if mean >= options.good:
                break
    reason = (
        f"The mean relevance of the best {options.suffices} results is {mean:.2f},"
        f" {options.good} is enough."
        if early
        else "All tiers were searched."
    )
    return step.scored, Progress(tuple(milliseconds), early, reason, milliseconds)


async def _digests(context: RecallContext, query: Query) -> list[Hit]:
    """The digest statements of the subcategories that are nearest to the query."""
    (found,) = await context.engine.search(query.user, ClusterSearch(query.vectors, DIGESTS_READ))
    return [
        Hit(Layer.FACTS, EvidenceKind.MEMORY, key, 1 / (RANK_CONSTANT + rank))
        for rank, (key, _) in enumerate(found)
    ]


async def _layers(context: RecallContext, query: Query, tier: Tier) -> list[Hit]:
    hits, _ = await search_layers(
        [search for search in context.layers if search.layer in TIER_LAYERS[tier]], query, None
    )
    return hits
