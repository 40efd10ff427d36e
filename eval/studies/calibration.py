"""Is relevance true? Of the items of held-out blocks that say 0.3, three in ten should help."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console

from eval.labels import helps
from eval.plots import plotted
from eval.report import share, table
from eval.retrieval import SHIPPED, Asked
from eval.statistics import Bin, calibration_error, reliability
from eval.studies.blocks import Packer, judged
from hotmem import Item, Mark
from hotmem.ranking.deduplication import deduplicate
from hotmem.ranking.features import candidate_features
from hotmem.ranking.relevance import fitted_model

BUDGET: Final = 1000
"""Tokens of the blocks."""

ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class Shown:
    """An item of a block: what it says of itself, and whether it helps."""

    relevance: float
    mark: Mark
    helps: bool


@dataclass(frozen=True, slots=True)
class Calibration:
    """How true the relevances of a dataset's items are.

    Attributes:
        items: How many.
        error: Expected calibration error, 0 to 1.
        bins: What was said and what was true, by what was said.
        right: Share of the items of each mark that help; None without such items.
    """

    items: int
    error: float
    bins: tuple[Bin, ...]
    right: dict[Mark, float | None]


def measure(asked: Mapping[str, Sequence[Asked]]) -> dict[str, Calibration]:
    """The calibration on each dataset, and on all items together.

    The model is the shipped one. A question that has no answer is asked like any other: whatever is
    shown for it does not help.

    Args:
        asked: What was retrieved for held-out questions, by dataset.
    """
    packer = Packer()
    shown = {
        name: [item for one in part if one.held_out for item in _shown(one, packer)]
        for name, part in asked.items()
    }
    shown[ALL] = [item for part in list(shown.values()) for item in part]
    return {name: _calibration(items) for name, items in shown.items() if items}


def show(found: Mapping[str, Calibration], console: Console) -> None:
    """Prints each dataset's error, and the share of each mark's items that help."""
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
    """Draws what was true over what was said, one line a dataset and a dot a bin, as large as its share of the items."""
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
    """The same as plain values."""
    return {"datasets": {name: asdict(one) for name, one in found.items()}}


def _shown(asked: Asked, packer: Packer) -> list[Shown]:
    found = asked.found[SHIPPED]
    turns = {turn.id: turn for turn in asked.conversation.turns}
    wanted = () if asked.question.abstain else asked.question.evidence
    ranked, known = judged(found, candidate_features(found.query, found.candidates), fitted_model())
    items: Iterable[Item] = packer.pack(found, deduplicate(ranked)[0], BUDGET, known).items
    return [Shown(item.relevance, item.mark, helps(item, wanted, turns)) for item in items]


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
