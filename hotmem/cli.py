"""The `hotmem` command: look into a memory file, move sessions in and out, forget."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from hotmem import Memory
from hotmem.errors import HotMemError, InvalidInput
from hotmem.settings import Settings
from hotmem.tools.catalogue import tool
from hotmem.tools.show import shown
from hotmem.transfer import imported

app = typer.Typer(help="The long-term memory of voice bots, from the command line.", no_args_is_help=True, pretty_exceptions_enable=False)
screen = Console()

Database = Annotated[Path | None, typer.Option("--database", "-d", help="The memory file. [default: HOTMEM_DATABASE, memory.db]")]
User = Annotated[str, typer.Option("--user", "-u", help="Whose memory.")]


@app.command()
def recall(question: str, user: User, database: Database = None, tokens: Annotated[int, typer.Option(help="Tokens at most.", min=1)] = 1000) -> None:
    """Shows the context block that a bot would be given for a question."""

    async def run(memory: Memory) -> None:
        block = await memory.recall(question, user_id=user, max_tokens=tokens)
        screen.print(block.text or f"[dim]{block.trace.reason}[/]", markup=not block.text, highlight=False)

    _with(_existing(database), run)


@app.command()
def memories(user: User, database: Database = None, past: Annotated[bool, typer.Option(help="Also what no longer holds.")] = False) -> None:
    """Lists what is known of a user."""

    async def run(memory: Memory) -> None:
        table = Table("id", "memory", "kind", "said", "until")
        for known in await memory.memories(user, past=past):
            until = known.valid_until.date().isoformat() if known.valid_until else ""
            table.add_row(known.id, known.text, known.kind, known.said_at.date().isoformat(), until)
        screen.print(table)

    _with(_existing(database), run)


@app.command()
def store(
    content: str,
    user: User,
    database: Database = None,
    category: Annotated[str | None, typer.Option(help="One of the seven, instead of the one found.")] = None,
    kind: Annotated[str | None, typer.Option(help="What sort of statement it is, instead of the one found.")] = None,
    importance: Annotated[int | None, typer.Option(help="1 (passing) to 5 (must not be forgotten).")] = None,
    expires: Annotated[str | None, typer.Option(help="When it stops being true: ISO 8601 with time zone.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A word it is filed under; several times for several.")] = None,
    source: Annotated[str | None, typer.Option(help="Where it comes from.")] = None,
    note: Annotated[str | None, typer.Option(help="A remark about it.")] = None,
) -> None:
    """Keeps a statement; where it is filed and what is like it is shown."""
    given = {"content": content, "category": category, "kind": kind, "importance": importance, "expires_at": expires, "source": source, "note": note}
    _call("store_memory", given | {"tags": tag}, user, database or Settings().database)


@app.command()
def search(
    query: str,
    user: User,
    database: Database = None,
    limit: Annotated[int, typer.Option(help="Results at most, 1 to 100.")] = 10,
    min_relevance: Annotated[float | None, typer.Option(help="Least relevance, 0 to 1.")] = None,
    min_importance: Annotated[int | None, typer.Option(help="Least importance, 1 to 5.")] = None,
    content_type: Annotated[str | None, typer.Option(help="A kind of memory, or turn, or summary.")] = None,
    after: Annotated[str | None, typer.Option(help="Said at or after: ISO 8601 with time zone.")] = None,
    before: Annotated[str | None, typer.Option(help="Said before: ISO 8601 with time zone.")] = None,
    expired: Annotated[bool, typer.Option(help="Also what no longer holds.")] = False,
    conversation: Annotated[bool, typer.Option(help="Search what was said.")] = True,
    stored: Annotated[bool, typer.Option(help="Search memories and summaries.")] = True,
    ranking: Annotated[str, typer.Option(help="learned, or the simple one of the design.")] = "learned",
    json_: Annotated[bool, typer.Option("--json", help="The answer as JSON.")] = False,
) -> None:
    """Finds what is known and what was said, the most relevant first."""
    asked = {"query": query, "limit": limit, "min_relevance": min_relevance, "min_importance": min_importance, "content_type": content_type}
    asked |= {"include_expired": expired, "include_conversation": conversation, "include_stored": stored, "ranking": ranking}
    asked |= {"time_range": {"start": after, "end": before}}
    _call("search_memory", asked, user, _existing(database), json_=json_)


@app.command()
def contextual(
    query: str, user: User, database: Database = None, json_: Annotated[bool, typer.Option("--json", help="The answer as JSON.")] = False
) -> None:
    """Finds the conversations that were about something, with the best messages of each in their place."""
    _call("search_contextual", {"query": query}, user, _existing(database), json_=json_)


@app.command("serve-mcp")
def serve_mcp(
    user: User,
    database: Database = None,
    http: Annotated[bool, typer.Option(help="By HTTP on this machine instead of standard input and output.")] = False,
    port: Annotated[int, typer.Option(help="The port of --http.", min=1, max=65535)] = 8765,
) -> None:
    """Offers the memory tools to other programs by the Model Context Protocol."""
    try:
        from hotmem.tools.mcp import serve_http, serve_stdio
    except ImportError as error:
        raise InvalidInput('The protocol\'s package is not installed. Run: pip install "pipecat-hotmem[mcp]"') from error

    async def run(memory: Memory) -> None:
        await (serve_http(memory, user, port) if http else serve_stdio(memory, user))

    _with(database or Settings().database, run)


@app.command("export")
def export_sessions(file: Path, user: User, database: Database = None) -> None:
    """Writes a user's turns, and the questions whose answers used them, as JSON Lines."""

    async def run(memory: Memory) -> None:
        count = 0
        with file.open("w", encoding="utf-8") as out:
            async for line in memory.export(user):
                out.write(line + "\n")
                count += 1
        screen.print(f"{count} lines written to {file}")

    _with(_existing(database), run)


