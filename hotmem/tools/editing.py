"""edit_memory: change the text, classification, importance, tags, note or validity of a memory.

Only the given arguments change. They override automatic classification, and the change is recorded
as a decision.
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
from hotmem.operations.requests import CLOSED, Id, Importance, Tag
from hotmem.retrieval.query import NOBODY
from hotmem.storage import queries
from hotmem.storage.queries.edits import Wording
from hotmem.text.validation import MAX_STATEMENT_CHARACTERS, validate_text
from hotmem.types import Category, Kind, Vector
from hotmem.understanding.query.entities import find_entities

EDITABLE_COLUMNS: Final = ("kind", "category", "importance", "note")
"""Arguments that are stored in columns of the same name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditArguments:
    """Arguments of `edit_memory`; None leaves a value unchanged.

    Attributes:
        id: ID of the memory.
        content: New text.
        kind: Kind of statement.
        category: Category.
        importance: 1 (low) to 5 (high).
        tags: Tags that replace the present ones.
        note: Note of the user; "" removes it.
        expires_at: Time at which it becomes invalid, with time zone.
        holds: False ends its validity now; True makes it valid without an end.
        reason: Reason recorded with the decision.
    """

    __pydantic_config__ = CLOSED

    id: Annotated[Id, Field(description="ID of the memory.")]
    content: (
        Annotated[str, Field(description="New text, as a sentence that can be understood alone.")]
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
class EditResult:
    """Result of `edit_memory`.

    Attributes:
        id: ID of the memory; a new one if its text changed.
        changed: Names of the changed values.
    """

    id: str
    changed: tuple[str, ...]


async def edit_memory(memory: Memory, user_id: str, arguments: EditArguments) -> EditResult:
    """Change a memory.

    Raises:
        InvalidInput: If the memory is not among the user's, or an argument is invalid.
        StoreError: If the file cannot be written.
    """
    if arguments.expires_at is not None and arguments.holds is not None:
        raise InvalidInput(
            "expires_at (--expires) and holds both set the validity. Pass only one of them."
        )
    content = (
        None
        if arguments.content is None
        else validate_text(arguments.content, "content", MAX_STATEMENT_CHARACTERS)
    )
    runtime, now = memory.runtime, datetime.now(UTC)
    user = await runtime.database.read_all(queries.users.find, user_id) or NOBODY
    stored = await runtime.database.read(queries.edits.current_fields, user, arguments.id)
    columns = _changed_columns(arguments, stored, now)
    changed = (*columns, *(("tags",) if arguments.tags is not None else ()))
    if changed:
        tags = (
            None
            if arguments.tags is None
            else await asyncio.to_thread(_embed_tags, memory, arguments.tags)
        )
        reason = f"{_describe_change(changed, columns, stored)}: {arguments.reason}"
        await runtime.database.write(
            queries.embedding.refile,
            user,
            runtime.write.encoder_id,
            arguments.id,
            columns,
            tags,
            now,
            reason,
        )
    if content is None or content == stored["text"]:
        return EditResult(arguments.id, changed)
    wording = await asyncio.to_thread(_new_wording, memory, content, stored)
    reason = f"new words: {arguments.reason}"
    new_id = await runtime.database.write(
        queries.embedding.reword,
        user,
        runtime.write.encoder_id,
        arguments.id,
        wording,
        now,
        reason,
    )
    return EditResult(new_id, ("content", *changed))


def edited_value(text: str, value: str, edited: str) -> str:
    """Return the part of an edited text that replaced a value; "" if other parts changed too.

    Args:
        text: Text before the edit.
        value: Part of the text.
        edited: Text after the edit.
    """
    before, found, after = text.rpartition(value) if value else ("", "", "")
    unchanged = (
        bool(found)
        and edited.startswith(before)
        and edited.endswith(after)
        and len(before) + len(after) < len(edited)
    )
    return edited[len(before) : len(edited) - len(after)].strip() if unchanged else ""


def _embed_tags(memory: Memory, given: Sequence[str]) -> dict[str, Vector]:
    """Return the distinct tags in lower case, with their vectors."""
    names = tuple(dict.fromkeys(tag.strip().lower() for tag in given))
    return (
        dict(zip(names, memory.runtime.recall.encoder.encode(names), strict=True)) if names else {}
    )


def _new_wording(memory: Memory, content: str, stored: Mapping[str, Any]) -> Wording:
    """Return the new text with its subject, relation and object.

    The relation is kept if only its value changed; otherwise there is none.
    """
    value = edited_value(stored["text"], stored["object"], content) if stored["relation"] else ""
    doc = memory.runtime.recall.language.parse([content], names=False)[0]
    return Wording(
        text=content,
        subject=stored["subject"] if value else "",
        relation=stored["relation"] if value else "",
        object=value or content,
        entities=find_entities(doc),
        vector=encode_tokens(memory.runtime.recall.encoder, [content])[0].vector,
    )


def _changed_columns(
    arguments: EditArguments, stored: Mapping[str, Any], now: datetime
) -> dict[str, Any]:
    """Return the columns whose values change."""
    wanted: dict[str, Any] = {
        name: value for name in EDITABLE_COLUMNS if (value := getattr(arguments, name)) is not None
    }
    if "note" in wanted:
        wanted["note"] = wanted["note"].strip() or None
    if arguments.expires_at is not None:
        wanted["valid_until"] = arguments.expires_at
    if arguments.holds is not None and arguments.holds != (
        stored["valid_until"] is None or stored["valid_until"] > now
    ):
        wanted["valid_until"] = None if arguments.holds else now
    if arguments.holds and stored["doubted_at"] is not None:
        wanted["doubted_at"] = None
    return {column: value for column, value in wanted.items() if value != stored[column]}


def _describe_change(
    changed: Sequence[str], columns: Mapping[str, Any], stored: Mapping[str, Any]
) -> str:
    """Describe a change without text or tags of the memory."""
    return ", ".join(
        f"{name} {stored[name]} → {columns[name]}"
        if name in ("kind", "category", "importance")
        else {"valid_until": "validity", "doubted_at": "no longer in doubt"}.get(name, name)
        for name in changed
    )
