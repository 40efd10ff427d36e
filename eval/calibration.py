"""`python -m eval calibration`: of items with relevance 0.3, three in ten should be evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import typer

from eval.arguments import AsJson, Cache, Data, Jobs, Limit, Step, working_folder
from eval.blocks import BUDGET, packed
from eval.datasets.selection import load_datasets
from eval.evidence_labels import is_evidence
from eval.output import print_json, print_table
from eval.retrieval import RetrievedQuestion, retrieved
from eval.statistics import Bin, calibration_error, reliability
from hotmem import Item, Mark
from hotmem.block.quotes import quotes
from hotmem.ranking.features import candidate_features
from hotmem.ranking.ranker import rank
from hotmem.ranking.relevance import fitted_model

ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Calibration of a dataset's items.

    Attributes:
        items: Number of items.
        error: Expected calibration error, 0 to 1.
        bins: Predicted and observed frequency, by prediction.
        right: Share of evidence among the items of each mark; None without items.
    """

    items: int
    error: float
    bins: tuple[Bin, ...]
    right: dict[Mark, float | None]


def measure(asked: Mapping[str, Sequence[RetrievedQuestion]]) -> dict[str, Calibration]:
    """Measure the calibration on each dataset, and on all items, with the shipped model.

    Unanswerable questions are included; none of their items is evidence.

    Args:
        asked: Candidates for held-out questions, by dataset.
    """
    shown = {
        name: [item for one in part if one.held_out for item in _shown(one)]
        for name, part in asked.items()
    }
    shown[ALL] = [item for part in list(shown.values()) for item in part]
    return {name: _calibration(items) for name, items in shown.items() if items}


def _shown(asked: RetrievedQuestion) -> list[tuple[Item, bool]]:
    """Return the items of a question's block, and whether each is evidence."""
    found = asked.found
    turns = {turn.id: turn for turn in asked.conversation.turns}
    wanted = () if asked.question.abstain else asked.question.evidence
    features = candidate_features(found.query, found.candidates)
    ranking = rank(
        found.query, found.candidates, features, fitted_model(), found.profile.weights, BUDGET
    )
    block = packed(found, quotes(list(ranking.candidates))[0], ranking.answerability)
    return [(item, is_evidence(item, wanted, turns)) for item in block.items]


def _calibration(items: Sequence[tuple[Item, bool]]) -> Calibration:
    said = np.array([item.relevance for item, _ in items], dtype=np.float32)
    true = np.array([helps for _, helps in items])
    marked = {mark: [helps for item, helps in items if item.mark is mark] for mark in Mark}
    right = {mark: float(np.mean(helped)) if helped else None for mark, helped in marked.items()}
    return Calibration(
        len(items), calibration_error(said, true), tuple(reliability(said, true)), right
    )


def calibration(
    data: Data,
    step: Step = 6,
    limit: Limit = None,
    jobs: Jobs = 2,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Compare the relevance of items of held-out blocks with whether they are evidence."""
    with working_folder(cache) as folder:
        found = measure(
            {
                name: retrieved(part, jobs, folder, name, fitted_too=False)
                for name, part in load_datasets(data, step, limit).items()
            }
        )
    if not found:
        raise typer.BadParameter(
            "it has no second conversation with questions; every second one is held out",
            param_hint="DATA",
        )
    print_table(
        "relevance of the items shown on held-out conversations",
        ("dataset", "items", "calibration error", *(f"{mark} right" for mark in Mark)),
        [
            (name, one.items, one.error, *(one.right[mark] for mark in Mark))
            for name, one in found.items()
        ],
    )
    print_json({"datasets": found}, as_json)
