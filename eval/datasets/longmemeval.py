"""LongMemEval (Wu et al.

2024, arXiv 2410.10813): each question has its own history of chats with an assistant.

Two forms are read: the publisher's JSON list, whose questions hold their sessions
(`haystack_sessions`, turns that answer marked `has_answer`), and a folder of `questions.jsonl` and
`sessions.json`, where sessions are shared by id and `evidence_turns` names the turns. A question's
history is one user; it is asked at its own date. Ids ending in `_abs` have no answer in the
history.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eval.datasets.base import (
    TURN_GAP,
    Conversation,
    Question,
    Session,
    find_files,
    read_json,
    read_lines,
)
from hotmem.types import Turn


def load(path: Path) -> Iterator[Conversation]:
    """One conversation a question, of a publisher's file or a folder in the shared form.

    Raises:
        InvalidInput: If there is no such file, or it is not JSON.
    """
    if path.is_file():
        for entry in read_json(path):
            yield conversation(entry, entry["haystack_sessions"], _marked(entry))
        return
    sessions = read_json(path / "sessions.json")
    for file in find_files(path, "questions.jsonl"):
        for line in filter(None, read_lines(file)):
            entry = json.loads(line)
            yield conversation(
                entry,
                [sessions[name] for name in entry["haystack_session_ids"]],
                entry["evidence_turns"],
            )


def conversation(
    entry: Mapping[str, Any],
    talks: Sequence[Sequence[Mapping[str, Any]]],
    evidence: Mapping[str, Sequence[int]],
) -> Conversation:
    """One question with its history.

    Args:
        entry: The question as published.
        talks: The turns of each session, in the order of `haystack_session_ids`.
        evidence: Places of the turns that answer, by session id.
    """
    user = str(entry["question_id"])
    dated = zip(entry["haystack_session_ids"], entry["haystack_dates"], talks, strict=True)
    sessions = tuple(_session(user, name, moment(date), talk) for name, date, talk in dated)
    known = {turn.id for session in sessions for turn in session.turns}
    named = [
        _turn_id(name, position) for name, positions in evidence.items() for position in positions
    ]
    question = Question(
        id=user,
        text=entry["question"],
        asked_at=moment(entry["question_date"]),
        evidence=tuple(turn for turn in named if turn in known),
        answer=str(entry["answer"]),
        category=entry["question_type"],
        abstain=user.endswith("_abs"),
    )
    return Conversation(user, sessions, (question,), sum(turn not in known for turn in named))


def moment(date: str) -> datetime:
    """The publisher's "2023/02/20 (Mon) 22:35", taken as UTC."""
    return datetime.strptime(date, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)


def _session(user: str, name: str, start: datetime, talk: Sequence[Mapping[str, Any]]) -> Session:
    turns = tuple(
        Turn(
            user_id=user,
            session_id=name,
            role=entry["role"],
            text=entry["content"],
            spoken_at=start + position * TURN_GAP,
            id=_turn_id(name, position),
        )
        for position, entry in enumerate(talk)
        if entry["content"].strip()
    )
    return Session(name, turns)


def _turn_id(session: str, position: int) -> str:
    return f"{session}#{position}"


def _marked(entry: Mapping[str, Any]) -> dict[str, list[int]]:
    pairs = zip(entry["haystack_session_ids"], entry["haystack_sessions"], strict=True)
    return {
        name: [position for position, turn in enumerate(talk) if turn.get("has_answer")]
        for name, talk in pairs
    }
