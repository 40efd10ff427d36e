"""Is anything known of what is asked? A logistic model over all that was found, for no single score tells it.

The best relevance alone finds 0.19 of LoCoMo's unanswerable questions at 5 % wrong, because they ask one speaker for what the other one
said. How much better the speaker named matches than the others is the strongest part.
"""

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.context.features import FEATURES
from hotmem.types import Source

SIGNS_OF_KNOWING: Final = (
    "best",
    "top",
    "speaker_named",
    "speaker_match",
    "speaker_cosine",
    "match",
    "window_match",
    "cosine",
    "overlap",
    "window_overlap",
    "fact",
    "candidates",
)
"""The model's features, in the order of its coefficients."""

TOP: Final = 5
"""Best candidates whose mean relevance counts."""

NOTHING_BELOW: Final = 0.03
"""Probability under which the block says that nothing is known. What was found is lost to the bot there, so the bar is low: no answerable
question of a long history lies below; in a memory of one session 1 in 100, and more than half of the unanswerable."""

DOUBTFUL_BELOW: Final = (0.15, 0.45)
"""Probability under which all that is told is marked low, for one candidate and for `USUAL`; between them it rises with the logarithm of
their number. In small memories and in long ones alike 1 in 20 answerable questions lies below; of the unanswerable a third in long ones,
and 8 in 10 in memories of one session."""

USUAL: Final = 180
"""Candidates of a question to a long memory."""

SMALLEST: Final = 1e-6


class Known(StrEnum):
    """How far the memory knows what is asked."""

    NOTHING = "nothing"
    DOUBTFUL = "doubtful"
    SOMETHING = "something"

    @classmethod
    def of(cls, probability: float, candidates: int) -> "Known":
        """The step that a probability stands on, with at least one candidate."""
        if probability < NOTHING_BELOW:
            return cls.NOTHING
        few, many = DOUBTFUL_BELOW
        bar = few + (many - few) * min(math.log(candidates) / math.log(USUAL), 1.0)
        return cls.DOUBTFUL if probability < bar else cls.SOMETHING


def signs_of_knowing(features: NDArray[np.float32], sources: Sequence[Source], relevances: NDArray[np.float32]) -> NDArray[np.float32]:
    """What tells whether anything is known.

    Args:
        features: The candidates' features, float32 (n, len(FEATURES)), n at least 1.
        sources: Where each candidate comes from.
        relevances: Their relevances, 0 to 1, float32 (n,).

    Returns:
        float32 (len(SIGNS_OF_KNOWING),).
    """
    column = dict(zip(FEATURES, features.T, strict=True))
    passage = np.array([source in (Source.QUOTE, Source.STATEMENT) for source in sources])
    logits = np.sort(np.log(np.clip(relevances, SMALLEST, 1 - SMALLEST) / (1 - np.clip(relevances, SMALLEST, 1 - SMALLEST))))[::-1]
    other = column["other_speaker"] > 0
    named = bool(other.any())
    own = passage & (column["speaker_fits"] > 0)

    def lead(name: str) -> float:
        return _most(column[name], own) - _most(column[name], passage & other) if named else 0.0

    signs = {
        "best": logits[0],
        "top": logits[:TOP].mean(),
        "speaker_named": float(named),
        "speaker_match": lead("match"),
        "speaker_cosine": lead("cosine"),
        "match": _most(column["match"], own),
        "window_match": _most(column["window_match"], passage),
        "cosine": column["cosine"].max(),
        "overlap": column["overlap"].max(),
        "window_overlap": column["window_overlap"].max(),
        "fact": column["fact"].max(),
        "candidates": np.log(len(features)),
    }
    return np.array([signs[name] for name in SIGNS_OF_KNOWING], dtype=np.float32)


def _most(values: NDArray[np.float32], where: NDArray[np.bool_]) -> float:
    """The largest value there; 0 if there is none."""
    return float(values[where].max()) if where.any() else 0.0
