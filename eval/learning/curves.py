"""Learning curves of all replays, compared with the shipped and the best fixed weights."""

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from eval.learning.replay import PLANS, SHIPPED_ONES, Plan, Point, Replay, Replayed
from eval.output import cell, interval, points, print_table
from eval.retrieval import RetrievedQuestion
from eval.run import spread
from eval.statistics import Estimate, paired_difference
from hotmem.feedback.learning import multipliers
from hotmem.models import load_encoder
from hotmem.options import ModelOptions
from hotmem.types import START_WEIGHTS, Weights

BEST: Final = "best by search"
"""Name of the best fixed weights."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One replay, compared over the same questions.

    Attributes:
        dataset: The dataset.
        plan: The plan of the replay.
        points: Evidence over turns.
        risen: Evidence at the end less that at the start.
        gain: Evidence at the end less that with the shipped weights.
        over_best: The same against the best fixed weights.
    """

    dataset: str
    plan: Plan
    points: tuple[Point, ...]
    risen: Estimate
    gain: Estimate
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
) -> Outcome:
    """Replay every dataset from every starting point, and search for the best fixed weights.

    Args:
        asked: Candidates by dataset.
        turns: Maximum turns to learn from.
        questions: Maximum questions to test on.
        jobs: Number of processes.
        folder: Folder through which the processes receive the candidates.
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
            f"{name}, replayed",
        )
        ends = dict(zip(PLANS, replayed, strict=True))
        shipped = next(one for plan, one in ends.items() if plan.beginning == SHIPPED_ONES)
        evidence = {SHIPPED_ONES: shipped.begun, BEST: best.ended}
        for title, given in ((SHIPPED_ONES, START_WEIGHTS), (BEST, best.points[0].weights)):
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


def show(outcome: Outcome) -> None:
    """Print the results of fixed weights, and end and lowest point of each curve."""
    print_table(
        "weights that do not learn, on conversations not learnt from",
        ("weights", "times the shipped ones", "evidence", "points less shipped"),
        [
            (f"{one.dataset}, {one.name}", _times(one.weights), one.delivered, interval(one.gain))
            for one in outcome.fixed
        ],
    )
    replays = {f"{one.dataset}, {_name(one)}": one for one in outcome.curves}
    print_table(
        "points of evidence at the end, on conversations not learnt from",
        (
            "replay: dataset, beginning, wrong replies",
            *("less the beginning's", "less shipped", "less best fixed", "lowest"),
        ),
        [
            (name, *map(interval, (one.risen, one.gain, one.over_best)), points(one.lowest))
            for name, one in replays.items()
        ],
    )
    print_table(
        "evidence on the way, and the weights at the end",
        ("replay", "turns: evidence", "times the shipped ones"),
        [
            (
                name,
                "  ".join(f"{point.turns}: {cell(point.delivered)}" for point in one.points),
                _times(one.points[-1].weights),
            )
            for name, one in replays.items()
        ],
    )


def figures(outcome: Outcome) -> dict[str, Any]:
    """Return the results as plain values."""
    return {
        "curves": [asdict(curve) | {"lowest": curve.lowest} for curve in outcome.curves],
        "fixed": [asdict(one) for one in outcome.fixed],
    }


def _name(curve: Curve) -> str:
    return f"{curve.plan.beginning}, {100 * curve.plan.noise:.0f} %"


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
