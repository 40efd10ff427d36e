"""A candidate with what the judgement found of it, and its place among the others."""

from dataclasses import dataclass
from typing import Final

from hotmem.types import Evidence, Layer

RELEVANCE_SHARE: Final = 0.7
"""Part of relevance in the rank; confidence has the rest (the design's shares)."""

REPLACED_RANK: Final = 0.5
"""Part of its rank that a replaced statement keeps, so that the current one stands above it."""


@dataclass(frozen=True, slots=True)
class ScoredCandidate:
    """A candidate with its relevance and confidence.

    Attributes:
        evidence: The statement.
        relevance: Probability that it helps, 0 to 1.
        confidence: Probability that it holds, 0 to 1.
        layers: Every layer that found it, the one that counted most first.
        replaced: Whether a later statement has taken its place.
        parts: What the features of each layer add to its logit, in the layers' order.
        rank_floor: Rank it has at least, as it tells of a change of what stands there, or of the
            time asked for; 0 for most.
        foremost: Whether it belongs to the time that is asked for, and stands before all that does
            not.
    """

    evidence: Evidence
    relevance: float
    confidence: float
    layers: tuple[Layer, ...]
    replaced: bool
    parts: tuple[float, ...] = (0.0,) * len(Layer)
    rank_floor: float = 0.0
    foremost: bool = False

    @property
    def rank(self) -> float:
        """The order of candidates.

        Relevance, lowered by what is missing in confidence, and halved for what was replaced;
        `rank_floor` at least.
        """
        standing = REPLACED_RANK if self.replaced else 1.0
        return max(
            self.rank_floor,
            standing * self.relevance * (RELEVANCE_SHARE + (1 - RELEVANCE_SHARE) * self.confidence),
        )
