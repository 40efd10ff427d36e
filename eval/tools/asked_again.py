"""Questions that were asked before: does one come before the statement that answers it?

Each case is a user of their own who makes some statements, and later asks a question, which the
bot does not answer. In another session the question is asked again, by `recall` and by
`search_memory`. The cases are the exchanges of `eval/data/trial/usage.jsonl` whose reply used a
statement, and those of `weights.jsonl` that a stored statement answers.
"""

import asyncio
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table

from eval.arguments import AsJson, print_json
from eval.content_words import content_words
from hotmem import Memory, Role, Turn
from hotmem.operations.requests import SearchOptions

FOLDER: Final = Path(__file__).parents[1] / "data" / "trial"
NOW: Final = datetime(2026, 11, 20, 9, tzinfo=UTC)
DEADLINE_MS: Final = 3000.0
SAME: Final = 0.6
"""Share of a statement's content words from which a result is that statement, or read from it."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question that is asked twice.

    Attributes:
        question: The question.
        statements: What the user had said.
        answers: The statements among them that answer it.
    """

    question: str
    statements: tuple[str, ...]
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What was found when a question was asked again.

    Attributes:
        asked: Whether the earlier question is among the results.
        answer: Whether a statement that answers it is.
        before: Whether the earlier question comes before the first such statement.
    """

    asked: bool
    answer: bool
    before: bool


def cases(half: str) -> Iterator[Case]:
    """Yield the cases of a half, "dev" or "held"."""
    for line in (FOLDER / "usage.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        if one["half"] == half and one["used"]:
            items = tuple(one["items"])
            yield Case(one["question"], items, tuple(items[place] for place in one["used"]))
    for line in (FOLDER / "weights.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        if one["half"] == half and one["source"] == "stored":
            items = tuple(said["text"] for said in one["stored"])
            yield Case(
                one["question"], items, tuple(text for text in items if one["answer"] in text)
            )


def judge(case: Case, texts: Sequence[str]) -> Found:
    """Judge the texts of results, best first."""
    asked = next((place for place, text in enumerate(texts) if case.question in text), None)
    answer = next((place for place, text in enumerate(texts) if _answers(case, text)), None)
    return Found(
        asked is not None,
        answer is not None,
        asked is not None and (answer is None or asked < answer),
    )


def _answers(case: Case, text: str) -> bool:
    words = content_words(text)
    return any(
        len(content_words(one) & words) >= SAME * len(content_words(one)) for one in case.answers
    )


async def measure(found: Sequence[Case]) -> dict[str, list[Found]]:
    """Ask each question twice; what recall and search find the second time."""
    outcomes: dict[str, list[Found]] = {"recall": [], "search_memory": []}
    with tempfile.TemporaryDirectory() as folder:
        async with Memory.open(Path(folder) / "memory.db") as memory:
            for number, case in enumerate(found):
                for turn in _said(f"user {number}", case):
                    await memory.remember(turn)
            await memory.settle()
            for number, case in enumerate(found):
                user = f"user {number}"
                block = await memory.recall(
                    case.question, user_id=user, session_id="again", at=NOW, deadline_ms=DEADLINE_MS
                )
                items = sorted(block.items, key=lambda one: -one.relevance)
                outcomes["recall"].append(judge(case, [one.text for one in items]))
                search = await memory.search_memory(
                    case.question, user_id=user, options=SearchOptions(limit=10)
                )
                outcomes["search_memory"].append(
                    judge(case, [one.content for one in search.results])
                )
    return outcomes


def _said(user: str, case: Case) -> Iterator[Turn]:
    """Yield the statements, each in a session of its own, and the question with its reply."""
    for place, text in enumerate(case.statements):
        yield Turn(user, f"said {place}", Role.USER, text, NOW - timedelta(days=30 - place))
    at = NOW - timedelta(days=2)
    yield Turn(user, "asked", Role.USER, case.question, at)
    reply = "Let me think about it."
    yield Turn(user, "asked", Role.ASSISTANT, reply, at + timedelta(seconds=5))


def repeated(
    held: Annotated[bool, typer.Option("--held", help="Measure on the half that is held.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Number of questions.")] = None,
    as_json: AsJson = False,
) -> None:
    """Ask questions twice: does the first one come before the statement that answers it?"""
    chosen = list(cases("held" if held else "dev"))[:limit]
    outcomes = asyncio.run(measure(chosen))
    table = Table("", "n", "question found", "answer found", "question before answer")
    figures = {
        name: {field: sum(asdict(one)[field] for one in found) for field in Found.__slots__}
        for name, found in outcomes.items()
    }
    for name, counts in figures.items():
        table.add_row(name, str(len(chosen)), *map(str, counts.values()))
    Console(stderr=True).print(table)
    print_json({name: {"n": len(chosen)} | counts for name, counts in figures.items()}, as_json)
