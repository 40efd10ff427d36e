"""Result rows, one per question and system, kept in a file from which a run can go on."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from eval.answers.contexts import System
from eval.statistics import Estimate, bootstrap, paired_difference
from hotmem.errors import InvalidInput

MILLION: Final = 1_000_000

Key: TypeAlias = tuple[str, str, str]
"""Conversation, question and system."""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """The answer of the model with one system's context, and its score. None means not scored.

    Attributes:
        run: Model, judge and limits; rows of another run cannot be continued.
        conversation: The conversation's user.
        question: The question's id.
        category: Its category.
        abstain: Whether the conversation does not contain the answer.
        system: The system.
        context_tokens: Tokens of the context, by HotMem's own count.
        context_ms: Milliseconds until the context was there.
        cut: Whether the history was longer than its context.
        answer: The answer; "" if there is none.
        answer_ms: Milliseconds until it was there.
        prompt_tokens: Tokens that the model read.
        completion_tokens: Tokens that it wrote.
        counted: Whether these are our count, as the endpoint states none.
        score: The judge's score, 0 to 1.
        judge_prompt_tokens: Tokens that the judge read.
        judge_completion_tokens: Tokens that it wrote.
        failure: Why it is not scored; "" if it is.
    """

    run: str
    conversation: str
    question: str
    category: str
    abstain: bool
    system: str
    context_tokens: int
    context_ms: float
    cut: bool
    answer: str = ""
    answer_ms: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    counted: bool = False
    score: float | None = None
    judge_prompt_tokens: int = 0
    judge_completion_tokens: int = 0
    failure: str = ""

    @property
    def key(self) -> Key:
        """What the row is about."""
        return self.conversation, self.question, self.system


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices in US dollars per million tokens; 0 where there is none.

    Attributes:
        prompt: Of the model's prompts.
        completion: Of its answers.
        judge_prompt: Of the judge's prompts.
        judge_completion: Of its verdicts.
    """

    prompt: float = 0.0
    completion: float = 0.0
    judge_prompt: float = 0.0
    judge_completion: float = 0.0

    def of_answer(self, row: AnswerRow) -> float:
        """Dollars for one answer."""
        return (row.prompt_tokens * self.prompt + row.completion_tokens * self.completion) / MILLION

    def of_verdict(self, row: AnswerRow) -> float:
        """Dollars for one verdict."""
        return (
            row.judge_prompt_tokens * self.judge_prompt
            + row.judge_completion_tokens * self.judge_completion
        ) / MILLION


class RowFile:
    """Rows by key, appended to a file as they are made; the last of a key counts.

    Args:
        path: The file; None keeps them in memory only.
        run: The run; rows of another one are refused.

    Raises:
        InvalidInput: If the file has rows of another run, or is none of this command's.
    """

    def __init__(self, path: Path | None, run: str) -> None:
        self.rows: dict[Key, AnswerRow] = {}
        self._path = path
        if path is not None and path.exists():
            for row in _read(path):
                if row.run != run:
                    raise InvalidInput(
                        f"{path} has answers of another run ({row.run}). Give the same options, or"
                        " another file."
                    )
                self.rows[row.key] = row

    def add(self, row: AnswerRow) -> None:
        """Add a row."""
        self.rows[row.key] = row
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")


def _read(path: Path) -> list[AnswerRow]:
    """The rows of a file, without a last line that was cut off."""
    try:
        whole, _, rest = path.read_text("utf-8").rpartition("\n")
        rows = [AnswerRow(**json.loads(line)) for line in whole.split("\n") if line.strip()]
    except (ValueError, TypeError):
        raise InvalidInput(f"{path} is no file of answers. Give another file.") from None
    if rest:  # so that the next row does not continue it
        path.write_text(f"{whole}\n" if whole else "", "utf-8")
    return rows


@dataclass(frozen=True, slots=True)
class SystemSummary:
    """One system's answers to the questions that were scored for every system.

    Attributes:
        questions: Number of these questions.
        unscored: Number of all its questions without a score.
        score: Mean score, 0 to 1.
        against: Its mean score minus each other system's, over the same questions.
        categories: Mean score by category.
        prompt_tokens: Mean tokens of a prompt.
        context_tokens: Mean tokens of a context.
        dollars: Mean cost of an answer; 0 without prices.
        context_ms: Median milliseconds until the context was there.
        answer_p50_ms: Median milliseconds until the answer was there.
        answer_p95_ms: The 95th percentile of these.
        cut: Share of contexts that are cut.
        counted: Share of answers whose tokens are our count.
    """

    questions: int
    unscored: int
    score: Estimate
    against: Mapping[str, Estimate]
    categories: Mapping[str, float]
    prompt_tokens: float
    context_tokens: float
    dollars: float
    context_ms: float
    answer_p50_ms: float
    answer_p95_ms: float
    cut: float
    counted: float
    ratios: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)


def summarize(rows: Sequence[AnswerRow], prices: Prices) -> dict[str, SystemSummary]:
    """Summarize the rows by system, over the questions that are scored for all of them.

    Returns:
        Nothing if there is no such question.
    """
    by_system = {
        system.value: {row.key[:2]: row for row in rows if row.system == system.value}
        for system in System
    }
    by_system = {system: found for system, found in by_system.items() if found}
    scored = [
        {key for key, row in found.items() if row.score is not None} for found in by_system.values()
    ]
    common = sorted(set.intersection(*scored)) if scored else []
    if not common:
        return {}
    chosen = {system: [found[key] for key in common] for system, found in by_system.items()}
    return {
        system: _summary(system, chosen, len(found) - len(own), prices)
        for (system, found), own in zip(by_system.items(), scored, strict=True)
    }


def _summary(
    system: str, chosen: Mapping[str, Sequence[AnswerRow]], unscored: int, prices: Prices
) -> SystemSummary:
    rows = chosen[system]
    scores = _scores(rows)
    by_category = {
        name: _scores([row for row in rows if row.category == name])
        for name in sorted({row.category for row in rows})
    }
    others = {name: found for name, found in chosen.items() if name != system}
    times = [row.answer_ms for row in rows]
    return SystemSummary(
        questions=len(rows),
        unscored=unscored,
        score=bootstrap(scores),
        against={name: paired_difference(scores, _scores(found)) for name, found in others.items()},
        categories={name: _mean(values) for name, values in by_category.items()},
        prompt_tokens=_mean([row.prompt_tokens for row in rows]),
        context_tokens=_mean([row.context_tokens for row in rows]),
        dollars=_mean([prices.of_answer(row) for row in rows]),
        context_ms=float(np.median([row.context_ms for row in rows])),
        answer_p50_ms=float(np.percentile(times, 50)),
        answer_p95_ms=float(np.percentile(times, 95)),
        cut=_mean([row.cut for row in rows]),
        counted=_mean([row.counted for row in rows]),
        ratios={
            name: {
                "score": _ratio(scores, _scores(found)),
                "prompt_tokens": _ratio(
                    [row.prompt_tokens for row in rows], [row.prompt_tokens for row in found]
                ),
                "answer_p50_ms": _ratio(
                    [float(np.median(times))], [float(np.median([row.answer_ms for row in found]))]
                ),
            }
            for name, found in others.items()
        },
    )


def _scores(rows: Sequence[AnswerRow]) -> list[float]:
    return [row.score for row in rows if row.score is not None]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def _ratio(own: Sequence[float], other: Sequence[float]) -> float | None:
    """The sum of the first over that of the second; None if that is 0."""
    return float(sum(own) / sum(other)) if sum(other) else None
