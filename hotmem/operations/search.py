"""search_memory: memories, turns and summaries by relevance.

retrieval ─▶ scoring ─▶ the best results
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import numpy as np

from hotmem.block import quotes
from hotmem.consolidation import equivalence
from hotmem.core.timing import StageTimer
from hotmem.models import CachedEncoder
from hotmem.operations.requested_search import (
    find_kind,
    find_requested,
)
from hotmem.operations.requests import SearchOptions
from hotmem.operations.results import (
    FoundItem,
    QueryAnalysis,
    SearchDebug,
    SearchResult,
    SourceReport,
)
from hotmem.operations.scoring import ScoredSearch, content_type, score_candidates
from hotmem.ranking.relevance import MEDIUM_RELEVANCE, is_doubted, is_replaced
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.recall import RecallContext, retrieve
from hotmem.retrieval.candidates import load_candidates
from hotmem.retrieval.context import RecallRequest, Retrieved
from hotmem.storage import Storage, queries
from hotmem.text import language_detection, stemming
from hotmem.text.stemming import stems
from hotmem.types import EvidenceKind, Layer, Query
from hotmem.understanding import private_statements
from hotmem.understanding.query import command_rules, coreference, off_record
from hotmem.understanding.query.requested import Requested, requested_memories

RELEVANT_FROM: Final = 0.1
"""Relevance from which a statement is counted in `SearchResult.total_found`."""


async def search(
    context: RecallContext, request: RecallRequest, options: SearchOptions
) -> SearchResult:
    """Search a memory.

    Args:
        context: The resources of the read path.
        request: The query; its deadline and budget are ignored.
        options: Options of the search, validated.
    """
    timer = StageTimer()
    _, scored = await retrieve_and_score(context, request, options, timer)
    results = tuple(
        found_item(scored, score, one) for score, one in scored.results[: options.limit]
    )
    return SearchResult(
        results=results,
        total_found=sum(score >= RELEVANT_FROM for score, _ in scored.results),
        query_analysis=query_analysis(scored.query, scored.requested),
        debug=_debug(scored, results, timer) if options.return_debug else None,
    )


async def retrieve_and_score(
    context: RecallContext, request: RecallRequest, options: SearchOptions, timer: StageTimer
) -> tuple[Retrieved, ScoredSearch]:
    """Retrieve and score what a query asks for by kind, tag and time, or else by its words."""
    requested = requested_memories(request.text, request.at)
    if requested is not None:
        found = await _retrieve_and_score(context, request, options, timer, requested)
        if not found[1].results and requested.tag is not None:
            requested = requested.with_tag_as_topic()
            found = await _retrieve_and_score(context, request, options, timer, requested)
        if found[1].results:
            return found
    return await _retrieve_and_score(context, request, options, timer, None)


async def _retrieve_and_score(
    context: RecallContext,
    request: RecallRequest,
    options: SearchOptions,
    timer: StageTimer,
    requested: Requested | None,
) -> tuple[Retrieved, ScoredSearch]:
    period, matches = None, None
    if requested is not None:
        period = requested.time
        request = replace(request, text=requested.topic or request.text)
    retrieved = await retrieve(context, request, timer, period)
    query, hits, candidates = retrieved.query, retrieved.hits, retrieved.candidates
    besides = await find_kind(context, query, hits, options)
    if requested is not None:
        asked, matches = await find_requested(context, query, requested)
        besides += asked
    if besides:
        candidates, _ = await load_candidates(context, request, query, hits, None, besides)
    scored = await score_candidates(context, query, retrieved.profile, options, candidates, matches)
    timer.mark("ranking")
    return replace(retrieved, candidates=candidates), scored


async def count_access(storage: Storage, user_id: str, found: SearchResult, now: datetime) -> None:
    """Count the memories among the results that fit the query as accessed.

    Not on the thread of recalls, as it waits for other writes.
    """
    user = await storage.database.read_all(queries.users.find, user_id)
    memories = [
        one.id
        for one in found.results
        if one.category is not None and one.relevance_score >= MEDIUM_RELEVANCE
    ]
    if user is not None and memories:
        await storage.database.write(queries.memories.record_access, user, memories, now)


def query_analysis(query: Query, requested: Requested | None = None) -> QueryAnalysis:
    """The analysis of a query, for a result."""
    concepts = tuple(dict.fromkeys((*query.analysis.entities, *query.analysis.terms)))
    analysis = query.analysis
    return QueryAnalysis(concepts, analysis.intent, analysis.expansion, query.rewrite, requested)


def found_item(scored: ScoredSearch, score: float, one: ScoredCandidate) -> FoundItem:
    """A statement as an item of a result."""
    query, found, metadata = scored.query, one.evidence, scored.metadata_of(one.evidence)
    ids = (found.session_id,) if found.kind is EvidenceKind.SUMMARY else found.turn_ids
    return FoundItem(
        id=found.memory_id or ids[0],
        content=found.text,
        content_type=content_type(found, metadata),
        relevance_score=score,
        matched_concepts=tuple(
            term for term in query.topics if stems(term, query.index_language) <= found.terms
        ),
        category=None if metadata is None else metadata.category,
        subcategory=None if metadata is None else metadata.subcategory,
        importance=None if metadata is None else metadata.importance,
        created=found.said_at if metadata is None else metadata.created,
        last_accessed=None if metadata is None else metadata.accessed_at,
        sources=one.layers,
        turn_ids=found.turn_ids,
        holds=not is_replaced(found, query.at),
        doubted_at=found.doubted_at if is_doubted(found, query.at) else None,
        times=tuple(time for _, time in found.times),
        past=found.is_past(query.at),
    )


def _debug(scored: ScoredSearch, results: Sequence[FoundItem], timer: StageTimer) -> SearchDebug:
    by_layer: defaultdict[Layer, list[float]] = defaultdict(list)
    for result in results:
        for layer in result.sources:
            by_layer[layer].append(result.relevance_score)
    return SearchDebug(
        sources={
            layer: SourceReport(len(scores), float(np.mean(scores)))
            for layer, scores in by_layer.items()
        },
        duplicates_before=len(scored.accepted),
        duplicates_after=len(scored.statements),
        duplicates_removed=scored.merged,
        weights=scored.profile.weights.as_dict(),
        milliseconds=dict(timer.stages),
    )


CACHED_FUNCTIONS: Final = (
    stemming.stems,
    stemming.stem,
    language_detection.detect_language,
    quotes.sentence_content,
    equivalence.statement_features,
    command_rules.find_command,
    command_rules.find_described_deletion,
    private_statements.secrecy,
    off_record.answer_pattern,
    coreference.read_turn,
)
"""Functions with a cache of their last results."""


def clear(context: RecallContext) -> None:
    """Clear the cached embeddings, parses, rewrites and stems of all users.

    Freed strings may remain in the process's memory until it is reused, and spaCy's vocabulary
    retains all words that it has parsed.
    """
    for function in CACHED_FUNCTIONS:
        function.cache_clear()
    if isinstance(context.encoder, CachedEncoder):
        context.encoder.clear()
    context.language.clear()
    if context.rewriter is not None:
        context.rewriter.clear()
