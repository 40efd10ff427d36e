"""Ranking of a conversation's turns by an encoder's own score."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eval.encoder.material import Material
from hotmem.ranking.features import token_weights

AMONG: Final = 35
"""Number of turns about as many as fit in a block of 1000 tokens."""

TOP: Final = 5
"""Number of turns for the second measure."""

Scores: TypeAlias = NDArray[np.float32]
"""One score per turn, float32 (turns,)."""

Ranker: TypeAlias = Callable[[Material], list[Scores]]
"""Scores of a conversation's turns for each of its questions."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Result of one question.

    Attributes:
        dataset: Its dataset.
        conversation: Its conversation.
        held_out: Whether that is excluded from fitting.
        wording: Its category.
        among: Share of its evidence among the first `AMONG` turns.
        top: Whether any of it is among the first `TOP`.
        first: Whether the first turn is evidence.
    """

    dataset: str
    conversation: str
    held_out: bool
    wording: str
    among: float
    top: float
    first: float


def by_row(material: Material) -> list[Scores]:
    """Score by cosine similarity of whole passages."""
    nearness = material.passages.rows @ material.questions.rows.T
    return [_of_turns(material, scores) for scores in nearness.T]


def by_pieces(material: Material) -> list[Scores]:
    """Score by late interaction over the signs of the passages' token states."""
    codes = np.where(material.passages.states > 0, np.float32(1), np.float32(-1))
    starts = material.passages.starts
    filled = np.flatnonzero(np.diff(starts))
    found = []
    for number in range(len(material.evidence)):
        asked = material.questions.of(number)
        asked = asked / np.maximum(np.abs(asked).sum(axis=1, keepdims=True), 1e-9)
        matches = np.zeros((len(starts) - 1, len(asked)), dtype=np.float32)
        matches[filled] = np.maximum.reduceat(codes @ asked.T, starts[:-1][filled], axis=0)
        found.append(_of_turns(material, matches @ token_weights(matches)))
    return found


def ranked(materials: Iterable[Material], ranker: Ranker) -> list[Ranked]:
    """Rank the turns for every question."""
    found = []
    for material in materials:
        for scores, wording, evidence in zip(
            ranker(material), material.wordings, material.evidence, strict=True
        ):
            places = np.argsort(-scores, kind="stable")
            rank = np.empty(len(places), dtype=np.int64)
            rank[places] = np.arange(len(places))
            at = rank[list(evidence)]
            found.append(
                Ranked(
                    material.dataset,
                    material.name,
                    material.held_out,
                    wording,
                    float((at < AMONG).mean()),
                    float(at.min() < TOP),
                    float(at.min() < 1),
                )
            )
    return found


def mean(found: Sequence[Ranked], measure: Callable[[Ranked], float]) -> float:
    """Return the mean of a measure over questions; NaN without questions."""
    return float(np.mean([measure(one) for one in found])) if found else float("nan")


def _of_turns(material: Material, scores: NDArray[np.float32]) -> Scores:
    """Return the score of each turn's best passage; the minimum for a turn without passages."""
    last = max(
        int(material.turns[-1]), *(place for places in material.evidence for place in places)
    )
    turns = np.full(last + 1, -2.0, dtype=np.float32)
    np.maximum.at(turns, material.turns, scores)
    return turns