@app.command("import")
def import_sessions(file: Path, database: Database = None) -> None:
    """Remembers the turns of a JSON Lines file; turns that are known already are left alone."""
    turns = list(imported(file))
    sessions = dict.fromkeys((turn.user_id, turn.session_id) for turn in turns)

    async def run(memory: Memory) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as progress:
            bar = progress.add_task("remembering", total=len(turns))
            added = 0
            for turn in turns:
                added += await memory.remember(turn)
                progress.advance(bar)
            for user_id, session_id in sessions:
                await memory.end_session(user_id=user_id, session_id=session_id)
            bar = progress.add_task("understanding", total=None)
            await memory.settle()
            progress.update(bar, total=1, completed=1)
        screen.print(f"{added} turns remembered, {len(turns) - added} were known; {len(sessions)} sessions")

    _with(database or Settings().database, run)


@app.command()
def forget(
    user: User,
    database: Database = None,
    entity: Annotated[str | None, typer.Option(help="A name: all that mentions it.")] = None,
    session: Annotated[str | None, typer.Option(help="A session.")] = None,
    memory_id: Annotated[str | None, typer.Option(help="A memory, with the turns it was read from.")] = None,
    everything: Annotated[bool, typer.Option(help="All of the user.")] = False,
) -> None:
    """Removes one thing everywhere; no byte of it is left in the file."""

    async def run(memory: Memory) -> None:
        gone = await memory.forget(user_id=user, entity=entity, session_id=session, memory_id=memory_id, everything=everything)
        screen.print(f"{gone.turns} turns, {gone.memories} memories and {gone.sessions} sessions forgotten")

    _with(_existing(database), run)


def _call(name: str, arguments: dict[str, Any], user: str, path: Path, *, json_: bool = False) -> None:
    """Calls a tool with the options that were given, and shows its answer."""

    async def run(memory: Memory) -> None:
        given = {key: value for key, value in arguments.items() if value is not None}
        answer = await tool(name).call(memory, user, given)
        if json_:
            screen.print_json(data=answer)
        else:
            screen.print(shown(name, answer))

    _with(path, run)


def _existing(database: Path | None) -> Path:
    """The memory file of a command that makes none."""
    path = database or Settings().database
    if not path.is_file():
        raise InvalidInput(f"{path} is not there. Name a memory file with --database, or set HOTMEM_DATABASE.")
    return path


def _with(path: Path, run: Callable[[Memory], Awaitable[None]]) -> None:
    """Opens the memory file for one command."""

    async def opened() -> None:
        async with Memory.open(path, Settings().options()) as memory:
            await run(memory)

    asyncio.run(opened())


def main() -> None:
    """Runs the command line; HotMem's own errors become one line and exit code 1."""
    try:
        app()
    except HotMemError as error:
        Console(stderr=True).print(f"[red]{type(error).__name__}[/]: {error}", highlight=False)
        raise SystemExit(1) from error


if __name__ == "__main__":
    main()
