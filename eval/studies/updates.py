"""Knowledge updates: does the latest statement rank above outdated ones?

The questions are those on updated knowledge with two or more evidence turns at different times; the
last of them holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf, isfinite
from statistics import fmean
from typing import Any, Final

from rich.console import Console

from eval.report import table
from eval.retrieval import DEFAULT_LAYERS, RetrievedQuestion
from eval.statistics import Estimate, bootstrap
from eval.studies.blocks import judged
from hotmem.block.quotes import quotes
from hotmem.ranking.features import candidate_features
from hotmem.ranking.relevance import fitted_model

CATEGORIES: Final = frozenset({"knowledge-update", "knowledge_update"})
"""Category names of LongMemEval and BEAM."""


@dataclass(frozen=True, slots=True)
class Updates:
    """Results on a dataset's update questions.

    Attributes:
        questions: Number of questions.
        latest_first: Share whose latest turn is found and ranks above every earlier one.
        found: Share whose latest turn is found.
    """

    questions: int
    latest_first: Estimate
    found: float


def measure(asked: Mapping[str, Sequence[RetrievedQuestion]]) -> dict[str, Updates]:
    """Measure the order of latest and outdated statements on each dataset with such questions.

    Args:
        asked: Candidates by dataset.
    """
    ranked = {
        name: [places for one in part if (places := _places(one)) is not None]
        for name, part in asked.items()
    }
    return {name: _summed(places) for name, places in ranked.items() if places}


def _places(asked: RetrievedQuestion) -> tuple[float, ...] | None:
    """Return the ranks of the evidence turns, earliest first; infinity if not found.

    None for other questions.
    """
    turns = {turn.id: turn for turn in asked.conversation.turns}
    evidence = sorted(asked.question.evidence, key=lambda turn: turns[turn].spoken_at)
    if (
        asked.question.category not in CATEGORIES
        or len({turns[turn].spoken_at for turn in evidence}) < 2
    ):
        return None
    found = asked.found[DEFAULT_LAYERS]
    statements = quotes(
        judged(found, candidate_features(found.query, found.candidates), fitted_model())[0]
    )[0]
    ranks: dict[str, float] = {}
    for place, one in enumerate(sorted(statements, key=lambda one: -one.score)):
        for turn in one.evidence.turn_ids:
            ranks.setdefault(turn, place)
    return tuple(ranks.get(turn, inf) for turn in evidence)


def _summed(ranked: Sequence[tuple[float, ...]]) -> Updates:
    latest_first = bootstrap([places[-1] < min(places[:-1]) for places in ranked])
    return Updates(len(ranked), latest_first, fmean(isfinite(places[-1]) for places in ranked))


def show(found: Mapping[str, Updates], console: Console) -> None:
    """Print a row per dataset."""
    heading = table(
        "what has changed",
        "dataset",
        ("questions", "latest first", "95 % interval", "latest found"),
    )
    for name, one in found.items():
        right = one.latest_first
        heading.add_row(
            name,
            str(one.questions),
            f"{right.mean:.2f}",
            f"{right.low:.2f} to {right.high:.2f}",
            f"{one.found:.2f}",
        )
    console.print(heading)


def figures(found: Mapping[str, Updates]) -> dict[str, Any]:
    """Return the results as plain values."""
    return {name: asdict(one) for name, one in found.items()}
