"""Fit the reader's settings on turns and pairs that it was not trained on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eval.understanding.data import HOLDS, LabelledPair, LabelledTurn
from eval.understanding.measure import STILL, UNRELATED, compare_all, read_all
from hotmem.models import Encoder, Language
from hotmem.models.reader import EFFECTS, OUTDATING, Reader, ReaderLimits

FALSE_ENDINGS: Final = 1 / 1500
"""Most statements that still hold and are ended, as a share of all that still hold. The aim is one
in 500 by other writers, whose turns a limit fitted on one writer's does not hold for exactly."""

FALSE_MARKS: Final = 1 / 20
"""Most statements that still hold and are marked as possibly outdated."""

FALSE_IN_TALKS: Final = 1 / 1500, 1 / 200
"""The same in natural talks, ended and marked, where a memory is compared with many turns."""

PRECISION: Final = 0.95
"""Share of the turns of which something is kept that hold something; the aim is 0.9 by others."""

CROSSED: Final = 3
"""Unrelated statements that each turn is compared with besides its own."""

TEMPERATURES: Final = np.geomspace(0.5, 4.0, 61)


def fitted(
    reader: Reader,
    turns: Sequence[LabelledTurn],
    pairs: Sequence[LabelledPair],
    natural: Sequence[LabelledPair],
    language: Language,
    encoder: Encoder,
) -> ReaderLimits:
    """Return the settings with the most recall within the limits above.

    Args:
        reader: A reader with a temperature of 1 and limits of 0; the limit of doubts is 1, so that
            every pair is compared once, as it is written.
        turns: Labelled turns.
        pairs: Labelled pairs.
        natural: Labelled pairs from natural talks.
        language: Parses them, for the names in them.
        encoder: Says how near they are.
    """
    kept = np.array([one.kept for one in read_all(reader, turns)])
    holds = np.array([bool(turn.parts) for turn in turns])
    hard = _effects(reader, (*pairs, *unrelated(pairs)), language, encoder)
    talks = _effects(reader, natural, language, encoder)
    temperature = min(TEMPERATURES, key=lambda one: _surprise(hard.scores[hard.read] / one, hard))
    ended, marked = (
        max(
            _limit(one.shares(temperature, effects)[one.still], share)
            for one, share in ((hard, most), (talks, most_in_talks))
        )
        for effects, most, most_in_talks in zip(
            (OUTDATING, (*OUTDATING, "contradicts")),
            (FALSE_ENDINGS, FALSE_MARKS),
            FALSE_IN_TALKS,
            strict=True,
        )
    )
    return ReaderLimits(float(temperature), _precise(kept, holds), 0.5, ended, marked)


@dataclass(frozen=True, slots=True)
class _Read:
    """What the reader says of pairs.

    Attributes:
        scores: Logarithms of the effects' probabilities, (pairs, effects).
        labels: Places of the right effects; -1 where any that holds is right.
        read: Whether the reader was asked.
        still: Whether the statement still holds.
    """

    scores: NDArray[np.float64]
    labels: NDArray[np.int64]
    read: NDArray[np.bool_]
    still: NDArray[np.bool_]

    def shares(self, temperature: float, effects: Sequence[str]) -> NDArray[np.float64]:
        """Return the probability of some effects, (pairs,)."""
        places = [EFFECTS.index(effect) for effect in effects]
        return np.asarray(_softmax(self.scores / temperature)[:, places].sum(axis=1))


def _effects(
    reader: Reader, pairs: Sequence[LabelledPair], language: Language, encoder: Encoder
) -> _Read:
    effects = compare_all(reader, pairs, language, encoder)
    return _Read(
        np.log(np.maximum(np.array(effects), 1e-9)),
        np.array([-1 if one.effect == HOLDS else EFFECTS.index(one.effect) for one in pairs]),
        np.array([effect is not UNRELATED for effect in effects]),
        np.array([one.effect in STILL for one in pairs]),
    )


def unrelated(pairs: Sequence[LabelledPair]) -> list[LabelledPair]:
    """Return every turn with statements that are far from its own, `CROSSED` of them."""
    count = len(pairs)
    return [
        replace(pair, known=other.known, effect="unrelated", result="")
        for place, pair in enumerate(pairs)
        for step in range(1, CROSSED + 1)
        for other in [pairs[(place + step * count // (CROSSED + 1)) % count]]
        if other.known != pair.known
    ]


def _precise(scores: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Return the lowest score from which the share of right ones is `PRECISION`."""
    order = np.argsort(-scores)
    shares = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(shares >= PRECISION)
    return float(scores[order][enough[-1]]) if len(enough) else 1.0


def _limit(scores: NDArray[np.float64], share: float) -> float:
    """Return a score that at most a share of the scores reach, half-way to the last of them."""
    allowed = int(share * len(scores))
    highest = np.sort(scores)[::-1]
    return float((highest[allowed - 1] + highest[allowed]) / 2) if allowed else 1.0


def _surprise(scores: NDArray[np.float64], pairs: _Read) -> float:
    """Return the mean negative logarithm of the labels' probabilities."""
    labels = pairs.labels[pairs.read]
    return float(-np.log(_softmax(scores)[np.arange(len(labels)), labels] + 1e-12).mean())


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
