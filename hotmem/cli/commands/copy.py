"""`hotmem copy`: copy a memory between a file and a server."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.progress import TaskID

from hotmem.cli import console
from hotmem.cli.memory_file import encryption_key, existing_database
from hotmem.core.location import Location, locate
from hotmem.settings import Settings


def copy(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="Memory file or postgresql:// URL to copy.")
    ],
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="New file, or URL of a database without a memory."),
    ],
) -> None:
    """Copy a whole memory between a file and a PostgreSQL database, in any direction.

    Bots may use the source during the copy; what they store after it has begun is not copied. The
    target must be empty. It can be opened when the copy is complete and has been compared with the
    source. Run the command again to continue an interrupted copy.
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
    bars: dict[str, TaskID] = {}
    with console.progress_bar() as progress:

        def update(stage: str, done: int, whole: int) -> None:
            if stage not in bars:
                bars[stage] = progress.add_task(f"{stage} rows", total=whole)
            progress.update(bars[stage], completed=done)

        ours = (await asyncio.to_thread(open_storage, source, key)).database
        try:
            theirs = (await asyncio.to_thread(open_storage, target, key, ours.language)).database
            try:
                rows = await copy_database(ours, theirs, update)
            finally:
                await theirs.close()
            if Settings().options().audit.on and not ours.read_only:
                done, now = Act(Action.BACKUP, "copy"), datetime.now(UTC)
                await ours.write_all(queries.audit.record, None, Actor.COMMAND_LINE, done, now)
            return rows
        finally:
            await ours.close()
