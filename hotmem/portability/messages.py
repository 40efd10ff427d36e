"""Chat messages as language models take them, which is also how pipecat's context holds them.

    [{"role": "user", "content": "…"}, {"role": "assistant", "content": [{"type": "text", "text":
    "…"}]}, …]

Also {"messages": […]}, one such object a line for several conversations, or one message a line.
"name", "id" and a time ("timestamp", "created_at", "at": ISO 8601, or seconds since 1970) are read
where they are given. Only what user and assistant said is taken: instructions, tool calls and their
results are nobody's words.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from hotmem.errors import InvalidInput
from hotmem.portability.foreign_records import Names, Notes, Talk
from hotmem.portability.records import Entry, entries
from hotmem.types import Role, Turn

SPOKEN: Final = tuple(Role)

UNSPOKEN: Final = ("system", "developer", "tool", "function")
"""Roles whose messages are left out."""

TIMES: Final = ("timestamp", "created_at", "at")
"""Names of the field that tells when."""

MILLISECONDS_FROM: Final = 1e11
"""A number of seconds since 1970 above this would lie after the year 5000: it counts
milliseconds."""


def turns(path: Path, talk: Talk, notes: Notes) -> Iterator[Turn]:
    """The turns of a file, one conversation after the other.

    Args:
        path: The file.
        talk: What the file does not say.
        notes: Takes what is left out and what is undated.

    Raises:
        InvalidInput: If a message cannot be used, naming it and its field.
    """
    held = grouped = 0
    session, names = talk.session, Names(talk.session)
    for entry in entries(path):
        if entry.group != grouped:
            held, grouped = held + _begins(entry, grouped), entry.group
            if held > 1:
                session = f"{talk.session} {held}"
                names = Names(session)
        turn = _turn(entry, session, names, talk, notes)
        if turn is not None:
            yield turn


def _begins(entry: Entry, before: int) -> bool:
    """Whether an outermost value begins a conversation.

    A list of messages does, one message a line belongs to that before it.
    """
    return before == 0 or entry.listed


def _turn(entry: Entry, session: str, names: Names, talk: Talk, notes: Notes) -> Turn | None:
    where, message = f"Message {entry.number}", entry.value
    if not isinstance(message, Mapping) or "role" not in message:
        raise InvalidInput(f"{where} has no role. A message has role and content.")
    role = message["role"]
    if role in UNSPOKEN:
        notes.left_out[f"{role} messages"] += 1
        return None
    if role not in SPOKEN:
        raise InvalidInput(
            f"{where}: role is {role!r}. Use one of: {', '.join((*SPOKEN, *UNSPOKEN))}."
        )
    text = _text(message.get("content"), where)
    if not text.strip():
        notes.left_out["without words"] += 1
        return None
    speaker = message.get("name")
    moment = _moment(message, where)
    notes.undated += moment is None
    name = message.get("id") or names.following({"role": role, "name": speaker, "text": text})
    try:
        return Turn(
            talk.user_id,
            session,
            role,
            text,
            _aware(moment or talk.undated, talk),
            speaker,
            str(name),
        )
    except InvalidInput as error:
        raise InvalidInput(f"{where} cannot be used: {error}") from error


def _text(content: object, where: str) -> str:
    """The words of a message: its text, or those parts of it that are text."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        parts = [
            part if isinstance(part, str) else part.get("text", "")
            for part in content
            if isinstance(part, str | Mapping)
        ]
        return " ".join(part for part in parts if isinstance(part, str) and part)
    raise InvalidInput(
        f"{where}: content is {type(content).__name__}. Use a string, or a list of parts with text."
    )


def _moment(message: Mapping[str, Any], where: str) -> datetime | None:
    given = next(((name, message[name]) for name in TIMES if message.get(name) is not None), None)
    if given is None:
        return None
    name, value = given
    try:
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value / 1000 if value > MILLISECONDS_FROM else value, UTC)
        return datetime.fromisoformat(value)
    except (TypeError, ValueError, OverflowError, OSError) as error:
        raise InvalidInput(
            f"{where}: {name} is {value!r}. Use ISO 8601, or seconds since 1970."
        ) from error


def _aware(moment: datetime, talk: Talk) -> datetime:
    return moment.replace(tzinfo=talk.zone) if moment.utcoffset() is None else moment
