"""LoCoMo (Maharana et al.

2024, arXiv 2402.17753): long chats of two invented people, in the publisher's JSON.

A conversation is one user. Both speakers are people, so both have the role "user" and are told
apart by `speaker`. The caption of a photo is appended to its turn as "[shares a photo: …]".
Category 5 asks about the wrong speaker: there is nothing to find.
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
    with_photo,
)
from hotmem.types import Role, Turn

CATEGORIES: Final = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}

_EVIDENCE: Final = re.compile(r"D(\d+):(\d+)")


def load(path: Path) -> Iterator[Conversation]:
    """The conversations of a LoCoMo file, or of every JSON file of a folder.

    Raises:
        InvalidInput: If there is no such file, or it is not JSON.
    """
    for file in find_files(path, "*.json"):
        for sample in read_json(file):
            yield conversation(sample)


def conversation(sample: Mapping[str, Any]) -> Conversation:
    """One sample of the publisher's list."""
    user = str(sample["sample_id"])
    talk = sample["conversation"]
    numbers = sorted(
        int(key.removeprefix("session_"))
        for key in talk
        if re.fullmatch(r"session_\d+", key) and talk[key]
    )
    sessions = tuple(_session(user, f"session_{number}", talk) for number in numbers)
    return with_questions(user, sessions, sample["qa"], CATEGORIES)


def with_questions(
    user: str,
    sessions: tuple[Session, ...],
    entries: list[Mapping[str, Any]],
    categories: Mapping[int, str],
) -> Conversation:
    """A conversation with the questions of a "qa" list; the form is shared with REALTALK.

    Evidence is read by the pattern D1:2. What has another form or names no turn is left out and
    counted.
    """
    known = {turn.id for session in sessions for turn in session.turns}
    at = time_of_questions(sessions)
    questions, skipped = [], 0
    for number, entry in enumerate(entries):
        ids: list[str] = []
        for piece in entry["evidence"]:
            named = [f"D{int(session)}:{int(turn)}" for session, turn in _EVIDENCE.findall(piece)]
            ids += [turn for turn in named if turn in known]
            skipped += sum(turn not in known for turn in named) + (not named)
        category = categories[entry["category"]]
        questions.append(
            Question(
                id=f"{user}:{number}",
                text=entry["question"],
                asked_at=at,
                evidence=tuple(dict.fromkeys(ids)),
                answer=str(entry.get("answer", "")),
                category=category,
                abstain=category == "adversarial",
            )
        )
    return Conversation(user, sessions, tuple(questions), skipped)


def _session(user: str, name: str, talk: Mapping[str, Any]) -> Session:
    start = datetime.strptime(talk[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(
        tzinfo=UTC
    )
    turns = tuple(
        Turn(
            user_id=user,
            session_id=name,
            role=Role.USER,
            speaker=entry["speaker"],
            text=with_photo(entry["text"], entry.get("blip_caption")),
            spoken_at=start + position * TURN_GAP,
            id=entry["dia_id"],
        )
        for position, entry in enumerate(talk[name])
    )
    return Session(name, turns)
