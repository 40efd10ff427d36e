"""Commands that add, change and delete memories."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hotmem.cli import console
from hotmem.cli.console import (
    CategoryOption,
    Database,
    Expires,
    Importance,
    Json,
    KindOption,
    MemoryId,
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
    content: Annotated[str, typer.Argument(help="The statement, as one quoted sentence.")],
    user: User,
    database: Database = None,
    category: CategoryOption = None,
    kind: KindOption = None,
    importance: Importance = None,
    expires: Expires = None,
    tag: Annotated[list[str] | None, typer.Option(help="Tag to add; repeatable.")] = None,
    source: Annotated[str | None, typer.Option(help="Where the statement comes from.")] = None,
    note: Annotated[str | None, typer.Option(help="Note about the memory.")] = None,
    json_: Json = False,
) -> None:
    """Store a statement; show its classification, similar memories, and what it ended."""


@tool_command("edit_memory", changes=True)
def edit(
    memory_id: MemoryId,
    user: User,
    database: Database = None,
    content: Annotated[str | None, typer.Option(help="New text.")] = None,
    category: CategoryOption = None,
    kind: KindOption = None,
    importance: Importance = None,
    note: Annotated[str | None, typer.Option(help="Note about the memory.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="New tag; replaces all present tags; repeatable.")
    ] = None,
    expires: Expires = None,
    holds: Annotated[bool | None, typer.Option(help="Whether the statement still holds.")] = None,
    json_: Json = False,
) -> None:
    """Change a memory; `hotmem undo` restores what it was before."""


@tool_command("merge_memories")
def merge(
    into: Annotated[str, typer.Argument(help="ID of the memory to keep.")],
    ids: Annotated[list[str], typer.Argument(help="IDs of the memories to merge into it.")],
    user: User,
    database: Database = None,
    json_: Json = False,
) -> None:
    """Merge memories that say the same into one; `hotmem undo` reverts it."""


def forget(
    user: User,
    database: Database = None,
    entity: Annotated[
        str | None, typer.Option(help="Delete everything that mentions this name.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="Delete the conversation with this session ID.")
    ] = None,
    memory_id: Annotated[
        str | None,
        typer.Option(
            help="Delete the memory with this ID (or its first 4 or more characters) and its"
            " source turns."
        ),
    ] = None,
    everything: Annotated[bool, typer.Option(help="Delete all data of the user.")] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only print what would be deleted, and a confirmation code."
        ),
    ] = False,
    confirmation: Annotated[
        str | None,
        typer.Option(
            help="Code from --dry-run; if something else matches now, nothing is deleted."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before the deletion.")] = False,
) -> None:
    """Delete a user's data permanently, and report what was deleted and any remaining copies.

    On a terminal, the command first shows what would be deleted and asks.
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
def undo(
    decision: Annotated[
        str,
        typer.Argument(
            help="ID of the decision or its first 4 or more characters; see `decisions`."
        ),
    ],
    user: User,
    database: Database = None,
    json_: Json = False,
) -> None:
    """Undo a decision: an extracted fact, a classification, an edit, a merge or an import."""


@tool_command("optimize_tags")
def optimize_tags(
    user: User,
    database: Database = None,
    unused_days: Annotated[
        int,
        typer.Option(help="Archive tags of at most one memory that are unused for this many days."),
    ] = 1,
    json_: Json = False,
) -> None:
    """Merge tags that mean the same and archive unused ones; `hotmem undo` reverts it."""


@tool_command("evolve_categories")
def evolve(
    user: User,
    database: Database = None,
    category: CategoryOption = None,
    json_: Json = False,
) -> None:
    """Rebuild the subcategories of one or all categories; `hotmem undo` reverts it."""


@tool_command("edit_subcategory")
def edit_subcategory(
    category: Annotated[str, typer.Argument(help=f"Category: {', '.join(Category)}.")],
    name: Annotated[str, typer.Argument(help="Name of the subcategory; see `subcategories`.")],
    user: User,
    database: Database = None,
    rename: Annotated[str | None, typer.Option(help="New name.")] = None,
    merge: Annotated[
        list[str] | None,
        typer.Option(help="Subcategory whose memories move into this one; repeatable."),
    ] = None,
    split: Annotated[
        bool | None, typer.Option("--split", help="Split it by topic into two or three.")
    ] = None,
    pinned: Annotated[
        bool | None,
        typer.Option("--pin/--unpin", help="Keep it as it is, or let it change again."),
    ] = None,
    json_: Json = False,
) -> None:
    """Rename, merge, split or pin a subcategory; `hotmem undo` reverts it."""
