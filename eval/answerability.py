"""Fit the answerability model: does the memory hold the answer to a query?

Each answerable question is also asked with its evidence removed, so that the model learns from the
candidates and not from the wording of the question. Half of the weight of unanswerable questions
goes to near misses: questions about a known topic without an answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from eval.retrieval import RetrievedQuestion
from hotmem.ranking.features import candidate_features
from hotmem.ranking.relevance import Logistic, RelevanceModel, answerability_features
from hotmem.retrieval.fusion import Candidate
from hotmem.types import Query

REMOVED_EVIDENCE_WEIGHT: Final = 0.5
"""Share of the unanswerable weight given to questions with their evidence removed; the rest goes to
questions written as unanswerable."""

INVERSE_PENALTY: Final = 0.3
"""Inverse of the L2 penalty on standardised features."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A question and what the ranking saw of its candidates.

    Attributes:
        held_out: Whether the conversation is excluded from fitting.
        signs: Features, float32 (features,).
        answerable: Whether the history holds the answer.
        written: Whether the question was written as answerable or unanswerable; False if its
            evidence was removed.
    """

    held_out: bool
    signs: NDArray[np.float32]
    answerable: bool
    written: bool


def attempts(asked: Sequence[RetrievedQuestion], model: RelevanceModel) -> list[Attempt]:
    """Return the attempts of a dataset's questions, except those without known evidence."""
    found = []
    for one in asked:
        if not one.question.abstain and not one.question.evidence:
            continue
        query, candidates = one.found.query, one.found.candidates
        if one.question.abstain:
            histories = [(candidates, False, True)] if query.analysis.needs_memory else []
        else:
            without = [
                candidate
                for candidate in candidates
                if not set(candidate.evidence.turn_ids) & set(one.question.evidence)
            ]
            histories = (
                [(candidates, True, True), (without, False, False)]
                if len(without) < len(candidates)
                else []
            )
        found += [
            Attempt(one.held_out, _signs(query, part, model), held, written)
            for part, held, written in histories
            if part
        ]
    return found


def _signs(
    query: Query, candidates: Sequence[Candidate], model: RelevanceModel
) -> NDArray[np.float32]:
    rows = candidate_features(query, candidates)
    sources = [candidate.evidence.source for candidate in candidates]
    return answerability_features(rows, sources, model.probabilities(rows, sources))


def fit(attempts: Sequence[Attempt]) -> Logistic:
    """Fit the model on conversations that are not held out; one half are answerable."""
    used = [one for one in attempts if not one.held_out]
    signs = np.array([one.signs for one in used])
    answerable = np.array([one.answerable for one in used])
    written = np.array([one.written for one in used])
    groups = (
        (answerable, 1.0),
        (~answerable & written, 1 - REMOVED_EVIDENCE_WEIGHT),
        (~answerable & ~written, REMOVED_EVIDENCE_WEIGHT),
    )
    weights = np.zeros(len(used))
    for group, share in groups:
        weights[group] = share * len(used) / max(int(group.sum()), 1)
    mean, deviation = signs.mean(axis=0), signs.std(axis=0) + 1e-6
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=5000)
    model.fit((signs - mean) / deviation, answerable, sample_weight=weights)
    coefficients = np.asarray(model.coef_[0] / deviation, dtype=np.float32)
    return Logistic(float(model.intercept_[0] - coefficients @ mean), coefficients)
