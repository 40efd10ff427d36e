"""Relevance: the probability that a candidate helps, in two stages.

A logistic model of its features, one for each source of evidence, which can be explained:

    probability = 1 / (1 + exp(-(intercept + Σ coefficient · feature)))

Then a small network rescores what was said, as it knows what the features say together. Both are
fitted on conversations with labelled evidence, by `python -m eval train`, which writes
`relevance.json`, and `python -m eval train-network`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from hotmem.core.logs import log
from hotmem.core.matmul import matmul
from hotmem.errors import InvalidInput, ModelMissing
from hotmem.ranking.answerability import ANSWERABILITY_FEATURES, logit
from hotmem.ranking.features import FEATURES
from hotmem.types import START_WEIGHTS, Source, Weights
from hotmem.understanding.term_model import Tensors, load_tensors

COEFFICIENTS: Final = files("hotmem.ranking").joinpath("relevance.json")
"""The file of coefficients in this package."""

VERSION: Final = 3
"""Version of the features; coefficients fitted for another version are rejected."""


SAID: Final = (Source.QUOTE, Source.STATEMENT)
"""Sources that the network rescores: what somebody said. A fact only finds it."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """A fitted model.

    Attributes:
        intercept: The logit where all features are 0.
        coefficients: float32, in the order of the features.
    """

    intercept: float
    coefficients: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A network with rectified hidden layers, whose output is added to the first stage's logit.

    Attributes:
        layers: Weights, float32 (inputs, outputs), and biases, float32 (outputs,), of each layer.
        first: Weight of the first stage's logit.
    """

    layers: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]]
    first: float

    @classmethod
    def of(cls, tensors: Tensors) -> Self:
        """The network of a model file: `first`, and `weights_0`, `biases_0`, `weights_1` ..."""
        held = {name: np.asarray(values, dtype=np.float32) for name, values in tensors.items()}
        layers = [(held[f"weights_{at}"], held[f"biases_{at}"]) for at in range(len(held) // 2)]
        return cls(layers, float(held["first"][0]))

    def logits(
        self, inputs: NDArray[np.float32], first: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """The logits of relevance, float32 (n,).

        Args:
            inputs: From `network_inputs`, float32 (n, inputs).
            first: The first stage's logits, float32 (n,).
        """
        for weights, biases in self.layers[:-1]:
            inputs = np.maximum(matmul(inputs, weights) + biases, 0)
        weights, biases = self.layers[-1]
        return (matmul(inputs, weights) + biases)[:, 0] + self.first * first


@dataclass(frozen=True, slots=True)
class RelevanceModel:
    """The fitted models.

    Attributes:
        sources: The relevance model of each source of evidence, over `FEATURES`.
        answerability: The model of answerability, over `ANSWERABILITY_FEATURES`.
        network: The second stage; None for the first stage alone.
    """

    sources: Mapping[Source, Logistic]
    answerability: Logistic
    network: Network | None = None

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Parse the models written by `python -m eval train`.

        A missing coefficient counts as 0.

        Raises:
            ValueError: If the format is wrong, or of another version.
        """
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("version") != VERSION:
            raise ValueError(f"not relevance coefficients of version {VERSION}")
        return cls(
            {source: _parse_logistic(data[source], FEATURES) for source in Source},
            _parse_logistic(data["knowing"], ANSWERABILITY_FEATURES),
        )

    def contributions(
        self,
        features: NDArray[np.float32],
        sources: Sequence[Source],
        weights: Weights = START_WEIGHTS,
    ) -> NDArray[np.float32]:
        """What each feature of each row adds to its logit, float32 (n, len(FEATURES)).

        The features of a layer are multiplied by its weight over its start weight, so that the
        models hold as fitted until the weights are learnt.
        """
        scale = np.array(
            [
                1.0 if layer is None else weights[layer] / START_WEIGHTS[layer]
                for layer in FEATURES.values()
            ],
            dtype=np.float32,
        )
        scaled = {source: fit.coefficients * scale for source, fit in self.sources.items()}
        return features * np.array(
            [scaled[source] for source in sources], dtype=np.float32
        ).reshape(len(sources), len(FEATURES))

    def probabilities(
        self,
        features: NDArray[np.float32],
        sources: Sequence[Source],
        weights: Weights = START_WEIGHTS,
    ) -> NDArray[np.float32]:
        """Relevance of each row, 0 to 1, float32 (n,).

        Args:
            features: float32 (n, len(FEATURES)).
            sources: The source of each row.
            weights: The user's layer weights.
        """
        intercepts = np.array(
            [self.sources[source].intercept for source in sources], dtype=np.float32
        )
        logits = intercepts + self.contributions(features, sources, weights).sum(axis=1)
        return np.asarray(0.5 * (1 + np.tanh(logits / 2)), dtype=np.float32)

    def rescored(
        self,
        features: NDArray[np.float32],
        sources: Sequence[Source],
        relevances: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        """The relevances, those of `SAID` by the network, 0 to 1, float32 (n,).

        Args:
            features: float32 (n, len(FEATURES)).
            sources: The source of each row.
            relevances: Relevance of each row by the first stage, 0 to 1, float32 (n,).
        """
        if self.network is None or not len(relevances):
            return relevances
        inputs, first = network_inputs(features, sources, relevances), logit(relevances)
        found = 0.5 * (1 + np.tanh(self.network.logits(inputs, first) / 2))
        return np.where([source in SAID for source in sources], found, relevances)

    def answerable(self, features: NDArray[np.float32]) -> float:
        """Probability, 0 to 1, that a question is answered, if half of all questions are.

        Args:
            features: float32 (len(ANSWERABILITY_FEATURES),).
        """
        model = self.answerability
        return float(0.5 * (1 + np.tanh((model.intercept + features @ model.coefficients) / 2)))


def _parse_logistic(data: Mapping[str, float], names: Iterable[str]) -> Logistic:
    fit = Logistic(
        float(data["intercept"]),
        np.array([data.get(name, 0.0) for name in names], dtype=np.float32),
    )
    if not (np.isfinite(fit.intercept) and np.isfinite(fit.coefficients).all()):
        raise ValueError("a coefficient is not a finite number")
    return fit


def network_inputs(
    features: NDArray[np.float32], sources: Sequence[Source], relevances: NDArray[np.float32]
) -> NDArray[np.float32]:
    """What the network reads of each candidate, float32 (n, len(FEATURES) + 3).

    Its features, whether it is a stored statement, the first stage's logit, and that less the best
    one's of what was said.
    """
    first = logit(relevances)
    said = [value for value, source in zip(first, sources, strict=True) if source in SAID]
    stored = [float(source is Source.STATEMENT) for source in sources]
    gap = first - max(said, default=0.0)
    return np.column_stack([features, stored, first, gap]).astype(np.float32)


def fitted_model(path: Path | None = None) -> RelevanceModel:
    """The fitted models.

    Args:
        path: File of coefficients written by `python -m eval train`, which are used without the
            network; None is the one in this package, with it.

    Raises:
        InvalidInput: If the file cannot be read, or is of another version.
    """
    if path is None:
        return _shipped_model()
    try:
        return RelevanceModel.from_json(path.read_text("utf-8"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f"{path} holds no relevance coefficients of version {VERSION}. Fit them with "
            "`python -m eval train`, or leave the setting empty for those of this package."
        ) from error


@cache
def _shipped_model() -> RelevanceModel:
    """The models of this package; without the network, with a warning, if its file is damaged."""
    model = RelevanceModel.from_json(COEFFICIENTS.read_text("utf-8"))
    try:
        return replace(model, network=Network.of(load_tensors("reranker-1")))
    except ModelMissing as error:
        log.warning("relevance is computed without its network", problem=str(error))
        return model
