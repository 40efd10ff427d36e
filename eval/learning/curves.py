"""Learning curves of all replays, compared with the shipped and the best fixed weights."""

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from rich.console import Console

from eval.learning.replay import (
    BEGINNINGS,
    BY_DESIGN,
    OURS,
    PLANS,
    SHIPPED_ONES,
    Plan,
    Point,
    Replay,
    Replayed,
)
from eval.plots import Line, curves
from eval.report import interval, points, share, table
from eval.retrieval import RetrievedQuestion, spread
from eval.statistics import Estimate, paired_difference
from hotmem.feedback.learning import multipliers
from hotmem.models import load_encoder
from hotmem.options import ModelOptions
from hotmem.types import START_WEIGHTS, Weights

BEST: Final = "best by search"
"""Name of the best fixed weights."""

LINES: Final[Mapping[tuple[str, float], Line]] = {
    (OURS, 0.0): Line("#0072b2", "o", "-"),
    (OURS, 0.1): Line("#009e73", "s", "--"),
    (OURS, 0.3): Line("#d55e00", "^", "-."),
    (BY_DESIGN, 0.0): Line("#cc79a7", "D", ":"),
}
"""Style of each rule and share of wrong replies: colours of Okabe and Ito, with distinct markers
and dashes."""

BEGUN: Final = {
    SHIPPED_ONES: "the shipped weights",
    BY_DESIGN: "the design's weights",
    "even": "even weights",
    "inverted": "inverted weights",
}
"""Titles of the starting points."""

LEVELS: Final = {
    SHIPPED_ONES: "shipped weights, not learning",
    BEST: "best fixed weights found by search",
}
"""Names of fixed weights in a plot."""

MARGIN: Final = 1.0
"""Margin of a plot above and below, in percentage points."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One replay, compared over the same questions.

    Attributes:
        dataset: The dataset.
        plan: The plan of the replay.
        points: Evidence over turns.
        risen: Evidence at the end less that at the start.
        gain: Evidence at the end less that with the shipped weights.
        over_design: The same against the starting weights of the original design.
        over_best: The same against the best fixed weights.
    """

    dataset: str
    plan: Plan
    points: tuple[Point, ...]
    risen: Estimate
    gain: Estimate
    over_design: Estimate
    over_best: Estimate

    @property
    def lowest(self) -> float:
        """The lowest point less the first, at most 0."""
        return min(point.delivered for point in self.points) - self.points[0].delivered


@dataclass(frozen=True, slots=True)
class Fixed:
    """Fixed weights on the held-out conversations.

    Attributes:
        dataset: The dataset.
        name: Name of the weights.
        weights: The weights.
        delivered: Evidence delivered.
        gain: Difference from the shipped weights.
    """

    dataset: str
    name: str
    weights: Weights
    delivered: float
    gain: Estimate


@dataclass(frozen=True, slots=True)
class Outcome:
    """All curves, and the results of fixed weights."""

    curves: tuple[Curve, ...]
    fixed: tuple[Fixed, ...]


def measure(
    asked: Mapping[str, Sequence[RetrievedQuestion]],
    turns: int,
    questions: int,
    jobs: int,
    folder: Path,
    console: Console,
) -> Outcome:
    """Replay every dataset from every starting point, and search for the best fixed weights.

    Args:
        asked: Candidates by dataset.
        turns: Maximum turns to learn from.
        questions: Maximum questions to test on.
        jobs: Number of processes.
        folder: Folder through which the processes receive the candidates.
        console: Console for the progress bar.
    """
    found: list[Curve] = []
    fixed: list[Fixed] = []
    for name, part in asked.items():
        file = folder / f"{name}.pickle"
        file.write_bytes(pickle.dumps(part, pickle.HIGHEST_PROTOCOL))
        best, *replayed = spread(
            partial(_replayed, file, turns, questions),
            (None, *PLANS),
            jobs,
            console,
            f"{name}, replayed",
        )
        ends = dict(zip(PLANS, replayed, strict=True))
        start = {plan.beginning: one for plan, one in ends.items()}
        evidence = {
            SHIPPED_ONES: start[SHIPPED_ONES].begun,
            BY_DESIGN: start[BY_DESIGN].begun,
            BEST: best.ended,
        }
        for title, given in (
            (SHIPPED_ONES, START_WEIGHTS),
            (BY_DESIGN, BEGINNINGS[BY_DESIGN]),
            (BEST, best.points[0].weights),
        ):
            fixed.append(
                Fixed(
                    name,
                    title,
                    given,
                    fmean(evidence[title]),
                    paired_difference(evidence[title], evidence[SHIPPED_ONES]),
                )
            )
        for plan, one in ends.items():
            gains = (paired_difference(one.ended, beside) for beside in evidence.values())
            found.append(
                Curve(name, plan, one.points, paired_difference(one.ended, one.begun), *gains)
            )
    return Outcome(tuple(found), tuple(fixed))


