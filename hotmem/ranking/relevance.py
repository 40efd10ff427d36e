"""How relevant candidates are, how sure it is, and whether they answer the query."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from hotmem.core.vector_math import matmul
from hotmem.errors import InvalidInput
from hotmem.models.files import load_shipped
from hotmem.ranking.features import FEATURES
from hotmem.types import START_WEIGHTS, Evidence, EvidenceKind, Mark, Source, Weights
from hotmem.understanding.term_model import Tensors

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


SOURCE_TRUST: Final = {
    EvidenceKind.PASSAGE: 0.95,
    EvidenceKind.MEMORY: 0.9,
    EvidenceKind.SUMMARY: 0.8,
}
"""Confidence in a quote, in an extracted fact and in a summary."""

CORRECTION_PENALTY: Final = 0.1
"""Confidence that a source loses with each correction of what it said, and regains when that is
confirmed."""

MIN_SOURCE_TRUST: Final = 0.3
"""Least confidence in a source, however often it was corrected."""

HEDGED_FACTOR: Final = 0.6
REPLACED_FACTOR: Final = 0.3
"""Factors of a hedged and of a replaced statement. A replaced statement must remain below every
current one."""

HALF_LIFE_DAYS: Final = 730.0
MIN_AGE_FACTOR: Final = 0.6
"""A statement of a kind that changes (a job, a home) loses half of its excess over
`MIN_AGE_FACTOR` in two years, about the half-life of a job or a flat."""

CONFIRMATION_GAIN: Final = 0.2
"""Share of the gap to 1 that a confirmation closes."""

HIGH_RELEVANCE: Final = 0.67
MEDIUM_RELEVANCE: Final = 0.3
HIGH_CONFIDENCE: Final = 0.7
MEDIUM_CONFIDENCE: Final = 0.4
"""Thresholds of the marks (`python -m eval calibration`)."""


def confidence(evidence: Evidence, at: datetime) -> float:
    """Probability, 0 to 1, that a statement holds at a time."""
    trust = max(
        SOURCE_TRUST[evidence.kind] - CORRECTION_PENALTY * evidence.correction_count,
        MIN_SOURCE_TRUST,
    )
    if evidence.hedged:
        trust *= HEDGED_FACTOR
    if evidence.changes:
        days = max((at - evidence.said_at).total_seconds() / 86_400, 0.0)
        decay = math.exp(-math.log(2) * days / HALF_LIFE_DAYS)
        trust *= MIN_AGE_FACTOR + (1 - MIN_AGE_FACTOR) * decay
    trust = 1 - (1 - trust) * (1 - CONFIRMATION_GAIN) ** evidence.confirmations
    return trust * REPLACED_FACTOR if is_replaced(evidence, at) else trust


def is_replaced(evidence: Evidence, at: datetime) -> bool:
    """Whether a statement had ceased to hold at a time."""
    return evidence.valid_until is not None and evidence.valid_until <= at


def is_doubted(evidence: Evidence, at: datetime) -> bool:
    """Whether a statement was possibly outdated at a time, and had not ceased to hold."""
    return (
        evidence.doubted_at is not None
        and evidence.doubted_at <= at
        and not is_replaced(evidence, at)
    )


def mark(relevance: float, confidence: float) -> Mark:
    """Both as one mark: high if both are high, low if either is low."""
    if relevance >= HIGH_RELEVANCE and confidence >= HIGH_CONFIDENCE:
        return Mark.HIGH
    if relevance >= MEDIUM_RELEVANCE and confidence >= MEDIUM_CONFIDENCE:
        return Mark.MEDIUM
    return Mark.LOW


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
    """The models of this package.

    Raises:
        ModelMissing: If a file is missing, or not the published one.
    """
    model = RelevanceModel.from_json(COEFFICIENTS.read_text("utf-8"))
    return replace(model, network=Network.of(load_shipped("reranker-1.npz")))
