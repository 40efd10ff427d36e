"""How probable it is that a candidate helps.

A logistic model over its features, one for each source of evidence.

    probability = 1 / (1 + exp(-(intercept + Σ coefficient · feature)))

`python -m eval train` fits the coefficients on conversations with known evidence; `relevance.json`
holds them as readable data.
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
from hotmem.ranking.answerability import SIGNS_OF_KNOWING
from hotmem.ranking.features import FEATURES
from hotmem.types import START_WEIGHTS, Source, Weights

COEFFICIENTS: Final = files("hotmem.ranking").joinpath("relevance.json")
"""What ships with this package."""

VERSION: Final = 3
"""Of the features' meaning; coefficients of another version would be nonsense."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """A fitted model.

    Attributes:
        intercept: The logit of a candidate whose features are all 0.
        coefficients: float32, in the order of its features.
    """

    intercept: float
    coefficients: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RelevanceModel:
    """The fitted models.

    Attributes:
        sources: Of each source of evidence.
        knowing: Of whether anything is known, over `SIGNS_OF_KNOWING`.
    """

    sources: Mapping[Source, Logistic]
    knowing: Logistic

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Reads the stored form; a feature it does not name counts 0.

        Raises:
            ValueError: If it is not the stored form, or of another version.
        """
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("version") != VERSION:
            raise ValueError(f"not coefficients of version {VERSION}")
        return cls(
            {source: _read(data[source], FEATURES) for source in Source},
            _read(data["knowing"], SIGNS_OF_KNOWING),
        )

    def contributions(
        self,
        features: NDArray[np.float32],
        sources: Sequence[Source],
        weights: Weights = START_WEIGHTS,
    ) -> NDArray[np.float32]:
        """What each feature of each row adds to its logit, float32 (n, len(FEATURES)).

        A layer's features count by its weight over its start weight, so that the models hold as
        fitted until something is learnt.
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
        """Relevance, 0 to 1, of each row of float32 (n, len(FEATURES)), float32 (n,)."""
        intercepts = np.array(
            [self.sources[source].intercept for source in sources], dtype=np.float32
        )
        logits = intercepts + self.contributions(features, sources, weights).sum(axis=1)
        return np.asarray(0.5 * (1 + np.tanh(logits / 2)), dtype=np.float32)

    def known(self, signs: NDArray[np.float32]) -> float:
        """Probability that anything is known, 0 to 1, where half of the questions can be answered.

        `signs` is float32 (len(SIGNS_OF_KNOWING),).
        """
        return float(
            0.5 * (1 + np.tanh((self.knowing.intercept + signs @ self.knowing.coefficients) / 2))
        )


def _read(data: Mapping[str, float], names: Iterable[str]) -> Logistic:
    fit = Logistic(
        float(data["intercept"]),
        np.array([data.get(name, 0.0) for name in names], dtype=np.float32),
    )
    if not (np.isfinite(fit.intercept) and np.isfinite(fit.coefficients).all()):
        raise ValueError("a coefficient is no number")
    return fit


HAND_MADE: Final = RelevanceModel(
    {
        Source.QUOTE: _read(
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
        Source.FACT: _read(
            {"intercept": -5.0, "fact": 8.0, "cosine": 2.0, "overlap": 1.0}, FEATURES
        ),
        Source.STATEMENT: _read(
            {"intercept": -5.0, "match": 4.0, "cosine": 3.0, "overlap": 2.0}, FEATURES
        ),
        Source.SUMMARY: _read({"intercept": -4.0, "session_words": 4.0}, FEATURES),
    },
    _read(
        {"intercept": -3.0, "any_match": 4.0, "any_cosine": 4.0, "any_overlap": 1.0},
        SIGNS_OF_KNOWING,
    ),
)
"""A blend of words, meaning and speaker by hand, for when the fitted coefficients cannot be
read. It ranks well and its probabilities are rough."""


@cache
def fitted_model(path: Path | None = None) -> RelevanceModel:
    """The fitted models; the hand-made blend, and a warning, if they cannot be read.

    A recall never fails for them.

    Args:
        path: File of coefficients written by `python -m eval train`; None is the one that ships
            with this package.
    """
    try:
        return RelevanceModel.from_json((path or COEFFICIENTS).read_text("utf-8"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        log.warning(
            "coefficients of relevance not read, a hand-made blend ranks instead",
            error=type(error).__name__,
            needed_version=VERSION,
        )
        return HAND_MADE
