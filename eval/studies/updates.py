"""When something has changed, does the latest word stand above the stale one?

The questions are those on updated knowledge whose evidence is in two turns or more, said at
different times: the last of them holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf, isfinite
from statistics import fmean
from typing import Any, Final

from rich.console import Console

from eval.report import table
from eval.retrieval import SHIPPED, Asked
from eval.statistics import Estimate, estimated
from eval.studies.blocks import judged
from hotmem.ranking.deduplication import deduplicate
from hotmem.ranking.features import candidate_features
from hotmem.ranking.relevance import fitted_model

CATEGORIES: Final = frozenset({"knowledge-update", "knowledge_update"})
"""As LongMemEval and BEAM name them."""


@dataclass(frozen=True, slots=True)
class Updates:
    """Of a dataset's questions on what has changed.

    Attributes:
        questions: How many.
        latest_first: Share whose latest turn is found and ranks above every earlier one.
        found: Share whose latest turn is among what is ranked.
    """

    questions: int
    latest_first: Estimate
    found: float


def measure(asked: Mapping[str, Sequence[Asked]]) -> dict[str, Updates]:
    """The order of the latest and the stale, on each dataset that has such questions.

    Args:
        asked: What was retrieved, by dataset.
    """
    ranked = {
        name: [places for one in part if (places := _places(one)) is not None]
        for name, part in asked.items()
    }
    return {name: _summed(places) for name, places in ranked.items() if places}


def _places(asked: Asked) -> tuple[float, ...] | None:
    """The ranks of the evidence turns, the earliest said first, infinite where one is not found.

    None for another kind of question.
    """
    turns = {turn.id: turn for turn in asked.conversation.turns}
    evidence = sorted(asked.question.evidence, key=lambda turn: turns[turn].spoken_at)
    if (
        asked.question.category not in CATEGORIES
        or len({turns[turn].spoken_at for turn in evidence}) < 2
    ):
        return None
    found = asked.found[SHIPPED]
    statements = deduplicate(
        judged(found, candidate_features(found.query, found.candidates), fitted_model())[0]
    )[0]
    ranks: dict[str, float] = {}
    for place, one in enumerate(sorted(statements, key=lambda one: -one.score)):
        for turn in one.evidence.turn_ids:
            ranks.setdefault(turn, place)
    return tuple(ranks.get(turn, inf) for turn in evidence)


def _summed(ranked: Sequence[tuple[float, ...]]) -> Updates:
    latest_first = estimated([places[-1] < min(places[:-1]) for places in ranked])
    return Updates(len(ranked), latest_first, fmean(isfinite(places[-1]) for places in ranked))


def show(found: Mapping[str, Updates], console: Console) -> None:
    """Prints a row a dataset."""
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
    """The same as plain values."""
    return {name: asdict(one) for name, one in found.items()}
