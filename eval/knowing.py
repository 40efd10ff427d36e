"""Fits the model of whether anything is known, on questions that can be answered and on questions that cannot.

Few datasets ask what nobody said, and all of them ask it of a long history. So each question is also put to parts of its history (`eval.parts`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from eval.parts import parts
from eval.retrieval import SHIPPED, Asked
from hotmem.context.features import features
from hotmem.context.fusion import Candidate
from hotmem.context.knowing import signs_of_knowing
from hotmem.context.relevance import Logistic, RelevanceModel
from hotmem.types import Query

PART_WEIGHT: Final = 0.3
"""Weight of a part of a history beside a whole one. Half of it is as good in long histories, and worse in small memories."""

STRENGTH: Final = 0.3
"""Inverse of the L2 penalty on standardised signs."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A question put to a history, or to a part of it.

    Attributes:
        held_out: Whether the conversation is kept from fitting.
        signs: float32 (len(SIGNS_OF_KNOWING),).
        answerable: Whether the history holds the answer.
        whole: Whether it is the whole history.
    """

    held_out: bool
    signs: NDArray[np.float32]
    answerable: bool
    whole: bool


def attempts(asked: Sequence[Asked], model: RelevanceModel) -> list[Attempt]:
    """The attempts of a dataset's questions, those without known evidence left out."""
    found = []
    for one in asked:
        if not one.question.abstain and not one.question.evidence:
            continue
        retrieved = one.found[SHIPPED]
        answerable = not one.question.abstain
        histories = [(retrieved.candidates, answerable, True)] + [(part, held, False) for part, held in parts(one, retrieved.candidates)]
        found += [
            Attempt(one.held_out, _signs(retrieved.query, candidates, model), held, whole) for candidates, held, whole in histories if candidates
        ]
    return found


def _signs(query: Query, candidates: Sequence[Candidate], model: RelevanceModel) -> NDArray[np.float32]:
    rows = features(query, candidates)
    kinds = [candidate.evidence.kind for candidate in candidates]
    return signs_of_knowing(rows, kinds, model.probabilities(rows, kinds))


def fitted(attempts: Sequence[Attempt]) -> Logistic:
    """The model fitted on the conversations that are not held out, as if half of all questions could be answered."""
    used = [one for one in attempts if not one.held_out]
    signs = np.array([one.signs for one in used])
    answerable = np.array([one.answerable for one in used])
    weights = np.array([1.0 if one.whole else PART_WEIGHT for one in used])
    mean, deviation = signs.mean(axis=0), signs.std(axis=0) + 1e-6
    model = LogisticRegression(C=STRENGTH, max_iter=5000, class_weight="balanced")
    model.fit((signs - mean) / deviation, answerable, sample_weight=weights)
    coefficients = np.asarray(model.coef_[0] / deviation, dtype=np.float32)
    return Logistic(float(model.intercept_[0] - coefficients @ mean), coefficients)
