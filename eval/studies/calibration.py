"""Calibration of relevance: of the items with relevance 0.3, three in ten should be evidence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console

from eval.evidence_labels import is_evidence
from eval.plots import plotted
from eval.report import share, table
from eval.retrieval import DEFAULT_LAYERS, RetrievedQuestion
from eval.statistics import Bin, calibration_error, reliability
from eval.studies.blocks import Packer, judged
from hotmem import Item, Mark
from hotmem.block.quotes import quotes
from hotmem.ranking.features import candidate_features
from hotmem.ranking.relevance import fitted_model

BUDGET: Final = 1000
"""Maximum tokens of a block."""

ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class Shown:
    """An item's relevance and mark, and whether it is evidence."""

    relevance: float
    mark: Mark
    helps: bool


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
    packer = Packer()
    shown = {
        name: [item for one in part if one.held_out for item in _shown(one, packer)]
        for name, part in asked.items()
    }
    shown[ALL] = [item for part in list(shown.values()) for item in part]
    return {name: _calibration(items) for name, items in shown.items() if items}


def show(found: Mapping[str, Calibration], console: Console) -> None:
    """Print each dataset's error, and the share of evidence for each mark."""
    result = table(
        "relevance of the items shown on held-out conversations",
        "dataset",
        ("items", "calibration error", *(f"{mark} right" for mark in Mark)),
    )
    for name, one in found.items():
        result.add_row(
            name, f"{one.items:,}", f"{one.error:.4f}", *(share(one.right[mark]) for mark in Mark)
        )
    console.print(result)


def plot(found: Mapping[str, Calibration], file: Path) -> None:
    """Plot observed over predicted frequency, with one line per dataset and dots sized by items."""
    with plotted(
        file, f"relevance of items, calibration error {found[ALL].error:.3f}", "said", "true"
    ) as axes:
        axes.plot([0, 1], [0, 1], color="grey", linestyle=":")
        for name, one in found.items():
            said, true = [each.said for each in one.bins], [each.true for each in one.bins]
            (line,) = axes.plot(said, true, label=name, linewidth=2 if name == ALL else 1)
            axes.scatter(
                said,
                true,
                s=[300 * each.count / one.items for each in one.bins],
                color=line.get_color(),
                alpha=0.5,
            )


def figures(found: Mapping[str, Calibration]) -> dict[str, Any]:
    """Return the results as plain values."""
    return {"datasets": {name: asdict(one) for name, one in found.items()}}


def _shown(asked: RetrievedQuestion, packer: Packer) -> list[Shown]:
    found = asked.found[DEFAULT_LAYERS]
    turns = {turn.id: turn for turn in asked.conversation.turns}
    wanted = () if asked.question.abstain else asked.question.evidence
    ranked, known = judged(found, candidate_features(found.query, found.candidates), fitted_model())
    items: Iterable[Item] = packer.pack(found, quotes(ranked)[0], BUDGET, known).items
    return [Shown(item.relevance, item.mark, is_evidence(item, wanted, turns)) for item in items]


def _calibration(items: Sequence[Shown]) -> Calibration:
    said, true = (
        np.array([item.relevance for item in items], dtype=np.float32),
        np.array([item.helps for item in items]),
    )
    marked = {mark: [item.helps for item in items if item.mark is mark] for mark in Mark}
    right = {mark: float(np.mean(helped)) if helped else None for mark, helped in marked.items()}
    return Calibration(
        len(items), calibration_error(said, true), tuple(reliability(said, true)), right
    )
