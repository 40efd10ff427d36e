"""Fits the relevance model.

What the ranking sees of every candidate, and whether it delivers evidence.

Every second conversation of each dataset is fitted on; the others tell how well the model ranks and
how true its probabilities are. Each dataset counts the same, whatever its size. The coefficients
are written as readable JSON.
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

from eval.labels import helps
from eval.retrieval import SHIPPED, Asked, Choice
from eval.statistics import calibration_error
from hotmem.ranking.answerability import ANSWERABILITY_FEATURES
from hotmem.ranking.features import FEATURES, candidate_features
from hotmem.ranking.relevance import VERSION, Logistic, RelevanceModel, fitted_model
from hotmem.retrieval.fusion import Candidate
from hotmem.types import Query, Source

STRENGTH: Final = 1.0
PENALTY: Final = 1e-3
"""L2 penalties on standardised features: inverse of the pointwise one, and the listwise one. Ten
times either moves no second decimal."""

OF_SPEAKERS: Final = (
    "speaker_fits",
    "other_speaker",
    "after_question",
    "own_question",
    "assistant",
)
"""Features of who speaks; nobody spoke what was stored outright."""

FITTED_ON: Final = {
    Source.QUOTE: tuple(FEATURES),
    Source.FACT: ("overlap", "cosine", "fact", "in_time"),
    Source.STATEMENT: tuple(
        name
        for name in FEATURES
        if not name.startswith(("window_", "session_", "words")) and name not in OF_SPEAKERS
    ),
    Source.SUMMARY: ("overlap", "cosine", "session_words"),
}
"""Features of each source's model. Facts and summaries stand for themselves: what surrounds them
raises all facts of a good session alike."""


Candidates = tuple[NDArray[np.float32], NDArray[np.bool_]]
"""Features, float32 (n, features), and labels, bool (n,), of one question's candidates of one
source."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The candidates of one question.

    Attributes:
        held_out: Whether its conversation is kept from fitting.
        features: float32 (n, len(FEATURES)).
        sources: Where each candidate comes from.
        labels: bool (n,); whether it helps.
    """

    held_out: bool
    features: NDArray[np.float32]
    sources: tuple[Source, ...]
    labels: NDArray[np.bool_]

    def of(self, source: Source) -> Candidates:
        """Features and labels of one source; features that its model is not fitted on are 0."""
        chosen = np.array([found is source for found in self.sources], dtype=np.bool_)
        used = np.array([name in FITTED_ON[source] for name in FEATURES])
        return np.where(used, self.features[chosen], np.float32(0)), self.labels[chosen]


@dataclass(frozen=True, slots=True)
class Quality:
    """How a model does on one dataset's held-out conversations.

    AUC, and calibration error (0 to 1).
    """

    candidates: int
    auc: float
    calibration_error: float


def samples(asked: Sequence[Asked], choice: Choice = SHIPPED) -> list[Sample]:
    """The samples of a dataset, one a question, as one choice of layers found its candidates."""
    return [_sample(one, one.found[choice].query, one.found[choice].candidates) for one in asked]


def _sample(asked: Asked, query: Query, candidates: Sequence[Candidate]) -> Sample:
    turns = {turn.id: turn for turn in asked.conversation.turns}
    evidence = [candidate.evidence for candidate in candidates]
    labels = np.array(
        [helps(one, asked.question.evidence, turns) for one in evidence], dtype=np.bool_
    )
    return Sample(
        asked.held_out,
        candidate_features(query, candidates),
        tuple(one.source for one in evidence),
        labels,
    )


def fitted(datasets: Mapping[str, Sequence[Sample]]) -> RelevanceModel:
    """The models of relevance fitted on the conversations that are not held out, with the shipped one of whether anything is known.

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
    """Whether some candidates help and others do not."""
    return (
        len(np.unique(np.concatenate([part[1] for questions in datasets for part in questions])))
        == 2
    )


def _fitted(datasets: Sequence[Sequence[Candidates]], source: Source) -> Logistic:
    """One source's model.

    For quotes and statements, which compete for the budget, the mean of the fit that is true and
    the fit that ranks.

    On held-out conversations the mean is as good as the better of the two on each dataset: the
    listwise fit alone gains 3 points on BEAM and loses 3 on REALTALK against the pointwise one.
    """
    true = pointwise(datasets)
    if source not in (Source.QUOTE, Source.STATEMENT):
        return true
    ranking = calibrated(datasets, listwise(datasets))
    return calibrated(
        datasets, np.mean([true.coefficients, ranking.coefficients], axis=0, dtype=np.float32)
    )


def calibrated(
    datasets: Sequence[Sequence[Candidates]], coefficients: NDArray[np.float32]
) -> Logistic:
    """The coefficients scaled, and an intercept, so that the probabilities are true (Platt 1999)."""
    scale = pointwise(
        [
            [((rows @ coefficients)[:, None], labels) for rows, labels in questions]
            for questions in datasets
        ]
    )
    return Logistic(scale.intercept, scale.coefficients[0] * coefficients)


def pointwise(datasets: Sequence[Sequence[Candidates]]) -> Logistic:
    """A logistic regression over all candidates, each dataset weighing the same whatever its size."""
    rows = np.concatenate([part[0] for questions in datasets for part in questions])
    labels = np.concatenate([part[1] for questions in datasets for part in questions])
    sizes = [sum(len(part[1]) for part in questions) for questions in datasets]
    weights = np.concatenate(
        [np.full(size, len(labels) / (len(sizes) * max(size, 1))) for size in sizes]
    )
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    model = LogisticRegression(C=STRENGTH, max_iter=2000).fit(
        (rows - mean) / deviation, labels, sample_weight=weights
    )
    coefficients = np.asarray(model.coef_[0] / deviation, dtype=np.float32)
    return Logistic(float(model.intercept_[0] - coefficients @ mean), coefficients)


def listwise(datasets: Sequence[Sequence[Candidates]]) -> NDArray[np.float32]:
    """The coefficients under which the evidence of each question is likeliest among its candidates (Cao et al. 2007, ListNet's top one).

    A dataset weighs as the square root of its questions.

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
    """How the model does on the held-out conversations."""
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


def written(model: RelevanceModel, datasets: Sequence[str]) -> str:
    """The model as `relevance.json` keeps it."""
    fitted_on = f"{datetime.now(UTC).date().isoformat()} on every second conversation of {', '.join(datasets)}"
    data: dict[str, object] = {"version": VERSION, "fitted": fitted_on}
    data |= {source: _named(fit, FEATURES) for source, fit in model.sources.items()}
    data["knowing"] = _named(model.answerability, ANSWERABILITY_FEATURES)
    return json.dumps(data, indent=2)


def _named(fit: Logistic, names: Iterable[str]) -> dict[str, float]:
    """The coefficients by name, those that are 0 left out."""
    named = zip(names, fit.coefficients, strict=True)
    return {"intercept": round(fit.intercept, 4)} | {
        name: round(float(value), 4) for name, value in named if abs(value) >= 5e-5
    }
