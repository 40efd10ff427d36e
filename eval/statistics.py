"""Confidence intervals, thresholds and calibration."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

RESAMPLES: Final = 2000
"""Number of bootstrap samples; enough for the second decimal of a percentage point."""

SEED: Final = 20240517
"""Fixed, so that the same rows give the same interval."""

BINS: Final = 20
"""Number of bins of equal width for the calibration error."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean or a share with its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Bin:
    """Predictions of similar probability: number, mean probability, and share of positives."""

    count: int
    said: float
    true: float


def bootstrap(parts: ArrayLike, wholes: ArrayLike | None = None) -> Estimate:
    """Return the sum of the parts over the sum of the wholes, with its bootstrap interval.

    The interval is the percentile bootstrap over samples (Efron 1979).

    Args:
        parts: One number per sample, (n,), n at least 1.
        wholes: Divisors, (n,); None is 1 each, which gives the mean.
    """
    part = np.asarray(parts, dtype=np.float64)
    whole = np.ones_like(part) if wholes is None else np.asarray(wholes, dtype=np.float64)
    chosen = np.random.default_rng(SEED).integers(0, len(part), (RESAMPLES, len(part)))
    low, high = np.percentile(
        part[chosen].sum(axis=1) / np.maximum(whole[chosen].sum(axis=1), 1), [2.5, 97.5]
    )
    return Estimate(float(part.sum() / max(whole.sum(), 1)), float(low), float(high))


def paired_difference(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """Return the mean of `first - second` over the same questions, with its interval.

    Args:
        first: One score per question.
        second: The other system's scores, in the same order.

    Raises:
        ValueError: If the lengths differ or there are no questions.
    """
    if len(first) != len(second) or not first:
        raise ValueError(
            f"{len(first)} and {len(second)} scores cannot be paired. Pass the same "
            "questions, at least one."
        )
    return bootstrap(np.subtract(first, second))


def scored_difference(
    first: Iterable[float | None], second: Iterable[float | None]
) -> Estimate | None:
    """Return the paired difference over the questions scored for both systems; None without any.

    Args:
        first: One score per question, None if it is not scored.
        second: The other system's scores, in the same order.
    """
    pairs = zip(first, second, strict=True)
    scored = [(ours, theirs) for ours, theirs in pairs if ours is not None and theirs is not None]
    return bootstrap([ours - theirs for ours, theirs in scored]) if scored else None


def detected_unanswerable(
    knowable: Sequence[float], unknowable: Sequence[float], wrongly: float = 0.05
) -> float | None:
    """Return the share of unanswerable questions detected by a threshold on relevance.

    Args:
        knowable: Maximum relevance for each answerable question.
        unknowable: Maximum relevance for each unanswerable question.
        wrongly: Share of answerable questions allowed below the threshold, 0 to 1.

    Returns:
        The share of unanswerable questions strictly below it, or None if either is empty.
    """
    if not knowable or not unknowable:
        return None
    threshold = sorted(knowable)[int(wrongly * len(knowable))]
    return float(np.mean(np.asarray(unknowable) < threshold))


def reliability(probabilities: NDArray[np.float32], labels: NDArray[np.bool_]) -> list[Bin]:
    """Return the non-empty bins of predictions by probability, ascending.

    Args:
        probabilities: Predictions, 0 to 1, float32 (n,).
        labels: Outcomes, bool (n,).
    """
    bins = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    held = ((probabilities[bins == place], labels[bins == place]) for place in np.unique(bins))
    return [
        Bin(len(said), float(said.mean(dtype=np.float64)), float(true.mean()))
        for said, true in held
    ]


def calibration_error(probabilities: NDArray[np.float32], labels: NDArray[np.bool_]) -> float:
    """Expected calibration error (Naeini, Cooper and Hauskrecht 2015) over `BINS` bins.

    The mean gap between predicted and observed frequency, weighted by bin size.
    """
    return sum(
        abs(one.said - one.true) * one.count for one in reliability(probabilities, labels)
    ) / len(labels)
