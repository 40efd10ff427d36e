"""The quality record: use of the items by replies, summed by day, intent and layer.

It holds counts only, no text.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Annotated, Final, Self, TypeVar

from pydantic import Field

from hotmem.types.vocabulary import EvidenceKind, Intent, Layer

Key = TypeVar("Key", bound=Hashable)

PER_DOUBLING: Final = 4
"""Histogram bins per doubling of the latency; the error of a bin is at most 9 %."""

FIRST_BIN: Final = -8
LAST_BIN: Final = 64
"""The bins of 0.25 ms and of 65 s; shorter and longer times are clamped to them."""

Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class Latencies:
    """A histogram of times: pairs of bin and count, shortest first. Bin b means 2^(b / 4) ms."""

    counts: tuple[tuple[Annotated[int, Field(ge=FIRST_BIN, le=LAST_BIN)], Count], ...] = ()

    @classmethod
    def of(cls, ms: float) -> Self:
        """The histogram of one time."""
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
        """The quantile (0 to 1) of the times in milliseconds; None if there are none."""
        wanted = share * sum(count for _, count in self.counts)
        for place, count in self.counts:
            wanted -= count
            if wanted <= 0:
                return float(2 ** (place / PER_DOUBLING))
        return None


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums over turns, of the whole block or of one layer. Tallies can be added and subtracted.

    A turn counts if the memory was queried and some of the reply was heard; for a layer, if the
    layer was queried. An item that several layers found counts for each.

    Attributes:
        turns: Turns.
        given: Items given.
        used: Items that the reply used.
        tokens: Tokens given: the whole block's, or those of the layer's items.
        wasted: Tokens of items that the reply did not use.
        helped: Turns in which the reply used an item.
        empty: Turns in which nothing, or nothing certain, was known; of a layer, those in which it
            found nothing.
        late: Turns in which something missed the deadline or failed.
        latencies: Durations.
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
        names = (one.name for one in fields(self))
        return Tally(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def __sub__(self, other: "Tally") -> "Tally":
        names = [one.name for one in fields(self) if one.name != "latencies"]
        counts = {name: max(getattr(self, name) - getattr(other, name), 0) for name in names}
        return Tally(**counts, latencies=self.latencies - other.latencies)

    @property
    def precision(self) -> float | None:
        """Items used / items given, 0 to 1; None if none were given."""
        return self.used / self.given if self.given else None

    @property
    def coverage(self) -> float | None:
        """Share of turns, 0 to 1, in which the reply used an item; None without turns."""
        return self.helped / self.turns if self.turns else None

    @property
    def nothing_known(self) -> float | None:
        """Share of turns, 0 to 1, in which nothing certain was known; None without turns."""
        return self.empty / self.turns if self.turns else None

    @property
    def p50_ms(self) -> float | None:
        """Median latency; None if none is recorded."""
        return self.latencies.quantile(0.5)

    @property
    def p95_ms(self) -> float | None:
        """95th percentile of the latency; None if none is recorded."""
        return self.latencies.quantile(0.95)


@dataclass(frozen=True, slots=True)
class QualityRecord:
    """One cell of the quality record.

    Attributes:
        day: Day of the queries, UTC.
        intent: Their intent; None if the analysis missed the deadline.
        layer: The layer; None for the whole block.
        tally: The sums.
    """

    day: date
    intent: Intent | None
    layer: Layer | None
    tally: Tally


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality record of a user. The layer None means the whole block.

    Attributes:
        records: Its cells, by day, intent and layer.
    """

    records: tuple[QualityRecord, ...] = ()

    def total(self, layer: Layer | None = None) -> Tally:
        """The sum over all days and intents."""
        return sum((one.tally for one in self.records if one.layer is layer), Tally())

    def by_day(self, layer: Layer | None = None) -> dict[date, Tally]:
        """The sums of each day with a turn, earliest first."""
        return _summed((one for one in self.records if one.layer is layer), lambda one: one.day)

    def by_intent(self, layer: Layer | None = None) -> dict[Intent | None, Tally]:
        """The sums of each intent that occurred."""
        return _summed((one for one in self.records if one.layer is layer), lambda one: one.intent)

    def by_layer(self) -> dict[Layer, Tally]:
        """The sums of each layer, in the order of `Layer`."""
        return {layer: self.total(layer) for layer in Layer}


def _summed(
    records: Iterable[QualityRecord], key: Callable[[QualityRecord], Key]
) -> dict[Key, Tally]:
    sums: dict[Key, Tally] = {}
    for one in records:
        sums[key(one)] = sums.get(key(one), Tally()) + one.tally
    return sums


@dataclass(frozen=True, slots=True)
class Label:
    """A name or a topic: its lookup key, its spelling, and whether it is a name."""

    key: str
    name: str
    named: bool


@dataclass(frozen=True, slots=True)
class LabelMentions:
    """A label, and the row numbers of the turns and memories that mention it."""

    label: Label
    turns: frozenset[int]
    memories: frozenset[int]

    @property
    def count(self) -> int:
        """Number of turns and memories."""
        return len(self.turns) + len(self.memories)


@dataclass(frozen=True, slots=True)
class AnsweredRecall:
    """A recall that a reply followed.

    Attributes:
        at: When the query was asked, UTC.
        session_id: The session, or None.
        query: The query.
        given: Number of items in the context block.
        used: Number of those that the reply used.
    """

    at: datetime
    session_id: str | None
    query: str
    given: int
    used: int


@dataclass(frozen=True, slots=True)
class UseCount:
    """Number of items given to the language model, and of those that replies used."""

    given: int
    used: int


@dataclass(frozen=True, slots=True)
class UsedMemory:
    """A memory, and how often searches and replies used it.

    Attributes:
        id: The memory's id.
        content: Its text.
        accesses: Number of uses.
        last_accessed: When it was last used, UTC.
    """

    id: str
    content: str
    accesses: int
    last_accessed: datetime | None


@dataclass(frozen=True, slots=True)
class LocatedRow:
    """A row that holds what a search was expected to find.

    Attributes:
        kind: The kind of evidence.
        key: Its row number.
        id: Id of the memory or turn.
        content: Its text.
        embedded: Whether it has an embedding yet.
        merged_into: Id of the memory that it was merged into.
    """

    kind: EvidenceKind
    key: int
    id: str
    content: str
    embedded: bool
    merged_into: str | None = None
