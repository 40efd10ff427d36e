"""search_memory: everything that is known and was said, by its relevance.

retrieve, at once or tier by tier ─▶ weigh ─▶ the best
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final

import numpy as np

from hotmem.core.stage_timer import StageTimer
from hotmem.operations.progressive_search import relevant_tiers, search_progressively, search_tiers
from hotmem.operations.requests import SearchOptions
from hotmem.operations.results import (
    FoundItem,
    Progress,
    QueryAnalysis,
    SearchDebug,
    SearchResult,
    SourceReport,
)
from hotmem.operations.scoring import ScoredSearch, content_type, score_candidates
from hotmem.options import SearchingOptions
from hotmem.ranking.confidence import is_replaced
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.recall import RecallContext, retrieve
from hotmem.retrieval.context import RecallRequest
from hotmem.retrieval.query import build_query
from hotmem.storage import Storage, queries
from hotmem.text.stemming import stems
from hotmem.types import EvidenceKind, Layer, Query

RELEVANT_FROM: Final = 0.1
"""Relevance from which a result counts as relevant: the ranking itself leaves out nothing, as
any bar loses what is asked for in other words."""


async def search(
    reader: RecallContext, request: RecallRequest, options: SearchOptions, usual: SearchingOptions
) -> SearchResult:
    """The results.

    Args:
        reader: The live parts of the read path.
        request: The query; its deadline and budget are not asked for.
        options: How to search, checked.
        usual: How it is done where the options leave it open.
    """
    watch = StageTimer()
    by_tier = usual.progressive if options.progressive is None else options.progressive
    searched = relevant_tiers(options) if by_tier else ()
    weighed, progress = await (
        _by_tier(reader, request, options, usual, watch)
        if searched
        else _at_once(reader, request, options, watch)
    )
    query, best = weighed.query, weighed.ranked[: options.limit]
    results = tuple(found_item(weighed, score, one) for score, one in best)
    debug = None
    if options.return_debug:
        debug = SearchDebug(
            sources=_reports(results),
            duplicates_before=len(weighed.wanted),
            duplicates_after=len(weighed.statements),
            duplicates_removed=weighed.merged,
            weights=weighed.profile.weights.as_dict(),
            milliseconds=dict(watch.stages),
        )
    return SearchResult(
        results,
        sum(score >= RELEVANT_FROM for score, _ in weighed.ranked),
        query_analysis(query),
        progress,
        debug,
    )


async def count_access(storage: Storage, user_id: str, found: SearchResult, now: datetime) -> None:
    """Counts the memories among the results as accessed.

    Not on the thread of recalls, as it waits until other writes are done.
    """
    user, given = (
        await storage.database.read(queries.users.find, user_id),
        [one.id for one in found.results if one.category is not None],
    )
    if user is not None and given:
        await storage.database.write(queries.memories.touch, user, given, now)


async def _at_once(
    reader: RecallContext, request: RecallRequest, options: SearchOptions, watch: StageTimer
) -> tuple[ScoredSearch, Progress | None]:
    """Everything that is found, ranked."""
    found = await retrieve(reader, request, watch)
    weighed = await score_candidates(reader, found.query, found.profile, options, found.candidates)
    watch.mark("ranking")
    return weighed, None


async def _by_tier(
    reader: RecallContext,
    request: RecallRequest,
    options: SearchOptions,
    usual: SearchingOptions,
    watch: StageTimer,
) -> tuple[ScoredSearch, Progress | None]:
    """What the first tiers find that have enough, ranked."""
    query, profile = await build_query(reader, request)
    watch.mark("query")
    searched = relevant_tiers(options)
    steps = search_tiers(
        reader, request, query, searched, partial(score_candidates, reader, query, profile, options)
    )
    weighed, progress = await search_progressively(steps, searched, usual)
    watch.mark("tiers")
    return weighed, progress


def query_analysis(query: Query) -> QueryAnalysis:
    """What a query was taken to ask, as a result tells it."""
    concepts = tuple(dict.fromkeys((*query.analysis.entities, *query.analysis.terms)))
    return QueryAnalysis(concepts, query.analysis.intent, query.analysis.expansion, query.rewrite)


def found_item(weighed: ScoredSearch, score: float, one: ScoredCandidate) -> FoundItem:
    """A statement as a result tells it."""
    query, found, filed = weighed.query, one.evidence, weighed.filed(one.evidence)
    names = (found.session_id,) if found.kind is EvidenceKind.SUMMARY else found.turn_ids
    return FoundItem(
        id=found.memory_id or names[0],
        content=found.text,
        content_type=content_type(found, filed),
        relevance_score=score,
        matched_concepts=tuple(term for term in query.topics if stems(term) <= found.terms),
        category=None if filed is None else filed.category,
        subcategory=None if filed is None else filed.subcategory,
        importance=None if filed is None else filed.importance,
        created=found.said_at if filed is None else filed.created,
        last_accessed=None if filed is None else filed.accessed_at,
        sources=one.layers,
        turn_ids=found.turn_ids,
        holds=not is_replaced(found, query.at),
    )


def _reports(results: Sequence[FoundItem]) -> dict[Layer, SourceReport]:
    by_layer: defaultdict[Layer, list[float]] = defaultdict(list)
    for one in results:
        for layer in one.sources:
            by_layer[layer].append(one.relevance_score)
    return {
        layer: SourceReport(len(scores), float(np.mean(scores)))
        for layer, scores in by_layer.items()
    }
