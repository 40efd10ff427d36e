"""Commands that export, import and copy memories."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from hotmem.cli import console
from hotmem.cli.console import Database, Json, User
from hotmem.cli.memory_file import (
    ANY_USER,
    encryption_key,
    existing_database,
    existing_database_file,
    existing_file,
    given_only,
    named_database,
    option_name,
    print_result,
    with_memory,
)
from hotmem.core.location import Location, ServerUrl, locate
from hotmem.errors import InvalidInput
from hotmem.settings import Settings

SERVER_TOOLS: Final = "Copy a database on a server with its own tools, such as pg_dump."

if TYPE_CHECKING:
    from hotmem import Memory


def export(
    file: Path,
    user: User,
    database: Database = None,
    all_: Annotated[bool, typer.Option("--all")] = False,
    json_: Json = False,
) -> None:
    """Export a user's turns and memories to a JSON Lines file.

    The export is not encrypted, even if the memory file is.

    Options:
        file: File to create; must not exist.
        all_: Write all data of the user as one JSON document to read; cannot be imported.
    """
    from hotmem.operations.results import as_json
    from hotmem.tools.files import ExportArguments, export_memories, export_subject

    async def run(memory: "Memory") -> None:
        with console.progress_bar() as progress:
            if all_:
                exported = await export_subject(memory, user, file)
            else:
                arguments = ExportArguments(file=str(file))
                count = console.stage_counter(progress)
                exported = await export_memories(memory, user, arguments, count)
        print_result("export_memories", as_json(exported), json_=json_)
        if memory.runtime.options.key is not None and not json_:
            console.print_line(f"{file} is not encrypted: anyone who can open it can read it")

    with_memory(existing_database(database), run, user=user)


def import_(
    file: Path,
    user: Annotated[str | None, typer.Option("--user", "-u")] = None,
    database: Database = None,
    form: str | None = None,
    from_user: str | None = None,
    session: str | None = None,
    bot: list[str] | None = None,
    timezone: str = "UTC",
    day_first: Annotated[bool | None, typer.Option("--day-first/--month-first")] = None,
    with_forgotten: Annotated[bool, typer.Option("--with-forgotten")] = False,
    json_: Json = False,
) -> None:
    """Import a HotMem or mem0 export, chat messages or a transcript.

    If a record is invalid, nothing is imported. An interrupted import continues when the same file
    is imported again. Existing records are skipped. `hotmem undo` removes an import.

    Options:
        file: File to import.
        user: Target user ID. (default: user ID of each record)
        form: File format: hotmem, mem0, messages or transcript. (default: detected)
        from_user: User ID in the file whose records are imported.
        session: Session ID for a transcript. (default: file name)
        bot: Name of the bot in a transcript; repeatable.
        timezone: Time zone of times without one, such as Europe/Lisbon.
        day_first: Order of 06/05/2024. (default: detected)
        with_forgotten: Also import data that was deleted here before.
    """
    from hotmem.operations.requests import checked
    from hotmem.operations.results import as_json
    from hotmem.portability.importer import detect_format
    from hotmem.tools.files import ImportArguments, import_memories

    given = given_only(
        {
            "file": str(file),
            "form": form,
            "from_user": from_user,
            "session": session,
            "bots": bot,
            "timezone": timezone,
            "day_first": day_first,
            "with_forgotten": with_forgotten,
        }
    )
    arguments = checked(ImportArguments, given, option_name)
    detect_format(file)  # before a memory file is created

    async def run(memory: "Memory") -> None:
        with console.progress_bar() as progress:
            report = await import_memories(memory, user, arguments, console.stage_counter(progress))
            bar = progress.add_task("extracting facts", total=None)
            await memory.settle()
            progress.update(bar, total=1, completed=1)
        print_result("import_memories", as_json(report), json_=json_)

    with_memory(named_database(database), run)


def backup(target: Path, database: Database = None) -> None:
    """Copy the memory file while bots are using it.

    The copy of an encrypted file has the same key.

    Options:
        target: File to create; must not exist.
    """
    from hotmem.tools.files import BackupArguments, backup_restore

    path = existing_database_file(database, SERVER_TOOLS)

    async def run(memory: "Memory") -> None:
        with console.progress_bar() as progress:
            bar = progress.add_task("copying pages", total=None)
            await backup_restore(
                memory,
                ANY_USER,
                BackupArguments(action="backup", file=str(target)),
                lambda left, all_: progress.update(bar, total=all_, completed=all_ - left),
            )
        encrypted = "" if memory.runtime.options.key is None else ", encrypted with the same key"
        console.print_line(f"{path} copied to {target}{encrypted}")

    with_memory(path, run)


def restore(source: Path, database: Database = None) -> None:
    """Create a memory file from a backup; an existing file is never overwritten.

    Options:
        source: Copy made by `hotmem backup`.
    """
    from hotmem.storage.sqlite import opening

    target = named_database(database)
    if isinstance(target, ServerUrl):
        raise InvalidInput(f"{target} is no file. {SERVER_TOOLS}")
    copy = existing_file(source, "Name a file made by `hotmem backup`.")
    opening.restore(copy, target, encryption_key())
    console.print_line(f"{target} restored from {source}")


def copy(
    source: Annotated[str, typer.Argument(metavar="SOURCE")],
    target: Annotated[str, typer.Argument(metavar="TARGET")],
) -> None:
    """Copy a whole memory between a file and a PostgreSQL database, in any direction.

    Bots may use the source during the copy; what they store after it has begun is not copied. The
    target must be empty. It can be opened when the copy is complete and has been compared with the
    source. Run the command again to continue an interrupted copy.

    Options:
        source: Memory file or postgresql:// URL to copy.
        target: New file, or URL of a database without a memory.
    """
    from hotmem.storage.copying import check_different

    from_, to = existing_database(source), locate(target)
    check_different(from_, to)
    rows = asyncio.run(_copy(from_, to))
    counts = ", ".join(f"{name}: {rows[name]:,}" for name in ("users", "turns", "memories"))
    console.print_line(f"{from_} copied to {to} ({counts})")


async def _copy(source: Location, target: Location) -> dict[str, int]:
    """Copies with a bar for each stage; returns the number of rows of each table."""
    from hotmem.storage import open_storage, queries
    from hotmem.storage.copying import copy_database
    from hotmem.types import Act, Action, Actor

    key = encryption_key()
    with console.progress_bar() as progress:
        count = console.stage_counter(progress)
        async with AsyncExitStack() as opened:
            ours = (await asyncio.to_thread(open_storage, source, key)).database
            opened.push_async_callback(ours.close)
            theirs = (await asyncio.to_thread(open_storage, target, key, ours.language)).database
            opened.push_async_callback(theirs.close)
            rows = await copy_database(
                ours, theirs, lambda stage, done, total: count(f"{stage} rows", done, total)
            )
            if Settings().options().audit.on and not ours.read_only:
                done, now = Act(Action.BACKUP, "copy"), datetime.now(UTC)
                await ours.write_all(queries.retention.record, None, Actor.COMMAND_LINE, done, now)
            return rows
