"""Commands for other programs: the MCP server and the list of tools."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hotmem.cli import console
from hotmem.cli.console import Database, Json, User
from hotmem.cli.memory_file import call_tool, existing_database, named_database, with_memory
from hotmem.errors import InvalidInput
from hotmem.settings import Settings

if TYPE_CHECKING:
    from hotmem import Memory


def serve_mcp(
    user: User,
    database: Database = None,
    http: Annotated[
        bool,
        typer.Option(help="Serve HTTP on this machine with a bearer token, instead of stdio."),
    ] = False,
    port: Annotated[int, typer.Option(help="Port for --http.", min=1, max=65535)] = 8765,
    unix: Annotated[
        Path | None,
        typer.Option("--socket", help="Serve HTTP on a Unix socket that only you can open."),
    ] = None,
    files: Annotated[
        Path | None,
        typer.Option(
            help="Folder for exports and imports, stdio only. (default: beside the memory file)"
        ),
    ] = None,
) -> None:
    """Serve the memory tools for one user over the Model Context Protocol (MCP).

    With --http, a new bearer token is printed unless HOTMEM_MCP_TOKEN is set, and tools that read
    or write files are not available.
    """
    try:
        from hotmem.core import local_server
        from hotmem.tools.mcp import check_token, new_token, serve_http, serve_stdio
    except ImportError as error:
        raise InvalidInput(
            'The MCP packages are not installed. Run: pip install "pipecat-hotmem[mcp]"'
        ) from error
    if http and unix is not None:
        raise InvalidInput("--http and --socket are both given. Choose one.")

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
            await serve_stdio(memory, user, None if files is None else files.resolve())

    with_memory(named_database(database), run)


def discover(user: User, database: Database = None, json_: Json = False) -> None:
    """List all memory tools, the state of a user's memory, and what could be improved."""
    call_tool("discover_memory_tools", {}, user, existing_database(database), json_=json_)
