"""`hotmem worker`: run the background jobs of a memory in a process of its own."""

import asyncio
import signal
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from hotmem.cli import console
from hotmem.cli.console import Database
from hotmem.cli.memory_file import existing_database
from hotmem.core.location import Location
from hotmem.core.validation import counted
from hotmem.errors import StoreReadOnly
from hotmem.options import BackgroundMode
from hotmem.settings import Settings

if TYPE_CHECKING:
    from hotmem.options import Options

POLL_S: Final = 0.5
"""Seconds between two checks for new jobs."""


def worker(
    database: Database = None,
    once: Annotated[bool, typer.Option("--once", help="Stop when no job is left.")] = False,
) -> None:
    """Run the background jobs of a memory: embedding, fact extraction and summaries.

    For bots that run with HOTMEM_BACKGROUND=elsewhere. Several workers share the jobs; if one
    dies, another continues its jobs. Stop a worker with Ctrl+C or SIGTERM.
    """
    options = Settings().options()
    background = replace(options.background, mode=BackgroundMode.HERE, poll_s=POLL_S)
    location = existing_database(database)
    try:
        asyncio.run(_run(location, replace(options, background=background), once=once))
    except KeyboardInterrupt:
        console.screen.print("Stopped.")


async def _run(location: Location, options: "Options", *, once: bool) -> None:
    from hotmem.memory import Memory
    from hotmem.storage import queries

    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows: Control-C raises KeyboardInterrupt instead
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with Memory.open(location, options) as memory:
        database = memory.runtime.database
        if database.read_only:
            raise StoreReadOnly(
                f"{location} cannot be written, so that no job can run. Name the primary server, or"
                " make the file writable."
            )
        waiting = sum((await database.read_all(queries.jobs.waiting_counts)).values())
        console.print_line(f"{counted(waiting, 'job waits', 'jobs wait')} in {location}.")
        if not once:
            await stopped.wait()
            return
        settled = asyncio.ensure_future(memory.settle())
        stopping = asyncio.ensure_future(stopped.wait())
        await asyncio.wait({settled, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if settled.done():
            settled.result()
            left = sum((await database.read_all(queries.jobs.waiting_counts)).values())
            console.screen.print(
                f"{counted(left, 'job is', 'jobs are')} left." if left else "No job is left."
            )
        else:
            console.screen.print("Stopped.")
        for task in (settled, stopping):
            task.cancel()
        await asyncio.gather(settled, stopping, return_exceptions=True)
