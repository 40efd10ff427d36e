"""Invented talks with questions in plain text: `eval/data/talks`, written to train the encoder.

    # nadia and her assistant, a move to another town
    ## 2026-03-04
    1 Nadia: so I finally handed in my notice, my last day is the thirtieth
    2 Bot: Congratulations! How did your manager take it?
    ask 1: When does Nadia stop working?
    other 1: How long will her employer still have her?
    remark 1: I need a new health insurance soon.

A file holds many talks. `#` begins one, `##` a session; a turn has its number in the talk and its
speaker. What is asked names the turns that answer it: `ask` in words like theirs, `other` in other
words, `remark` is no question but something for which the turn matters.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from eval.datasets.base import (
    TURN_GAP,
    Conversation,
    Question,
    Session,
    find_files,
    time_of_questions,
)
from hotmem.errors import InvalidInput
from hotmem.types import Role, Turn

WORDINGS: Final = {"ask": "echo", "other": "paraphrase", "remark": "implication"}
"""Wording of each kind of line, as named in `everyday`."""

ASSISTANTS: Final = frozenset({"b", "bot", "assistant"})
"""Speaker names of assistants."""

_TURN: Final = re.compile(r"(\d+) ([^:\s]+): (.+)")
_ASKED: Final = re.compile(rf"({'|'.join(WORDINGS)}) (\d+(?:,\d+)*): (.+)")


def load(path: Path) -> Iterator[Conversation]:
    """The talks of a file, or of every file of a folder.

    Raises:
        InvalidInput: If there is no such file, or a line has another form.
    """
    for file in find_files(path, "*.txt"):
        talks = re.split(r"^# ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for number, talk in enumerate(talks[1:]):
            yield conversation(f"{file.stem}-{number}", talk.splitlines()[1:])


def conversation(user: str, lines: list[str]) -> Conversation:
    """One talk, by its lines after the title.

    Raises:
        InvalidInput: If a line has another form, or names a turn that is not there.
    """
    sessions: list[tuple[datetime, list[Turn]]] = []
    asked: list[tuple[str, tuple[str, ...], str]] = []
    for line in filter(None, map(str.strip, lines)):
        if line.startswith("## "):
            sessions.append((datetime.fromisoformat(line[3:]).replace(hour=18, tzinfo=UTC), []))
        elif (match := _TURN.fullmatch(line)) and sessions:
            number, speaker, text = match.groups()
            start, turns = sessions[-1]
            role, name = (
                (Role.ASSISTANT, None) if speaker.casefold() in ASSISTANTS else (Role.USER, speaker)
            )
            turns.append(
                Turn(
                    user,
                    str(len(sessions)),
                    role,
                    text,
                    start + len(turns) * TURN_GAP,
                    speaker=name,
                    id=number,
                )
            )
        elif match := _ASKED.fullmatch(line):
            asked.append((WORDINGS[match[1]], tuple(match[2].split(",")), match[3]))
        else:
            raise InvalidInput(
                f"The talk {user} has the line {line[:60]!r}. A line is a session, a "
                "turn or something asked; see eval/datasets/talks.py."
            )
    told = tuple(Session(turns[0].session_id, tuple(turns)) for _, turns in sessions if turns)
    known = {turn.id for session in told for turn in session.turns}
    if missing := {turn for _, turns, _ in asked for turn in turns} - known:
        raise InvalidInput(
            f"The talk {user} asks for the turns {', '.join(sorted(missing))}, which "
            "it does not have."
        )
    at = time_of_questions(told)
    questions = tuple(
        Question(f"{user}:{place}", text, at, turns, "", wording)
        for place, (wording, turns, text) in enumerate(asked)
    )
    return Conversation(user, told, questions)
