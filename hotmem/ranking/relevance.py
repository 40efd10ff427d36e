"""Relevance: the probability that a candidate helps, from a logistic model of its features.

    probability = 1 / (1 + exp(-(intercept + Σ coefficient · feature)))

There is one model for each source of evidence. `python -m eval train` fits the coefficients on
conversations with labelled evidence and writes `relevance.json`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from hotmem.core.logs import log
from hotmem.ranking.answerability import ANSWERABILITY_FEATURES
from hotmem.ranking.features import FEATURES
from hotmem.types import START_WEIGHTS, Source, Weights

COEFFICIENTS: Final = files("hotmem.ranking").joinpath("relevance.json")
"""The file of coefficients in this package."""

VERSION: Final = 3
"""Version of the features; coefficients fitted for another version are rejected."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """A fitted model.

    Attributes:
        intercept: The logit where all features are 0.
        coefficients: float32, in the order of the features.
    """

    intercept: float
    coefficients: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RelevanceModel:
    """The fitted models.

    Attributes:
        sources: The relevance model of each source of evidence, over `FEATURES`.
        answerability: The model of answerability, over `ANSWERABILITY_FEATURES`.
    """

    sources: Mapping[Source, Logistic]
    answerability: Logistic

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


FALLBACK_MODEL: Final = RelevanceModel(
    {
        Source.QUOTE: _parse_logistic(
            {
                "intercept": -8.0,
                "words": 2.0,
                "match": 4.0,
                "cosine": 3.0,
                "session_overlap": 1.0,
                "speaker_fits": 0.5,
            },
            FEATURES,
        ),
        Source.FACT: _parse_logistic(
            {"intercept": -5.0, "fact": 8.0, "cosine": 2.0, "overlap": 1.0}, FEATURES
        ),
        Source.STATEMENT: _parse_logistic(
            {"intercept": -5.0, "match": 4.0, "cosine": 3.0, "overlap": 2.0}, FEATURES
        ),
        Source.SUMMARY: _parse_logistic({"intercept": -4.0, "session_words": 4.0}, FEATURES),
    },
    _parse_logistic(
        {"intercept": -3.0, "any_match": 4.0, "any_cosine": 4.0, "any_overlap": 1.0},
        ANSWERABILITY_FEATURES,
    ),
)
"""Hand-written coefficients, used if the fitted ones cannot be read. They rank well; their
probabilities are not calibrated."""


@cache
def fitted_model(path: Path | None = None) -> RelevanceModel:
    """The fitted models, or `FALLBACK_MODEL` with a warning if they cannot be read.

    Args:
        path: File of coefficients written by `python -m eval train`; None is the one in this
            package.
    """
    try:
        return RelevanceModel.from_json((path or COEFFICIENTS).read_text("utf-8"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        log.warning(
            "relevance coefficients cannot be read; using the fallback model",
            error=type(error).__name__,
            needed_version=VERSION,
        )
        return FALLBACK_MODEL
