"""The tools as commands. Each passes its options on and shows the answer; it decides nothing."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from hotmem import Memory, terminal
from hotmem.errors import InvalidInput
from hotmem.settings import Settings
from hotmem.store import upkeep as files
from hotmem.terminal import Database, User
from hotmem.tools import upkeep
from hotmem.tools.catalogue import tool
from hotmem.tools.show import shown

Json = Annotated[bool, typer.Option("--json", help="The answer as JSON.")]

ANYONE: Final = "anyone"
"""Of tools that are about the whole file."""


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
    json_: Json = False,
) -> None:
    """Finds what is known and what was said, the most relevant first."""
    asked = {"query": query, "limit": limit, "min_relevance": min_relevance, "min_importance": min_importance, "content_type": content_type}
    asked |= {"include_expired": expired, "include_conversation": conversation, "include_stored": stored, "ranking": ranking}
    asked |= {"time_range": {"start": after, "end": before}}
    _call("search_memory", asked, user, terminal.existing(database), json_=json_)


def contextual(query: str, user: User, database: Database = None, json_: Json = False) -> None:
    """Finds the conversations that were about something, with the best messages of each in their place."""
    _call("search_contextual", {"query": query}, user, terminal.existing(database), json_=json_)


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

    terminal.with_memory(database or Settings().database, run)


def discover(user: User, database: Database = None, json_: Json = False) -> None:
    """Lists all tools, and tells the state of a memory."""
    _call("discover_memory_tools", {}, user, terminal.existing(database), json_=json_)


def stats(user: User, database: Database = None, json_: Json = False) -> None:
    """Counts what is remembered."""
    _call("memory_stats", {}, user, terminal.existing(database), json_=json_)


def timeline(
    user: User,
    database: Database = None,
    by: Annotated[str, typer.Option(help="day, month or year.")] = "month",
    about: Annotated[str | None, typer.Option(help="Only what mentions this name.")] = None,
    after: Annotated[str | None, typer.Option(help="Said at or after: ISO 8601 with time zone.")] = None,
    before: Annotated[str | None, typer.Option(help="Said before: ISO 8601 with time zone.")] = None,
    json_: Json = False,
) -> None:
    """Tells what each day, month or year brought."""
    _call("memory_timeline", {"by": by, "about": about, "after": after, "before": before}, user, terminal.existing(database), json_=json_)


def quality(user: User, database: Database = None, days: Annotated[int, typer.Option(help="Days up to today.")] = 30, json_: Json = False) -> None:
    """Tells how much of what the bot was given its replies used, by layer, question and day."""
    _call("memory_quality", {"days": days}, user, terminal.existing(database), json_=json_)


def merge(into: str, ids: list[str], user: User, database: Database = None, json_: Json = False) -> None:
    """Lets one memory stand for others that say the same; `hotmem undo` takes it back."""
    _call("merge_memories", {"into": into, "ids": ids}, user, terminal.existing(database), json_=json_)


def optimise(
    user: User,
    database: Database = None,
    unused_days: Annotated[int, typer.Option(help="Days without use after which a tag of one memory at most is put away.")] = 90,
    json_: Json = False,
) -> None:
    """Lets one tag stand for those that mean the same; `hotmem undo` takes it back."""
    _call("optimize_tags", {"unused_days": unused_days}, user, terminal.existing(database), json_=json_)


def decisions(
    user: User, database: Database = None, limit: Annotated[int, typer.Option(help="How many, 1 to 1000.")] = 50, json_: Json = False
) -> None:
    """Lists what was decided about memories, and why."""
    _call("memory_decisions", {"limit": limit}, user, terminal.existing(database), json_=json_)


def undo(decision: str, user: User, database: Database = None, json_: Json = False) -> None:
    """Takes a merge, or what was done to tags, back."""
    _call("undo_decision", {"decision": decision}, user, terminal.existing(database), json_=json_)


def validate(database: Database = None, json_: Json = False) -> None:
    """Checks the file and all its indexes."""
    _call("validate_storage", {}, ANYONE, terminal.existing(database), json_=json_)


def repair(database: Database = None, json_: Json = False) -> None:
    """Makes all index entries anew from what is stored."""
    _call("repair_index", {}, ANYONE, terminal.existing(database), json_=json_)


def backup(target: Path, database: Database = None) -> None:
    """Copies the memory file while bots go on talking."""
    path = terminal.existing(database)

    async def run(memory: Memory) -> None:
        with terminal.progress() as shown_progress:
            bar = shown_progress.add_task("copying pages", total=None)
            await upkeep.backup(memory, target, lambda left, whole: shown_progress.update(bar, total=whole, completed=whole - left))
        terminal.screen.print(f"{path} copied to {target}", highlight=False)

    terminal.with_memory(path, run)


def restore(source: Path, database: Database = None) -> None:
    """Makes a memory file of a copy; one that exists is never overwritten."""
    target = database or Settings().database
    files.restore(terminal.existing(source), target)
    terminal.screen.print(f"{target} restored from {source}", highlight=False)


def register(app: typer.Typer) -> None:
    """Adds the tools' commands to the command line."""
    for command in (
        store,
        search,
        contextual,
        discover,
        stats,
        timeline,
        quality,
        merge,
        optimise,
        decisions,
        undo,
        backup,
        restore,
        validate,
        repair,
    ):
        app.command()(command)
    app.command("serve-mcp")(serve_mcp)


def _call(name: str, arguments: dict[str, Any], user: str, path: Path, *, json_: bool = False) -> None:
    """Calls a tool with the options that were given, and shows its answer."""

    async def run(memory: Memory) -> None:
        given = {key: value for key, value in arguments.items() if value is not None}
        answer = await tool(name).call(memory, user, given)
        if json_:
            terminal.screen.print_json(data=answer)
        else:
            terminal.screen.print(shown(name, answer))

    terminal.with_memory(path, run)
