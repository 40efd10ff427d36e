"""Locomo-Plus: short dialogues, and utterances weeks later that imply them without common words.

`TOLD` dialogues form the sessions of one user; each utterance should retrieve the first line of its
dialogue.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from eval.datasets.base import TURN_GAP, Conversation, Question, Session, find_files, read_json
from hotmem.types import Role, Turn

TOLD: Final = 50
"""Number of dialogues per user."""

FIRST: Final = datetime(2026, 1, 5, 18, tzinfo=UTC)
"""Time of the first dialogue; one follows each day."""

ASKED_AFTER: Final = timedelta(days=21)
"""Time from the last dialogue to the utterances."""

WORDING: Final = "implication"

_LINE: Final = re.compile(r"^([AB]):\s*(.+)$")


def load(path: Path) -> Iterator[Conversation]:
    """One conversation a user, of a file or of every JSON file of a folder.

    Raises:
        InvalidInput: If there is no such file, or it is not JSON.
    """
    pairs = [pair for file in find_files(path, "*.json") for pair in read_json(file)]
    for number in range(max(len(pairs) // TOLD, 1)):
        yield conversation(f"user-{number}", pairs[number * TOLD : (number + 1) * TOLD])


def conversation(user: str, pairs: Sequence[Mapping[str, Any]]) -> Conversation:
    """Some dialogues and the utterances that imply them."""
    sessions = tuple(
        _session(user, number, pair["cue_dialogue"]) for number, pair in enumerate(pairs)
    )
    at = sessions[-1].turns[-1].spoken_at + ASKED_AFTER
    questions = tuple(
        Question(
            f"{user}:{number}",
            pair["trigger_query"].removeprefix("A: "),
            at,
            (f"{number}:0",),
            "",
            WORDING,
        )
        for number, pair in enumerate(pairs)
    )
    return Conversation(user, sessions, questions)


def _session(user: str, number: int, dialogue: str) -> Session:
    said = [
        match.groups() for line in dialogue.splitlines() if (match := _LINE.match(line.strip()))
    ]
    start = FIRST + timedelta(days=number)
    roles = {"A": Role.USER, "B": Role.ASSISTANT}
    turns = (
        Turn(user, str(number), roles[who], text, start + place * TURN_GAP, id=f"{number}:{place}")
        for place, (who, text) in enumerate(said)
    )
    return Session(str(number), tuple(turns))
