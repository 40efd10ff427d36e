"""Relevance and confidence of every candidate, and one of each statement."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.core.matmul import product
from hotmem.ranking.answerability import Answerability, answerability_features
from hotmem.ranking.confidence import confidence, replaced
from hotmem.ranking.features import FEATURES
from hotmem.ranking.recency import current_first
from hotmem.ranking.relevance import RelevanceModel
from hotmem.ranking.scored_candidate import ScoredCandidate
from hotmem.ranking.time_windows import LEAST_BELONGING, LIFTED, belonging, day_first, window_first
from hotmem.retrieval.fusion import Candidate
from hotmem.types import Evidence, EvidenceKind, Interval, Layer, Query, Weights

NEAR_DUPLICATE: Final = 0.95
"""Cosine from which two statements are the same (the design's value)."""

NEAR, SHARED = 0.45, 0.5
"""Cosine, and share of the question's words by rarity, from which a plain search finds a
statement."""

COSINE, OVERLAP = list(FEATURES).index("cosine"), list(FEATURES).index("overlap")
"""Columns of those."""

COVERED: Final = 0.8
"""Share of a passage's words that a fact read from it must hold to stand in its place."""

FACT_FROM: Final = 0.08
"""Relevance from which a fact is told: its own passage holds it as well, and five facts of any
relevance cost 1 to 3 points of evidence."""

SHORT: Final = 10
FEWEST: Final = 64
"""Tokens of a short line, and the fewest candidates that are judged: one for each so many tokens
of the budget. Twice as many bring no more evidence and take a quarter longer to compose."""

LAYERS: Final = tuple(Layer)
"""In order; iterating over the enumeration itself takes ten times as long."""

OF_LAYER: Final = np.array(
    [[owner is layer for layer in LAYERS] for owner in FEATURES.values()], dtype=np.float32
)
"""1 where a feature is a layer's, float32 (features, layers)."""

COUNTERPART: Final = {
    EvidenceKind.MEMORY: EvidenceKind.PASSAGE,
    EvidenceKind.PASSAGE: EvidenceKind.MEMORY,
}
"""What may say the same as a fact, and as a passage."""


def rank(
    query: Query,
    candidates: Sequence[Candidate],
    features: NDArray[np.float32],
    model: RelevanceModel,
    weights: Weights,
    budget: int,
) -> tuple[list[ScoredCandidate], Answerability]:
    """The most relevant candidates with their relevance and confidence, best first, and how far all of them answer.

    Args:
        query: The analysed utterance.
        candidates: The candidates.
        features: Their features, float32 (n, len(FEATURES)).
        model: The relevance model.
        weights: The user's layer weights.
        budget: Tokens of the block; it sets how many candidates come back.
    """
    if not candidates:
        return [], Answerability.NOTHING
    sources = [candidate.evidence.source for candidate in candidates]
    weighed = propagate_relevance(candidates, model.probabilities(features, sources, weights))
    belongs = np.array(
        belonging(query, [candidate.evidence for candidate in candidates]), dtype=np.float32
    )
    relevances = np.maximum(weighed, LIFTED * belongs)
    best = np.argsort(-relevances, kind="stable")[: max(budget // SHORT, FEWEST)]
    by_layer = product(
        model.contributions(features[best], [sources[row] for row in best], weights), OF_LAYER
    )
    judged = [
        ScoredCandidate(
            candidates[row].evidence,
            float(relevances[row]),
            confidence(candidates[row].evidence, query.at),
            _layers(candidates[row], added),
            replaced(candidates[row].evidence, query.at),
            tuple(added.tolist()),
        )
        for row, added in zip(best, by_layer, strict=True)
    ]
    known = Answerability.of(
        model.known(answerability_features(features, sources, weighed)), len(candidates)
    )
    if known is Answerability.NOTHING and (
        found_plainly(features)
        or any(candidate.evidence.vector is None for candidate in candidates)
    ):
        known = (
            Answerability.DOUBTFUL
        )  # what was said a moment ago is not embedded yet, and words alone cannot tell
    if (belongs >= LEAST_BELONGING).any():
        known = Answerability.SOMETHING  # the window is what was asked for
    in_order = day_first(query, current_first(query, sorted(judged, key=lambda one: -one.rank)))
    share = {
        (candidate.evidence.kind, candidate.evidence.key): float(held)
        for candidate, held in zip(candidates, belongs, strict=True)
    }
    return window_first(
        in_order, [share[one.evidence.kind, one.evidence.key] for one in in_order]
    ), known


def found_plainly(features: NDArray[np.float32]) -> bool:
    """Whether a plain search would find something: then it is never said that nothing is known."""
    return bool((features[:, COSINE] >= NEAR).any() or (features[:, OVERLAP] >= SHARED).any())


def propagate_relevance(
    candidates: Sequence[Candidate], relevances: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The relevances, each current statement's raised to that of what it replaced.

    It answers the same question, and rightly.
    """
    raised = relevances.copy()
    place = {
        candidate.evidence.key: row
        for row, candidate in enumerate(candidates)
        if candidate.evidence.kind is EvidenceKind.MEMORY
    }
    for row, candidate in enumerate(candidates):
        successor = place.get(candidate.evidence.replaced_by or -1)
        if successor is not None:
            raised[successor] = max(raised[successor], relevances[row])
    return raised


def deduplicate(judged: Sequence[ScoredCandidate]) -> tuple[list[ScoredCandidate], int]:
    """Each statement once, and how many were merged into another.

    A fact takes the place of the passage it was read from if it holds that passage's words. Of
    near-duplicates the better one stays. Either way the layers of both are listed.

    Args:
        judged: Candidates, best first.
    """
    alike = _near_duplicates(judged)
    rows_of_turn: defaultdict[tuple[EvidenceKind, str], list[int]] = defaultdict(list)
    kept: dict[int, ScoredCandidate] = {}
    stands_for: list[int] = []
    for row, one in enumerate(judged):
        other = COUNTERPART.get(one.evidence.kind)
        related = (
            [earlier for turn in one.evidence.turn_ids for earlier in rows_of_turn[other, turn]]
            if other
            else []
        )
        twin = next(
            (
                stands_for[earlier]
                for earlier in (*alike[row], *related)
                if _same(one.evidence, judged[earlier].evidence)
            ),
            row,
        )
        kept[twin] = one if twin == row else _merged(kept[twin], one)
        stands_for.append(twin)
        for turn in one.evidence.turn_ids:
            rows_of_turn[one.evidence.kind, turn].append(row)
    return list(kept.values()), len(judged) - len(kept)


def _near_duplicates(judged: Sequence[ScoredCandidate]) -> list[list[int]]:
    """For each statement the better ones of its kind with nearly its vector or with its very words, best first."""
    found: list[list[int]] = [[] for _ in judged]
    first: dict[tuple[str | None, str, frozenset[Interval]], int] = {}
    for row, one in enumerate(judged):
        place = first.setdefault(
            (one.evidence.speaker, one.evidence.text.casefold(), _times(one.evidence)), row
        )
        if place < row:
            found[row].append(place)
    embedded = [
        (row, one.evidence.vector)
        for row, one in enumerate(judged)
        if one.evidence.vector is not None and one.evidence.kind is not EvidenceKind.SUMMARY
    ]
    if embedded:
        vectors = np.stack([vector for _, vector in embedded])
        for later, earlier in np.argwhere(
            np.tril(product(vectors, vectors.T) >= NEAR_DUPLICATE, k=-1)
        ):
            found[embedded[later][0]].append(embedded[earlier][0])
    return found


def _same(one: Evidence, other: Evidence) -> bool:
    """Whether two statements that look alike say the same.

    A fact and its passage, or one that adds no word to the better one.
    """
    if one.kind is not other.kind:
        fact, passage = (one, other) if one.kind is EvidenceKind.MEMORY else (other, one)
        return len(passage.terms & fact.terms) >= COVERED * len(passage.terms)
    if one.times and other.times and _times(one) != _times(other):
        return False  # "tomorrow" is another day each time
    return one.speaker == other.speaker and other.terms >= one.terms


def _times(found: Evidence) -> frozenset[Interval]:
    return frozenset(time for _, time in found.times)


def _merged(better: ScoredCandidate, other: ScoredCandidate) -> ScoredCandidate:
    """One of the two, with the layers of both."""
    stays = max(better, other, key=_preference)
    return ScoredCandidate(
        stays.evidence,
        max(better.relevance, other.relevance),
        stays.confidence,
        tuple(dict.fromkeys((*stays.layers, *better.layers, *other.layers))),
        stays.replaced,
        stays.parts,
        max(better.rank_floor, other.rank_floor),
        better.foremost or other.foremost,
    )


def _preference(one: ScoredCandidate) -> int:
    """A fact stands before the passage it was read from if it is relevant enough to be shown, and behind it otherwise."""
    if one.evidence.kind is not EvidenceKind.MEMORY:
        return 1
    return 2 if one.relevance >= FACT_FROM else 0


def _layers(candidate: Candidate, added: NDArray[np.float32]) -> tuple[Layer, ...]:
    """The layers that found a candidate, by what their features add.

    For a neighbour that none found, the one that adds most.

    Args:
        candidate: The candidate.
        added: What the features of each layer add to its logit, float32 (layers,), in the layers'
            order.
    """
    if len(candidate.scores) == 1:
        return tuple(candidate.scores)
    parts = dict(zip(LAYERS, added.tolist(), strict=True))
    found = list(candidate.scores) or [max(LAYERS, key=parts.__getitem__)]
    return tuple(sorted(found, key=parts.__getitem__, reverse=True))
