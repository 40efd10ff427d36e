"""How probable it is that a candidate helps: a logistic model over its features, one for each kind of evidence.

    probability = 1 / (1 + exp(-(intercept + Σ coefficient · feature)))

`python -m eval train` fits the coefficients on conversations with known evidence; `relevance.json` holds them as readable data.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from hotmem.context.features import FEATURES
from hotmem.types import START_WEIGHTS, EvidenceKind, Weights

COEFFICIENTS: Final = "relevance.json"


@dataclass(frozen=True, slots=True)
class Logistic:
    """A fitted model of one kind of evidence.

    Attributes:
        intercept: The logit of a candidate whose features are all 0.
        coefficients: float32 (len(FEATURES),), in the order of `FEATURES`.
    """

    intercept: float
    coefficients: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RelevanceModel:
    """The fitted models by kind."""

    kinds: Mapping[EvidenceKind, Logistic]

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Reads the stored form; a feature it does not name counts 0."""
        data = json.loads(text)
        return cls({kind: _read(data[kind]) for kind in EvidenceKind})

    def contributions(self, features: NDArray[np.float32], kinds: Sequence[EvidenceKind], weights: Weights = START_WEIGHTS) -> NDArray[np.float32]:
        """What each feature of each row adds to its logit, float32 (n, len(FEATURES)).

        A layer's features count by its weight over its start weight, so that the models hold as fitted until something is learnt.
        """
        scale = np.array([1.0 if layer is None else weights[layer] / START_WEIGHTS[layer] for layer in FEATURES.values()], dtype=np.float32)
        return features * np.array([self.kinds[kind].coefficients for kind in kinds], dtype=np.float32).reshape(len(kinds), len(FEATURES)) * scale

    def probabilities(self, features: NDArray[np.float32], kinds: Sequence[EvidenceKind], weights: Weights = START_WEIGHTS) -> NDArray[np.float32]:
        """Relevance, 0 to 1, of each row of float32 (n, len(FEATURES)), float32 (n,)."""
        intercepts = np.array([self.kinds[kind].intercept for kind in kinds], dtype=np.float32)
        logits = intercepts + self.contributions(features, kinds, weights).sum(axis=1)
        return np.asarray(0.5 * (1 + np.tanh(logits / 2)), dtype=np.float32)


def _read(data: Mapping[str, float]) -> Logistic:
    return Logistic(data["intercept"], np.array([data.get(name, 0.0) for name in FEATURES], dtype=np.float32))


@cache
def fitted_model() -> RelevanceModel:
    """The model that ships with this package."""
    return RelevanceModel.from_json(files("hotmem.context").joinpath(COEFFICIENTS).read_text("utf-8"))
