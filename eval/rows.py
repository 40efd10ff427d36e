"""Result rows, one per question and system, and their summary."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np

from eval.datasets.base import read_lines
from eval.statistics import detected_unanswerable

HOTMEM: Final = "HotMem"
"""Name of the system under test in rows."""


@dataclass(frozen=True, slots=True)
class Row:
    """The result of one system for one question. None means not scored.

    Attributes:
        conversation: The conversation's user.
        question: The question's id.
        category: Its category.
        abstain: Whether the question is unanswerable.
        system: "HotMem" or a baseline.
        delivered: Share of the evidence turns delivered, 0 to 1.
        all: Whether all of them are delivered, 0 or 1.
        answer: Share of a short answer's words in the block, 0 to 1.
        sessions: Whether all evidence sessions are among the first five, 0 or 1.
        tokens: Tokens of the block.
        ms: Duration in milliseconds, with other processes running; compare within a run only.
        items: Number of items in the block.
        relevance: Maximum relevance of an item on the system's own scale, 0 without items.
        unknown: Whether the block reports that nothing is known: no items, or only items of low
            confidence.
        budget: Maximum tokens of the block; 0 for the default.
        right: Number of items that hold evidence.
        repeated: Number of items that say what another one of the block says.
        marked: Number of items marked high or medium, and how many of these hold evidence.
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
    budget: int = 0
    right: int = 0
    repeated: int = 0
    marked: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary of one system's rows. None if no row was scored.

    Attributes:
        questions: Number of rows.
        scored: Number of rows with scored evidence.
        delivered: Mean share of delivered evidence.
        all: Share of questions with all evidence delivered.
        answer: Mean share of short answers.
        sessions: Share of questions with all evidence sessions among the first five.
        tokens: Mean tokens of a block.
        p50_ms: Median duration.
        p95_ms: 95th percentile of the duration.
        unknown: Share of unanswerable questions whose block reports that nothing is known.
        wrongly_unknown: The same share of answerable questions.
        unknown_at_5: The first share with a threshold on `relevance` that keeps the second at or
            below 5 %.
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
    """Return the mean of the values that are not None; None if there are none."""
    scored = [value for value in values if value is not None]
    return fmean(scored) if scored else None


def summarize(rows: Sequence[Row]) -> Summary:
    """Summarize the rows of one system.

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
        unknown_at_5=detected_unanswerable(
            [row.relevance for row in knowable], [row.relevance for row in unknowable]
        ),
    )


def group_by_system(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Group rows by system, in order of appearance."""
    by_system: dict[str, list[Row]] = {}
    for row in rows:
        by_system.setdefault(row.system, []).append(row)
    return by_system


def write(rows: Iterable[Row], path: Path) -> None:
    """Write rows as JSON Lines."""
    path.write_text(
        "".join(f"{json.dumps(asdict(row), ensure_ascii=False)}\n" for row in rows),
        encoding="utf-8",
    )


def read(path: Path) -> list[Row]:
    """Read rows written by `write`."""
    return [Row(**json.loads(line)) for line in filter(None, read_lines(path))]
