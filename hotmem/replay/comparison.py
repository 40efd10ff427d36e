"""Comparison of settings with the present ones, with bootstrap confidence intervals."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from random import Random
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.feedback.usage import detect_usage, quality_records
from hotmem.models import Language
from hotmem.recall import RecallContext
from hotmem.replay.recording import Exchange, Recording
from hotmem.replay.settings import Setting
from hotmem.retrieval.query import QUERY_WORDS
from hotmem.text.stemming import STOP_STEMS, stems
from hotmem.types import ContextBlock, ItemUse, Tally, UsageKind
from hotmem.understanding.query.analyzer import analyse

ASSUMED_ITEMS: Final = 12
"""Number of items assumed for usage detection, whatever the length of the block: otherwise the same
item could count as used in a short block and as unused in a long one."""

REPLY_WORDS: Final = 1000
"""Maximum words of a reply that are evaluated."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One exchange under one setting.

    Attributes:
        session: Index of the session in the recording.
        tally: Items and tokens given and used.
        found: Share of the reply's content words in used items, 0 to 1. Content words are neither
            stop words nor in the visible conversation.
        coincidence: Mean of the same share over unrelated replies.
        ms: Latency of the block in milliseconds.
    """

    session: int
    tally: Tally
    found: float
    coincidence: float
    ms: float


def score_block(
    reader: RecallContext,
    session: int,
    block: ContextBlock,
    visible: Sequence[str],
    replies: Sequence[str],
    ms: float,
) -> Outcome | None:
    """Return the outcome of an exchange; None if its question needs no memory.

    Args:
        reader: Recall context with the models.
        session: Index of the session in the recording.
        block: Block of the setting.
        visible: Conversation visible to the language model, including the question.
        replies: The recorded reply, followed by unrelated replies.
        ms: Latency of the block in milliseconds.
    """
    uses, found = _score_reply(reader, block, visible, replies[0])
    records = quality_records(block, uses, reader.tokens.count)
    if not records:
        return None
    others = [_score_reply(reader, block, visible, other)[1] for other in replies[1:]]
    return Outcome(
        session, records[0].tally, found, sum(others) / len(others) if others else 0.0, ms
    )


def _score_reply(
    reader: RecallContext, block: ContextBlock, visible: Sequence[str], reply: str
) -> tuple[tuple[ItemUse, ...], float]:
    """Return the use of each item, and the share of content words in used items."""
    heard = " ".join(reply.split()[:REPLY_WORDS])
    uses = detect_usage(
        reader.encoder, block.items, block.query, heard, visible, among=ASSUMED_ITEMS
    )
    content_words = (stems(heard) - STOP_STEMS).difference(*map(stems, visible))
    used_words = frozenset[str]().union(
        *(stems(use.item.text) for use in uses if use.kind is not UsageKind.UNUSED)
    )
    return uses, len(content_words & used_words) / len(content_words) if content_words else 0.0


RESAMPLES: Final = 10_000
"""Bootstrap samples, enough for a 99.5 % interval."""

SAMPLES_AT_ONCE: Final = 500
"""Samples drawn at once, to limit memory."""

SEED: Final = 7
"""Fixed, so that intervals are reproducible."""

SIGNIFICANCE: Final = 0.05
"""Significance level of all comparisons together (Bonferroni)."""

MARGIN: Final = 0.1
"""Relative non-inferiority margin of what a setting finds."""

MIN_DIFFERENCE: Final = 0.05
"""Minimum difference of wasted tokens, relative to the tokens of a block."""

MIN_EXCHANGES: Final = 30
"""Exchanges below which the report warns, and does not estimate how many are needed."""


class Verdict(StrEnum):
    """Verdict on a setting compared with the present ones."""

    MORE = "finds more"
    CHEAPER = "as good, saves tokens"
    LESS = "finds less"
    DEARER = "costs more, finds no more"
    SPARING = "saves, may find less"
    COSTLY = "costs, may find more"
    SAME = "no clear difference"


INCONCLUSIVE: Final = (Verdict.SPARING, Verdict.COSTLY, Verdict.SAME)
"""Verdicts that a narrower interval may change."""

MOST_NEEDED: Final = 10_000
"""Sessions above which no number is named."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its confidence interval."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


