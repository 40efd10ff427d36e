"""edit_memory: change the text, classification, importance, tags, note or validity of a memory.

Only the given arguments change. They override automatic classification, and the change is recorded
as a decision.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

from pydantic import AwareDatetime, Field

from hotmem.consolidation.tagging import consolidate_tags
from hotmem.core.validation import counted
from hotmem.errors import InvalidInput
from hotmem.memory import Memory
from hotmem.memory.runtime import Runtime
from hotmem.models import encode_tokens
from hotmem.operations.requests import Id, Importance, Request, Tag
from hotmem.retrieval.query import NOBODY
from hotmem.storage import queries
from hotmem.storage.queries.edits import Wording
from hotmem.text.validation import MAX_STATEMENT_CHARACTERS, validate_text
from hotmem.types import Category, Kind, Subcategory, TagUse, UserKey, Vector
from hotmem.understanding.query.entities import find_entities

EDITABLE_COLUMNS: Final = ("kind", "category", "importance", "note")
"""Arguments that are stored in columns of the same name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditArguments(Request):
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
    """Change the text, category, kind, importance, tags, note or validity of a memory.

    It can be undone.

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
            queries.edits.refile,
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
        queries.edits.reword,
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
        value: Part of the text; of the whole, nothing was replaced.
        edited: Text after the edit.
    """
    before, found, after = text.rpartition(value) if value not in ("", text) else ("", "", "")
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


MAX_TAGS: Final = 20_000
"""Tags compared pairwise, most recent first."""

EMBEDDING_BATCH: Final = 16
"""Tags embedded at once; recalls take priority between batches."""


@dataclass(frozen=True, slots=True)
class OptimizeTagsArguments(Request):
    """Arguments of `optimize_tags`.

    Attributes:
        unused_days: Days without use after which a tag of at most one memory is archived; the
            next memory with the tag restores it.
    """

    unused_days: Annotated[int, Field(ge=0, le=36_500)] = 1


@dataclass(frozen=True, slots=True)
class TagReport:
    """Result of `optimize_tags`.

    Attributes:
        decision: ID of the decision, for `undo_decision`.
        before: Number of tags before.
        merged: Merged tags and the tag that replaces each.
        archived: Number of archived tags; a tag is restored when it is used again.
    """

    decision: str
    before: int
    merged: Mapping[str, str]
    archived: int


async def optimize_tags(
    memory: Memory, user_id: str, arguments: OptimizeTagsArguments
) -> TagReport:
    """Merge tags that mean the same and archive hardly used ones. It can be undone."""
    runtime, unused = memory.runtime, timedelta(days=arguments.unused_days)
    user = await runtime.database.read_all(queries.users.find, user_id) or NOBODY
    return await merge_tags(runtime, user, unused, datetime.now(UTC))


async def merge_tags(
    runtime: Runtime, user: UserKey, unused: timedelta, now: datetime
) -> TagReport:
    """Merge and archive the tags of one user.

    Tags are embedded here and not during conversations.

    Args:
        runtime: The open memory.
        user: Key of the user.
        unused: Time without use after which a tag of at most one memory is archived.
        now: Current time, UTC.
    """
    tags, pairs = await find_mergeable_tags(runtime, user)
    reason = f"{counted(len(pairs), 'tag means', 'tags mean')} the same as another"
    numbers = [(tag.key, into.key) for tag, into in pairs]
    await runtime.priority.wait_idle()
    decision, archived = await runtime.database.write(
        queries.tags.consolidate, user, numbers, now - unused, reason, now
    )
    return TagReport(decision, len(tags), {tag.name: into.name for tag, into in pairs}, archived)


async def find_mergeable_tags(
    runtime: Runtime, user: UserKey
) -> tuple[list[TagUse], list[tuple[TagUse, TagUse]]]:
    """Find tags that mean the same as another, each with the tag that would replace it.

    Args:
        runtime: The open memory; tags without a vector get one. Recalls go before each step.
        user: Key of the user.

    Returns:
        All tags that are compared, and the pairs.
    """
    database, priority = runtime.database, runtime.priority
    encode, encoder_id = runtime.recall.encoder.encode, runtime.write.encoder_id
    await priority.wait_idle()
    while waiting := await database.read(queries.tags.unembedded, user, EMBEDDING_BATCH):
        keys, names = zip(*waiting, strict=True)
        rows = await asyncio.to_thread(encode, names)
        await database.write(queries.tags.embed, user, encoder_id, list(keys), list(rows))
        await priority.wait_idle()
    tags, rows = await database.read(queries.tags.counted, user, MAX_TAGS)
    return tags, await asyncio.to_thread(consolidate_tags, tags, rows, priority.wait_idle_blocking)


Name = Annotated[str, Field(min_length=1, max_length=80)]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditSubcategoryArguments(Request):
    """Arguments of `edit_subcategory`: which subcategory, and exactly one change.

    Attributes:
        category: Its category.
        name: Its name.
        new_name: New name.
        merge: Names of subcategories whose memories move into it.
        split: True splits it by topic into two or three.
        pinned: True keeps it as it is when its category evolves; False lets it change again.
    """

    category: Category
    name: Annotated[Name, Field(description="Name of the subcategory.")]
    new_name: Annotated[Name, Field(description="New name.")] | None = None
    merge: Annotated[
        tuple[Name, ...],
        Field(description="Names of subcategories whose memories move into it.", max_length=20),
    ] = ()
    split: Annotated[bool, Field(description="Split it by topic into two or three.")] = False
    pinned: (
        Annotated[bool, Field(description="True: keep it as it is; false: let it change again.")]
        | None
    ) = None


@dataclass(frozen=True, slots=True)
class SubcategoryChange:
    """Result of `edit_subcategory`.

    Attributes:
        decision: ID of the decision, for undoing it.
        subcategories: The subcategories of the category afterwards, largest first.
    """

    decision: str
    subcategories: tuple[Subcategory, ...]


async def edit_subcategory(
    memory: Memory, user_id: str, arguments: EditSubcategoryArguments
) -> SubcategoryChange:
    """Rename, merge, split or pin a subcategory.

    It then stays as it is when its category evolves. It can be undone.

    Raises:
        InvalidInput: If not exactly one change is given, or it is impossible.
        StoreError: If it could not be written.
    """
    category, name = arguments.category, arguments.name
    changes = (
        arguments.new_name is not None,
        bool(arguments.merge),
        arguments.split,
        arguments.pinned is not None,
    )
    if sum(changes) != 1:
        raise InvalidInput(
            "Pass exactly one of new_name (--rename), merge (--merge), split (--split) and "
            "pinned (--pin, --unpin)."
        )
    if arguments.new_name is not None:
        decision = await memory.subcategories.rename(user_id, category, name, arguments.new_name)
    elif arguments.merge:
        decision = await memory.subcategories.merge(user_id, category, name, arguments.merge)
    elif arguments.split:
        decision = await memory.subcategories.split(user_id, category, name)
    else:
        decision = await memory.subcategories.pin(
            user_id, category, name, pinned=bool(arguments.pinned)
        )
    known = await memory.subcategories.of_user(user_id)
    return SubcategoryChange(decision, tuple(one for one in known if one.category == category))
