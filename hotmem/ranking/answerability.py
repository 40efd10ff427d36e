"""Answerability: whether the memory knows what is asked.

A logistic model over the features of all candidates, as no single score decides it. The strongest
feature is how much better the speaker named in the question matches than other speakers.
"""

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.ranking.features import FEATURES
from hotmem.types import Source

BEST_CANDIDATE_FEATURES: Final = (
    "cosine",
    "match",
    "match_all",
    "match_least",
    "overlap",
    "window_match",
    "cosine_lift",
    "match_lift",
    "answer_form",
    "no_answer_form",
)
"""Features whose value for the most relevant candidate counts."""

MAX_FEATURES: Final = (
    "cosine", "match", "match_least", "overlap", "window_overlap", "cosine_lift", "match_lift",
    "fact",
)  # fmt: skip
"""Features whose largest value counts, the user's own earlier questions excluded."""

ANSWERABILITY_FEATURES: Final = (
    "best",
    "lead",
    "top",
    "spread",
    "speaker_named",
    "speaker_match",
    "speaker_cosine",
    *(f"best_{name}" for name in BEST_CANDIDATE_FEATURES),
    *(f"any_{name}" for name in MAX_FEATURES),
)
"""The model's features, in the order of its coefficients."""

TOP_CANDIDATES: Final = 5
"""Number of best candidates whose mean relevance counts."""

NOTHING_BELOW: Final = 0.1
"""Probability below which the block states that nothing is known, unless a plain search finds
something (`python -m eval frontier`)."""

UNLIKELY_BELOW: Final = 0.2
"""Probability below which the block states that nothing is known of what is asked about and that
no candidate names. Of 1,645 answered questions .001 then name such a thing, of 30 to young memories
that do not hold it .83 (`eval/RESULTS.md`)."""

DOUBTFUL_BELOW: Final = (0.3, 0.7)
"""Probability below which every item is marked low, for one candidate and for `MANY_CANDIDATES`.
In between it rises with the logarithm of their number (`python -m eval frontier`)."""

MANY_CANDIDATES: Final = 180
"""Number of candidates of a question to a long memory."""

EPSILON: Final = 1e-6
"""Least distance of a relevance from 0 and 1, for its logit."""


class Answerability(StrEnum):
    """How far the memory answers a question."""

    NOTHING = "nothing"
    UNLIKELY = "hardly related"
    DOUBTFUL = "possibly related"
    SOMETHING = "known"

    @classmethod
    def of(cls, probability: float, candidates: int) -> "Answerability":
        """The level of a probability, for a number of candidates of at least 1."""
        if probability < NOTHING_BELOW:
            return cls.NOTHING
        if probability < UNLIKELY_BELOW:
            return cls.UNLIKELY
        sizes = (0.0, math.log(MANY_CANDIDATES))
        threshold = np.interp(math.log(candidates), sizes, DOUBTFUL_BELOW)
        return cls.DOUBTFUL if probability < threshold else cls.SOMETHING


def answerability_features(
    features: NDArray[np.float32], sources: Sequence[Source], relevances: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The features of the answerability model.

    Args:
        features: The candidates' features, float32 (n, len(FEATURES)), n at least 1.
        sources: The source of each candidate.
        relevances: Their relevances, 0 to 1, float32 (n,).

    Returns:
        float32 (len(ANSWERABILITY_FEATURES),).
    """
    column = dict(zip(FEATURES, features.T, strict=True))
    quoted = np.array([source in (Source.QUOTE, Source.STATEMENT) for source in sources])
    not_asked = column["own_question"] == 0
    logits = logit(relevances)
    top = np.sort(logits)[::-1][:TOP_CANDIDATES]
    best = logits == top[0]
    other = column["other_speaker"] > 0
    named = bool(other.any())
    own = quoted & (column["speaker_fits"] > 0)

    def lead(name: str) -> float:
        return (
            _largest(column[name], own) - _largest(column[name], quoted & other) if named else 0.0
        )

    values = {
        "best": top[0],
        "lead": top[0] - top[1] if len(top) > 1 else 0.0,
        "top": top.mean(),
        "spread": top[0] - logits.mean(),
        "speaker_named": float(named),
        "speaker_match": lead("match"),
        "speaker_cosine": lead("cosine"),
    }
    values |= {f"best_{name}": _largest(column[name], best) for name in BEST_CANDIDATE_FEATURES}
    values |= {f"any_{name}": _largest(column[name], not_asked) for name in MAX_FEATURES}
    return np.array([values[name] for name in ANSWERABILITY_FEATURES], dtype=np.float32)


def logit(relevances: NDArray[np.float32]) -> NDArray[np.float32]:
    """The log-odds of relevances, float32 (n,)."""
    bounded = np.clip(relevances, EPSILON, 1 - EPSILON).astype(np.float32)
    return np.asarray(np.log(bounded / (1 - bounded)))


def _largest(values: NDArray[np.float32], where: NDArray[np.bool_]) -> float:
    """The largest value at the given places; 0 if there are none."""
    return float(values[where].max()) if where.any() else 0.0
