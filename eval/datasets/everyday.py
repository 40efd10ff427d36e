"""Everyday statements of one person, told over eight sessions, with questions in the same and in other words: `eval/data/everyday`.

A file holds `person`, `sessions` (turns, those that state something naming their statement),
`statements` (as said, and as a short note), `questions` (with a wording: echo, paraphrase without a
shared content word, or implication: an utterance that concerns a statement), `unanswerable`
questions, and `plain` utterances that concern nothing told.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from eval.datasets.base import TURN_GAP, Conversation, Question, Session, found, read_json
from hotmem.types import Role, Turn

ASKED_AFTER: Final = timedelta(days=21)
"""Time from the last turn to the questions."""

UNANSWERABLE: Final = "unanswerable"
PLAIN: Final = "plain"
"""Categories of questions without an answer, and of utterances that ask nothing and concern
nothing told."""


def load(path: Path) -> Iterator[Conversation]:
    """The conversations of a batch file, or of every batch of a folder.

    Raises:
        InvalidInput: If there is no such file, or it is not JSON.
    """
    for file in found(path, "*.json"):
        yield conversation(file.stem, read_json(file))


def conversation(user: str, batch: Mapping[str, Any]) -> Conversation:
    """One batch."""
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

    def question(number: int, text: str, category: str, statements: list[str]) -> Question:
        evidence = tuple(turn_of[one] for one in statements)
        return Question(f"{user}:{number}", text, at, evidence, "", category, abstain=not evidence)

    asked = [(one["text"], one["wording"], one["statements"]) for one in batch["questions"]]
    asked += [(one["text"], UNANSWERABLE, []) for one in batch["unanswerable"]]
    asked += [(text, PLAIN, []) for text in batch["plain"]]
    questions = tuple(question(number, *one) for number, one in enumerate(asked))
    notes = {turn_of[one["id"]]: one["note"] for one in batch["statements"]}
    return Conversation(user, tuple(sessions), questions, notes=notes)
