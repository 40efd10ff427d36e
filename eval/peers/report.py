"""Results of the peers as a table and as one JSON object."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.output import points, print_table
from eval.peers.measures import BUDGETS, Asked, Measured
from eval.rows import mean
from eval.statistics import Estimate, scored_difference


@dataclass(frozen=True, slots=True)
class Figures:
    """Summary of one system. None if nothing was scored.

    Attributes:
        system: "HotMem" or the peer.
        scored: Questions with evidence.
        delivered: Mean share of evidence in the block of each budget.
        any_5: Share of questions with evidence among the first five turns.
        p50_ms: Median milliseconds of a search.
        p95_ms: 95th percentile of them.
        ingest_ms: Milliseconds a turn until it can be searched.
        behind: HotMem's evidence less this system's at the larger budget, over the questions scored
            for both; None for HotMem.
        note: Its version, what differs from its defaults, and what is off.
    """

    system: str
    scored: int
    delivered: dict[int, float | None]
    any_5: float | None
    p50_ms: float
    p95_ms: float
    ingest_ms: float
    behind: Estimate | None
    note: str


def summed_up(measured: Sequence[Measured]) -> list[Figures]:
    """Summarize each system; the others are compared with the first."""
    hotmem, *_ = measured
    return [_figures(one, None if one is hotmem else hotmem.asked) for one in measured]


def show(figures: Sequence[Figures], title: str) -> None:
    """Print the table, and each system's deviations from its defaults."""
    print_table(
        title,
        (
            "system",
            *(f"at {budget}" for budget in BUDGETS),
            "any@5",
            "p50 ms",
            "p95 ms",
            "ms a turn",
        ),
        [
            (one.system, *one.delivered.values(), one.any_5, one.p50_ms, one.p95_ms, one.ingest_ms)
            for one in figures
        ],
    )
    for one in figures:
        lead = (
            f" HotMem − it at {BUDGETS[0]} tokens: {points(one.behind.mean)} points of evidence "
            f"(95 % interval {points(one.behind.low)} to {points(one.behind.high)})."
            if one.behind
            else ""
        )
        print(f"{one.system}: {one.note}.{lead}")


def _figures(one: Measured, hotmem: Sequence[Asked] | None) -> Figures:
    times = [asked.ms for asked in one.asked]
    evidence = [asked.delivered[BUDGETS[0]] for asked in one.asked]
    return Figures(
        system=one.system,
        scored=sum(share is not None for share in evidence),
        delivered={
            budget: mean(asked.delivered[budget] for asked in one.asked) for budget in BUDGETS
        },
        any_5=mean(asked.any_5 for asked in one.asked),
        p50_ms=float(np.percentile(times, 50)),
        p95_ms=float(np.percentile(times, 95)),
        ingest_ms=one.ingest_ms / one.turns,
        behind=None
        if hotmem is None
        else scored_difference([asked.delivered[BUDGETS[0]] for asked in hotmem], evidence),
        note=one.note,
    )
