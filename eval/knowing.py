"""Fits the model of whether anything is known, on questions that can be answered and on questions that cannot.

Each question with an answer is also put to its history without its evidence, so that only what was
found can tell one from the other and not how it is asked. Half of the unanswerable count as near
misses do: what is asked of something known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from eval.retrieval import SHIPPED, Asked
from hotmem.ranking.answerability import answerability_features
from hotmem.ranking.features import candidate_features
from hotmem.ranking.relevance import Logistic, RelevanceModel
from hotmem.retrieval.fusion import Candidate
from hotmem.types import Query

NEVER_TOLD_WEIGHT: Final = 0.5
"""Part of the unanswerable that questions without their evidence have; those written as
unanswerable have the rest."""

STRENGTH: Final = 0.3
"""Inverse of the L2 penalty on standardised signs."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A question put to a history.

    Attributes:
        held_out: Whether the conversation is kept from fitting.
        signs: float32 (len(SIGNS_OF_KNOWING),).
        answerable: Whether the history holds the answer.
        written: Whether it was written as what it is, and not made by leaving the evidence out.
    """

    held_out: bool
    signs: NDArray[np.float32]
    answerable: bool
    written: bool


def attempts(asked: Sequence[Asked], model: RelevanceModel) -> list[Attempt]:
    """The attempts of a dataset's questions, those without known evidence left out."""
    found = []
    for one in asked:
        if not one.question.abstain and not one.question.evidence:
            continue
        retrieved = one.found[SHIPPED]
        query, candidates = retrieved.query, retrieved.candidates
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


def fitted(attempts: Sequence[Attempt]) -> Logistic:
    """The model fitted on the conversations that are not held out, as if half of all questions could be answered."""
    used = [one for one in attempts if not one.held_out]
    signs = np.array([one.signs for one in used])
    answerable = np.array([one.answerable for one in used])
    written = np.array([one.written for one in used])
    groups = (
        (answerable, 1.0),
        (~answerable & written, 1 - NEVER_TOLD_WEIGHT),
        (~answerable & ~written, NEVER_TOLD_WEIGHT),
    )
    weights = np.zeros(len(used))
    for group, share in groups:
        weights[group] = share * len(used) / max(int(group.sum()), 1)
    mean, deviation = signs.mean(axis=0), signs.std(axis=0) + 1e-6
    model = LogisticRegression(C=STRENGTH, max_iter=5000)
    model.fit((signs - mean) / deviation, answerable, sample_weight=weights)
    coefficients = np.asarray(model.coef_[0] / deviation, dtype=np.float32)
    return Logistic(float(model.intercept_[0] - coefficients @ mean), coefficients)
