"""Ranking: relevance, confidence and order of the candidates, and how far they answer the query.

features ─▶ relevance ─▶ answerability
                └─▶ the most relevant ─▶ confidence ─▶ current ─▶ day ─▶ window first
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.core.vector_math import matmul
from hotmem.ranking.features import FEATURES
from hotmem.ranking.relevance import (
    Answerability,
    RelevanceModel,
    answerability_features,
    confidence,
    is_replaced,
)
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.ranking.time_relevance import (
    MIN_FIT,
    WINDOW_RELEVANCE,
    promote_day,
    promote_window,
    window_fit,
)
from hotmem.retrieval.fusion import Candidate
from hotmem.text.stemming import stems
from hotmem.types import Evidence, EvidenceKind, Layer, Query, Weights
from hotmem.understanding.private_statements import holds_secret

PLAIN_COSINE, PLAIN_OVERLAP = 0.45, 0.5
"""Cosine, and share of the query's words by rarity, from which a plain search finds a statement."""

COSINE, OVERLAP = list(FEATURES).index("cosine"), list(FEATURES).index("overlap")
"""Their columns in the features."""

TOKENS_PER_CANDIDATE: Final = 10
"""Tokens of the budget for each candidate that is returned: the length of a short line."""

MIN_CANDIDATES: Final = 64
"""Number of candidates returned for a small budget."""

FEATURE_LAYERS: Final = np.array(
    [[owner is layer for layer in Layer] for owner in FEATURES.values()], dtype=np.float32
)
"""1 where a feature belongs to a layer, float32 (features, layers)."""


@dataclass(frozen=True, slots=True, eq=False)
class Assessment:
    """Relevance of all candidates, and how far they answer the query together.

    Attributes:
        relevances: Relevance of each candidate, 0 to 1, float32 (n,).
        fits: Fit of each to the requested time window, 0 to 1, float32 (n,).
        answerability: How far the candidates answer the query.
    """

    relevances: NDArray[np.float32]
    fits: NDArray[np.float32]
    answerability: Answerability


@dataclass(frozen=True, slots=True)
class Ranking:
    """The most relevant candidates, best first, and how far all candidates answer the query."""

    candidates: Sequence[ScoredCandidate]
    answerability: Answerability


def assess(
    query: Query,
    candidates: Sequence[Candidate],
    features: NDArray[np.float32],
    model: RelevanceModel,
    weights: Weights,
) -> Assessment:
    """Compute the relevance of candidates and how far they answer the query.

    Args:
        query: The analysed utterance.
        candidates: The candidates.
        features: Their features, float32 (n, len(FEATURES)).
        model: The relevance model.
        weights: The user's layer weights.
    """
    if not candidates:
        none = np.empty(0, dtype=np.float32)
        return Assessment(none, none, Answerability.NOTHING)
    evidence = [candidate.evidence for candidate in candidates]
    sources = [found.source for found in evidence]
    first = model.probabilities(features, sources, weights)
    relevances = propagate_relevance(candidates, first)
    fits = np.array(window_fit(query, evidence), dtype=np.float32)
    answerability = Answerability.of(
        model.answerable(answerability_features(features, sources, relevances)), len(candidates)
    )
    is_new = any(found.vector is None for found in evidence)
    if is_new and answerability is not Answerability.SOMETHING:
        # A statement without an embedding is a moment old, and words alone do not decide.
        answerability = Answerability.DOUBTFUL
    found = has_plain_match(features) or is_request_about_known(query, evidence)
    if found and answerability is Answerability.NOTHING:
        answerability = Answerability.UNLIKELY
    if (fits >= MIN_FIT).any():
        answerability = Answerability.SOMETHING
    rescored = model.rescored(features, sources, first)
    return Assessment(propagate_relevance(candidates, rescored), fits, answerability)


def rank(
    query: Query,
    candidates: Sequence[Candidate],
    features: NDArray[np.float32],
    model: RelevanceModel,
    weights: Weights,
    budget: int,
) -> Ranking:
    """Rank candidates.

    Args:
        query: The analysed utterance.
        candidates: The candidates.
        features: Their features, float32 (n, len(FEATURES)).
        model: The relevance model.
        weights: The user's layer weights.
        budget: Tokens of the block, which limits the number of candidates returned.
    """
    assessment = assess(query, candidates, features, model, weights)
    if not candidates:
        return Ranking((), assessment.answerability)
    relevances = np.maximum(assessment.relevances, WINDOW_RELEVANCE * assessment.fits)
    limit = max(budget // TOKENS_PER_CANDIDATE, MIN_CANDIDATES)
    best = np.argsort(-relevances, kind="stable")[:limit]
    sources = [candidates[row].evidence.source for row in best]
    contributions = model.contributions(features[best], sources, weights)
    scored = [
        ScoredCandidate(
            candidates[row].evidence,
            float(relevances[row]),
            confidence(candidates[row].evidence, query.at),
            _layers(candidates[row], by_layer),
            is_replaced(candidates[row].evidence, query.at),
            tuple(by_layer.tolist()),
        )
        for row, by_layer in zip(best, matmul(contributions, FEATURE_LAYERS), strict=True)
    ]
    ordered = promote_day(query, sorted(scored, key=lambda one: -one.score))
    fits = {
        (candidate.evidence.kind, candidate.evidence.key): float(fit)
        for candidate, fit in zip(candidates, assessment.fits, strict=True)
    }
    ordered = promote_window(
        ordered, [fits[one.evidence.kind, one.evidence.key] for one in ordered]
    )
    return Ranking(ordered, assessment.answerability)


def has_plain_match(features: NDArray[np.float32]) -> bool:
    """Whether a plain search would find a candidate; then answerability is never `NOTHING`."""
    return bool(
        (features[:, COSINE] >= PLAIN_COSINE).any() or (features[:, OVERLAP] >= PLAIN_OVERLAP).any()
    )


def is_request_about_known(query: Query, evidence: Sequence[Evidence]) -> bool:
    """Whether an utterance that is no question names somebody in a candidate.

    "Tell me about Ilse" asks for all that is known of her.
    """
    named = () if query.analysis.question else query.analysis.entities
    names = [stems(name, query.index_language) for name in named]
    return any(name and name <= found.terms for name in names for found in evidence)


def propagate_relevance(
    candidates: Sequence[Candidate], relevances: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Raise the relevance of each current memory, and of its words, to that of the one it replaced.

    Both answer the same question, and the current one correctly; but a secret is asked for itself.
    """
    raised = relevances.copy()
    rows = {(one.evidence.kind, one.evidence.key): row for row, one in enumerate(candidates)}
    for row, candidate in enumerate(candidates):
        current = rows.get((EvidenceKind.MEMORY, candidate.evidence.replaced_by or -1))
        if current is not None and not holds_secret(candidates[current].evidence):
            quote = candidates[current].evidence.quote
            words = rows.get((EvidenceKind.PASSAGE, quote.passage), current) if quote else current
            for new in (current, words):
                raised[new] = max(raised[new], relevances[row])
    return raised


def _layers(candidate: Candidate, by_layer: NDArray[np.float32]) -> tuple[Layer, ...]:
    """The layers that found a candidate, the one that contributed most first.

    For a neighbouring passage that no layer found, the layer that contributed most.

    Args:
        candidate: The candidate.
        by_layer: What each layer's features add to its logit, float32 (layers,).
    """
    contributions = dict(zip(Layer, by_layer.tolist(), strict=True))
    found = list(candidate.scores) or [max(Layer, key=contributions.__getitem__)]
    return tuple(sorted(found, key=contributions.__getitem__, reverse=True))
