"""Results of each system: its answer to every question, and the cost of ingestion."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from eval.datasets import Question
from eval.evidence import BlockItem

BUDGETS: Final = (1000, 500)
"""Maximum tokens of the blocks. The first is the timed one; for the second, HotMem has cached the
query's embedding."""

FIRST: Final = 5
"""Number of turns for any@5."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Result of one system for one question.

    Attributes:
        delivered: Share of the evidence turns in the block of each budget, 0 to 1; None if not
            scored.
        any_5: Whether one of the first five turns is evidence, 0 or 1; None if not scored.
        ms: Duration of the search in milliseconds; HotMem's includes making the block.
    """

    delivered: dict[int, float | None]
    any_5: float | None
    ms: float


@dataclass(slots=True)
class Measured:
    """Results of one system over all conversations; filled during the run.

    Attributes:
        system: "HotMem" or the peer.
        note: Its version, deviations from its defaults, and disabled features.
        asked: Its result for each question.
        turns: Number of turns ingested.
        ingest_ms: Milliseconds until all could be searched, including HotMem's background work.
    """

    system: str
    note: str
    asked: list[Asked] = field(default_factory=list)
    turns: int = 0
    ingest_ms: float = 0.0


def any_first(question: Question, ids: Iterable[str]) -> float | None:
    """Return whether one of the first five distinct turns is evidence, 0 or 1.

    None for unanswerable questions.
    """
    if question.abstain or not question.evidence:
        return None
    first = list(dict.fromkeys(ids))[:FIRST]
    return float(not set(first).isdisjoint(question.evidence))


def in_order(items: Iterable[BlockItem]) -> list[str]:
    """Return the turns of a block by the relevance of their items."""
    return [
        turn for item in sorted(items, key=lambda item: -item.relevance) for turn in item.turn_ids
    ]
