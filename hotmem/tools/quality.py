"""How good the blocks were that a bot was given, as a tool tells it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Final, Self

from pydantic import Field

from hotmem.memory import Memory
from hotmem.operations.requests import CLOSED
from hotmem.types import Layer, Tally

UNREAD: Final = "not read in time"
"""What stands for the intent of questions that were not read in time."""


@dataclass(frozen=True, slots=True)
class LatestDays:
    """How many days, today among them."""

    __pydantic_config__ = CLOSED

    days: Annotated[int, Field(ge=1, le=36_500)] = 30


@dataclass(frozen=True, slots=True)
class QualityFigures:
    """What a number of turns came to; see `hotmem.types.Tally`.

    Shares are 0 to 1, None where there is nothing to take a share of.

    Attributes:
        turns: Turns that asked the memory and got a reply.
        given: Items given.
        used: Items that the reply used.
        precision: Items used of items given.
        tokens: Tokens given.
        wasted: Tokens of items that the reply did not use.
        coverage: Share of the turns in which the reply used something.
        nothing_known: Share of the turns in which nothing, or nothing certain, was known of what
            was asked.
        late: Turns in which something was not ready in time, or failed.
        p50_ms: Median latency.
        p95_ms: 95th percentile of the latency.
    """

    turns: int
    given: int
    used: int
    precision: float | None
    tokens: int
    wasted: int
    coverage: float | None
    nothing_known: float | None
    late: int
    p50_ms: float | None
    p95_ms: float | None

    @classmethod
    def of(cls, tally: Tally) -> Self:
        """The figures of a tally, rounded for reading."""
        shares = (
            None if share is None else round(share, 3)
            for share in (tally.precision, tally.coverage, tally.nothing_known)
        )
        precision, coverage, nothing_known = shares
        p50_ms, p95_ms = (
            None if ms is None else round(ms, 1) for ms in (tally.p50_ms, tally.p95_ms)
        )
        return cls(
            tally.turns,
            tally.given,
            tally.used,
            precision,
            tally.tokens,
            tally.wasted,
            coverage,
            nothing_known,
            tally.late,
            p50_ms,
            p95_ms,
        )


@dataclass(frozen=True, slots=True)
class QualityReport:
    """The quality record of the latest days.

    Attributes:
        since: The first day, in UTC.
        total: All of it.
        by_layer: What each layer found.
        by_intent: What was asked for.
        by_day: Each day that has any turn.
    """

    since: date
    total: QualityFigures
    by_layer: Mapping[Layer, QualityFigures]
    by_intent: Mapping[str, QualityFigures]
    by_day: Mapping[date, QualityFigures]


async def memory_quality(memory: Memory, user_id: str, asked: LatestDays) -> QualityReport:
    """What replies made of what was given in the latest days."""
    since = datetime.now(UTC).date() - timedelta(days=asked.days - 1)
    found = await memory.quality(user_id, since=since)
    return QualityReport(
        since,
        QualityFigures.of(found.total()),
        {layer: QualityFigures.of(tally) for layer, tally in found.by_layer().items()},
        {intent or UNREAD: QualityFigures.of(tally) for intent, tally in found.by_intent().items()},
        {day: QualityFigures.of(tally) for day, tally in found.by_day().items()},
    )
