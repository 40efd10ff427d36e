"""edit_memory: what a person knows better.

New words take the old ones' place; category, importance, tags and validity are set as asked.

Only what is given changes. What was decided by itself before is overridden, and the record says by
what.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import AwareDatetime, Field

from hotmem.errors import InvalidInput
from hotmem.memory import Memory
from hotmem.models import encode_tokens
from hotmem.operations.requests import CLOSED, Importance, Tag
from hotmem.retrieval.query import NOBODY
from hotmem.storage import queries
from hotmem.storage.queries.edits import Wording
from hotmem.text.validation import MAX_STATEMENT_CHARACTERS, validate_text
from hotmem.types import Category, Kind, Vector
from hotmem.understanding.query.entities import find_entities

PLAIN: Final = {
    "kind": "kind",
    "category": "category",
    "importance": "importance",
    "note": "note",
}
"""Arguments that are columns, and how those are called."""

NAMES: Final = {"note": "note", "valid_until": "validity"}
"""What columns are called in the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What is to be changed of a memory; None stays as it is.

    Attributes:
        id: The memory's id.
        content: Its words.
        kind: What sort of statement it is.
        category: Where it belongs.
        importance: 1 (passing) to 5 (must not be forgotten).
        tags: Words it is filed under, instead of those it has.
        note: The user's note about it; "" for none.
        expires_at: When it stops being true, with time zone.
        holds: Whether it is true: False ends it now, True lets it hold again for as long as nothing
            ends it.
        reason: Why, for the record.
    """

    __pydantic_config__ = CLOSED

    id: Annotated[str, Field(description="The id of the memory.")]
    content: (
        Annotated[
            str, Field(description="Its words, as a whole sentence that can be understood alone.")
        ]
        | None
    ) = None
    kind: Kind | None = None
    category: Category | None = None
    importance: Importance | None = None
    tags: Annotated[tuple[Tag, ...], Field(max_length=50)] | None = None
    note: Annotated[str, Field(max_length=2000)] | None = None
    expires_at: AwareDatetime | None = None
    holds: bool | None = None
    reason: Annotated[str, Field(max_length=500)] = "asked to"


@dataclass(frozen=True, slots=True)
class Edited:
    """What became of an edit.

    The memory's id, which is a new one if its words changed, and the names of what changed.
    """

    id: str
    changed: tuple[str, ...]


async def edit_memory(memory: Memory, user_id: str, asked: Edit) -> Edited:
    """Changes a memory.

    Raises:
        InvalidInput: If it is not among the user's memories, or an argument cannot be used.
        StoreError: If it could not be written.
    """
    if asked.expires_at is not None and asked.holds is not None:
        raise InvalidInput(
            "expires_at (--expires) and holds both say until when it is true. Pass one of them."
        )
    content = (
        None
        if asked.content is None
        else validate_text(asked.content, "content", MAX_STATEMENT_CHARACTERS)
    )
    user, now = (
        await memory.runtime.storage.database.read(queries.users.find, user_id) or NOBODY,
        datetime.now(UTC),
    )
    held = await memory.runtime.storage.database.read(queries.edits.standing, user, asked.id)
    columns = _columns(asked, held, now)
    changed = (*columns, *(("tags",) if asked.tags is not None else ()))
    if changed:
        tags = None if asked.tags is None else await asyncio.to_thread(_tags, memory, asked.tags)
        await memory.runtime.database.write(
            queries.embedding.refile,
            user,
            memory.runtime.write.encoder_id,
            asked.id,
            columns,
            tags,
            now,
            f"{_told(changed, columns, held)}: {asked.reason}",
        )
    if content is None or content == held["text"]:
        return Edited(asked.id, changed)
    wording = await asyncio.to_thread(_wording, memory, content, held)
    return Edited(
        await memory.runtime.database.write(
            queries.embedding.reword,
            user,
            memory.runtime.write.encoder_id,
            asked.id,
            wording,
            now,
            f"new words: {asked.reason}",
        ),
        ("content", *changed),
    )


def value_in(text: str, value: str, edited: str) -> str:
    """What stands in an edited text where the value stood, "" unless all around it is as it was.

    Args:
        text: The text before.
        value: A part of it.
        edited: The text after.
    """
    before, found, behind = text.rpartition(value) if value else ("", "", "")
    kept = (
        bool(found)
        and edited.startswith(before)
        and edited.endswith(behind)
        and len(before) + len(behind) < len(edited)
    )
    return edited[len(before) : len(edited) - len(behind)].strip() if kept else ""


def _tags(memory: Memory, given: Sequence[str]) -> dict[str, Vector]:
    """The tags, in lower case and once each, with their embeddings."""
    names = tuple(dict.fromkeys(tag.strip().lower() for tag in given))
    return (
        dict(zip(names, memory.runtime.recall.encoder.encode(names), strict=True)) if names else {}
    )


def _wording(memory: Memory, content: str, held: Mapping[str, Any]) -> Wording:
    """The new words with their parts.

    Those of the old ones where only the value is another, else none.
    """
    value = value_in(held["text"], held["object"], content) if held["relation"] else ""
    doc = memory.runtime.recall.language.parse([content], names=False)[0]
    return Wording(
        text=content,
        subject=held["subject"] if value else "",
        relation=held["relation"] if value else "",
        object=value or content,
        entities=find_entities(doc),
        vector=encode_tokens(memory.runtime.recall.encoder, [content])[0].vector,
    )


def _columns(asked: Edit, held: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """The columns whose values are asked to be others."""
    wanted: dict[str, Any] = {
        column: getattr(asked, name)
        for name, column in PLAIN.items()
        if getattr(asked, name) is not None
    }
    if "note" in wanted:
        wanted["note"] = wanted["note"].strip() or None
    if asked.expires_at is not None:
        wanted["valid_until"] = asked.expires_at
    if asked.holds is not None and asked.holds != (
        held["valid_until"] is None or held["valid_until"] > now
    ):
        wanted["valid_until"] = None if asked.holds else now
    return {column: value for column, value in wanted.items() if value != held[column]}


def _told(changed: Sequence[str], columns: Mapping[str, Any], held: Mapping[str, Any]) -> str:
    """What was changed, without any words of the memory or its tags."""
    return ", ".join(
        f"{name} {held[name]} → {columns[name]}"
        if name in ("kind", "category", "importance")
        else NAMES.get(name, name)
        for name in changed
    )
