"""Learning: how often replies used the memory over time, and the layer weights."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from hotmem.core.validation import counted
from hotmem.inspector.changes import Site
from hotmem.inspector.rendering import share
from hotmem.storage.inspection import Inspection, statements
from hotmem.types import MAX_WEIGHT, MIN_WEIGHT, START_WEIGHTS, Layer, Tally, WeightSnapshot
from hotmem.types.inspection import StoredWeight

DAY, MONTH, YEAR = 10, 7, 4
"""Characters of an ISO date that identify a period."""

SPANS: Final = {"month": (DAY, 31), "year": (MONTH, 366), "all": (MONTH, None)}
"""Time ranges of a plot: its periods, and days before the last recorded reply."""

MAX_PERIODS: Final = 60
"""Periods of a plot above which it is drawn by year."""

MAX_STEPS: Final = 2_000
"""Maximum learning steps read."""

MAX_POINTS: Final = 100
"""Maximum points of a plot."""

MAX_LABELS: Final = 8
"""Maximum labels below a plot."""

WIDTH: Final = 900
HEIGHT: Final = 220
"""Size of a line chart without its labels, in units of its drawing."""

Z_95: Final = 1.96
"""Standard errors of a two-sided 95 % confidence interval."""

UNCHANGED: Final = "The difference is not statistically significant."
IMPROVED: Final = "That is significantly better."
WORSENED: Final = (
    "That is significantly worse: check unused items under Replies; or the bot was asked about "
    "other things."
)

DRIFT: Final = timedelta(days=1)
"""How far in the future a record may be without a warning about the clock."""


@dataclass(frozen=True, slots=True)
class Period:
    """Use of the memory in a day, month or year: ISO date, tally in total and by layer."""

    name: str
    all: Tally
    layers: Mapping[Layer, Tally]


@dataclass(frozen=True, slots=True)
class LayerWeight:
    """Initial and current weight of a layer.

    `fault` describes an invalid stored weight; the initial weight is then used.
    """

    layer: Layer
    start: float
    weight: float
    updated_at: datetime | None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class LineChart:
    """A line chart; places are in units of its drawing, from the upper left corner.

    Attributes:
        lines: Points (x, y) of each series.
        labels: Labels below it, each with its x.
        top: Value at the upper edge; the lower edge is 0.
    """

    lines: Mapping[str, Sequence[tuple[int, int]]]
    labels: Sequence[tuple[int, str]]
    top: float


async def page(site: Site, rows: Inspection, request: Request) -> Response:
    """Show the page."""
    span = _span(request)
    periods = await _periods(rows, span)
    weights, unknown = valid_weights(await rows.read(statements.weights))
    latest = (await rows.read(statements.recalls, None, 1)).rows
    ahead = (
        latest[0].asked_at if latest and latest[0].asked_at > datetime.now(UTC) + DRIFT else None
    )
    latest_first = await site.memory.learning.history(site.user_id, MAX_STEPS)
    steps = sample_steps(latest_first[::-1])
    names = [one.name for one in periods]
    learns = site.memory.runtime.options.learning.moves_weights
    return site.show(
        "learning.html",
        periods=periods,
        trend=trend(periods) if periods else "",
        weights=weights,
        unknown=unknown,
        span=span,
        ahead=ahead,
        learns=learns,
        helped=line_chart(names, {"all": [one.all.coverage for one in periods]}),
        layers=line_chart(
            names,
            {layer: [one.layers[layer].precision for one in periods] for layer in Layer},
        ),
        history=line_chart(
            [f"{step.version:,}" for step in steps],
            {layer: [step.weights[layer] for step in steps] for layer in Layer},
        ),
        least=MIN_WEIGHT,
        most=MAX_WEIGHT,
    )


def line_chart(labels: Sequence[str], series: Mapping[str, Sequence[float | None]]) -> LineChart:
    """Lay out a line chart; points are equally spaced, so that a clock that jumped is no gap.

    Args:
        labels: Labels of the points, earliest first.
        series: Values of each series, one for each label; None for no value.
    """
    top = max((value for values in series.values() for value in values if value), default=1.0)
    places = [round(WIDTH * place / max(len(labels) - 1, 1)) for place in range(len(labels))]
    lines = {
        name: [
            (place, round(HEIGHT * (1 - value / top)))
            for place, value in zip(places, values, strict=True)
            if value is not None
        ]
        for name, values in series.items()
    }
    every = -(-len(labels) // MAX_LABELS) or 1
    return LineChart(lines, list(zip(places, labels, strict=True))[::every], top)


def trend(periods: Sequence[Period]) -> str:
    """Describe the share of helped replies in the last period compared with earlier ones.

    The difference is tested with a two-proportion z-test at the 5 % level.
    """
    last = periods[-1].all
    earlier = sum((one.all for one in periods[:-1]), Tally())
    now, before = last.coverage or 0.0, earlier.coverage or 0.0
    replies = counted(last.turns, "reply", "replies")
    sentence = f"In {periods[-1].name}, memory helped with {share(now)} of {replies}"
    if not earlier.turns or not last.turns:
        return f"{sentence}. There is no earlier period to compare with."
    both = (now * last.turns + before * earlier.turns) / (last.turns + earlier.turns)
    error = math.sqrt(both * (1 - both) * (1 / last.turns + 1 / earlier.turns))
    change = (
        UNCHANGED if abs(now - before) <= Z_95 * error else IMPROVED if now > before else WORSENED
    )
    return f"{sentence}; before, with {share(before)} of {earlier.turns:,}. {change}"


async def latest_month(rows: Inspection) -> Tally:
    """Return the tally of the 31 days before the last recorded reply."""
    return sum((one.all for one in await _periods(rows, "month")), Tally())


def sample_steps(steps: Sequence[WeightSnapshot]) -> Sequence[WeightSnapshot]:
    """Sample steps evenly for a plot, including the last."""
    every = -(-len(steps) // MAX_POINTS) or 1
    return steps[::-1][::every][::-1]


def valid_weights(stored: Sequence[StoredWeight]) -> tuple[list[LayerWeight], list[str]]:
    """Return the valid weight of each layer, and the names of unknown layers in the file."""
    held = {one.layer: one for one in stored}
    weights = []
    for layer in Layer:
        start, one = START_WEIGHTS[layer], held.pop(layer.value, None)
        value = start if one is None else one.weight
        if isinstance(value, float | int) and MIN_WEIGHT <= value <= MAX_WEIGHT:
            weight, fault = float(value), ""
        else:
            weight = start
            fault = f"the file has {str(value)[:40]!r}, not {MIN_WEIGHT} to {MAX_WEIGHT}"
        updated_at = None if one is None else one.updated_at
        weights.append(LayerWeight(layer, start, weight, updated_at, fault))
    return weights, sorted(held)


async def _periods(rows: Inspection, span: str) -> list[Period]:
    """Return the tallies by period, in at most `MAX_PERIODS` periods.

    Periods without replies are left out, so that a clock that jumped does not stretch the plot.
    """
    letters, days = SPANS[span]
    latest = (await rows.read(statements.recalls, None, 1)).rows
    if not latest:
        return []
    last = latest[0].asked_at.date()
    first = None if days is None or last.toordinal() <= days else last - timedelta(days=days)
    sums = await rows.read(statements.quality, letters, first)
    if len(sums) > MAX_PERIODS:
        sums = await rows.read(statements.quality, YEAR, first)
    return [
        Period(
            name,
            tallies.get(None, Tally()),
            {layer: tallies.get(layer, Tally()) for layer in Layer},
        )
        for name, tallies in sums.items()
    ]


def _span(request: Request) -> str:
    asked = request.query_params.get("span", "year")
    return asked if asked in SPANS else "year"
