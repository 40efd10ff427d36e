"""One row a question and system, and what many rows add up to."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np

from eval.datasets.base import lines
from eval.statistics import said_unknown

HOTMEM: Final = "HotMem"
"""The system under test, as rows name it."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one system made of one question. None means not scored.

    Attributes:
        conversation: The conversation's user.
        question: The question's id.
        category: Its category.
        abstain: Whether there is nothing to find.
        system: "HotMem" or a reference.
        delivered: Share of the evidence turns delivered, 0 to 1.
        all: Whether all of them are, 0 or 1.
        answer: Share of a short answer's words in the block, 0 to 1.
        sessions: Whether all evidence sessions are among the first five, 0 or 1.
        tokens: Tokens of the block.
        ms: Milliseconds the block took; beside other processes, so for comparison within a run
            only.
        items: Items in the block.
        relevance: Largest relevance of an item in the system's own measure, 0 without items.
        unknown: Whether the block says, by having no items or low marks alone, that nothing is
            known.
    """

    conversation: str
    question: str
    category: str
    abstain: bool
    system: str
    delivered: float | None
    all: float | None
    answer: float | None
    sessions: float | None
    tokens: int
    ms: float
    items: int
    relevance: float
    unknown: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """What the rows of one system add up to. None where no row was scored.

    Attributes:
        questions: Rows.
        scored: Rows whose evidence was scored.
        delivered: Mean share of evidence delivered.
        all: Share of questions with all of it.
        answer: Mean share of short answers.
        sessions: Share of questions with all evidence sessions among the first five.
        tokens: Mean tokens of a block.
        p50_ms: Median milliseconds of a block.
        p95_ms: 95th percentile of them.
        unknown: Share of questions without an answer where the block says so.
        wrongly_unknown: Share of questions with an answer where it says so.
        unknown_at_5: The first share, were a threshold on `relevance` set so that the second is at
            most 5 %.
    """

    questions: int
    scored: int
    delivered: float | None
    all: float | None
    answer: float | None
    sessions: float | None
    tokens: float
    p50_ms: float
    p95_ms: float
    unknown: float | None
    wrongly_unknown: float | None
    unknown_at_5: float | None


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values there are, or None without any."""
    scored = [value for value in values if value is not None]
    return fmean(scored) if scored else None


def summarised(rows: Sequence[Row]) -> Summary:
    """What the rows of one system add up to.

    Args:
        rows: At least one row.
    """
    unknowable = [row for row in rows if row.abstain]
    knowable = [row for row in rows if not row.abstain]
    return Summary(
        questions=len(rows),
        scored=sum(row.delivered is not None for row in rows),
        delivered=mean(row.delivered for row in rows),
        all=mean(row.all for row in rows),
        answer=mean(row.answer for row in rows),
        sessions=mean(row.sessions for row in rows),
        tokens=fmean(row.tokens for row in rows),
        p50_ms=float(np.percentile([row.ms for row in rows], 50)),
        p95_ms=float(np.percentile([row.ms for row in rows], 95)),
        unknown=mean(float(row.unknown) for row in unknowable),
        wrongly_unknown=mean(float(row.unknown) for row in knowable),
        unknown_at_5=said_unknown(
            [row.relevance for row in knowable], [row.relevance for row in unknowable]
        ),
    )


def systems(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows of each system, in the order in which the systems appear."""
    by_system: dict[str, list[Row]] = {}
    for row in rows:
        by_system.setdefault(row.system, []).append(row)
    return by_system


def write(rows: Iterable[Row], path: Path) -> None:
    """Writes rows as JSON Lines."""
    path.write_text(
        "".join(f"{json.dumps(asdict(row), ensure_ascii=False)}\n" for row in rows),
        encoding="utf-8",
    )


def read(path: Path) -> list[Row]:
    """Reads what `write` wrote."""
    return [Row(**json.loads(line)) for line in filter(None, lines(path))]
