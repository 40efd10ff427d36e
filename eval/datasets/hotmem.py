"""HotMem's own sessions.

JSON Lines, turns as `hotmem export` writes them and questions as a person adds them.

    {"type": "turn", "id": …, "user_id": …, "session_id": …, "role": "user", "speaker": … or null,
    "text": …, "spoken_at": ISO 8601} {"type": "question", "id": …, "user_id": …, "text": …,
    "asked_at": ISO 8601, "evidence": [turn ids], "answer": …}

A question may also carry "category" (default "own"), "abstain" (default false) and leave out
"answer". Lines of other types are passed over. A user is a conversation.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from eval.datasets.base import Conversation, Question, Session, find_files, read_lines
from hotmem.errors import InvalidInput
from hotmem.types import Turn, aware


def load(path: Path) -> Iterator[Conversation]:
    """One conversation a user, of a file or of every *.jsonl of a folder, read together.

    Raises:
        InvalidInput: If there is no such file, or a line is not of the form above.
    """
    sessions: dict[str, dict[str, list[Turn]]] = {}
    entries: dict[str, list[Mapping[str, Any]]] = {}
    for file in find_files(path, "*.jsonl"):
        for number, line in enumerate(read_lines(file), start=1):
            if not line:
                continue
            try:
                entry = json.loads(line)
                match entry["type"]:
                    case "turn":
                        turn = _turn(entry)
                        sessions.setdefault(turn.user_id, {}).setdefault(
                            turn.session_id, []
                        ).append(turn)
                    case "question":
                        entries.setdefault(entry["user_id"], []).append(entry)
            except (KeyError, TypeError, ValueError) as error:
                fact = f"{file}, line {number}, is not a turn or question ({type(error).__name__})."
                raise InvalidInput(f"{fact} The form is in eval/datasets/hotmem.py.") from error
    for user, by_session in sessions.items():
        yield _conversation(user, by_session, entries.get(user, []))


def _conversation(
    user: str, by_session: Mapping[str, list[Turn]], entries: list[Mapping[str, Any]]
) -> Conversation:
    known = {turn.id for turns in by_session.values() for turn in turns}
    questions = tuple(
        Question(
            id=str(entry["id"]),
            text=entry["text"],
            asked_at=aware(datetime.fromisoformat(entry["asked_at"]), "asked_at"),
            evidence=tuple(turn for turn in dict.fromkeys(entry["evidence"]) if turn in known),
            answer=str(entry.get("answer") or ""),
            category=entry.get("category", "own"),
            abstain=bool(entry.get("abstain", False)),
        )
        for entry in entries
    )
    skipped = sum(turn not in known for entry in entries for turn in entry["evidence"])
    return Conversation(
        user,
        tuple(Session(name, tuple(turns)) for name, turns in by_session.items()),
        questions,
        skipped,
    )


def _turn(entry: Mapping[str, Any]) -> Turn:
    return Turn(
        user_id=entry["user_id"],
        session_id=entry["session_id"],
        role=entry["role"],
        speaker=entry.get("speaker"),
        text=entry["text"],
        spoken_at=datetime.fromisoformat(entry["spoken_at"]),
        id=entry["id"],
    )
