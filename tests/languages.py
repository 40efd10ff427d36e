"""Statements and questions in other languages than English, and short utterances in many.

They were written before the code; each question shares words with its answer, mostly in another
form.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eval.files import tsv_rows

FOLDER: Final = Path(__file__).parents[1] / "eval" / "data" / "languages"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the number of the statement that answers it, from 0."""

    text: str
    answer: int


@dataclass(frozen=True, slots=True)
class Sample:
    """Statements of one language, and questions about them."""

    language: str
    statements: tuple[str, ...]
    questions: tuple[Question, ...]


def load_samples() -> list[Sample]:
    """Load the statements and questions of each language."""
    found = (json.loads(file.read_text("utf-8")) for file in sorted(FOLDER.glob("*.json")))
    return [
        Sample(
            one["language"],
            tuple(one["statements"]),
            tuple(Question(asked["text"], asked["answer"]) for asked in one["questions"]),
        )
        for one in found
    ]


def load_short() -> list[tuple[str, str]]:
    """Load the short utterances, English ones with foreign names among them: language and text."""
    return [(code, text) for code, text in tsv_rows(FOLDER / "short.tsv")[1:]]