NONE: Final = Interval(0.0, 0.0, 0.0)
"""No difference."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Results of one setting.

    Attributes:
        setting: The setting.
        found: Mean share of a reply's content words that are in used items, corrected for
            coincidence; 0 to 1, or slightly negative.
        precision: Items used / items given, 0 to 1.
        unknown: Share of the exchanges in which nothing, or nothing certain, was known, 0 to 1.
        tokens: Mean tokens of a block.
        wasted: Mean tokens of items that the reply did not use.
        p50_ms: Median latency.
        p95_ms: 95th percentile of the latency.
        found_gain: Difference of `found` to the present settings.
        wasted_gain: Difference of `wasted` to the present settings.
        verdict: The verdict; None for the present settings.
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

    @property
    def found_share(self) -> float:
        """`found` without its noise below zero, to be shown."""
        return max(self.found, 0.0)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Results of all settings, the present ones first.

    Attributes:
        figures: Results by setting.
        exchanges: Number of replayed exchanges.
        sessions: Number of their sessions.
        level: Confidence level of each interval, 0 to 1.
    """

    figures: tuple[Figures, ...]
    exchanges: int
    sessions: int
    level: float

    @property
    def now(self) -> Figures:
        """Results of the present settings."""
        return self.figures[0]

    @property
    def better(self) -> Figures | None:
        """The setting that finds most, of those that find significantly more."""
        found = [one for one in self.figures if one.verdict is Verdict.MORE]
        return max(found, key=lambda one: (one.found, -one.tokens), default=None)

    @property
    def cheaper(self) -> Figures | None:
        """The setting that wastes least, of those that find as much with fewer tokens."""
        found = [one for one in self.figures if one.verdict is Verdict.CHEAPER]
        return min(found, key=lambda one: one.wasted, default=None)

    @property
    def needed_sessions(self) -> int | None:
        """Sessions from which all differences would be known to a margin of `found`, about.

        An interval narrows with the square root of the number of sessions. None if the present
        settings find nothing, or it takes more than `MOST_NEEDED`.
        """
        margin = MARGIN * max(self.now.found, 0.0)
        widest = max(
            (one.found_gain.half_width for one in self.figures if one.verdict in INCONCLUSIVE),
            default=0.0,
        )
        least = sign_test_sessions(self.level)
        if widest <= margin:
            return least
        if widest > margin * math.sqrt(MOST_NEEDED / self.sessions):
            return None
        return max(least, math.ceil(self.sessions * (widest / margin) ** 2))

    @property
    def too_little(self) -> bool:
        """Whether there are too few sessions for any conclusion."""
        needed = self.needed_sessions
        few = needed is None or self.sessions < needed
        return self.better is None and self.cheaper is None and few

    @property
    def undecided(self) -> list[Figures]:
        """The best inconclusive settings: one that saves tokens, and one that costs more."""
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


def compare(settings: Sequence[Setting], outcomes: Sequence[Sequence[Outcome]]) -> Comparison:
    """Compare settings.

    Args:
        settings: The settings, the present ones first.
        outcomes: For each exchange, the outcome of each setting; at least one exchange.
    """
    found = np.array([[one.found - one.coincidence for one in row] for row in outcomes])
    tallies = [[one.tally for one in row] for row in outcomes]
    wasted = np.array([[one.wasted for one in row] for row in tallies], dtype=np.float64)
    sessions = np.array([row[0].session for row in outcomes])
    level = 1 - SIGNIFICANCE / max(len(settings) - 1, 1)
    tokens = float(np.mean([row[0].tokens for row in tallies]))
    figures = []
    for place, setting in enumerate(settings):
        of = [row[place] for row in tallies]
        times = [row[place].ms for row in outcomes]
        gain = paired_difference(found[:, place] - found[:, 0], sessions, level)
        difference = paired_difference(wasted[:, place] - wasted[:, 0], sessions, level)
        relevant = difference if abs(difference.mean) >= MIN_DIFFERENCE * tokens else NONE
        verdict = (
            decide(gain, relevant, float(found[:, 0].mean()))
            if len(set(sessions.tolist())) >= sign_test_sessions(level)
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


def sign_test_sessions(level: float) -> int:
    """Return the sessions below which no difference is significant, not even the same in all.

    With fewer, bootstrap intervals are too narrow. A two-sided sign test of n sessions of one sign
    has p = 2 / 2ⁿ.

    Args:
        level: Confidence level, 0 to below 1.
    """
    return math.ceil(1 - math.log2(1 - level))


def paired_difference(
    differences: NDArray[np.float64], sessions: NDArray[np.int_], level: float
) -> Interval:
    """Return the mean paired difference with its percentile bootstrap interval (Efron 1979).

    Sessions are resampled and not exchanges, because those of one session are correlated.

    Args:
        differences: Difference of each exchange, float64 (n,).
        sessions: Session of each exchange, int (n,).
        level: Confidence level, 0 to 1.
    """
    _, places = np.unique(sessions, return_inverse=True)
    sums, sizes = np.bincount(places, differences), np.bincount(places)
    generator = np.random.default_rng(SEED)
    even = np.full(len(sums), 1 / len(sums))
    means = []
    for _ in range(RESAMPLES // SAMPLES_AT_ONCE):
        drawn = generator.multinomial(len(sums), even, SAMPLES_AT_ONCE)
        means.append((drawn * sums).sum(axis=1) / (drawn * sizes).sum(axis=1))
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(differences.mean()), float(low), float(high))


def decide(found: Interval, wasted: Interval, now: float) -> Verdict:
    """Return the verdict on differences in `found` and in wasted tokens.

    `now` is `found` of the present settings.
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


SAMPLE_SEED: Final = 7
"""Fixed, so that samples are reproducible."""

BATCH: Final = 64
"""Questions parsed at once."""


def sample_exchanges(recording: Recording, language: Language, most: int) -> list[Exchange]:
    """Sample exchanges whose question needs memory; in order. Blocking.

    Args:
        recording: The sessions.
        language: Parses questions until enough are found.
        most: Maximum exchanges.
    """
    candidates = list(recording.exchanges())
    Random(SAMPLE_SEED).shuffle(candidates)
    found = list(islice(_needing_memory(recording, language, candidates), most))
    return sorted(found, key=lambda one: (one.session, one.place))


def _needing_memory(
    recording: Recording, language: Language, candidates: Sequence[Exchange]
) -> Iterator[Exchange]:
    for start in range(0, len(candidates), BATCH):
        batch = candidates[start : start + BATCH]
        asked = [recording.sessions[one.session][one.place] for one in batch]
        docs = language.parse(
            [" ".join(turn.text.split()[-QUERY_WORDS:]) for turn in asked], names=False
        )
        for exchange, turn, doc in zip(batch, asked, docs, strict=True):
            analysis = analyse(doc, turn.spoken_at)
            if analysis.needs_memory and analysis.question:
                yield exchange
