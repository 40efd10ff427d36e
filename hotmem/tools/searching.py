"""search_memory: everything that is known and was said, by its relevance.

retrieve ─▶ relevance ─▶ filters ─▶ distinct ─▶ the best
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.context.confidence import replaced
from hotmem.context.features import FEATURES, features
from hotmem.context.judgement import Judged, distinct, judge
from hotmem.reader import Reader, Request
from hotmem.recall import Retrieved, retrieve
from hotmem.stopwatch import Stopwatch
from hotmem.store.store import Store
from hotmem.terms import stems
from hotmem.tools.requests import Ranking, SearchOptions
from hotmem.tools.results import Found, QueryAnalysis, SearchDebug, SearchResult, SourceReport
from hotmem.types import Evidence, EvidenceKind, Layer, Query, Standing

LEAST_RELEVANCE: Final[Mapping[Ranking, float]] = {"learned": 0.05, "design": 0.3}
"""Least relevance of a result by ranking. The design's 0.3 is meant for its own sum.

Of the probability, 1 in 20: the most that costs no more than half a point of the evidence among the first ten results, chosen on every second
conversation of LoCoMo and REALTALK (79.5 to 79.1 of 100 turns). On the others nothing is lost (72.0). 0.1 costs three points there and two
here, 0.3 twenty and sixteen, while the share of results that are evidence rises from 19 to 30 and from 18 to 28 of 100.
"""

MEANING, WORDS, IMPORTANCE, RECENCY, USE = 0.4, 0.3, 0.1, 0.1, 0.1
"""The design's ranking."""

MONTH_DAYS: Final = 30.0
"""Days after which recency counts half."""

OFTEN: Final = 3
"""Accesses at which use counts half."""

UNFILED: Final = 0.5
"""Importance, of 0 to 1, of what has none."""

WEIGHED: Final = 10_000
"""Budget that lets every candidate be judged."""


async def search(reader: Reader, writer: Store, request: Request, options: SearchOptions) -> SearchResult:
    """The results; the memories among them are counted as accessed.

    Args:
        reader: The live parts of the read path.
        writer: The store that writes.
        request: The query; its deadline and budget are not asked for.
        options: How to search, checked.
    """
    watch = Stopwatch()
    found = await retrieve(reader, request, watch)
    query = found.query
    table = features(query, found.candidates)
    judged, _ = judge(query, found.candidates, table, reader.model, found.profile.weights, WEIGHED)
    keys = [one.evidence.key for one in judged if one.evidence.kind is EvidenceKind.MEMORY]
    standing = await reader.store.standing(query.user, keys)
    wanted = [one for one in judged if _wanted(one.evidence, standing.get(_memory(one.evidence)), options, query.at)]
    statements, merged = distinct(wanted)
    scores = _scores(query, statements, _rows(found, table), standing, options)
    least = LEAST_RELEVANCE[options.ranking] if options.min_relevance is None else options.min_relevance
    ranked = sorted(((score, one) for score, one in zip(scores, statements, strict=True) if score >= least), key=lambda pair: -pair[0])
    best = ranked[: options.limit]
    results = tuple(_found(query, score, one, standing.get(_memory(one.evidence))) for score, one in best)
    watch.lap("ranking")
    debug = None
    if options.return_debug:
        debug = SearchDebug(
            sources=_reports(results),
            duplicates_before=len(wanted),
            duplicates_after=len(statements),
            duplicates_removed=merged,
            weights=found.profile.weights.as_dict(),
            milliseconds=dict(watch.laps),
        )
    if given := [one.evidence.memory_id for _, one in best if one.evidence.memory_id]:
        await writer.touch_memories(query.user, given, datetime.now(UTC))
    return SearchResult(results, len(ranked), analysed(query), debug)


def analysed(query: Query) -> QueryAnalysis:
    """What a query was taken to ask, as a result tells it."""
    concepts = tuple(dict.fromkeys((*query.analysis.entities, *query.analysis.terms)))
    return QueryAnalysis(concepts, query.analysis.intent, query.analysis.expansion, query.rewrite)


