"""A candidate with its relevance, its confidence and the score that orders it."""

from dataclasses import dataclass
from typing import Final

from hotmem.types import Evidence, Layer

RELEVANCE_SHARE: Final = 0.7
"""Share of the score that does not depend on confidence."""

REPLACED_FACTOR: Final = 0.5
"""Factor of the score of a replaced statement, so that the current one precedes it."""


@dataclass(frozen=True, slots=True)
class ScoredCandidate:
    """A candidate with its relevance and confidence.

    Attributes:
        evidence: The statement.
        relevance: Probability, 0 to 1, that it helps with the query.
        confidence: Probability, 0 to 1, that it holds.
        layers: Every layer that found it, the one that contributed most first.
        replaced: Whether a later statement has replaced it.
        layer_contributions: What each layer's features add to the logit of relevance, in the order
            of `Layer`.
        score_floor: Lower bound of the score, set for a statement of the time asked for; 0 for
            most.
        in_window: Whether it fits the requested time window and precedes all that does not.
    """

    evidence: Evidence
    relevance: float
    confidence: float
    layers: tuple[Layer, ...]
    replaced: bool
    layer_contributions: tuple[float, ...] = (0.0,) * len(Layer)
    score_floor: float = 0.0
    in_window: bool = False

    @property
    def score(self) -> float:
        """The score that candidates are ordered by, 0 to 1.

        Relevance, reduced for low confidence and for a replaced statement; at least `score_floor`.
        """
        factor = REPLACED_FACTOR if self.replaced else 1.0
        return max(
            self.score_floor,
            factor * self.relevance * (RELEVANCE_SHARE + (1 - RELEVANCE_SHARE) * self.confidence),
        )
