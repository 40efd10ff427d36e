"""A linear model of which phrases of recent turns an ambiguous question refers to.

Trained by `python -m eval train-antecedents` on written dialogues. It decides in two steps: the
first scores each phrase by itself, the second beside the phrase that the first scored highest.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import exp, log
from typing import Final, Self

from hotmem.understanding.query.antecedent_features import Candidates, Features
from hotmem.understanding.query.antecedents import Antecedent

FIRST_ABOVE: Final = 0.5
"""Probability above which the likeliest phrase is added to a question."""

FURTHER_ABOVE: Final = 0.4
"""Probability above which more phrases are added; found by `train-antecedents`."""

_LEAST: Final = 1e-4
"""Probabilities are bounded by this before their logarithm is taken."""


class AntecedentModel:
    """Scores possible antecedents; thread-safe.

    Args:
        alone: Weight of each feature in the first step.
        beside: Weight of each feature in the second step.
    """

    def __init__(self, alone: Features, beside: Features) -> None:
        self._alone = alone
        self._beside = beside

    @classmethod
    @cache
    def load(cls) -> Self:
        """Load the shipped weights."""
        text = files("hotmem.understanding.query").joinpath("antecedents.json").read_text("utf-8")
        weights: Mapping[str, dict[str, float]] = json.loads(text)
        return cls(weights["alone"], weights["beside"])

    def first_step(self, features: Sequence[Features]) -> list[float]:
        """Return the probabilities of the first step."""
        return [_probability(one, self._alone) for one in features]

    def probabilities(self, candidates: Candidates) -> list[float]:
        """Return the probability of each new antecedent that the question refers to it."""
        first = self.first_step(candidates.features())
        return [_probability(one, self._beside) for one in beside_best(candidates, first)]


def beside_best(candidates: Candidates, first: Sequence[float]) -> list[dict[str, float]]:
    """Return the features of the second step.

    Args:
        candidates: The antecedents.
        first: Their probabilities in the first step.
    """
    if not first:
        return []
    place = max(range(len(first)), key=first.__getitem__)
    best, highest = candidates.new[place], first[place]
    unmarked = not candidates.question.ambiguous
    return [
        {
            "bias": 1.0,
            "alone": _logit(probability),
            **(
                {"best": 1.0, "best,unmarked": float(unmarked)}
                if one is best
                else _beside(one, best, highest, candidates)
            ),
        }
        for one, probability in zip(candidates.new, first, strict=True)
    ]


def _beside(
    one: Antecedent, best: Antecedent, highest: float, candidates: Candidates
) -> dict[str, float]:
    same_turn = one.turn == best.turn
    return {
        "highest": highest,
        "same_turn": float(same_turn),
        "same_sentence": float(same_turn and one.token.sent == best.token.sent),
        "complement_of_best": float(_is_complement_of(one, best)),
        "best_is_complement": float(_is_complement_of(best, one)),
        "alternative": float(one in candidates.listed_with(best)),
        "same_type": float(one.mention.type is best.mention.type),
        "turns_apart": abs(one.turn - best.turn) / 3,
        "named": float(one.mention.named),
    }


def _is_complement_of(one: Antecedent, other: Antecedent) -> bool:
    return one.turn == other.turn and one.is_complement and one.token.head.head == other.token


def _probability(features: Features, weights: Features) -> float:
    score = sum(value * weights.get(name, 0.0) for name, value in features.items())
    return 1 / (1 + exp(-max(-30.0, min(30.0, score))))


def _logit(probability: float) -> float:
    bounded = min(max(probability, _LEAST), 1 - _LEAST)
    return log(bounded / (1 - bounded))


def choose(candidates: Candidates, probabilities: Sequence[float], limit: int) -> tuple[str, ...]:
    """Choose the phrases to add to a question, likeliest first.

    Of phrases listed side by side only the likeliest is chosen, unless the question is about
    several.

    Args:
        candidates: The antecedents.
        probabilities: The probability of each.
        limit: Maximum number of phrases.
    """
    several = "they" in candidates.question.sorts or "both" in candidates.question.words
    chosen: list[Antecedent] = []
    for place in sorted(range(len(probabilities)), key=probabilities.__getitem__, reverse=True):
        one = candidates.new[place]
        if probabilities[place] <= (FURTHER_ABOVE if chosen else FIRST_ABOVE):
            break
        if not several and any(other in candidates.listed_with(one) for other in chosen):
            continue
        chosen.append(one)
    return tuple(dict.fromkeys(one.mention.phrase for one in chosen[:limit]))
