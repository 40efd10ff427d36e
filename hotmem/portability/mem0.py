"""Import of mem0 exports.

Supported are the results of `get_all()` of the open-source and hosted versions, a list of records,
and the lines of an OpenMemory export.

    {"results": [{"id": …, "memory": …, "user_id": …, "metadata": {…}, "categories": [names] or
    null, "created_at": ISO 8601, "updated_at": ISO 8601,
                  "expiration_date": date or null, …}, …], "relations": […]}

The statement may also be called "content" or "text" (OpenMemory), and the metadata may contain a
single category. Graph relations are ignored, because they are extracted from the same statements. A
record of an agent or run has no user; the import provides it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AliasChoices, ConfigDict, Field, TypeAdapter, ValidationError

from hotmem.errors import InvalidInput
from hotmem.portability.foreign_records import ForeignMemory, ImportNotes
from hotmem.portability.records import read_records
from hotmem.portability.user_mapping import UserMapping
from hotmem.text.validation import MAX_STATEMENT_CHARACTERS, validate_id, validate_text

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
