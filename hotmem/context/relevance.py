"""How probable it is that a candidate helps: a logistic model over its features, whose coefficients are readable data.

`python -m eval train` fits them on conversations with known evidence; `relevance.json` names the data.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from hotmem.context.features import FEATURES
from hotmem.types import START_WEIGHTS, Weights

COEFFICIENTS: Final = "relevance.json"


@dataclass(frozen=True, slots=True)
class RelevanceModel:
    """A logistic model: probability = 1 / (1 + exp(-(intercept + Σ coefficient · feature))).

    Attributes:
        intercept: The logit of a candidate whose features are all 0.
        coefficients: float32 (len(FEATURES),), in the order of `FEATURES`.
    """

    intercept: float
    coefficients: NDArray[np.float32]

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Reads the stored form; a feature it does not name counts 0."""
        data = json.loads(text)
        return cls(float(data["intercept"]), np.array([data["coefficients"].get(name, 0.0) for name in FEATURES], dtype=np.float32))

    def probabilities(self, features: NDArray[np.float32], weights: Weights = START_WEIGHTS) -> NDArray[np.float32]:
        """Relevance of each row of float32 (n, len(FEATURES)), from 0 to 1."""
        logits = self.intercept + features @ self.scaled(weights)
        return np.asarray(1 / (1 + np.exp(-logits)), dtype=np.float32)

    def scaled(self, weights: Weights) -> NDArray[np.float32]:
        """The coefficients, each layer's multiplied by its weight over its start weight.

        So the model holds as fitted until something is learnt.
        """
        scale = [1.0 if layer is None else weights[layer] / START_WEIGHTS[layer] for layer in FEATURES.values()]
        return self.coefficients * np.array(scale, dtype=np.float32)


@cache
def fitted_model() -> RelevanceModel:
    """The model that ships with this package."""
    return RelevanceModel.from_json(files("hotmem.context").joinpath(COEFFICIENTS).read_text("utf-8"))
