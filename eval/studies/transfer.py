"""Transfer of the model: fitted on the other half of the conversations, or on other datasets."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.progress import track

from eval.relevance import Sample, fit, samples
from eval.report import interval, share, table
from eval.retrieval import DEFAULT_LAYERS, RetrievedQuestion
from eval.statistics import Estimate, paired_difference
from eval.studies.blocks import BUDGETS, Packer, scored, statements
from hotmem.ranking.relevance import RelevanceModel


@dataclass(frozen=True, slots=True)
class Transfer:
    """Evidence delivered on all conversations of a dataset, by models that saw less and less of it.

    Attributes:
        dataset: The dataset.
        budget: Maximum tokens of the block.
        questions: Number of questions with evidence.
        same_half: With the model fitted on the half that contains the conversation.
        other_half: With the model fitted on the other half of every dataset.
        other_sets: With the model fitted on all conversations of the other datasets.
        difference: `other_sets` less `other_half`, over the same questions.
    """

    dataset: str
    budget: int
    questions: int
    same_half: float
    other_half: float
    other_sets: float
    difference: Estimate


def measure(asked: Mapping[str, Sequence[RetrievedQuestion]], console: Console) -> list[Transfer]:
    """Measure the transfer to each dataset.

    Args:
        asked: Candidates with the default layers, by dataset; at least two.
        console: Console for the progress bar.
    """
    seen = {name: samples(part) for name, part in asked.items()}
    halves = {
        held_out: fit(
            {
                name: [replace(one, held_out=one.held_out is not held_out) for one in part]
                for name, part in seen.items()
            }
        )
        for held_out in (False, True)
    }
    result = []
    for name, part in track(asked.items(), "datasets", len(asked), console=console):
        elsewhere = fit(
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
    """Print a row for each dataset and budget, and other datasets against the other half."""
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
            f"{one.dataset} at {one.budget}, other sets − other half: "
            f"{interval(one.difference)} points, with the 95 % interval"
        )


def figures(transfers: Sequence[Transfer]) -> dict[str, Any]:
    """Return the results as plain values."""
    return {"transfers": [asdict(one) for one in transfers]}


def _delivered(
    asked: Sequence[RetrievedQuestion],
    seen: Sequence[Sample],
    models: Mapping[bool, RelevanceModel],
) -> list[tuple[float, ...]]:
    """Return the evidence within each budget, for each scored question, under its half's model."""
    packer = Packer()
    return [
        packer.delivered(
            one,
            one.found[DEFAULT_LAYERS],
            statements(one.found[DEFAULT_LAYERS], sample.features, models[one.held_out]),
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
