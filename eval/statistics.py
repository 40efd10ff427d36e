"""How sure a difference is, where a threshold would lie, and how true probabilities are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

RESAMPLES: Final = 2000
"""Bootstrap samples; enough for the second decimal of a percentage point."""

SEED: Final = 20240517
"""Fixed, so that the same rows give the same interval."""

BINS: Final = 20
"""Bins of equal width of the calibration error."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean or a share and its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Bin:
    """Predictions of about the same probability.

    How many, the mean probability said, and the share that came true.
    """

    count: int
    said: float
    true: float


def estimated(parts: ArrayLike, wholes: ArrayLike | None = None) -> Estimate:
    """The sum of the parts over the sum of the wholes, with its percentile bootstrap interval (Efron 1979) over the samples.

    Args:
        parts: One number a sample, (n,), n at least 1.
        wholes: Of how much, (n,); None is 1 each, which makes it the mean.
    """
    part = np.asarray(parts, dtype=np.float64)
    whole = np.ones_like(part) if wholes is None else np.asarray(wholes, dtype=np.float64)
    chosen = np.random.default_rng(SEED).integers(0, len(part), (RESAMPLES, len(part)))
    low, high = np.percentile(
        part[chosen].sum(axis=1) / np.maximum(whole[chosen].sum(axis=1), 1), [2.5, 97.5]
    )
    return Estimate(float(part.sum() / max(whole.sum(), 1)), float(low), float(high))


def paired_difference(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """The mean of `first - second` over the same questions, with its interval.

    Args:
        first: One score a question.
        second: The other system's scores, in the same order.

    Raises:
        ValueError: If the lengths differ or there are no questions.
    """
    if len(first) != len(second) or not first:
        raise ValueError(
            f"{len(first)} and {len(second)} scores cannot be paired. Pass the same questions, at least one."
        )
    return estimated(np.subtract(first, second))


def said_unknown(
    knowable: Sequence[float], unknowable: Sequence[float], wrongly: float = 0.05
) -> float | None:
    """Share of questions without an answer that a threshold on relevance would recognise.

    Args:
        knowable: Best relevance for each question that has an answer.
        unknowable: The same for questions that have none.
        wrongly: Share of the first that may fall below the threshold, 0 to 1.

    Returns:
        The share of the second strictly below it, or None if either is empty.
    """
    if not knowable or not unknowable:
        return None
    threshold = sorted(knowable)[int(wrongly * len(knowable))]
    return float(np.mean(np.asarray(unknowable) < threshold))


def reliability(probabilities: NDArray[np.float32], labels: NDArray[np.bool_]) -> list[Bin]:
    """The bins that hold predictions, from the least probable on.

    Args:
        probabilities: What was said, 0 to 1, float32 (n,).
        labels: What came true, bool (n,).
    """
    bins = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    held = ((probabilities[bins == place], labels[bins == place]) for place in np.unique(bins))
    return [
        Bin(len(said), float(said.mean(dtype=np.float64)), float(true.mean()))
        for said, true in held
    ]


def calibration_error(probabilities: NDArray[np.float32], labels: NDArray[np.bool_]) -> float:
    """Expected calibration error (Naeini, Cooper and Hauskrecht 2015) over `BINS` bins.

    The mean gap of said and true, by bin size.
    """
    return sum(
        abs(one.said - one.true) * one.count for one in reliability(probabilities, labels)
    ) / len(labels)
