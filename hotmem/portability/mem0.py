"""Memories that mem0 kept.

What `get_all()` returns in its open-source and its hosted form, a list of such, or the lines of
OpenMemory's export.

    {"results": [{"id": …, "memory": …, "user_id": …, "metadata": {…}, "categories": [names] or
    null, "created_at": ISO 8601, "updated_at": ISO 8601,
                  "expiration_date": date or null, …}, …], "relations": […]}

The statement may also be called "content" or "text" (OpenMemory's), and the category stand alone in
the metadata. Relations of its graph are not taken: they are read off the same statements. A record
of an agent or a run alone carries no user: the import names one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AliasChoices, ConfigDict, Field, TypeAdapter, ValidationError

from hotmem.errors import InvalidInput
from hotmem.portability.foreign_records import ForeignMemory, Notes
from hotmem.portability.records import entries
from hotmem.portability.user_mapping import UserMapping
from hotmem.text.validation import MAX_STATEMENT_CHARACTERS, validate_id, validate_text

STATEMENT: Final = ("memory", "content", "text")
"""Names of the field that holds the words."""

LONGEST_REMARK: Final = 2000
"""Characters of the metadata that are kept as a note."""

ALIVE: Final = ("active", "paused")
"""OpenMemory's states of what is not put away."""


@dataclass(frozen=True, slots=True)
class Item:
    """A record as mem0 writes it; other fields are passed over."""

    __pydantic_config__ = ConfigDict(coerce_numbers_to_str=True)

    id: Annotated[str, Field(min_length=1)]
    memory: Annotated[str, Field(strict=True, validation_alias=AliasChoices(*STATEMENT))]
    user_id: str | None = None
    metadata: dict[str, Any] | None = None
    categories: list[str] | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    expiration_date: datetime | None = None
    state: Literal["active", "paused", "archived", "deleted"] = "active"


_ITEM: Final = TypeAdapter(Item)


def memories(
    path: Path, whose: UserMapping, undated: datetime, notes: Notes
) -> Iterator[ForeignMemory]:
    """The memories of a file that are alive.

    Args:
        path: The file.
        whose: Whose records are taken.
        undated: When a memory without a date was stored, UTC.
        notes: Takes what is left out and what is undated.

    Raises:
        InvalidInput: If a record cannot be used, naming it and its field.
    """
    for entry in entries(path):
        where = f"Record {entry.number}"
        item = _item(entry.value, where)
        user_id = whose.taken(item.user_id, where)
        if user_id is None:
            notes.left_out["of other users"] += 1
        elif item.state not in ALIVE:
            notes.left_out[item.state] += 1
        elif not item.memory.strip():
            notes.left_out["without words"] += 1
        else:
            notes.undated += item.created_at is None and item.updated_at is None
            yield _memory(item, user_id, undated, where)


def _item(value: object, where: str) -> Item:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{where} is no object. A record of mem0 has id and memory.")
    try:
        return _ITEM.validate_python(
            {
                name: value[name]
                for name in value
                if value[name] is not None or name not in STATEMENT
            }
        )
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        if first["type"] == "missing":
            raise InvalidInput(
                f"{where} has no {field}. A record of mem0 has id and memory."
            ) from error
        shown = repr(first["input"])
        raise InvalidInput(
            f"{where}: {field} is {shown if len(shown) <= 60 else shown[:57] + '...'}. {first['msg']}."
        ) from error


def _memory(item: Item, user_id: str, undated: datetime, where: str) -> ForeignMemory:
    metadata = dict(item.metadata or {})
    alone = metadata.get("category")
    named = [*(item.categories or []), *([alone] if isinstance(alone, str) else [])]
    noted = item.created_at or item.updated_at or undated
    try:
        return ForeignMemory(
            id=validate_id(item.id, "id"),
            user_id=user_id,
            text=validate_text(item.memory, "memory", MAX_STATEMENT_CHARACTERS),
            categories=tuple(dict.fromkeys(name.strip() for name in named if name.strip())),
            said_at=_utc(item.updated_at or noted),
            stored_at=_utc(noted),
            expires_at=None if item.expiration_date is None else _end(item.expiration_date),
            note="; ".join(
                f"{name}: {value}" for name, value in metadata.items() if name != "category"
            )[:LONGEST_REMARK]
            or None,
        )
    except InvalidInput as error:
        raise InvalidInput(f"{where} cannot be used: {error}") from error


def _utc(moment: datetime) -> datetime:
    """In UTC; where no zone is told, mem0's own code means UTC."""
    return moment.replace(tzinfo=UTC) if moment.utcoffset() is None else moment.astimezone(UTC)


def _end(moment: datetime) -> datetime:
    """When it is over: a day alone counts to its end."""
    return _utc(moment) + timedelta(days=1) if moment.time() == time() else _utc(moment)
