"""Does the model hold elsewhere?

Fitted on one half of the conversations and tested on the other, and fitted on the other datasets
alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.progress import track

from eval.report import interval, share, table
from eval.retrieval import SHIPPED, Asked
from eval.statistics import Estimate, paired_difference
from eval.studies.blocks import BUDGETS, Packer, scored, statements
from eval.train import Sample, fitted, samples
from hotmem.ranking.relevance import RelevanceModel


@dataclass(frozen=True, slots=True)
class Transfer:
    """How a dataset fares with models that saw less and less of it.

    Every one of its conversations is tested.

    Attributes:
        dataset: The dataset.
        budget: Tokens of the block.
        questions: Questions with evidence.
        same_half: Evidence delivered under the model that was fitted on the half that the
            conversation is in.
        other_half: Under the model fitted on the other half of every dataset.
        other_sets: Under the model fitted on the other datasets, all their conversations.
        difference: The last less the one before it, over the same questions.
    """

    dataset: str
    budget: int
    questions: int
    same_half: float
    other_half: float
    other_sets: float
    difference: Estimate


def measure(asked: Mapping[str, Sequence[Asked]], console: Console) -> list[Transfer]:
    """The transfer to each dataset.

    Args:
        asked: What was retrieved under the shipped choice of layers, by dataset; at least two.
        console: Where the progress goes.
    """
    seen = {name: samples(part) for name, part in asked.items()}
    halves = {
        held_out: fitted(
            {
                name: [replace(one, held_out=one.held_out is not held_out) for one in part]
                for name, part in seen.items()
            }
        )
        for held_out in (False, True)
    }
    result = []
    for name, part in track(asked.items(), "datasets", len(asked), console=console):
        elsewhere = fitted(
            {
                other: [replace(one, held_out=False) for one in rest]
                for other, rest in seen.items()
                if other != name
            }
        )
        same = _delivered(part, seen[name], halves)
        other = _delivered(
            part, seen[name], {held_out: halves[not held_out] for held_out in halves}
        )
        away = _delivered(part, seen[name], dict.fromkeys(halves, elsewhere))
        result += [
            _transfer(
                name, budget, *([found[place] for found in each] for each in (same, other, away))
            )
            for place, budget in enumerate(BUDGETS)
        ]
    return result


def show(transfers: Sequence[Transfer], console: Console) -> None:
    """Prints a row for each dataset and budget, and under them how the other datasets alone compare with the other half."""
    headings = ("tokens", "questions", "same half", "other half", "other sets")
    result = table("evidence delivered, by what the model was fitted on", "dataset", headings)
    for one in transfers:
        result.add_row(
            one.dataset,
            str(one.budget),
            str(one.questions),
            *map(share, (one.same_half, one.other_half, one.other_sets)),
        )
    console.print(result)
    for one in transfers:
        console.print(
            f"{one.dataset} at {one.budget}, other sets − other half: {interval(one.difference)} points, with the 95 % interval"
        )


def figures(transfers: Sequence[Transfer]) -> dict[str, Any]:
    """The same as plain values."""
    return {"transfers": [asdict(one) for one in transfers]}


def _delivered(
    asked: Sequence[Asked], seen: Sequence[Sample], models: Mapping[bool, RelevanceModel]
) -> list[tuple[float, ...]]:
    """Evidence within each budget, for each question that is scored, under the model of its half."""
    packer = Packer()
    return [
        packer.delivered(
            one,
            one.found[SHIPPED],
            statements(one.found[SHIPPED], sample.features, models[one.held_out]),
        )
        for one, sample in zip(asked, seen, strict=True)
        if scored(one)
    ]


def _transfer(
    dataset: str, budget: int, same: Sequence[float], other: Sequence[float], away: Sequence[float]
) -> Transfer:
    return Transfer(
        dataset,
        budget,
        len(same),
        fmean(same),
        fmean(other),
        fmean(away),
        paired_difference(away, other),
    )
