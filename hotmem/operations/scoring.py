"""Scoring of a search: the candidates ranked, filtered, deduplicated and scored.

ranking ─▶ filters ─▶ distinct statements ─▶ scores
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.operations.requested_search import Matches, requested_results
from hotmem.operations.requests import Ranking, ScoreWeights, SearchOptions
from hotmem.ranking.features import FEATURES, candidate_features
from hotmem.ranking.neighbors import deduplicate
from hotmem.ranking.ranker import rank
from hotmem.ranking.relevance import is_replaced
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.recall import RecallContext
from hotmem.retrieval.fusion import Candidate
from hotmem.storage import queries
from hotmem.types import Evidence, EvidenceKind, MemoryMetadata, Profile, Query
from hotmem.understanding.query.requested import Requested

MIN_RELEVANCE: Final[Mapping[Ranking, float]] = {"learned": 0.0, "design": 0.3}
"""Default minimum relevance by ranking. The learned ranking has none: any would lose statements in
other words than the query, and the number of results is limited anyway."""

DESIGN_WEIGHTS: Final = ScoreWeights()
"""Weights of the "design" ranking, if the options give none."""

MONTH_DAYS: Final = 30.0
"""Half-life of recency in days."""

HALF_USE_ACCESSES: Final = 3
"""Number of accesses at which use counts half."""

DEFAULT_IMPORTANCE: Final = 0.5
"""Importance, 0 to 1, of turns and summaries."""

SUMMARY_CHARACTERS: Final = 150
"""Characters of a typical turn. The relevance of a summary is divided by its length in turns: if
it answers, one of its turns does, which is found itself."""

COSINE: Final = list(FEATURES).index("cosine")
"""Its column in the features."""

UNLIMITED_BUDGET: Final = 10_000
"""Token budget with which every candidate is ranked."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredSearch:
    """The scored statements of a search, and the steps before.

    Attributes:
        query: The analysed query.
        profile: The profile of the user.
        candidates: The candidates.
        features: Their features, float32 (candidates, len(FEATURES)).
        ranked: The candidates, best first.
        metadata: Metadata of the memories among them, by row number.
        accepted: The candidates that pass the filters of the options.
        statements: The distinct statements among those.
        merged: Number of accepted candidates that were merged into another.
        scores: The relevance of each statement, 0 to 1.
        min_relevance: The minimum relevance of a result.
        results: The statements of at least that relevance and their relevance, best first.
        requested: What the query asks for apart from its words; None if nothing.
    """

    query: Query
    profile: Profile
    candidates: Sequence[Candidate]
    features: NDArray[np.float32]
    ranked: Sequence[ScoredCandidate]
    metadata: Mapping[int, MemoryMetadata]
    accepted: Sequence[ScoredCandidate]
    statements: Sequence[ScoredCandidate]
    merged: int
    scores: Sequence[float]
    min_relevance: float
    results: Sequence[tuple[float, ScoredCandidate]]
    requested: Requested | None = None

    def metadata_of(self, evidence: Evidence) -> MemoryMetadata | None:
        """The metadata of a memory; None for other evidence."""
        return _metadata_of(evidence, self.metadata)


async def score_candidates(
    context: RecallContext,
    query: Query,
    profile: Profile,
    options: SearchOptions,
    candidates: Sequence[Candidate],
    matches: Matches | None = None,
) -> ScoredSearch:
    """Score candidates by the options of a search.

    Args:
        context: The resources of the read path.
        query: The analysed query.
        profile: The profile of the user.
        options: Options of the search, validated.
        candidates: The candidates.
        matches: What the query asks for apart from its words; None if nothing.
    """
    features = candidate_features(query, candidates)
    ranked = rank(
        query, candidates, features, context.model, profile.weights, UNLIMITED_BUDGET
    ).candidates
    keys = [one.evidence.key for one in ranked if one.evidence.kind is EvidenceKind.MEMORY]
    metadata = await context.database.read(queries.new_memories.metadata, query.user, keys)
    accepted = [
        one
        for one in ranked
        if rejecting_option(one.evidence, _metadata_of(one.evidence, metadata), options, query.at)
        is None
    ]
    statements, merged = deduplicate(accepted)
    cosines = {
        (candidate.evidence.kind, candidate.evidence.key): float(row[COSINE])
        for candidate, row in zip(candidates, features, strict=True)
    }
    scores = [
        _score(
            query,
            one,
            cosines[one.evidence.kind, one.evidence.key],
            _metadata_of(one.evidence, metadata),
            options,
        )
        for one in statements
    ]
    min_relevance = (
        MIN_RELEVANCE[options.ranking] if options.min_relevance is None else options.min_relevance
    )
    results = (
        sorted(zip(scores, statements, strict=True), key=lambda pair: -pair[0])
        if matches is None
        else requested_results(statements, scores, metadata, matches, query.at)
    )
    return ScoredSearch(
        query=query,
        profile=profile,
        candidates=candidates,
        features=features,
        ranked=ranked,
        metadata=metadata,
        accepted=accepted,
        statements=statements,
        merged=merged,
        scores=scores,
        min_relevance=min_relevance,
        results=[pair for pair in results if pair[0] >= min_relevance],
        requested=None if matches is None else matches.requested,
    )