def design_score(meaning: float, words: float, importance: float, days: float, accesses: int) -> float:
    """The design's relevance, 0 to 1.

    Args:
        meaning: Cosine of query and statement.
        words: Share of the query's words that it holds, 0 to 1.
        importance: 0 to 1.
        days: Days since it was said.
        accesses: How often it was given out.
    """
    recency = math.pow(2, -max(days, 0.0) / MONTH_DAYS)
    return MEANING * max(meaning, 0.0) + WORDS * words + IMPORTANCE * importance + RECENCY * recency + USE * accesses / (accesses + OFTEN)


def _memory(evidence: Evidence) -> int:
    """Its row number among the memories; 0 for what is none."""
    return evidence.key if evidence.kind is EvidenceKind.MEMORY else 0


def _rows(found: Retrieved, table: NDArray[np.float32]) -> dict[tuple[EvidenceKind, int], NDArray[np.float32]]:
    return {(candidate.evidence.kind, candidate.evidence.key): row for candidate, row in zip(found.candidates, table, strict=True)}


def _scores(
    query: Query,
    statements: Sequence[Judged],
    rows: Mapping[tuple[EvidenceKind, int], NDArray[np.float32]],
    standing: Mapping[int, Standing],
    options: SearchOptions,
) -> list[float]:
    """Each statement's relevance by the ranking that was chosen, 0 to 1; what was said and what is stored weighed against each other."""
    cosine = list(FEATURES).index("cosine")
    asked = stems(" ".join(query.terms))
    scores = []
    for one in statements:
        found, filed = one.evidence, standing.get(_memory(one.evidence))
        score = one.rank
        if options.ranking == "design":
            words = len(asked & found.terms) / max(len(asked), 1)
            importance = UNFILED if filed is None else (filed.importance - 1) / 4
            days = (query.at - found.said_at).total_seconds() / 86_400
            score = design_score(float(rows[found.kind, found.key][cosine]), words, importance, days, filed.accesses if filed else 0)
        share = options.conversation_weight if found.kind is EvidenceKind.PASSAGE else 1 - options.conversation_weight
        scores.append(min(2 * share * score, 1.0))
    return scores


def _wanted(found: Evidence, filed: Standing | None, options: SearchOptions, at: datetime) -> bool:
    said = found.kind is EvidenceKind.PASSAGE
    if not (options.include_conversation if said else options.include_stored):
        return False
    if options.content_type is not None and options.content_type != _content_type(found, filed):
        return False
    if options.time_range is not None and not options.time_range.holds(found.said_at):
        return False
    if options.min_importance > (1 if filed is None else filed.importance):
        return False
    return options.include_expired or not replaced(found, at)


def _content_type(found: Evidence, filed: Standing | None) -> str:
    if filed is not None:
        return filed.kind
    return "turn" if found.kind is EvidenceKind.PASSAGE else "summary"


def _found(query: Query, score: float, one: Judged, filed: Standing | None) -> Found:
    found = one.evidence
    names = (found.session_id,) if found.kind is EvidenceKind.SUMMARY else found.turn_ids
    return Found(
        id=found.memory_id or names[0],
        content=found.text,
        content_type=_content_type(found, filed),
        relevance_score=score,
        matched_concepts=tuple(term for term in query.topics if stems(term) <= found.terms),
        category=None if filed is None else filed.category,
        importance=None if filed is None else filed.importance,
        created=found.said_at if filed is None else filed.created,
        last_accessed=None if filed is None else filed.accessed_at,
        sources=one.layers,
        turn_ids=found.turn_ids,
        holds=not replaced(found, query.at),
    )


def _reports(results: Sequence[Found]) -> dict[Layer, SourceReport]:
    by_layer: defaultdict[Layer, list[float]] = defaultdict(list)
    for result in results:
        for layer in result.sources:
            by_layer[layer].append(result.relevance_score)
    return {layer: SourceReport(len(scores), float(np.mean(scores))) for layer, scores in by_layer.items()}
