"""Commands that deploy: the MCP server, the list of tools, the schema, the background worker."""

import asyncio
import signal
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from hotmem.cli import console
from hotmem.cli.console import Database, User
from hotmem.cli.memory_file import (
    encryption_key,
    existing_database,
    named_database,
    tool_command,
    with_memory,
)
from hotmem.core.location import Location
from hotmem.core.validation import counted
from hotmem.errors import InvalidInput, StoreReadOnly
from hotmem.options import BackgroundMode
from hotmem.settings import Settings

if TYPE_CHECKING:
    from hotmem import Memory
    from hotmem.options import Options


def serve_mcp(
    user: User,
    database: Database = None,
    http: bool = False,
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8765,
    unix: Annotated[Path | None, typer.Option("--socket")] = None,
    files: Path | None = None,
) -> None:
    """Serve the memory tools for one user over the Model Context Protocol (MCP).

    With --http, a new bearer token is printed unless HOTMEM_MCP_TOKEN is set, and tools that read
    or write files are not available.

    Options:
        http: Serve HTTP on this machine with a bearer token, instead of stdio.
        port: Port for --http.
        unix: Serve HTTP on a Unix socket that only you can open.
        files: Folder for exports and imports, stdio only. (default: beside the memory file)
    """
    with console.requires_extra("mcp", "MCP packages"):
        from hotmem.core import local_server
        from hotmem.tools.mcp import check_token, new_token, serve_http, serve_stdio
    if http and unix is not None:
        raise InvalidInput("--http and --socket are both given. Choose one.")

    folder = None if files is None else files.resolve()

    async def run(memory: "Memory") -> None:
        if unix is not None:
            listening = local_server.private_socket(unix)
            console.print_line(f"Serving {unix}, for your account only. Press Ctrl+C to stop.")
            try:
                await serve_http(memory, user, listening, None)
            finally:
                unix.unlink(missing_ok=True)
        elif http:
            listening, given = local_server.local_port(port), Settings().mcp_token
            token = check_token(given) if given else new_token()
            sent = "the token of HOTMEM_MCP_TOKEN" if given else token
            console.print_line(
                f"Serving http://{local_server.LOOPBACK}:{port}/mcp\nAuthorization: Bearer {sent}"
            )
            console.print_line(
                "Anyone with the token can read and change this memory. Press Ctrl+C to stop.",
                style="dim",
            )
            await serve_http(memory, user, listening, token)
        else:
            await serve_stdio(memory, user, folder)

    with_memory(named_database(database), run)


@tool_command("discover_memory_tools")
def discover() -> None:
    """List all memory tools, the state of a user's memory, and what could be improved."""


def migrate(database: Annotated[str | None, typer.Argument(metavar="[FILE|URL]")] = None) -> None:
    """Create the schema of a database, or update it to this version of HotMem.

    Bots and workers that connect as an application role cannot. Run it as the owner of the schema
    before they start.

    Options:
        database: Memory file, or postgresql:// URL of the schema's owner. (default:
            HOTMEM_DATABASE, memory.db)
    """
    from hotmem.storage import migrate_storage

    location = named_database(database)
    version = migrate_storage(location, encryption_key())
    console.print_line(f"{location} has schema {version}.")


POLL_S: Final = 0.5
"""Seconds between two checks for new jobs."""


def worker(
    database: Database = None, once: Annotated[bool, typer.Option("--once")] = False
) -> None:
    """Run the background jobs of a memory: embedding, fact extraction and summaries.

    For bots that run with HOTMEM_BACKGROUND=elsewhere. Several workers share the jobs; if one
    dies, another continues its jobs. Stop a worker with Ctrl+C or SIGTERM.

    Options:
        once: Stop when no job is left.
    """
    options = Settings().options()
    background = replace(options.background, mode=BackgroundMode.HERE, poll_s=POLL_S)
    location = existing_database(database)
    try:
        asyncio.run(_run(location, replace(options, background=background), once=once))
    except KeyboardInterrupt:
        console.screen.print("Stopped.")


async def _run(location: Location, options: "Options", *, once: bool) -> None:
    from hotmem import Memory
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