def design_score(
    meaning: float,
    words: float,
    importance: float,
    days: float,
    accesses: int,
    weights: ScoreWeights = DESIGN_WEIGHTS,
) -> float:
    """Relevance by the "design" ranking, 0 to 1.

    Args:
        meaning: Cosine of query and statement.
        words: Share of the query's words in the statement, 0 to 1.
        importance: 0 to 1.
        days: Age of the statement.
        accesses: Number of times that it was returned.
        weights: The weights; their proportions matter.
    """
    recency = math.pow(2, -max(days, 0.0) / MONTH_DAYS)
    parts = (
        (weights.meaning, max(meaning, 0.0)),
        (weights.words, words),
        (weights.importance, importance),
        (weights.recency, recency),
        (weights.use, accesses / (accesses + HALF_USE_ACCESSES)),
    )
    return math.fsum(weight * value for weight, value in parts) / math.fsum(
        weight for weight, _ in parts
    )


def rejecting_option(
    found: Evidence, metadata: MemoryMetadata | None, options: SearchOptions, at: datetime
) -> str | None:
    """The option that excludes a statement; None if none does."""
    spoken = found.kind is EvidenceKind.PASSAGE
    if not (options.include_conversation if spoken else options.include_stored):
        return "include_conversation" if spoken else "include_stored"
    if options.content_type is not None and options.content_type != content_type(found, metadata):
        return "content_type"
    if options.time_range is not None and not options.time_range.holds(found.said_at):
        return "time_range"
    if options.min_importance > (1 if metadata is None else metadata.importance):
        return "min_importance"
    return "include_expired" if is_replaced(found, at) and not options.include_expired else None


def content_type(found: Evidence, metadata: MemoryMetadata | None) -> str:
    """A memory's kind, or "turn" or "summary"."""
    if metadata is not None:
        return metadata.kind
    return "turn" if found.kind is EvidenceKind.PASSAGE else "summary"


def _metadata_of(
    evidence: Evidence, metadata: Mapping[int, MemoryMetadata]
) -> MemoryMetadata | None:
    return metadata.get(evidence.key) if evidence.kind is EvidenceKind.MEMORY else None


def _score(
    query: Query,
    one: ScoredCandidate,
    cosine: float,
    metadata: MemoryMetadata | None,
    options: SearchOptions,
) -> float:
    """The relevance of a statement by the chosen ranking and the conversation weight, 0 to 1."""
    found, score = one.evidence, one.score
    if options.ranking == "design":
        asked = query.stems
        words = len(asked & found.terms) / max(len(asked), 1)
        importance = DEFAULT_IMPORTANCE if metadata is None else (metadata.importance - 1) / 4
        days = (query.at - found.said_at).total_seconds() / 86_400
        accesses = metadata.accesses if metadata else 0
        score = design_score(
            cosine, words, importance, days, accesses, options.weights or DESIGN_WEIGHTS
        )
    if found.kind is EvidenceKind.SUMMARY:
        score *= min(SUMMARY_CHARACTERS / max(len(found.text), 1), 1.0)
    spoken = found.kind is EvidenceKind.PASSAGE
    share = options.conversation_weight if spoken else 1 - options.conversation_weight
    return min(2 * share * score, 1.0)
