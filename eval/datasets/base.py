"""The common form of all datasets: conversations of turns, with questions and their evidence."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from hotmem.errors import InvalidInput
from hotmem.types import Turn

TURN_GAP: Final = timedelta(seconds=20)
"""Time between two turns if a dataset dates only its sessions; about the pace of speech."""

ASKED_AFTER: Final = timedelta(days=1)
"""Time from the last turn to the questions, if a dataset does not date them."""


@dataclass(frozen=True, slots=True)
class Session:
    """One session, its turns in order."""

    id: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """One question about a conversation.

    Attributes:
        id: Unique within the dataset.
        text: The question.
        asked_at: When it is asked, UTC.
        evidence: Ids of the turns that answer it; empty if none are known.
        answer: The expected answer, or "".
        category: The dataset's category of the question.
        abstain: Whether the conversation does not contain the answer.
        rubric: The points of a right answer, if the dataset lists them.
    """

    id: str
    text: str
    asked_at: datetime
    evidence: tuple[str, ...]
    answer: str
    category: str
    abstain: bool = False
    rubric: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """The history of one user and the questions about it.

    Attributes:
        user: The user's id.
        sessions: The sessions in the order of the dataset.
        questions: The questions.
        skipped: Number of evidence references that match no turn and were left out.
        stored: Statements to store with `store_memory`, each with an id; their times and sessions
            are ignored.
        imported: Whether the turns are imported from a file instead of remembered one by one.
        notes: The statement of a turn as a short note, by the turn's id, if the dataset has one.
    """

    user: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]
    skipped: int = 0
    stored: tuple[Turn, ...] = ()
    imported: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All turns in order, then the stored statements."""
        return tuple(turn for session in self.sessions for turn in session.turns) + self.stored


def time_of_questions(sessions: Sequence[Session]) -> datetime:
    """Return the time one day after the last turn."""
    return max(turn.spoken_at for session in sessions for turn in session.turns) + ASKED_AFTER


def with_photo(text: str, caption: str | None) -> str:
    """Return the text of a turn, followed by the caption of its photo."""
    return f"{text} [shares a photo: {caption}]".strip() if caption else text


def read_json(path: Path) -> Any:  # noqa: ANN401 - the publishers' JSON has no schema
    """Read a JSON file.

    Raises:
        InvalidInput: If it cannot be read as JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"{path} cannot be read as JSON ({type(error).__name__}). Give the file "
            "as its publisher ships it."
        ) from error


def find_files(path: Path, pattern: str) -> list[Path]:
    """Return the file itself, or the files in a folder that match a pattern, sorted by name.

    Raises:
        InvalidInput: If there are none.
    """
    files = [path] if path.is_file() else sorted(path.glob(pattern))
    if not files:
        raise InvalidInput(f"{path} holds no {pattern}. Give the dataset's file or its folder.")
    return files


def read_lines(path: Path) -> list[str]:
    """Return the lines of a JSON Lines file, blank ones as "".

    Only line feeds separate lines, because JSON strings may contain other line separators.

    Raises:
        InvalidInput: If it cannot be read as text.
    """
    try:
        return [line.strip() for line in path.read_text(encoding="utf-8").split("\n")]
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} cannot be read ({type(error).__name__}). Give a JSON Lines file in UTF-8."
        ) from error
