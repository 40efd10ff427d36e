"""Fit the relevance model on the features of candidates and whether they deliver evidence.

Every second conversation of each dataset is used for fitting, the others for testing. Each dataset
has the same weight. The coefficients are written as JSON.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from eval.evidence_labels import is_evidence
from eval.retrieval import RetrievedQuestion
from eval.statistics import calibration_error
from hotmem.ranking.features import FEATURES, candidate_features
from hotmem.ranking.relevance import (
    ANSWERABILITY_FEATURES,
    VERSION,
    Logistic,
    RelevanceModel,
    fitted_model,
)
from hotmem.retrieval.fusion import Candidate
from hotmem.types import Query, Source

INVERSE_PENALTY: Final = 1.0
PENALTY: Final = 1e-3
"""L2 penalties on standardised features: inverse of the pointwise one, and the listwise one."""

SPEAKER_FEATURES: Final = (
    "speaker_fits",
    "other_speaker",
    "after_question",
    "own_question",
    "assistant",
)
"""Features of the speaker, which stored statements do not have."""

SOURCE_FEATURES: Final = {
    Source.QUOTE: tuple(FEATURES),
    Source.FACT: ("overlap", "cosine", "fact", "in_time"),
    Source.STATEMENT: tuple(
        name
        for name in FEATURES
        if not name.startswith(("window_", "session_", "words")) and name not in SPEAKER_FEATURES
    ),
    Source.SUMMARY: ("overlap", "cosine", "session_words"),
}
"""Features of each source's model. Facts and summaries are scored without their neighbours, which
would raise all facts of a good session alike."""


Candidates = tuple[NDArray[np.float32], NDArray[np.bool_]]
"""Features, float32 (n, features), and labels, bool (n,), of one question's candidates of one
source."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The candidates of one question.

    Attributes:
        held_out: Whether its conversation is excluded from fitting.
        features: float32 (n, len(FEATURES)).
        sources: Source of each candidate.
        labels: Whether each candidate is evidence, bool (n,).
    """

    held_out: bool
    features: NDArray[np.float32]
    sources: tuple[Source, ...]
    labels: NDArray[np.bool_]

    def of(self, source: Source) -> Candidates:
        """Return features and labels of one source; features not used by its model are 0."""
        chosen = np.array([found is source for found in self.sources], dtype=np.bool_)
        used = np.array([name in SOURCE_FEATURES[source] for name in FEATURES])
        return np.where(used, self.features[chosen], np.float32(0)), self.labels[chosen]


@dataclass(frozen=True, slots=True)
class Quality:
    """Quality of a model on one dataset's held-out conversations."""

    candidates: int
    auc: float
    calibration_error: float


def samples(asked: Sequence[RetrievedQuestion]) -> list[Sample]:
    """Return one sample per question of a dataset."""
    return [_sample(one, one.found.query, one.found.candidates) for one in asked]


def _sample(asked: RetrievedQuestion, query: Query, candidates: Sequence[Candidate]) -> Sample:
    turns = {turn.id: turn for turn in asked.conversation.turns}
    evidence = [candidate.evidence for candidate in candidates]
    labels = np.array(
        [is_evidence(one, asked.question.evidence, turns) for one in evidence], dtype=np.bool_
    )
    return Sample(
        asked.held_out,
        candidate_features(query, candidates),
        tuple(one.source for one in evidence),
        labels,
    )


def fit(datasets: Mapping[str, Sequence[Sample]]) -> RelevanceModel:
    """Fit the relevance models on the conversations that are not held out.

    A source of which nothing, or all that was found, helps keeps its shipped model: it can be told
    from nothing.
    """
    used = [[sample for sample in samples if not sample.held_out] for samples in datasets.values()]
    shipped = fitted_model()
    found = {
        source: [[sample.of(source) for sample in samples] for samples in used] for source in Source
    }
    sources = {
        source: _fitted(parts, source) if _telling(parts) else shipped.sources[source]
        for source, parts in found.items()
    }
    return RelevanceModel(sources, shipped.answerability)


def _telling(datasets: Sequence[Sequence[Candidates]]) -> bool:
    """Return whether there are both positive and negative labels."""
    labels = [part[1] for questions in datasets for part in questions]
    return len(np.unique(np.concatenate(labels))) == 2


def _fitted(datasets: Sequence[Sequence[Candidates]], source: Source) -> Logistic:
    """Fit one source's model."""
    true = fit_pointwise(datasets)
    if source not in (Source.QUOTE, Source.STATEMENT):
        return true
    ranking = calibrate(datasets, fit_listwise(datasets))
    return calibrate(
        datasets, np.mean([true.coefficients, ranking.coefficients], axis=0, dtype=np.float32)
    )


