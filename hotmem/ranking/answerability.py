"""Is anything known of what is asked?

A logistic model over all that was found, for no single score tells it.

The best relevance alone finds 0.19 of LoCoMo's unanswerable questions at 5 % wrong, because they
ask one speaker for what the other one said. How much better the speaker named matches than the
others is the strongest part.
"""

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.ranking.features import FEATURES
from hotmem.types import Source

OF_BEST: Final = (
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
"""Features whose value at the most relevant candidate counts: does one statement answer all that
is asked?"""

OF_ANY: Final = (
    "cosine",
    "match",
    "match_least",
    "overlap",
    "window_overlap",
    "cosine_lift",
    "match_lift",
    "fact",
)
"""Features whose largest value counts, the user's own earlier questions left out."""

SIGNS_OF_KNOWING: Final = (
    "best",
    "lead",
    "top",
    "spread",
    "speaker_named",
    "speaker_match",
    "speaker_cosine",
    *(f"best_{name}" for name in OF_BEST),
    *(f"any_{name}" for name in OF_ANY),
)
"""The model's features, in the order of its coefficients."""

TOP: Final = 5
"""Best candidates whose mean relevance counts."""

NOTHING_BELOW: Final = 0.1
"""Probability under which the block says that nothing is known, unless a plain search finds
something. What was found is lost to the bot there, so the bar is low: hardly any answerable
question lies below (`python -m eval regimes`)."""

DOUBTFUL_BELOW: Final = (0.3, 0.7)
"""Probability under which all that is told is marked low, for one candidate and for `USUAL`;
between them it rises with the logarithm of their number. Where recognised questions with an
answer exceed those without by most, on development histories of every source; 0.78 for long
memories left eight in ten of LoCoMo's answerable questions low, 0.6 marked a line for half of
the near misses (`python -m eval regimes`)."""

USUAL: Final = 180
"""Candidates of a question to a long memory."""

SMALLEST: Final = 1e-6


class Answerability(StrEnum):
    """How far the memory knows what is asked."""

    NOTHING = "nothing"
    DOUBTFUL = "possibly related"
    SOMETHING = "known"

    @classmethod
    def of(cls, probability: float, candidates: int) -> "Answerability":
        """The step that a probability stands on, with at least one candidate."""
        if probability < NOTHING_BELOW:
            return cls.NOTHING
        few, many = DOUBTFUL_BELOW
        bar = few + (many - few) * min(math.log(candidates) / math.log(USUAL), 1.0)
        return cls.DOUBTFUL if probability < bar else cls.SOMETHING


def answerability_features(
    features: NDArray[np.float32], sources: Sequence[Source], relevances: NDArray[np.float32]
) -> NDArray[np.float32]:
    """What tells whether anything is known.

    Args:
        features: The candidates' features, float32 (n, len(FEATURES)), n at least 1.
        sources: Where each candidate comes from.
        relevances: Their relevances, 0 to 1, float32 (n,).

    Returns:
        float32 (len(SIGNS_OF_KNOWING),).
    """
    column = dict(zip(FEATURES, features.T, strict=True))
    quoted = np.array([source in (Source.QUOTE, Source.STATEMENT) for source in sources])
    told = column["own_question"] == 0
    chances = np.clip(relevances, SMALLEST, 1 - SMALLEST)
    logits = np.log(chances / (1 - chances))
    top = np.sort(logits)[::-1][:TOP]
    best = logits == top[0]
    other = column["other_speaker"] > 0
    named = bool(other.any())
    own = quoted & (column["speaker_fits"] > 0)

    def lead(name: str) -> float:
        return _most(column[name], own) - _most(column[name], quoted & other) if named else 0.0

    signs = {
        "best": top[0],
        "lead": top[0] - top[1] if len(top) > 1 else 0.0,
        "top": top.mean(),
        "spread": top[0] - logits.mean(),
        "speaker_named": float(named),
        "speaker_match": lead("match"),
        "speaker_cosine": lead("cosine"),
    }
    signs |= {f"best_{name}": _most(column[name], best) for name in OF_BEST}
    signs |= {f"any_{name}": _most(column[name], told) for name in OF_ANY}
    return np.array([signs[name] for name in SIGNS_OF_KNOWING], dtype=np.float32)


def _most(values: NDArray[np.float32], where: NDArray[np.bool_]) -> float:
    """The largest value there; 0 if there is none."""
    return float(values[where].max()) if where.any() else 0.0
