"""Import of chat messages, as language model APIs and pipecat have them, and of mem0's export.

    [{"role": "user", "content": "…"}, {"role": "assistant", "content": [{"type": "text", "text":
    "…"}]}, …]

Also supported: {"messages": […]}, one such object per line for several conversations, or one
message per line. "name", "id" and a time ("timestamp", "created_at" or "at": ISO 8601, or seconds
since 1970) are used if present. Only messages of user and assistant are imported; instructions,
tool calls and tool results are skipped.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta, tzinfo
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import ijson
from ijson.common import ObjectBuilder
from pydantic import AliasChoices, ConfigDict, Field, TypeAdapter, ValidationError

from hotmem.errors import InvalidInput
from hotmem.text.validation import MAX_STATEMENT_CHARACTERS, validate_id, validate_text
from hotmem.types import Category, Role, Turn

LISTS: Final = ("results", "memories", "messages")
"""Keys of an object whose value is the list of records."""

_OPENS: Final = ("start_map", "start_array")
_CLOSES: Final = ("end_map", "end_array")

Event = tuple[str, str, Any]


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """A record of a file.

    Attributes:
        group: Number of the top-level value that contains it, from 1.
        number: Number of the record in the file, from 1.
        listed: Whether the top-level value is or contains a list of records.
        value: The record.
    """

    group: int
    number: int
    listed: bool
    value: Any


def read_records(path: Path) -> Iterator[JsonRecord]:
    """Read the records of a file in their order.

    Raises:
        InvalidInput: If the file cannot be read, is not JSON, or is truncated; the message names
            the last record.
    """
    group = number = 0
    try:
        with path.open("rb") as file:
            if file.read(3) != b"\xef\xbb\xbf":
                file.seek(0)
            events = ijson.parse(file, multiple_values=True, use_float=True)
            for event in events:
                group += 1
                for listed, value in _records_in(event, events):
                    number += 1
                    yield JsonRecord(group, number, listed, value)
    except (ijson.JSONError, UnicodeDecodeError) as error:
        message = str(error).lower()
        truncated = "premature" in message or "incomplete json content" in message
        problem = "ends in the middle of" if truncated else "is not JSON after"
        raise InvalidInput(
            f"{path} {problem} record {number + truncated}. Export again; nothing was imported."
        ) from error
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read ({type(error).__name__}). Pass a readable file."
        ) from error


def _records_in(first: Event, events: Iterator[Event]) -> Iterator[tuple[bool, Any]]:
    """Return the records of a top-level value, and whether they are in a list.

    They are the items of a list, of the list in an object, or the value itself.
    """
    _, event, value = first
    if event == "start_array":
        yield from ((True, item) for item in _items(events))
        return
    if event != "start_map":
        yield False, value
        return
    builder, listed = ObjectBuilder(), False
    builder.event(event, value)
    for _, event, value in events:
        builder.event(event, value)
        if event == "end_map":
            break
        following = next(events)
        if value in LISTS and following[1] == "start_array":
            listed = True
            yield from ((True, item) for item in _items(events))
            builder.event("null", None)
        else:
            _build(builder, following, events)
    if not listed:
        yield False, builder.value


def _items(events: Iterator[Event]) -> Iterator[Any]:
    for event in events:
        if event[1] == "end_array":
            return
        item = ObjectBuilder()
        _build(item, event, events)
        yield item.value


def _build(builder: ObjectBuilder, first: Event, events: Iterator[Event]) -> None:
    """Build one value from its events."""
    _, event, value = first
    builder.event(event, value)
    depth = int(event in _OPENS)
    while depth:
        _, event, value = next(events)
        builder.event(event, value)
        depth += (event in _OPENS) - (event in _CLOSES)


@dataclass(frozen=True, slots=True)
class UserMapping:
    """Selection of records and their target user.

    Attributes:
        user_id: Target user ID; None is the user ID of each record.
        from_user: User ID in the file whose records are imported; other records are skipped. None
            imports the records of `user_id` and refuses others.
    """

    user_id: str | None = None
    from_user: str | None = None

    def target(self, given: object, where: str) -> str | None:
        """Return the target user of a record; None if the record is skipped.

        Args:
            given: User ID of the record, or None.
            where: Name of the record for the error.

        Raises:
            InvalidInput: If neither the record nor the import has a user ID, or they differ.
        """
        if given is not None and not isinstance(given, str):
            raise InvalidInput(f"{where}: user_id is {type(given).__name__}, not a string.")
        if self.from_user is not None:
            return self.user_id if given == self.from_user else None
        if self.user_id is not None:
            if given is not None and given != self.user_id:
                raise InvalidInput(
                    f"{where}: user_id is {given!r}. Only records of {self.user_id!r} are "
                    f"imported; pass from_user (--from-user) {given!r} to import these as that "
                    "user's."
                )
            return self.user_id
        if not given:
            raise InvalidInput(
                f"{where} has no user_id. Add one to every record, or pass user_id (--user)."
            )
        return validate_id(given, "user_id")


ALL_USERS: Final = UserMapping()
"""Every record keeps its own user ID."""


@dataclass(frozen=True, slots=True)
class ForeignMemory:
    """A statement stored by another program.

    Attributes:
        id: Its ID there.
        user_id: Target user ID.
        text: The statement.
        categories: Its categories there.
        said_at: When it was last stated or changed, UTC.
        stored_at: When it was stored, UTC.
        expires_at: When it becomes invalid, UTC; None for never.
        note: Its metadata as text.
    """

    id: str
    user_id: str
    text: str
    categories: tuple[str, ...]
    said_at: datetime
    stored_at: datetime
    expires_at: datetime | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ConversationOptions:
    """What a transcript or a list of messages does not contain itself.

    Attributes:
        user_id: Target user ID.
        session: Session ID; further sessions of the file add a number or their start time.
        bots: Names of the speakers that are the bot, in lower case.
        zone: Time zone of times without one.
        undated: Time of turns without a date.
        day_first: Whether 06/05/2024 is in May; None detects it.
    """

    user_id: str
    session: str
    bots: frozenset[str]
    zone: tzinfo
    undated: datetime
    day_first: bool | None = None


@dataclass(slots=True)
class ImportNotes:
    """Counts and warnings collected while a foreign file is read.

    Attributes:
        skipped: Skipped records, by reason.
        undated: Records without a date.
        categories: Memories by foreign category and category of HotMem.
        unsure: Memories with an uncertain category, by foreign category; "" for none.
        unsure_ids: IDs of some of these memories.
        warnings: Other warnings, as sentences.
    """

    skipped: Counter[str] = field(default_factory=Counter)
    undated: int = 0
    categories: defaultdict[str, Counter[Category]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    unsure: Counter[str] = field(default_factory=Counter)
    unsure_ids: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class TurnIds:
    """IDs for turns without one.

    An ID depends on the turn and all turns before it, so that the turns of a file that has grown
    keep their IDs.
    """

    def __init__(self, session: str) -> None:
        self._last = session.encode()

    def next_id(self, fields: Mapping[str, str | None]) -> str:
        """Return the ID of the next turn, given its fields in the file."""
        content = "\0".join(f"{name}\0{value}" for name, value in sorted(fields.items()))
        self._last = blake2b(self._last + content.encode(errors="replace"), digest_size=16).digest()
        return self._last.hex()


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
            # a list is a conversation; single messages of a file are one together
            conversations += group == 0 or record.listed
            group = record.group
            if conversations > 1:
                session = f"{options.session} {conversations}"
                ids = TurnIds(session)
        turn = _turn(record, session, ids, options, notes)
        if turn is not None:
            yield turn


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


TEXT_FIELDS: Final = ("memory", "content", "text")
"""Possible names of the field with the statement."""

MAX_NOTE: Final = 2000
"""Maximum characters of metadata kept as a note."""

ACTIVE_STATES: Final = ("active", "paused")
"""OpenMemory states of records that are imported."""


@dataclass(frozen=True, slots=True)
class Mem0Record:
    """A record of mem0; other fields are ignored."""

    __pydantic_config__ = ConfigDict(coerce_numbers_to_str=True)

    id: Annotated[str, Field(min_length=1)]
    memory: Annotated[str, Field(strict=True, validation_alias=AliasChoices(*TEXT_FIELDS))]
    user_id: str | None = None
    metadata: dict[str, Any] | None = None
    categories: list[str] | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    expiration_date: datetime | None = None
    state: Literal["active", "paused", "archived", "deleted"] = "active"


_ADAPTER: Final = TypeAdapter(Mem0Record)


def memories(
    path: Path, users: UserMapping, undated: datetime, notes: ImportNotes
) -> Iterator[ForeignMemory]:
    """Read the active memories of a file.

    Args:
        path: The file.
        users: Selection of records.
        undated: Time of memories without a date, UTC.
        notes: Collects skipped and undated records.

    Raises:
        InvalidInput: If a record is invalid; the message names it and its field.
    """
    for entry in read_records(path):
        where = f"Record {entry.number}"
        record = _record(entry.value, where)
        user_id = users.target(record.user_id, where)
        if user_id is None:
            notes.skipped["of other users"] += 1
        elif record.state not in ACTIVE_STATES:
            notes.skipped[record.state] += 1
        elif not record.memory.strip():
            notes.skipped["without text"] += 1
        else:
            notes.undated += record.created_at is None and record.updated_at is None
            yield _memory(record, user_id, undated, where)


def _record(value: object, where: str) -> Mem0Record:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{where} is not an object. A mem0 record has id and memory.")
    try:
        return _ADAPTER.validate_python(
            {
                name: value[name]
                for name in value
                if value[name] is not None or name not in TEXT_FIELDS
            }
        )
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        if first["type"] == "missing":
            raise InvalidInput(
                f"{where} has no {field}. A mem0 record has id and memory."
            ) from error
        value = repr(first["input"])
        shown = value if len(value) <= 60 else value[:57] + "..."
        raise InvalidInput(f"{where}: {field} is {shown}. {first['msg']}.") from error


def _memory(record: Mem0Record, user_id: str, undated: datetime, where: str) -> ForeignMemory:
    metadata = dict(record.metadata or {})
    single = metadata.get("category")
    categories = [*(record.categories or []), *([single] if isinstance(single, str) else [])]
    stored = record.created_at or record.updated_at or undated
    try:
        return ForeignMemory(
            id=validate_id(record.id, "id"),
            user_id=user_id,
            text=validate_text(record.memory, "memory", MAX_STATEMENT_CHARACTERS),
            categories=tuple(dict.fromkeys(name.strip() for name in categories if name.strip())),
            said_at=_utc(record.updated_at or stored),
            stored_at=_utc(stored),
            expires_at=None if record.expiration_date is None else _end(record.expiration_date),
            note="; ".join(
                f"{name}: {value}" for name, value in metadata.items() if name != "category"
            )[:MAX_NOTE]
            or None,
        )
    except InvalidInput as error:
        raise InvalidInput(f"{where} is invalid: {error}") from error


def _utc(moment: datetime) -> datetime:
    """Convert to UTC; times without a time zone are UTC in mem0."""
    return moment.replace(tzinfo=UTC) if moment.utcoffset() is None else moment.astimezone(UTC)


def _end(moment: datetime) -> datetime:
    """Return the end of validity; a date without time is valid until the end of the day."""
    return _utc(moment) + timedelta(days=1) if moment.time() == time() else _utc(moment)