def calibrate(
    datasets: Sequence[Sequence[Candidates]], coefficients: NDArray[np.float32]
) -> Logistic:
    """Calibrate the coefficients: a scale and an intercept for true probabilities (Platt 1999)."""
    scale = fit_pointwise(
        [
            [((rows @ coefficients)[:, None], labels) for rows, labels in questions]
            for questions in datasets
        ]
    )
    return Logistic(scale.intercept, scale.coefficients[0] * coefficients)


def fit_pointwise(datasets: Sequence[Sequence[Candidates]]) -> Logistic:
    """Fit a logistic regression over all candidates; each dataset has the same weight."""
    rows = np.concatenate([part[0] for questions in datasets for part in questions])
    labels = np.concatenate([part[1] for questions in datasets for part in questions])
    sizes = [sum(len(part[1]) for part in questions) for questions in datasets]
    weights = np.concatenate(
        [np.full(size, len(labels) / (len(sizes) * max(size, 1))) for size in sizes]
    )
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=2000).fit(
        (rows - mean) / deviation, labels, sample_weight=weights
    )
    coefficients = np.asarray(model.coef_[0] / deviation, dtype=np.float32)
    return Logistic(float(model.intercept_[0] - coefficients @ mean), coefficients)


def fit_listwise(datasets: Sequence[Sequence[Candidates]]) -> NDArray[np.float32]:
    """Fit coefficients by ListNet's top-one loss (Cao et al. 2007) over each question's candidates.

    The weight of a dataset is the square root of its number of questions.

    Returns:
        float32 (features,).
    """
    answerable = [[part for part in questions if part[1].any()] for questions in datasets]
    lists = [part for questions in answerable for part in questions]
    whole = sum(len(questions) ** 0.5 for questions in answerable)
    share = np.concatenate(
        [
            np.full(len(questions), len(questions) ** -0.5 / whole)
            for questions in answerable
            if questions
        ]
    )
    rows = np.concatenate([part[0] for part in lists])
    deviation = rows.std(axis=0) + 1e-6
    rows = rows / deviation
    sizes = np.array([len(part[1]) for part in lists])
    starts = np.cumsum(sizes) - sizes
    target = np.concatenate([part[1] / part[1].sum() for part in lists])

    def loss(coefficients: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = np.asarray(rows @ coefficients.astype(np.float32), dtype=np.float64)
        scores -= np.repeat(np.maximum.reduceat(scores, starts), sizes)
        shares = np.exp(scores)
        totals = np.add.reduceat(shares, starts)
        shares /= np.repeat(totals, sizes)
        likelihood = np.add.reduceat(target * scores, starts) - np.log(totals)
        gradient = ((shares - target) * np.repeat(share, sizes)).astype(np.float32) @ rows
        total = PENALTY * float(coefficients @ coefficients) - float(share @ likelihood)
        return total, 2 * PENALTY * coefficients + gradient

    best = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B").x
    return np.asarray(best / deviation, dtype=np.float32)


def quality(model: RelevanceModel, samples: Sequence[Sample]) -> Quality:
    """Return the quality of the model on the held-out conversations."""
    held = [sample for sample in samples if sample.held_out and len(sample.labels)]
    probabilities = np.concatenate(
        [model.probabilities(sample.features, sample.sources) for sample in held]
    )
    labels = np.concatenate([sample.labels for sample in held])
    return Quality(
        len(labels),
        float(roc_auc_score(labels, probabilities)),
        calibration_error(probabilities, labels),
    )


def to_json(model: RelevanceModel, datasets: Sequence[str]) -> str:
    """Format the model as the JSON of `relevance.json`."""
    fitted_on = (
        f"{datetime.now(UTC).date().isoformat()} on every second conversation of "
        f"{', '.join(datasets)}"
    )
    data: dict[str, object] = {"version": VERSION, "fitted": fitted_on}
    data |= {source: _named(fit, FEATURES) for source, fit in model.sources.items()}
    data["knowing"] = _named(model.answerability, ANSWERABILITY_FEATURES)
    return json.dumps(data, indent=2)


def _named(fit: Logistic, names: Iterable[str]) -> dict[str, float]:
    """Return the coefficients by name, without zeros."""
    named = zip(names, fit.coefficients, strict=True)
    return {"intercept": round(fit.intercept, 4)} | {
        name: round(float(value), 4) for name, value in named if abs(value) >= 5e-5
    }
