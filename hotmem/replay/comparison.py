"""Settings beside each other.

What each comes to, how far it differs from the present ones, and whether that is more than chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.replay.scoring import Outcome
from hotmem.replay.settings import Setting

RESAMPLES: Final = 10_000
"""Bootstrap samples: enough for the edges of an interval of 99.5 %."""

AT_ONCE: Final = 500
"""Samples drawn in one go; of ten thousand sessions they take 40 MB."""

SEED: Final = 7
"""Fixed, so that the same outcomes give the same interval."""

CHANCE: Final = 0.05
"""Probability that chance alone makes any of the settings look different."""

MARGIN: Final = 0.1
"""Share of what the present settings find that a saving may cost at most, and that more tokens
must be able to bring, at the interval's edge."""

WORTH: Final = 0.05
"""Share of a block's tokens that a difference in wasted tokens must be to be spoken of."""

ENOUGH: Final = 5
"""Sessions from which intervals are believed; of fewer a bootstrap draws them too narrow, and of
one as a point."""

FEW: Final = 30
"""Exchanges under which a comparison says little."""


class Verdict(StrEnum):
    """What a setting is beside the present ones."""

    MORE = "finds more"
    CHEAPER = "as good, saves tokens"
    LESS = "finds less"
    DEARER = "costs more for nothing"
    SPARING = "saves, may find less"
    COSTLY = "costs, may find more"
    SAME = "no clear difference"


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure, and the edges between which it lies unless chance played an unusual part."""

    mean: float
    low: float
    high: float


NONE: Final = Interval(0.0, 0.0, 0.0)
"""No difference."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What one setting comes to.

    Attributes:
        setting: The setting.
        found: Share of a reply's telling words that came from what was given, on average: 0 to 1,
            or a little below by chance.
        precision: Items used of items given, 0 to 1.
        unknown: Share of the exchanges, 0 to 1, in which nothing was given.
        tokens: Tokens of a block, on average.
        wasted: Tokens of a block's items that the reply did not use, on average.
        p50_ms: Median time of a block.
        p95_ms: 95th percentile of it.
        found_gain: What it finds less what the present settings find.
        wasted_gain: Its wasted tokens less the present ones'.
        verdict: What that amounts to; None for the present settings.
    """

    setting: Setting
    found: float
    precision: float
    unknown: float
    tokens: float
    wasted: float
    p50_ms: float
    p95_ms: float
    found_gain: Interval = NONE
    wasted_gain: Interval = NONE
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """All settings, the present ones first.

    Attributes:
        figures: What each comes to.
        exchanges: Exchanges that were replayed.
        sessions: Sessions they are from.
        level: Probability, 0 to 1, with which each interval is drawn.
    """

    figures: tuple[Figures, ...]
    exchanges: int
    sessions: int
    level: float

    @property
    def now(self) -> Figures:
        """The present settings."""
        return self.figures[0]

    @property
    def better(self) -> Figures | None:
        """The setting that finds most, of those that surely find more."""
        found = [one for one in self.figures if one.verdict is Verdict.MORE]
        return max(found, key=lambda one: (one.found, -one.tokens), default=None)

    @property
    def cheaper(self) -> Figures | None:
        """The setting that wastes least, of those that find as much for fewer tokens."""
        found = [one for one in self.figures if one.verdict is Verdict.CHEAPER]
        return min(found, key=lambda one: one.wasted, default=None)

    @property
    def undecided(self) -> list[Figures]:
        """The best setting that saves tokens and may find less, and the best that costs more and may find more, if the tokens are worth it."""
        tokens, found = self.now.tokens, self.now.found
        saving = [
            one
            for one in self.figures
            if one.verdict is Verdict.SPARING and one.tokens < (1 - MARGIN) * tokens
        ]
        costly = [
            one
            for one in self.figures
            if one.verdict is Verdict.COSTLY and one.found > (1 + MARGIN) * found
        ]
        return [max(some, key=lambda one: one.found) for some in (saving, costly) if some]


def compared(settings: Sequence[Setting], outcomes: Sequence[Sequence[Outcome]]) -> Comparison:
    """The settings beside each other.

    Args:
        settings: What was compared, the present settings first.
        outcomes: For each exchange the outcome of each setting; at least one.
    """
    found = np.array([[one.found - one.coincidence for one in row] for row in outcomes])
    tallies = [[one.tally for one in row] for row in outcomes]
    wasted = np.array([[one.wasted for one in row] for row in tallies], dtype=np.float64)
    sessions = np.array([row[0].session for row in outcomes])
    level = 1 - CHANCE / max(len(settings) - 1, 1)
    tokens = float(np.mean([row[0].tokens for row in tallies]))
    figures = []
    for place, setting in enumerate(settings):
        of = [row[place] for row in tallies]
        times = [row[place].ms for row in outcomes]
        gain = paired(found[:, place] - found[:, 0], sessions, level)
        difference = paired(wasted[:, place] - wasted[:, 0], sessions, level)
        told = difference if abs(difference.mean) >= WORTH * tokens else NONE
        verdict = (
            judged(gain, told, float(found[:, 0].mean()))
            if len(set(sessions.tolist())) >= ENOUGH
            else Verdict.SAME
        )
        figures.append(
            Figures(
                setting,
                found=float(found[:, place].mean()),
                precision=sum(one.used for one in of) / max(sum(one.given for one in of), 1),
                unknown=float(np.mean([one.empty for one in of])),
                tokens=float(np.mean([one.tokens for one in of])),
                wasted=float(wasted[:, place].mean()),
                p50_ms=float(np.percentile(times, 50)),
                p95_ms=float(np.percentile(times, 95)),
                found_gain=gain,
                wasted_gain=difference,
                verdict=verdict if place else None,
            )
        )
    return Comparison(tuple(figures), len(outcomes), len(set(sessions.tolist())), level)


def paired(differences: NDArray[np.float64], sessions: NDArray[np.int_], level: float) -> Interval:
    """The mean difference over the same exchanges, with its percentile bootstrap interval (Efron 1979).

    Whole sessions are drawn, not exchanges: what is said in one conversation hangs together.

    Args:
        differences: One number an exchange, (n,).
        sessions: The session of each exchange, (n,).
        level: Probability with which the interval is drawn, 0 to 1.
    """
    _, places = np.unique(sessions, return_inverse=True)
    sums, sizes = np.bincount(places, differences), np.bincount(places)
    generator = np.random.default_rng(SEED)
    even = np.full(len(sums), 1 / len(sums))
    means = []
    for _ in range(RESAMPLES // AT_ONCE):
        drawn = generator.multinomial(len(sums), even, AT_ONCE)
        means.append((drawn * sums).sum(axis=1) / (drawn * sizes).sum(axis=1))
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(differences.mean()), float(low), float(high))


def judged(found: Interval, wasted: Interval, now: float) -> Verdict:
    """What differences in what is found and in wasted tokens amount to.

    `now` is what the present settings find.
    """
    if found.low > 0:
        return Verdict.MORE
    if found.high < 0:
        return Verdict.LESS
    if wasted.high < 0:
        return Verdict.CHEAPER if found.low > -MARGIN * now else Verdict.SPARING
    if wasted.low > 0:
        return Verdict.DEARER if found.high < MARGIN * now else Verdict.COSTLY
    return Verdict.SAME
