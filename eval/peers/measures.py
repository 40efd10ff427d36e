"""What is kept of each system: its answer to every question, and what ingestion took."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from eval.datasets import Question
from eval.evidence import Shown

BUDGETS: Final = (1000, 500)
"""Tokens of the blocks. The first is the one that is timed: the second finds HotMem's embedding
of the question kept."""

FIRST: Final = 5
"""Turns that any@5 looks at."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What one system made of one question.

    Attributes:
        system: "HotMem" or the peer.
        question: The question's id.
        delivered: Share of the evidence turns in the block of each budget, 0 to 1; None where it is
            not scored.
        any_5: Whether one of the first five turns is evidence, 0 or 1; None where it is not scored.
        ms: Milliseconds of the search; HotMem's include making the block.
    """

    system: str
    question: str
    delivered: dict[int, float | None]
    any_5: float | None
    ms: float


@dataclass(slots=True)
class Measured:
    """One system over all conversations; filled as the run goes on.

    Attributes:
        system: "HotMem" or the peer.
        note: Its version, what differs from its defaults, and what is off.
        asked: What it made of each question.
        turns: Turns ingested.
        ingest_ms: Milliseconds until they could all be searched, in HotMem with all background
            work.
    """

    system: str
    note: str
    asked: list[Asked] = field(default_factory=list)
    turns: int = 0
    ingest_ms: float = 0.0


def any_first(question: Question, ids: Iterable[str]) -> float | None:
    """Whether one of the first five distinct turns is evidence, 0 or 1.

    None where nothing is to be found.
    """
    if question.abstain or not question.evidence:
        return None
    first = list(dict.fromkeys(ids))[:FIRST]
    return float(not set(first).isdisjoint(question.evidence))


def in_order(items: Iterable[Shown]) -> list[str]:
    """The turns of a block, those of the most relevant item first."""
    return [
        turn for item in sorted(items, key=lambda item: -item.relevance) for turn in item.turn_ids
    ]