def show(outcome: Outcome, console: Console) -> None:
    """Print the results of fixed weights, and end and lowest point of each curve."""
    standing = table(
        "weights that do not learn, on conversations not learnt from",
        "weights",
        ("times the shipped ones", "evidence", "points less shipped"),
    )
    for one in outcome.fixed:
        standing.add_row(
            f"{one.dataset}, {one.name}",
            _times(one.weights),
            share(one.delivered),
            interval(one.gain),
        )
    console.print(standing)
    ended = table(
        "points of evidence at the end, on conversations not learnt from",
        "replay: dataset, rule, beginning, wrong replies",
        ("less the beginning's", "less shipped", "less the design's", "less best fixed", "lowest"),
    )
    for curve in outcome.curves:
        gains = (curve.risen, curve.gain, curve.over_design, curve.over_best)
        ended.add_row(
            f"{curve.dataset}, {_name(curve)}", *map(interval, gains), points(curve.lowest)
        )
    console.print(ended)
    way = table(
        "evidence on the way, and the weights at the end",
        "replay",
        ("turns: evidence", "times the shipped ones"),
    )
    for curve in outcome.curves:
        seen = "  ".join(f"{point.turns}: {share(point.delivered)}" for point in curve.points)
        way.add_row(f"{curve.dataset}, {_name(curve)}", seen, _times(curve.points[-1].weights))
    console.print(way)


def plot(outcome: Outcome, folder: Path) -> list[Path]:
    """Plot the curves as PNG, one file per dataset and starting point, with one scale per dataset.

    Returns:
        The files.
    """
    files = []
    for dataset in dict.fromkeys(curve.dataset for curve in outcome.curves):
        own = [curve for curve in outcome.curves if curve.dataset == dataset]
        levels = {
            LEVELS[one.name]: 100 * one.delivered
            for one in outcome.fixed
            if one.dataset == dataset and one.name in LEVELS
        }
        reached = [
            *levels.values(),
            *(100 * point.delivered for curve in own for point in curve.points),
        ]
        for beginning in BEGINNINGS:
            lines = {
                _title(curve.plan): (
                    LINES[curve.plan.rule, curve.plan.noise],
                    [(point.turns, 100 * point.delivered) for point in curve.points],
                )
                for curve in own
                if curve.plan.beginning == beginning
            }
            file = folder / f"learning-{dataset}-{beginning.replace(' ', '-')}.png"
            curves(
                file,
                f"{dataset}: learning from {BEGUN[beginning]}",
                "turns of other conversations learnt from",
                "evidence turns delivered (%)",
                lines,
                levels,
                (min(reached) - MARGIN, max(reached) + MARGIN),
            )
            files.append(file)
    return files


def figures(outcome: Outcome) -> dict[str, Any]:
    """Return the results as plain values."""
    return {
        "curves": [asdict(curve) | {"lowest": curve.lowest} for curve in outcome.curves],
        "fixed": [asdict(one) for one in outcome.fixed],
    }


def _title(plan: Plan) -> str:
    rule = "HotMem's rule" if plan.rule == OURS else "the design's rule"
    return (
        f"{rule}, {100 * plan.noise:.0f} % of replies wrong"
        if plan.noise
        else f"{rule}, no reply wrong"
    )


def _name(curve: Curve) -> str:
    return f"{curve.plan.rule}, {curve.plan.beginning}, {100 * curve.plan.noise:.0f} %"


def _times(given: Weights) -> str:
    return " ".join(f"{value:.2f}" for value in multipliers(given))


def _replayed(file: Path, turns: int, questions: int, plan: Plan | None) -> Replayed:
    """Run a replay, or search the best fixed weights; runs in a process."""
    replay = _replay(file, turns, questions)
    return replay.searched() if plan is None else replay.replayed(plan)


@cache
def _replay(file: Path, turns: int, questions: int) -> Replay:
    """Return the replay of a dataset, cached per process."""
    return Replay(pickle.loads(file.read_bytes()), load_encoder(ModelOptions()), turns, questions)
