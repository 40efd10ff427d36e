"""Which items of a block a reply used: a logistic regression over an item and its neighbours.

Whether one item was used cannot be told by itself: "Congratulations!" is near every line about the
test. What counts is how much nearer the reply is to an item than to the others of the block.

`python -m eval usage --fit` fits it to the development half of `eval/data/trial/usage.jsonl`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from hotmem.core.matmul import matmul
from hotmem.feedback.usage_features import FEATURES

COMPARED: Final = (
    *("near_reply", "near_clause", "reply_nearer", "clause_nearer"),
    *("content_shared", "run_new_words", "number"),
)
"""Features that are compared with those of the other items."""

ALONE: Final = (
    *COMPARED,
    *("near_more_than_question", "reply_length", "asks", "reply_courtesy", "reply_ignorance"),
)
"""Features that count by themselves."""


def block_features(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the regression's features of the items of a block.

    Args:
        rows: Features of usage detection, float64 (items, len(FEATURES)), two items or more.

    Returns:
        `ALONE`, then `COMPARED` less the largest of the other items, float64
        (items, len(ALONE) + len(COMPARED)).
    """
    compared = rows[:, [FEATURES.index(name) for name in COMPARED]]
    first, second = np.sort(compared, axis=0)[::-1][:2]
    others = np.where(compared == first, second, first)
    ties = (compared == first).sum(axis=0) > 1
    others = np.where(ties, first, others)
    return np.hstack([rows[:, [FEATURES.index(name) for name in ALONE]], compared - others])


@dataclass(frozen=True, slots=True)
class CreditModel:
    """The fitted model.

    Attributes:
        mean: Mean of each feature, float64 (features,).
        deviation: Standard deviation of each feature, float64 (features,).
        weights: float64 (features,).
        intercept: The constant.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    weights: NDArray[np.float64]
    intercept: float

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Create a model from its JSON form.

        Raises:
            ValueError: If its features differ from this version's.
        """
        if data["features"] != [*ALONE, *COMPARED]:
            raise ValueError(
                "The credit model has other features. Fit it again: python -m eval usage --fit"
            )
        mean, deviation, weights = (
            np.array(data[name], dtype=np.float64) for name in ("mean", "deviation", "weights")
        )
        return cls(mean, deviation, weights, float(data["intercept"]))

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability that each item was used, float64 (items,), 0 to 1.

        Args:
            rows: Features of usage detection, float64 (items, len(FEATURES)), two items or more.
        """
        standardised = (block_features(rows) - self.mean) / self.deviation
        return np.asarray(
            1 / (1 + np.exp(-(matmul(standardised, self.weights[:, None])[:, 0] + self.intercept)))
        )


@cache
def credit_model() -> CreditModel:
    """The model shipped with the package."""
    return CreditModel.from_dict(
        json.loads(files("hotmem.feedback").joinpath("credit.json").read_text("utf-8"))
    )
