"""Commands that add, change and delete memories."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hotmem.cli import console
from hotmem.cli.console import (
    CategoryOption,
    Database,
    KindOption,
    Time,
    User,
)
from hotmem.cli.memory_file import (
    existing_database,
    full_ids,
    tool_command,
    with_memory,
)
from hotmem.errors import DeletionChanged, InvalidInput
from hotmem.types import Category

if TYPE_CHECKING:
    from hotmem import Memory


@tool_command("store_memory")
def store(
    content: str,
    category: CategoryOption = None,
    kind: KindOption = None,
    importance: int | None = None,
    expires: Time = None,
    tag: list[str] | None = None,
    source: str | None = None,
    note: str | None = None,
) -> None:
    """Store a statement; show its classification, similar memories, and what it ended.

    Options:
        content: The statement, as one quoted sentence.
        importance: Importance, 1 (low) to 5 (high).
        expires: Date or time at which it expires, such as 2026-12-31.
        tag: Tag to add; repeatable.
        source: Where the statement comes from.
        note: Note about the memory.
    """


@tool_command("edit_memory", changes=True)
def edit(
    memory_id: str,
    content: str | None = None,
    category: CategoryOption = None,
    kind: KindOption = None,
    importance: int | None = None,
    note: str | None = None,
    tag: list[str] | None = None,
    expires: Time = None,
    holds: bool | None = None,
) -> None:
    """Change a memory; `hotmem undo` restores what it was before.

    Options:
        memory_id: ID of the memory or its first 4 or more characters, as shown by `hotmem search`.
        content: New text.
        importance: Importance, 1 (low) to 5 (high).
        note: Note about the memory.
        tag: New tag; replaces all present tags; repeatable.
        expires: Date or time at which it expires, such as 2026-12-31.
        holds: Whether the statement still holds.
    """


@tool_command("merge_memories")
def merge(into: str, ids: list[str]) -> None:
    """Merge memories that say the same into one; `hotmem undo` reverts it.

    Options:
        into: ID of the memory to keep.
        ids: IDs of the memories to merge into it.
    """


def forget(
    user: User,
    database: Database = None,
    entity: str | None = None,
    session: str | None = None,
    memory_id: str | None = None,
    everything: bool = False,
    dry_run: Annotated[bool, typer.Option("--dry-run")] = False,
    confirmation: str | None = None,
    yes: Annotated[bool, typer.Option("--yes")] = False,
) -> None:
    """Delete a user's data permanently, and report what was deleted and any remaining copies.

    On a terminal, the command first shows what would be deleted and asks.

    Options:
        entity: Delete everything that mentions this name.
        session: Delete the conversation with this session ID.
        memory_id: Delete the memory with this ID (or its first 4 or more characters) and its source
            turns.
        everything: Delete all data of the user.
        dry_run: Only print what would be deleted, and a confirmation code.
        confirmation: Code from --dry-run; if something else matches now, nothing is deleted.
        yes: Do not ask before the deletion.
    """
    if sum(map(bool, (entity, session, memory_id, everything))) != 1:
        raise InvalidInput(
            "Name what to delete. Pass exactly one of --entity, --session, --memory-id and "
            "--everything."
        )

    async def run(memory: "Memory") -> None:
        full_id = None if memory_id is None else await full_ids(memory, user, "memories", memory_id)
        target: dict[str, Any] = {
            "entity": entity,
            "session_id": session,
            "memory_id": full_id,
            "everything": everything,
        }
        confirmed = None
        asks = confirmation is None and not yes and console.is_terminal()
        if not dry_run and (asks or confirmation is not None):
            preview = await memory.forget(user_id=user, **target, dry_run=True)
            if confirmation is not None and preview.fingerprint != confirmation.strip().lower():
                raise DeletionChanged(
                    "--confirmation is not that of this deletion: it was printed for another one, "
                    "or what matches has changed. Nothing was deleted. Pass --dry-run again."
                )
            if asks and preview.ids and not typer.confirm(f"Delete {preview.summary()}?"):
                console.print_line("nothing was deleted")
                return
            confirmed = preview.ids
        deleted = await memory.forget(user_id=user, **target, dry_run=dry_run, confirmed=confirmed)
        if full_id is not None and not deleted.memories:
            raise InvalidInput(
                f"{memory_id!r} is not the ID of a memory of this user. "
                "`hotmem memories` lists their IDs."
            )
        if session is not None and not deleted.sessions:
            raise InvalidInput(
                f"{session!r} is not a session of this user. `hotmem contextual` shows session IDs."
            )
        if entity is not None and not (deleted.turns or deleted.memories):
            console.screen.print(f"no turn or memory mentions {entity!r}")
            return
        console.screen.print(
            f"{deleted.summary()} would be deleted; to delete no more than this, pass "
            f"--confirmation {deleted.fingerprint}"
            if dry_run
            else str(deleted)
        )

    with_memory(existing_database(database), run, user=user)


@tool_command("undo_decision")
def undo(decision: str) -> None:
    """Undo a decision: an extracted fact, a classification, an edit, a merge or an import.

    Options:
        decision: ID of the decision or its first 4 or more characters; see `decisions`.
    """


@tool_command("optimize_tags")
def optimize_tags(unused_days: int = 1) -> None:
    """Merge tags that mean the same and archive unused ones; `hotmem undo` reverts it.

    Options:
        unused_days: Archive tags of at most one memory that are unused for this many days.
    """


@tool_command("evolve_categories")
def evolve(category: CategoryOption = None) -> None:
    """Rebuild the subcategories of one or all categories; `hotmem undo` reverts it."""


@tool_command("edit_subcategory")
def edit_subcategory(
    category: Annotated[str, typer.Argument(help=f"Category: {', '.join(Category)}.")],
    name: str,
    rename: str | None = None,
    merge: list[str] | None = None,
    split: Annotated[bool | None, typer.Option("--split")] = None,
    pinned: Annotated[bool | None, typer.Option("--pin/--unpin")] = None,
) -> None:
    """Rename, merge, split or pin a subcategory; `hotmem undo` reverts it.

    Options:
        name: Name of the subcategory; see `subcategories`.
        rename: New name.
        merge: Subcategory whose memories move into this one; repeatable.
        split: Split it by topic into two or three.
        pinned: Keep it as it is, or let it change again.
    """
