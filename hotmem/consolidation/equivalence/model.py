"""Statement equivalence: the probability that two statements say the same.

A logistic regression over features of both texts and the cosine of their embeddings. The cosine
alone is not enough: "I owe Paul fifty euros" and "Paul owes me fifty euros" are closer than most
paraphrases. The signs of the coefficients are constrained, so that a difference never increases
the probability. `python -m eval tools` fits and evaluates the model.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.consolidation.equivalence.differences import find_differences
from hotmem.consolidation.equivalence.features import statement_features

MERGE_THRESHOLD: Final = 0.9
"""Probability from which a statement that is stored again confirms the stored one."""

SUGGESTION_THRESHOLD: Final = 0.2
"""Probability from which a merge is suggested to the user."""

MAX_IF_DIFFERENT: Final = 0.89
"""Upper bound of the probability if the statements differ at all: suggested, never merged."""

POSITIVE_FEATURES: Final = ("cosine", "shared_words", "shared_numbers", "no_difference")
"""Features that increase the probability."""

NEGATIVE_FEATURES: Final = (
    "replaced",
    "added",
    "added_words",
    "dropped",
    "other_differences",
    "other_person",
    "reordered",
    "added_numbers",
    "names",
    "exclusive_words",
    "progressive",
    "change_words",
)
"""Features that decrease the probability."""

FEATURES: Final = POSITIVE_FEATURES + NEGATIVE_FEATURES
"""All features, in the order of the model's input."""

_CHANGE: Final = re.compile(
    r"\b(?:now|moved|changed|instead|renamed|switched|new|extended|closed|cancelled|any ?more"
    r"|from now|again|sold|replaced|postponed|became)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class StatementPair:
    """A stored statement, another one, and the cosine of their embeddings."""

    one: str
    other: str
    cosine: float


def equivalence_probability(pair: StatementPair) -> float:
    """The probability, 0 to 1, that two statements say the same; 1 if they have the same words."""
    if _plain_words(pair.one) == _plain_words(pair.other):
        return 1.0
    intercept, weights = coefficients()
    features = pair_features(pair)
    logit = intercept + np.vecdot(features, weights)
    probability = float(0.5 * (1 + np.tanh(logit / 2)))
    identical = features[FEATURES.index("no_difference")]
    return probability if identical else min(probability, MAX_IF_DIFFERENT)


def differs_in_one_word(one: str, other: str) -> bool:
    """Whether two statements differ in one word of another meaning: "oat milk", "soy milk".

    They state different values, so a merge would lose one.
    """
    words, others = _plain_words(one), _plain_words(other)
    replaced = sum(word != another for word, another in zip(words, others, strict=False))
    if len(words) != len(others) or replaced != 1:
        return False
    found = find_differences(statement_features(one), statement_features(other))
    return bool(found.dropped or found.added or found.other_differences)


def pair_features(pair: StatementPair) -> NDArray[np.float64]:
    """The model's input for a pair, float64 (len(FEATURES),)."""
    found = find_differences(statement_features(pair.one), statement_features(pair.other))
    values = {
        "cosine": pair.cosine,
        "shared_words": min(found.shared, 5),
        "shared_numbers": found.shared_numbers > 0,
        "no_difference": not (found.dropped or found.added or found.other_differences),
        "replaced": found.dropped == found.added == 1,
        "added": found.added > 0 and not found.dropped,
        "added_words": min(found.added, 4),
        "dropped": found.dropped > 0 and not found.added,
        "other_differences": (
            0 if found.dropped or found.added else min(found.other_differences, 2)
        ),
        "other_person": found.people and found.speaker,
        "reordered": found.reordered,
        "added_numbers": min(found.added_numbers, 2),
        "names": min(found.names, 2),
        "exclusive_words": min(found.exclusive, 2),
        "progressive": found.progressive,
        "change_words": bool(_CHANGE.search(pair.other)) and not _CHANGE.search(pair.one),
    }
    return np.array([float(values[name]) for name in FEATURES])


def _plain_words(text: str) -> list[str]:
    """The words of a statement, in lower case, for literal comparison."""
    return text.casefold().strip(" .,!?;:'\"").split()


@cache
def coefficients() -> tuple[float, NDArray[np.float64]]:
    """The intercept, and the coefficients in the order of `FEATURES`, float64."""
    data = json.loads(
        files("hotmem.consolidation.equivalence").joinpath("model.json").read_text("utf-8")
    )
    return float(data["intercept"]), np.array([data[name] for name in FEATURES])
