"""Learning curves of all replays, compared with the shipped weights."""

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from eval.learning.replay import PLANS, SHIPPED_ONES, Plan, Point, Replay, Replayed
from eval.output import cell, interval, points, print_table
from eval.retrieval import RetrievedQuestion
from eval.run import spread
from eval.statistics import Estimate, paired_difference
from hotmem.feedback.learning import multipliers
from hotmem.models import load_encoder
from hotmem.options import ModelOptions
from hotmem.types import Weights


@dataclass(frozen=True, slots=True)
class Curve:
    """One replay, compared over the same questions.

    Attributes:
        dataset: The dataset.
        plan: The plan of the replay.
        points: Evidence over turns.
        risen: Evidence at the end less that at the start.
        gain: Evidence at the end less that with the shipped weights.
    """

    dataset: str
    plan: Plan
    points: tuple[Point, ...]
    risen: Estimate
    gain: Estimate

    @property
    def lowest(self) -> float:
        """The lowest point less the first, at most 0."""
        return min(point.delivered for point in self.points) - self.points[0].delivered


def measure(
    asked: Mapping[str, Sequence[RetrievedQuestion]],
    turns: int,
    questions: int,
    jobs: int,
    folder: Path,
) -> list[Curve]:
    """Replay every dataset from every starting point.

    Args:
        asked: Candidates by dataset.
        turns: Maximum turns to learn from.
        questions: Maximum questions to test on.
        jobs: Number of processes.
        folder: Folder through which the processes receive the candidates.
    """
    found: list[Curve] = []
    for name, part in asked.items():
        file = folder / f"{name}.pickle"
        file.write_bytes(pickle.dumps(part, pickle.HIGHEST_PROTOCOL))
        work = partial(_replayed, file, turns, questions)
        ends = dict(zip(PLANS, spread(work, PLANS, jobs, f"{name}, replayed"), strict=True))
        shipped = next(one for plan, one in ends.items() if plan.beginning == SHIPPED_ONES)
        for plan, one in ends.items():
            gains = (paired_difference(one.ended, beside) for beside in (one.begun, shipped.begun))
            found.append(Curve(name, plan, one.points, *gains))
    return found


def show(curves: Sequence[Curve]) -> None:
    """Print end and lowest point of each curve, and the evidence on the way."""
    replays = {f"{one.dataset}, {_name(one)}": one for one in curves}
    print_table(
        "points of evidence at the end, on conversations not learnt from",
        (
            "replay: dataset, beginning, wrong replies",
            *("less the beginning's", "less shipped", "lowest"),
        ),
        [
            (name, *map(interval, (one.risen, one.gain)), points(one.lowest))
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


def figures(curves: Sequence[Curve]) -> dict[str, Any]:
    """Return the results as plain values."""
    return {"curves": [asdict(curve) | {"lowest": curve.lowest} for curve in curves]}


def _name(curve: Curve) -> str:
    return f"{curve.plan.beginning}, {100 * curve.plan.noise:.0f} %"


def _times(given: Weights) -> str:
    return " ".join(f"{value:.2f}" for value in multipliers(given))


def _replayed(file: Path, turns: int, questions: int, plan: Plan) -> Replayed:
    """Run a replay; runs in a process."""
    return _replay(file, turns, questions).replayed(plan)


@cache
def _replay(file: Path, turns: int, questions: int) -> Replay:
    """Return the replay of a dataset, cached per process."""
    return Replay(pickle.loads(file.read_bytes()), load_encoder(ModelOptions()), turns, questions)
