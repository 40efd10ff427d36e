"""Import of chat messages in the format of language model APIs and of pipecat's context.

    [{"role": "user", "content": "…"}, {"role": "assistant", "content": [{"type": "text", "text":
    "…"}]}, …]

Also supported: {"messages": […]}, one such object per line for several conversations, or one
message per line. "name", "id" and a time ("timestamp", "created_at" or "at": ISO 8601, or seconds
since 1970) are used if present. Only messages of user and assistant are imported; instructions,
tool calls and tool results are skipped.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from hotmem.errors import InvalidInput
from hotmem.portability.foreign_records import ConversationOptions, ImportNotes, TurnIds
from hotmem.portability.records import JsonRecord, read_records
from hotmem.types import Role, Turn

SPOKEN_ROLES: Final = tuple(Role)

SKIPPED_ROLES: Final = ("system", "developer", "tool", "function")
"""Roles whose messages are skipped."""

TIME_FIELDS: Final = ("timestamp", "created_at", "at")
"""Possible names of the field with the time."""

MILLISECONDS_FROM: Final = 1e11
"""Timestamps above this are milliseconds; as seconds they would be after the year 5000."""


def turns(path: Path, options: ConversationOptions, notes: ImportNotes) -> Iterator[Turn]:
    """Read the turns of a file, one conversation after the other.

    Args:
        path: The file.
        options: User, session and other options.
        notes: Collects skipped and undated messages.

    Raises:
        InvalidInput: If a message is invalid; the message names it and its field.
    """
    conversations = group = 0
    session, ids = options.session, TurnIds(options.session)
    for record in read_records(path):
        if record.group != group:
            conversations += _starts_conversation(record, group)
            group = record.group
            if conversations > 1:
                session = f"{options.session} {conversations}"
                ids = TurnIds(session)
        turn = _turn(record, session, ids, options, notes)
        if turn is not None:
            yield turn


def _starts_conversation(record: JsonRecord, previous_group: int) -> bool:
    """Whether a top-level value starts a conversation: a list does, a single message does not."""
    return previous_group == 0 or record.listed


def _turn(
    record: JsonRecord, session: str, ids: TurnIds, options: ConversationOptions, notes: ImportNotes
) -> Turn | None:
    where, message = f"Message {record.number}", record.value
    if not isinstance(message, Mapping) or "role" not in message:
        raise InvalidInput(f"{where} has no role. A message has role and content.")
    role = message["role"]
    if role in SKIPPED_ROLES:
        notes.skipped[f"{role} messages"] += 1
        return None
    if role not in SPOKEN_ROLES:
        raise InvalidInput(
            f"{where}: role is {role!r}. Use one of: {', '.join((*SPOKEN_ROLES, *SKIPPED_ROLES))}."
        )
    text = _text(message.get("content"), where)
    if not text.strip():
        notes.skipped["without text"] += 1
        return None
    speaker = message.get("name")
    time = _time(message, where)
    notes.undated += time is None
    turn_id = message.get("id") or ids.next_id({"role": role, "name": speaker, "text": text})
    try:
        return Turn(
            options.user_id,
            session,
            role,
            text,
            _aware(time or options.undated, options),
            speaker,
            str(turn_id),
        )
    except InvalidInput as error:
        raise InvalidInput(f"{where} is invalid: {error}") from error


def _text(content: object, where: str) -> str:
    """Return the text of a message, or the joined text of its parts."""
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


def _time(message: Mapping[str, Any], where: str) -> datetime | None:
    given = next(
        ((name, message[name]) for name in TIME_FIELDS if message.get(name) is not None), None
    )
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


def _aware(time: datetime, options: ConversationOptions) -> datetime:
    return time.replace(tzinfo=options.zone) if time.utcoffset() is None else time
