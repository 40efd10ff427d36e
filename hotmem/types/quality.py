"""The quality record: what replies made of what was given, added up by day, intent and layer.

It holds counts and no words.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Final, Self, TypeVar

from pydantic import Field

from hotmem.types.vocabulary import Intent, Layer

Key = TypeVar("Key", bound=Hashable)

PER_DOUBLING: Final = 4
"""Bins of a latency for each doubling: a time read from its bin is at most 9 % off."""

FIRST_BIN: Final = -8
LAST_BIN: Final = 64
"""Bins of 0.25 ms and of 65 s, which also hold what is shorter and longer: a histogram has 73 at
most."""

Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class Latencies:
    """A histogram of times on a logarithmic scale: pairs of bin and count, the shortest first.

    Bin b stands for 2^(b / 4) ms.
    """

    counts: tuple[tuple[Annotated[int, Field(ge=FIRST_BIN, le=LAST_BIN)], Count], ...] = ()

    @classmethod
    def of(cls, ms: float) -> Self:
        """One time."""
        place = (
            FIRST_BIN
            if ms <= 0
            else round(PER_DOUBLING * math.log2(ms))
            if math.isfinite(ms)
            else LAST_BIN
        )
        return cls(((min(max(place, FIRST_BIN), LAST_BIN), 1),))

    def __add__(self, other: "Latencies") -> "Latencies":
        counts = Counter(dict(self.counts))
        counts.update(dict(other.counts))
        return Latencies(tuple(sorted(counts.items())))

    def __sub__(self, other: "Latencies") -> "Latencies":
        return Latencies(
            tuple(sorted((Counter(dict(self.counts)) - Counter(dict(other.counts))).items()))
        )

    def quantile(self, share: float) -> float | None:
        """Milliseconds that this share (0 to 1) of the times does not exceed; None without any."""
        wanted = share * sum(count for _, count in self.counts)
        for place, count in self.counts:
            wanted -= count
            if wanted <= 0:
                return float(2 ** (place / PER_DOUBLING))
        return None


@dataclass(frozen=True, slots=True)
class Tally:
    """What a number of turns came to. Sums of tallies are tallies.

    Only turns count that asked the memory and got a reply of which something was heard. Of a layer,
    those in which it was asked, and the items that it found; an item that several layers found
    counts for each.

    Attributes:
        turns: Turns.
        given: Items given.
        used: Items that the reply used.
        tokens: Tokens given: the whole block's, or those of the layer's items.
        wasted: Tokens of items that the reply did not use.
        helped: Turns in which the reply used an item.
        empty: Turns in which nothing, or nothing certain, was known of what was asked; of a layer,
            those in which it found nothing.
        late: Turns in which something was not ready in time, or failed.
        latencies: How long it took.
    """

    turns: Count = 0
    given: Count = 0
    used: Count = 0
    tokens: Count = 0
    wasted: Count = 0
    helped: Count = 0
    empty: Count = 0
    late: Count = 0
    latencies: Latencies = Latencies()

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.turns + other.turns,
            self.given + other.given,
            self.used + other.used,
            self.tokens + other.tokens,
            self.wasted + other.wasted,
            self.helped + other.helped,
            self.empty + other.empty,
            self.late + other.late,
            self.latencies + other.latencies,
        )

    def __sub__(self, other: "Tally") -> "Tally":
        return Tally(
            max(self.turns - other.turns, 0),
            max(self.given - other.given, 0),
            max(self.used - other.used, 0),
            max(self.tokens - other.tokens, 0),
            max(self.wasted - other.wasted, 0),
            max(self.helped - other.helped, 0),
            max(self.empty - other.empty, 0),
            max(self.late - other.late, 0),
            self.latencies - other.latencies,
        )

    @property
    def precision(self) -> float | None:
        """Items used of items given, 0 to 1; None where nothing was given."""
        return self.used / self.given if self.given else None

    @property
    def waste(self) -> float | None:
        """Tokens wasted of tokens given, 0 to 1; None where none were."""
        return self.wasted / self.tokens if self.tokens else None

    @property
    def coverage(self) -> float | None:
        """Share of the turns, 0 to 1, in which the reply used something; None without turns."""
        return self.helped / self.turns if self.turns else None

    @property
    def nothing_known(self) -> float | None:
        """Share of the turns, 0 to 1, in which nothing, or nothing certain, was known.

        None without turns.
        """
        return self.empty / self.turns if self.turns else None

    @property
    def p50_ms(self) -> float | None:
        """The median latency; None where none is recorded."""
        return self.latencies.quantile(0.5)

    @property
    def p95_ms(self) -> float | None:
        """The 95th percentile of the latency; None where none is recorded."""
        return self.latencies.quantile(0.95)


@dataclass(frozen=True, slots=True)
class QualityRecord:
    """One cell of the record.

    Attributes:
        day: When it was asked, in UTC.
        intent: What was asked for; None where the question was not read in time.
        layer: Which layer's part it is; None is the whole block.
        tally: What it came to.
    """

    day: date
    intent: Intent | None
    layer: Layer | None
    tally: Tally


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality record of a user, day by day, and its sums.

    Everywhere the layer None is the whole block.

    Attributes:
        records: Its cells, by day, intent and layer.
    """

    records: tuple[QualityRecord, ...] = ()

    def total(self, layer: Layer | None = None) -> Tally:
        """Everything."""
        return sum((one.tally for one in self.records if one.layer is layer), Tally())

    def by_day(self, layer: Layer | None = None) -> dict[date, Tally]:
        """Each day that has any turn, the earliest first."""
        return _summed((one for one in self.records if one.layer is layer), lambda one: one.day)

    def by_intent(self, layer: Layer | None = None) -> dict[Intent | None, Tally]:
        """Each intent that was met."""
        return _summed((one for one in self.records if one.layer is layer), lambda one: one.intent)

    def by_layer(self) -> dict[Layer, Tally]:
        """Each layer, in the layers' order."""
        return {layer: self.total(layer) for layer in Layer}


def _summed(
    records: Iterable[QualityRecord], key: Callable[[QualityRecord], Key]
) -> dict[Key, Tally]:
    sums: dict[Key, Tally] = {}
    for one in records:
        sums[key(one)] = sums.get(key(one), Tally()) + one.tally
    return sums
