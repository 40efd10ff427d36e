"""BEAM (Tavakoli et al.

2025, arXiv 2510.27246): long chats with an assistant and probing questions of ten abilities.

A folder holds `chat.json` and `probing_questions.json`, or numbered folders of these. A chat is one
user. Its batches, three to five, each carry one date (`time_anchor`) and become the sessions. The
publisher's mark "->-> 1,1" at the end of a user's text is removed. `source_chat_ids` comes as a
list, a list within a list, or lists by name; all message ids in it are the evidence.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from eval.datasets.base import (
    TURN_GAP,
    Conversation,
    Question,
    Session,
    find_files,
    read_json,
    time_of_questions,
)
from hotmem.text.validation import MAX_TEXT_CHARACTERS
from hotmem.types import Turn

_MARK: Final = re.compile(r"\s*->->\s*[\w,/ ]+\)?\s*$")


def load(path: Path) -> Iterator[Conversation]:
    """The chat of a folder, or of each folder in it, in the order of their numbers.

    Raises:
        InvalidInput: If there is no chat, or it is not JSON.
    """
    chats = (
        find_files(path, "chat.json")
        if (path / "chat.json").exists()
        else find_files(path, "*/chat.json")
    )
    for file in sorted(chats, key=lambda file: (len(file.parent.name), file.parent.name)):
        yield conversation(
            f"beam-{file.parent.name}",
            read_json(file),
            read_json(file.with_name("probing_questions.json")),
        )


def conversation(
    user: str, batches: list[Mapping[str, Any]], probes: Mapping[str, list[Mapping[str, Any]]]
) -> Conversation:
    """One chat with its questions by ability."""
    sessions = tuple(_session(user, batch) for batch in batches)
    known = {turn.id for session in sessions for turn in session.turns}
    at = time_of_questions(sessions)
    questions, skipped = [], 0
    for ability, entries in probes.items():
        for number, entry in enumerate(entries):
            named = [str(key) for key in message_ids(entry.get("source_chat_ids", []))]
            skipped += sum(turn not in known for turn in named)
            questions.append(
                Question(
                    id=f"{user}:{ability}:{number}",
                    text=entry["question"],
                    asked_at=at,
                    evidence=tuple(dict.fromkeys(turn for turn in named if turn in known)),
                    answer=str(entry.get("answer", "")),
                    category=ability,
                    abstain=ability == "abstention",
                    rubric=tuple(str(point) for point in entry.get("rubric", ())),
                )
            )
    return Conversation(user, sessions, tuple(questions), skipped)


def message_ids(source: object) -> list[int]:
    """All message ids of a `source_chat_ids`, whatever its shape."""
    if isinstance(source, Mapping):
        return [key for part in source.values() for key in message_ids(part)]
    if isinstance(source, list):
        return [key for part in source for key in message_ids(part)]
    return [int(str(source))]


def _session(user: str, batch: Mapping[str, Any]) -> Session:
    name = f"batch-{batch['batch_number']}"
    messages = [message for exchange in batch["turns"] for message in exchange]
    anchor = next(message["time_anchor"] for message in messages if message.get("time_anchor"))
    start = datetime.strptime(anchor, "%B-%d-%Y").replace(hour=12, tzinfo=UTC)
    turns = tuple(
        Turn(
            user_id=user,
            session_id=name,
            role=message["role"],
            text=_MARK.sub("", message["content"])[:MAX_TEXT_CHARACTERS],
            spoken_at=start + position * TURN_GAP,
            id=str(message["id"]),
        )
        for position, message in enumerate(messages)
    )
    return Session(name, turns)
