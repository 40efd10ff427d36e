"""REALTALK (Lee et al.

2025, arXiv 2502.13270): chats of two real people over three weeks, in the publisher's JSON.

As in LoCoMo a chat is one user, both speakers have the role "user", and photos are appended by
their caption. Each turn has its own time. Evidence that names no turn is left out and counted: the
publisher's has many.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from eval.datasets.base import Conversation, Session, find_files, read_json, with_photo
from eval.datasets.locomo import with_questions
from hotmem.types import Role, Turn

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "common-sense"}


def load(path: Path) -> Iterator[Conversation]:
    """The chat of a file, or of every Chat_*.json of a folder.

    Raises:
        InvalidInput: If there is no such file, or it is not JSON.
    """
    for file in find_files(path, "Chat_*.json"):
        yield conversation(file.stem, read_json(file))


def conversation(user: str, chat: Mapping[str, Any]) -> Conversation:
    """One chat as the publisher ships it."""
    numbers = sorted(
        int(key.removeprefix("session_"))
        for key in chat
        if re.fullmatch(r"session_\d+", key) and chat[key]
    )
    sessions = tuple(_session(user, f"session_{number}", chat) for number in numbers)
    return with_questions(user, sessions, chat["qa"], CATEGORIES)


def _session(user: str, name: str, chat: Mapping[str, Any]) -> Session:
    turns = tuple(
        Turn(
            user_id=user,
            session_id=name,
            role=Role.USER,
            speaker=entry["speaker"],
            text=with_photo(entry["clean_text"], entry.get("blip_caption")),
            spoken_at=datetime.strptime(entry["date_time"], "%d.%m.%Y, %H:%M:%S").replace(
                tzinfo=UTC
            ),
            id=entry["dia_id"],
        )
        for entry in chat[name]
    )
    return Session(name, turns)
