"""memory_quality: how useful the context blocks of the latest days were."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Final, Self

from pydantic import Field

from hotmem.memory import Memory
from hotmem.operations.requests import CLOSED
from hotmem.types import Layer, Tally

UNKNOWN_INTENT: Final = "not read in time"
"""Label of the intent of queries that were not analysed before the deadline."""


@dataclass(frozen=True, slots=True)
class QualityArguments:
    """Arguments of `memory_quality`: number of days, including today."""

    __pydantic_config__ = CLOSED

    days: Annotated[int, Field(ge=1, le=36_500)] = 30


@dataclass(frozen=True, slots=True)
class QualityFigures:
    """Quality figures of a number of turns; see `hotmem.types.Tally`.

    Shares are 0 to 1, or None if the denominator is zero.

    Attributes:
        turns: Turns with a recall and a reply.
        given: Items in context blocks.
        used: Items that replies used.
        precision: used / given.
        tokens: Tokens of context blocks.
        wasted: Tokens of items that replies did not use.
        coverage: Share of turns in which the reply used at least one item.
        nothing_known: Share of turns in which nothing, or nothing certain, was known.
        late: Turns in which a layer missed its deadline or failed.
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
        """Return the figures of a tally, rounded."""
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
    """Result of `memory_quality`.

    Attributes:
        since: First day, UTC.
        total: Figures of all turns.
        by_layer: Figures by layer.
        by_intent: Figures by intent of the query.
        by_day: Figures by day; days without turns are left out.
    """

    since: date
    total: QualityFigures
    by_layer: Mapping[Layer, QualityFigures]
    by_intent: Mapping[str, QualityFigures]
    by_day: Mapping[date, QualityFigures]


async def memory_quality(
    memory: Memory, user_id: str, arguments: QualityArguments
) -> QualityReport:
    """Return how much of the context blocks of the latest days the replies used."""
    since = datetime.now(UTC).date() - timedelta(days=arguments.days - 1)
    found = await memory.quality(user_id, since=since)
    return QualityReport(
        since,
        QualityFigures.of(found.total()),
        {layer: QualityFigures.of(tally) for layer, tally in found.by_layer().items()},
        {
            intent or UNKNOWN_INTENT: QualityFigures.of(tally)
            for intent, tally in found.by_intent().items()
        },
        {day: QualityFigures.of(tally) for day, tally in found.by_day().items()},
    )
