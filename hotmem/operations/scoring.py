"""What a search found, ranked.

relevance ─▶ filters ─▶ distinct ─▶ scores
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.operations.requests import Ranking, SearchOptions
from hotmem.ranking.confidence import is_replaced
from hotmem.ranking.deduplication import deduplicate
from hotmem.ranking.features import FEATURES, candidate_features
from hotmem.ranking.ranker import rank
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.recall import RecallContext
from hotmem.retrieval.fusion import Candidate
from hotmem.storage import queries
from hotmem.types import Evidence, EvidenceKind, MemoryMetadata, Profile, Query

MIN_RELEVANCE: Final[Mapping[Ranking, float]] = {"learned": 0.0, "design": 0.3}
"""Least relevance of a result by ranking. The design's 0.3 is meant for its own sum; of the
probability none is asked for, as the limit of results does, and any would lose what is asked for
in other words: at 0.05 nearly half of such searches found nothing."""

MEANING, WORDS, IMPORTANCE, RECENCY, USE = 0.4, 0.3, 0.1, 0.1, 0.1
"""The design's ranking."""

MONTH_DAYS: Final = 30.0
"""Days after which recency counts half."""

HALF_USE_ACCESSES: Final = 3
"""Accesses at which use counts half."""

DEFAULT_IMPORTANCE: Final = 0.5
"""Importance, of 0 to 1, of what has none."""

SUMMARY_CHARACTERS: Final = 150
"""Characters of a turn. A summary's relevance is divided by the turns it is as long as: if it
answers, one of them does, which is found itself."""

UNLIMITED_BUDGET: Final = 10_000
"""Budget that lets every candidate be judged."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredSearch:
    """What is relevant of some candidates, and what fell away on the way.

    Attributes:
        query: What was asked.
        profile: What is known of who asks.
        candidates: What was found.
        table: Their features, float32 (candidates, len(FEATURES)).
        judged: The candidates, best first.
        standing: What is filed about the memories among them, by row number.
        wanted: Those that the options let through.
        statements: Distinct ones among those.
        merged: How many said the same as a better one.
        scores: Each statement's relevance, 0 to 1.
        least: The least relevance of a result.
        ranked: Statements that have it with their relevance, best first.
    """

    query: Query
    profile: Profile
    candidates: Sequence[Candidate]
    table: NDArray[np.float32]
    judged: Sequence[ScoredCandidate]
    standing: Mapping[int, MemoryMetadata]
    wanted: Sequence[ScoredCandidate]
    statements: Sequence[ScoredCandidate]
    merged: int
    scores: Sequence[float]
    least: float
    ranked: Sequence[tuple[float, ScoredCandidate]]

    def filed(self, evidence: Evidence) -> MemoryMetadata | None:
        """What is filed about a memory; None for what is none."""
        return self.standing.get(_memory(evidence))


async def score_candidates(
    reader: RecallContext,
    query: Query,
    profile: Profile,
    options: SearchOptions,
    candidates: Sequence[Candidate],
) -> ScoredSearch:
    """Ranks candidates as the options want it.

    Args:
        reader: The live parts of the read path.
        query: The query, analysed.
        profile: What is known of who asks.
        options: How to search, checked.
        candidates: What was found.
    """
    table = candidate_features(query, candidates)
    judged = rank(
        query, candidates, table, reader.model, profile.weights, UNLIMITED_BUDGET
    ).candidates
    keys = [one.evidence.key for one in judged if one.evidence.kind is EvidenceKind.MEMORY]
    standing = await reader.database.read(queries.new_memories.standing, query.user, keys)
    wanted = [
        one
        for one in judged
        if rejecting_option(one.evidence, standing.get(_memory(one.evidence)), options, query.at)
        is None
    ]
    statements, merged = deduplicate(wanted)
    rows = {
        (candidate.evidence.kind, candidate.evidence.key): row
        for candidate, row in zip(candidates, table, strict=True)
    }
    scores = _scores(query, statements, rows, standing, options)
    least = (
        MIN_RELEVANCE[options.ranking] if options.min_relevance is None else options.min_relevance
    )
    ranked = sorted(
        ((score, one) for score, one in zip(scores, statements, strict=True) if score >= least),
        key=lambda pair: -pair[0],
    )
    return ScoredSearch(
        query,
        profile,
        candidates,
        table,
        judged,
        standing,
        wanted,
        statements,
        merged,
        scores,
        least,
        ranked,
    )


def design_score(
    meaning: float, words: float, importance: float, days: float, accesses: int
) -> float:
    """The design's relevance, 0 to 1.

    Args:
        meaning: Cosine of query and statement.
        words: Share of the query's words that it holds, 0 to 1.
        importance: 0 to 1.
        days: Days since it was said.
        accesses: How often it was given out.
    """
    recency = math.pow(2, -max(days, 0.0) / MONTH_DAYS)
    return (
        MEANING * max(meaning, 0.0)
        + WORDS * words
        + IMPORTANCE * importance
        + RECENCY * recency
        + USE * accesses / (accesses + HALF_USE_ACCESSES)
    )


def _memory(evidence: Evidence) -> int:
    """Its row number among the memories; 0 for what is none."""
    return evidence.key if evidence.kind is EvidenceKind.MEMORY else 0


def _scores(
    query: Query,
    statements: Sequence[ScoredCandidate],
    rows: Mapping[tuple[EvidenceKind, int], NDArray[np.float32]],
    standing: Mapping[int, MemoryMetadata],
    options: SearchOptions,
) -> list[float]:
    """Each statement's relevance by the ranking that was chosen, 0 to 1.

    What was said and what is stored weighed against each other.
    """
    cosine = list(FEATURES).index("cosine")
    asked = query.stems
    scores = []
    for one in statements:
        found, filed = one.evidence, standing.get(_memory(one.evidence))
        score = one.score
        if options.ranking == "design":
            words = len(asked & found.terms) / max(len(asked), 1)
            importance = DEFAULT_IMPORTANCE if filed is None else (filed.importance - 1) / 4
            days = (query.at - found.said_at).total_seconds() / 86_400
            score = design_score(
                float(rows[found.kind, found.key][cosine]),
                words,
                importance,
                days,
                filed.accesses if filed else 0,
            )
        if found.kind is EvidenceKind.SUMMARY:
            score *= min(SUMMARY_CHARACTERS / max(len(found.text), 1), 1.0)
        share = (
            options.conversation_weight
            if found.kind is EvidenceKind.PASSAGE
            else 1 - options.conversation_weight
        )
        scores.append(min(2 * share * score, 1.0))
    return scores


def rejecting_option(
    found: Evidence, filed: MemoryMetadata | None, options: SearchOptions, at: datetime
) -> str | None:
    """The option that leaves a statement out; None if all let it through."""
    said = found.kind is EvidenceKind.PASSAGE
    if not (options.include_conversation if said else options.include_stored):
        return "include_conversation" if said else "include_stored"
    if options.content_type is not None and options.content_type != content_type(found, filed):
        return "content_type"
    if options.time_range is not None and not options.time_range.holds(found.said_at):
        return "time_range"
    if options.min_importance > (1 if filed is None else filed.importance):
        return "min_importance"
    return "include_expired" if is_replaced(found, at) and not options.include_expired else None


def content_type(found: Evidence, filed: MemoryMetadata | None) -> str:
    """A memory's kind, or "turn" or "summary"."""
    if filed is not None:
        return filed.kind
    return "turn" if found.kind is EvidenceKind.PASSAGE else "summary"
