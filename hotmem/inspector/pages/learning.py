"""What was learnt: how often replies used what memory gave, over time, and how much each way of searching weighs since."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from hotmem.inspector.plots import bars, lines
from hotmem.inspector.site import Site, found
from hotmem.inspector.writing import share
from hotmem.storage import queries
from hotmem.storage.inspection import Inspection
from hotmem.types import MAX_WEIGHT, MIN_WEIGHT, START_WEIGHTS, Layer, Tally, WeightSnapshot
from hotmem.types.inspection import StoredWeight

DAY, MONTH, YEAR = 10, 7, 4
"""Letters of an ISO date that name a period."""

SPANS: Final = {"month": (DAY, 31), "year": (MONTH, 366), "all": (MONTH, None)}
"""How far back a plot goes: its periods, and days before the last recorded reply."""

MOST_PERIODS: Final = 60
"""Periods in a plot; of more each point is a year."""

MOST_STEPS: Final = 2_000
"""Steps of learning looked back at."""

MOST_POINTS: Final = 100
"""Of which a plot shows so many."""

SURELY: Final = 1.96
"""Standard errors within which 95 of 100 differences by chance alone lie."""

SAME: Final = "The difference is no more than chance makes."
ROSE: Final = "That is better, by more than chance makes."
FELL: Final = "That is worse, by more than chance makes: look under Replies at what was given and not used, or the bot was asked about other things."

DRIFT: Final = timedelta(days=1)
"""How far ahead of the clock a record may be before the page says that a clock was wrong."""


@dataclass(frozen=True, slots=True)
class Period:
    """What replies made of memory in a day, month or year.

    Its ISO date, all of it, and each layer's part.
    """

    name: str
    all: Tally
    layers: Mapping[Layer, Tally]


@dataclass(frozen=True, slots=True)
class LayerWeight:
    """A layer's weight, as it began and is, with what is wrong with it, if anything.

    The start weight stands for one that cannot be used.
    """

    layer: Layer
    start: float
    weight: float
    updated_at: datetime | None
    fault: str = ""


async def show(site: Site, request: Request) -> Response:
    """The page."""
    rows, span = await site.rows(), _span(request)
    periods = await _periods(rows, span)
    weights, strange = usable(await rows.weights())
    latest = (await rows.recalls(None, 1)).rows
    ahead = (
        latest[0].asked_at if latest and latest[0].asked_at > datetime.now(UTC) + DRIFT else None
    )
    moved = (
        len(
            await site.memory.runtime.storage.database.read(
                queries.layer_weights.over_time, rows.user, 2
            )
        )
        > 1
    )
    learns = site.memory.options.learning.moves_weights
    return site.show(
        "learning.html",
        periods=periods,
        trend=trend(periods) if periods else "",
        weights=weights,
        strange=strange,
        span=span,
        ahead=ahead,
        learns=learns,
        moved=moved,
        least=MIN_WEIGHT,
        most=MAX_WEIGHT,
    )


async def plot(site: Site, request: Request) -> Response:
    """A picture of it."""
    rows, name, dark = (
        await site.rows(),
        request.path_params["name"],
        request.query_params.get("theme") == "dark",
    )
    if name == "weights":
        weights, _ = usable(await rows.weights())
        values = {one.layer.value: (one.start, one.weight) for one in weights}
        return await _drawn(site, lambda: bars(values, "how much it weighs", MAX_WEIGHT, dark=dark))
    if name == "history":
        steps = thinned(
            (
                await site.memory.runtime.storage.database.read(
                    queries.layer_weights.over_time, rows.user, MOST_STEPS
                )
            )[::-1]
        )
        counted = {layer.value: [step.weights[layer] for step in steps] for layer in Layer}
        numbers = [f"{step.version:,}" for step in steps]
        return await _drawn(
            site,
            lambda: lines(
                numbers,
                counted,
                "how much it weighs",
                dark=dark,
                across="replies learnt from",
                shares=False,
            ),
        )
    periods = await _periods(rows, _span(request))
    series = {
        "helped": {"all": [one.all.coverage for one in periods]},
        "layers": {
            layer.value: [one.layers[layer].precision for one in periods] for layer in Layer
        },
    }
    shares = found(series.get(name))
    up = "replies it helped" if name == "helped" else "share that was used"
    return await _drawn(site, lambda: lines([one.name for one in periods], shares, up, dark=dark))


async def _drawn(site: Site, draw: Callable[[], bytes]) -> Response:
    async def drawing() -> bytes:
        return draw()

    return Response(await site.lane.run(drawing()), media_type="image/svg+xml")


def trend(periods: Sequence[Period]) -> str:
    """How often memory helped in the last period, and whether that is another share than before by more than chance, in a sentence.

    Chance is left aside from two standard errors of a difference of shares on (1.96, 95 %).
    """
    last = periods[-1].all
    earlier = sum((one.all for one in periods[:-1]), Tally())
    now, before = last.coverage or 0.0, earlier.coverage or 0.0
    sentence = f"In {periods[-1].name} memory helped with {share(now)} of {last.turns:,} replies"
    if not earlier.turns or not last.turns:
        return f"{sentence}. There is nothing earlier to compare it with."
    both = (now * last.turns + before * earlier.turns) / (last.turns + earlier.turns)
    error = math.sqrt(both * (1 - both) * (1 / last.turns + 1 / earlier.turns))
    change = SAME if abs(now - before) <= SURELY * error else ROSE if now > before else FELL
    return f"{sentence}, before that with {share(before)} of {earlier.turns:,}. {change}"


async def latest_month(rows: Inspection) -> Tally:
    """What replies made of memory in the 31 days up to the last recorded one."""
    return sum((one.all for one in await _periods(rows, "month")), Tally())


def thinned(steps: Sequence[WeightSnapshot]) -> Sequence[WeightSnapshot]:
    """So many of the steps as a plot can show, evenly, the last among them."""
    every = -(-len(steps) // MOST_POINTS) or 1
    return steps[::-1][::every][::-1]


def usable(stored: Sequence[StoredWeight]) -> tuple[list[LayerWeight], list[str]]:
    """Each layer's weight as recall can use it, and rows of the file that are no layer's."""
    held = {one.layer: one for one in stored}
    weights = []
    for layer in Layer:
        start, one = START_WEIGHTS[layer], held.pop(layer.value, None)
        if one is None:
            weights.append(LayerWeight(layer, start, start, None))
        elif (
            isinstance(one.weight, float | int)
            and math.isfinite(one.weight)
            and MIN_WEIGHT <= one.weight <= MAX_WEIGHT
        ):
            weights.append(LayerWeight(layer, start, float(one.weight), one.updated_at))
        else:
            weights.append(
                LayerWeight(
                    layer,
                    start,
                    start,
                    one.updated_at,
                    f"the file holds {str(one.weight)[:40]!r}, not {MIN_WEIGHT} to {MAX_WEIGHT}",
                )
            )
    return weights, sorted(held)


async def _periods(rows: Inspection, span: str) -> list[Period]:
    """What replies made of memory, in few enough periods to be told apart.

    Periods without a reply are left out, and clocks that jumped with them.
    """
    letters, days = SPANS[span]
    latest = (await rows.recalls(None, 1)).rows
    if not latest:
        return []
    last = latest[0].asked_at.date()
    first = None if days is None or last.toordinal() <= days else last - timedelta(days=days)
    sums = await rows.quality(letters, first)
    if len(sums) > MOST_PERIODS:
        sums = await rows.quality(YEAR, first)
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
