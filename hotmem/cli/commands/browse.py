"""Commands that show what is stored about a user."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hotmem.cli import console
from hotmem.cli.console import Database, Json, Overwrite, Png, Time, User
from hotmem.cli.memory_file import existing_database, tool_command, with_memory, with_storage
from hotmem.errors import InvalidInput
from hotmem.settings import Settings
from hotmem.types import DecisionAction

if TYPE_CHECKING:
    from hotmem import Memory


def inspect(
    user: User,
    file: Annotated[Path | None, typer.Argument()] = None,
    database: Database = None,
    port: Annotated[int, typer.Option(min=0, max=65535)] = 0,
) -> None:
    """Serve a local web page to view, edit and delete what is stored about a user.

    Options:
        file: Memory file. (default: HOTMEM_DATABASE, memory.db)
        port: Local port; 0 chooses a free port.
    """
    if file is not None and database is not None:
        raise InvalidInput(
            "The memory file is given twice. Pass it either as argument or with --database."
        )
    with console.requires_extra("inspect", "packages of the inspector"):
        from hotmem.inspector.server import serve

    with_memory(
        existing_database(database if file is None else str(file)),
        lambda memory: serve(memory, user, port, Settings().time_zone),
        user=user,
    )


def users(
    database: Database = None,
    limit: Annotated[int, typer.Option(min=1)] = 1000,
    json_: Json = False,
) -> None:
    """List all user IDs, with the number of turns and memories of each.

    Options:
        limit: Maximum users, in order of creation.
    """
    from hotmem.operations.results import as_json
    from hotmem.storage import queries

    found = with_storage(
        existing_database(database),
        lambda storage: storage.database.read_all(queries.users.overview, limit),
    )
    if json_:
        console.print_json(as_json(found))
        return
    from hotmem.cli.tables import user_table

    console.screen.print(user_table(found) if found else "no users")


def memories(
    user: User, database: Database = None, past: bool = False, json_: Json = False
) -> None:
    """List the memories of a user.

    Options:
        past: Include memories that are no longer valid.
    """
    from hotmem.cli.tables import memory_table
    from hotmem.operations.results import as_json

    async def run(memory: "Memory") -> None:
        found = await memory.memories(user, past=past)
        if json_:
            console.print_json(as_json(found))
            return
        console.screen.print(
            memory_table(found)
            if found
            else f"no memories of {user}; `hotmem stats` counts the stored turns"
        )

    with_memory(existing_database(database), run, user=user)


@tool_command("memory_stats")
def stats() -> None:
    """Count turns, sessions, memories and tags of a user."""


@tool_command("memory_timeline")
def timeline(
    by: str = "month",
    about: str | None = None,
    after: Time = None,
    before: Time = None,
    png: Png = None,
    overwrite: Overwrite = False,
) -> None:
    """Show turns and new memories by day, month or year, as a table or a plot.

    Options:
        by: day, month or year.
        about: Only what mentions this name.
        after: From this date or time, such as 2026-03-01 or 2026-03-01T18:30.
        before: Before this date or time.
    """


@tool_command("concept_network")
def network(
    about: str | None = None,
    limit: int = 40,
    min_count: int | None = None,
    min_weight: int | None = None,
    png: Png = None,
    overwrite: Overwrite = False,
) -> None:
    """Show which names and concepts are mentioned together, as a table or a plot.

    Options:
        about: Only what is mentioned together with this name or word.
        limit: Maximum names and concepts, 2 to 200.
        min_count: Minimum turns and memories that mention a name or concept.
        min_weight: Minimum turns and memories that mention both of a pair.
    """


@tool_command("memory_subcategories")
def subcategories() -> None:
    """List the subcategories found in each category."""


@tool_command("memory_decisions")
def decisions(
    limit: int = 50,
    action: Annotated[
        list[str] | None,
        typer.Option(help=f"Only this action; repeatable: {', '.join(DecisionAction)}."),
    ] = None,
) -> None:
    """List decisions: automatic and manual changes to memories, with reasons.

    Options:
        limit: Maximum entries, 1 to 1000.
    """
