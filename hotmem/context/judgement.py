"""Relevance and confidence of every candidate, and one of each statement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.context.confidence import confidence
from hotmem.context.features import FEATURES, stems
from hotmem.context.fusion import Candidate
from hotmem.context.relevance import RelevanceModel
from hotmem.types import Evidence, EvidenceKind, Layer, Query, Weights

RELEVANCE_SHARE: Final = 0.7
"""Part of relevance in the rank; confidence has the rest (the design's shares)."""

NEAR_DUPLICATE: Final = 0.95
"""Cosine from which two statements are the same (the design's value)."""

COVERED: Final = 0.8
"""Share of a passage's words that a fact read from it must hold to stand in its place."""

KNOWN_FROM: Final = 0.04
"""Least relevance of the best statement for anything to be known at all."""

WEIGHED: Final = 120
"""Best candidates compared with each other for duplicates; a block of 4,000 tokens holds about as many."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with its relevance and confidence.

    Attributes:
        evidence: The statement.
        relevance: Probability that it helps, 0 to 1.
        confidence: Probability that it holds, 0 to 1.
        layers: Every layer that found it, the one that counted most first.
    """

    evidence: Evidence
    relevance: float
    confidence: float
    layers: tuple[Layer, ...]

    @property
    def rank(self) -> float:
        """The order of candidates: relevance, lowered by what is missing in confidence."""
        return self.relevance * (RELEVANCE_SHARE + (1 - RELEVANCE_SHARE) * self.confidence)


def judge(query: Query, candidates: Sequence[Candidate], features: NDArray[np.float32], model: RelevanceModel, weights: Weights) -> list[Judged]:
    """Every candidate with its relevance and confidence, best first.

    Args:
        query: The analysed utterance.
        candidates: The candidates.
        features: Their features, float32 (n, len(FEATURES)).
        model: The relevance model.
        weights: The user's layer weights.
    """
    relevances = model.probabilities(features, weights)
    parts = _layer_parts(features, model, weights)
    judged = [
        Judged(found.evidence, float(relevance), confidence(found.evidence, query.at), _layers(found, {layer: parts[layer][row] for layer in Layer}))
        for row, (found, relevance) in enumerate(zip(candidates, relevances, strict=True))
    ]
    return sorted(judged, key=lambda one: -one.rank)


def distinct(judged: Sequence[Judged]) -> tuple[list[Judged], int]:
    """The best `WEIGHED`, each statement once, and how many were merged into another.

    A fact takes the place of the passage it was read from if it holds that passage's words. Of near-duplicates the better one
    stays. Either way the layers of both are listed.
    """
    kept: list[Judged] = []
    best = judged[:WEIGHED]
    for one in best:
        twin = next((place for place, other in enumerate(kept) if _same(one.evidence, other.evidence)), None)
        if twin is None:
            kept.append(one)
        else:
            kept[twin] = _merged(kept[twin], one)
    return kept, len(best) - len(kept)


def something_known(judged: Sequence[Judged]) -> bool:
    """Whether the best statement is relevant enough to speak of knowing."""
    return max((one.relevance for one in judged), default=0.0) >= KNOWN_FROM


def _same(one: Evidence, other: Evidence) -> bool:
    if one.kind is not other.kind:
        fact, passage = (one, other) if one.kind is EvidenceKind.MEMORY else (other, one)
        return fact.kind is EvidenceKind.MEMORY and passage.turn_ids[0] in fact.turn_ids and _covers(fact.text, passage.text)
    if one.text.casefold() == other.text.casefold():
        return one.speaker == other.speaker
    if one.vector is None or other.vector is None or one.kind is EvidenceKind.SUMMARY:
        return False
    return one.speaker == other.speaker and float(one.vector @ other.vector) >= NEAR_DUPLICATE and stems(one.text) >= stems(other.text)


def _covers(fact: str, passage: str) -> bool:
    wanted = stems(passage)
    return len(wanted & stems(fact)) >= COVERED * len(wanted)


def _merged(better: Judged, other: Judged) -> Judged:
    """One of the two, with the layers of both: a fact before its passage, else the better."""
    stays = other if other.evidence.kind is EvidenceKind.MEMORY and better.evidence.kind is EvidenceKind.PASSAGE else better
    return Judged(
        stays.evidence,
        max(better.relevance, other.relevance),
        stays.confidence,
        tuple(dict.fromkeys((*stays.layers, *better.layers, *other.layers))),
    )


def _layer_parts(features: NDArray[np.float32], model: RelevanceModel, weights: Weights) -> Mapping[Layer, NDArray[np.float32]]:
    """What each layer's features add to the logit of each row."""
    parts = features * model.scaled(weights)
    owners = list(FEATURES.values())
    return {layer: parts[:, [owner is layer for owner in owners]].sum(axis=1) for layer in Layer}


def _layers(candidate: Candidate, parts: Mapping[Layer, np.float32]) -> tuple[Layer, ...]:
    """The layers that found a candidate, by what they add; for a neighbour that none found, the one that adds most."""
    found = [layer for layer in Layer if layer in candidate.scores]
    return tuple(sorted(found or [max(Layer, key=lambda layer: parts[layer])], key=lambda layer: -parts[layer]))
