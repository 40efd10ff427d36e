"""Everyday statements of one person over eight sessions, with questions: `eval/data/everyday`.

A file contains `person`, `sessions` (turns, with the id of their statement), `statements` (as
spoken, and as a short note), `questions` (with a wording: echo; paraphrase without a common content
word; or implication, an utterance that concerns a statement; some with an answer as an assistant
would say it), `unanswerable` questions, and `plain`
utterances that concern no statement.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from eval.datasets.base import TURN_GAP, Conversation, Question, Session, find_files, read_json
from hotmem.types import Role, Turn

ASKED_AFTER: Final = timedelta(days=21)
"""Time from the last turn to the questions."""

UNANSWERABLE: Final = "unanswerable"
PLAIN: Final = "plain"
"""Categories of unanswerable questions, and of utterances that concern no statement."""


def load(path: Path) -> Iterator[Conversation]:
    """Yield the conversations of a file, or of every JSON file in a folder.

    Raises:
        InvalidInput: If there is no such file, or it is not JSON.
    """
    for file in find_files(path, "*.json"):
        yield conversation(file.stem, read_json(file))


def conversation(user: str, batch: Mapping[str, Any]) -> Conversation:
    """Convert one file."""
    turn_of: dict[str, str] = {}
    sessions = []
    for entry in batch["sessions"]:
        start = datetime.fromisoformat(entry["started_at"])
        turns = []
        for position, turn in enumerate(entry["turns"]):
            name = f"{entry['id']}:{position}"
            if statement := turn.get("statement"):
                turn_of[statement] = name
            role = Role(turn["role"])
            speaker = batch["person"] if role is Role.USER else None
            turns.append(
                Turn(
                    user,
                    entry["id"],
                    role,
                    turn["text"],
                    start + position * TURN_GAP,
                    speaker=speaker,
                    id=name,
                )
            )
        sessions.append(Session(entry["id"], tuple(turns)))
    at = sessions[-1].turns[-1].spoken_at + ASKED_AFTER

    def question(
        number: int, text: str, category: str, statements: list[str], answer: str
    ) -> Question:
        evidence = tuple(turn_of[one] for one in statements)
        name = f"{user}:{number}"
        return Question(name, text, at, evidence, answer, category, abstain=not evidence)

    asked = [
        (one["text"], one["wording"], one["statements"], one.get("answer", ""))
        for one in batch["questions"]
    ]
    asked += [(one["text"], UNANSWERABLE, [], "") for one in batch["unanswerable"]]
    asked += [(text, PLAIN, [], "") for text in batch["plain"]]
    questions = tuple(question(number, *one) for number, one in enumerate(asked))
    notes = {turn_of[one["id"]]: one["note"] for one in batch["statements"]}
    return Conversation(user, tuple(sessions), questions, notes=notes)
