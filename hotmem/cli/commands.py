"""The tools as commands. Each passes its options on and shows the answer; it decides nothing."""

import asyncio
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Final

import typer

from hotmem import Memory
from hotmem.cli import console
from hotmem.cli.console import Database, User
from hotmem.cli.tables import shown
from hotmem.core.encryption_key import EncryptionKey
from hotmem.errors import InvalidInput
from hotmem.operations.requests import checked
from hotmem.operations.results import as_json
from hotmem.portability.formats import FileForm, form_of
from hotmem.settings import Settings
from hotmem.storage.queries import maintenance as stored
from hotmem.storage.queries.ids import Table
from hotmem.text import escaping
from hotmem.tools import import_export
from hotmem.tools.cooccurrence import Network, concept_network
from hotmem.tools.import_export import Copying, Export, Import
from hotmem.tools.maintenance import Span, memory_timeline
from hotmem.tools.registry import tool
from hotmem.types import Category, Kind

Json = Annotated[bool, typer.Option("--json", help="The answer as JSON.")]

Png = Annotated[
    Path | None,
    typer.Option(help="A file for a picture, instead of the answer in words.", dir_okay=False),
]

InCategory = Annotated[str | None, typer.Option(help=f"Where it belongs: {', '.join(Category)}.")]
OfKind = Annotated[
    str | None, typer.Option(help=f"What sort of statement it is: {', '.join(Kind)}.")
]
Importance = Annotated[
    int | None, typer.Option(help="1 (said in passing) to 5 (must not be forgotten).")
]
After = Annotated[
    str | None,
    typer.Option(
        help="From this day or time on, as 2026-03-01 or 2026-03-01T18:30.", callback=console.moment
    ),
]
Before = Annotated[
    str | None, typer.Option(help="Before this day or time.", callback=console.moment)
]
Expires = Annotated[
    str | None,
    typer.Option(
        help="The day or time when it stops being true, as 2026-12-31.", callback=console.moment
    ),
]
Expired = Annotated[bool, typer.Option(help="Also what is no longer true.")]
Results = Annotated[int, typer.Option(help="Results at most, 1 to 100.")]
MinRelevance = Annotated[
    float | None, typer.Option(help="Only what is at least so relevant, 0 to 1.")
]
ContentType = Annotated[
    str | None, typer.Option(help=f"Only this: {', '.join(Kind)}, turn (what was said) or summary.")
]
Ranking = Annotated[
    str,
    typer.Option(
        help="learned: by what helped earlier replies; design: by a plain sum of likeness, words, importance, age and use."
    ),
]
Question = Annotated[str, typer.Argument(help="What you look for, in your own words.")]
MemoryId = Annotated[
    str,
    typer.Argument(
        help="The memory's id or its beginning, as `hotmem memories` or `hotmem search` shows it."
    ),
]

IDS: Final[dict[str, dict[str, tuple[Table, ...]]]] = {
    "edit_memory": {"id": ("memories",)},
    "merge_memories": {"into": ("memories",), "ids": ("memories",)},
    "trace_search": {"expected": ("memories", "turns")},
    "undo_decision": {"decision": ("decisions",)},
}
"""Arguments of tools that are ids, and what of. A person may give the beginning; programs give
whole ones."""

OPTIONS: Final = {
    "time_range.start": "after",
    "time_range.end": "before",
    "expires_at": "expires",
    "tags": "tag",
    "bots": "bot",
    "include_expired": "expired",
    "include_conversation": "conversation",
    "include_stored": "stored",
}
"""Arguments of tools whose options have other names."""

POSITIONAL: Final = frozenset({"query", "id", "into", "ids", "decision", "file"})
"""Arguments of tools that are no options."""

ANYONE: Final = "anyone"
"""Of tools that are about the whole file."""


MAKES_USERS: Final = ("store_memory",)
"""Tools that begin the memory of a user of whom nothing is known."""


def store(
    content: Annotated[
        str, typer.Argument(help="The statement, as one sentence in quotation marks.")
    ],
    user: User,
    database: Database = None,
    category: InCategory = None,
    kind: OfKind = None,
    importance: Importance = None,
    expires: Expires = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="A word it is filed under; several times for several.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="Where it comes from.")] = None,
    note: Annotated[str | None, typer.Option(help="A remark about it.")] = None,
) -> None:
    """Keeps a statement, and shows where it is filed and what is known that is like it."""
    given = {
        "content": content,
        "category": category,
        "kind": kind,
        "importance": importance,
        "expires_at": expires,
        "source": source,
        "note": note,
    }
    _call("store_memory", given | {"tags": tag}, user, database or Settings().database)


def search(
    query: Question,
    user: User,
    database: Database = None,
    limit: Results = 10,
    min_relevance: MinRelevance = None,
    min_importance: Annotated[
        int | None, typer.Option(help="Only what is at least so important, 1 to 5.")
    ] = None,
    content_type: ContentType = None,
    after: After = None,
    before: Before = None,
    expired: Expired = False,
    conversation: Annotated[bool, typer.Option(help="Search what was said.")] = True,
    stored: Annotated[bool, typer.Option(help="Search memories and summaries.")] = True,
    progressive: Annotated[
        bool | None,
        typer.Option(help="Stop when enough is found. (default: HOTMEM_PROGRESSIVE_SEARCH)"),
    ] = None,
    ranking: Ranking = "learned",
    json_: Json = False,
) -> None:
    """Finds what is known and what was said, the most relevant first."""
    asked = {
        "query": query,
        "limit": limit,
        "min_relevance": min_relevance,
        "min_importance": min_importance,
        "content_type": content_type,
    }
    asked |= {
        "include_expired": expired,
        "include_conversation": conversation,
        "include_stored": stored,
        "ranking": ranking,
    }
    asked |= {"time_range": {"start": after, "end": before}, "progressive": progressive}
    _call("search_memory", asked, user, console.existing(database), json_=json_)


def contextual(query: Question, user: User, database: Database = None, json_: Json = False) -> None:
    """Finds the conversations that were about something, with the best messages of each in their place."""
    _call("search_contextual", {"query": query}, user, console.existing(database), json_=json_)


def serve_mcp(
    user: User,
    database: Database = None,
    http: Annotated[
        bool,
        typer.Option(
            help="By HTTP on this machine, with a token, instead of standard input and output."
        ),
    ] = False,
    port: Annotated[int, typer.Option(help="The port of --http.", min=1, max=65535)] = 8765,
    unix: Annotated[
        Path | None,
        typer.Option("--socket", help="By HTTP on a Unix socket that only you may open, instead."),
    ] = None,
    files: Annotated[
        Path | None,
        typer.Option(
            help="The one folder for exports and imports; not by HTTP. (default: beside the memory file)"
        ),
    ] = None,
) -> None:
    """Offers the memory tools of one user to other programs by the Model Context Protocol.

    By HTTP it prints a new token that programs have to send, unless HOTMEM_MCP_TOKEN has one, and
    offers no tools that read or write files.
    """
    try:
        from hotmem.core import local_server
        from hotmem.tools.bearer_token import checked_token, new_token
        from hotmem.tools.mcp import serve_http, serve_stdio
    except ImportError as error:
        raise InvalidInput(
            'The protocol\'s package is not installed. Run: pip install "pipecat-hotmem[mcp]"'
        ) from error
    if http and unix is not None:
        raise InvalidInput("--http and --socket are both given. Choose one.")

    async def run(memory: Memory) -> None:
        if unix is not None:
            listening = local_server.private_socket(unix)
            console.screen.print(
                f"Serving {unix}, which no other account may open. Control-C ends.", soft_wrap=True
            )
            try:
                await serve_http(memory, user, listening, None)
            finally:
                unix.unlink(missing_ok=True)
        elif http:
            listening, given = local_server.local_port(port), Settings().mcp_token
            token = checked_token(given) if given else new_token()
            sent = "the token of HOTMEM_MCP_TOKEN" if given else token
            console.screen.print(
                f"Serving http://{local_server.LOOPBACK}:{port}/mcp\nAuthorization: Bearer {sent}",
                soft_wrap=True,
            )
            console.screen.print(
                "Whoever has the token reads and changes this memory. Control-C ends.", style="dim"
            )
            await serve_http(memory, user, listening, token)
        else:
            await serve_stdio(memory, user, None if files is None else files.resolve())

    console.with_memory(database or Settings().database, run)


def discover(user: User, database: Database = None, json_: Json = False) -> None:
    """Lists all tools, and tells the state of a memory."""
    _call("discover_memory_tools", {}, user, console.existing(database), json_=json_)


def stats(user: User, database: Database = None, json_: Json = False) -> None:
    """Counts what is remembered of a user."""
    _call("memory_stats", {}, user, console.existing(database), json_=json_)


def timeline(
    user: User,
    database: Database = None,
    by: Annotated[str, typer.Option(help="day, month or year.")] = "month",
    about: Annotated[str | None, typer.Option(help="Only what mentions this name.")] = None,
    after: After = None,
    before: Before = None,
    png: Png = None,
    overwrite: console.Overwrite = False,
    json_: Json = False,
) -> None:
    """Tells what each day, month or year brought, or draws it."""
    given = _given({"by": by, "about": about, "after": after, "before": before})
    if png is None:
        return _call("memory_timeline", given, user, console.existing(database), json_=json_)
    pictures, asked = _pictures(), checked(Span, given, option)

    async def run(memory: Memory) -> None:
        found = await memory_timeline(memory, user, asked)
        title = f"What was said and learnt{f' about {about}' if about else ''}, by {by}"
        await asyncio.to_thread(
            pictures.timeline_png, found.periods, asked.by, png, title, overwrite=overwrite
        )
        console.screen.print(f"drawn in {png}", soft_wrap=True)

    console.with_memory(console.existing(database), run, user=user)


def network(
    user: User,
    database: Database = None,
    about: Annotated[
        str | None, typer.Option(help="Only what is said beside this name, or these words.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Names and concepts at most, 2 to 200.")] = 40,
    min_count: Annotated[
        int | None,
        typer.Option(help="Only names and concepts that so many turns and memories hold."),
    ] = None,
    min_weight: Annotated[
        int | None, typer.Option(help="Only pairs that so many turns and memories hold.")
    ] = None,
    png: Png = None,
    overwrite: console.Overwrite = False,
    json_: Json = False,
) -> None:
    """Tells which names and concepts are spoken of together, or draws it."""
    given = _given(
        {"about": about, "limit": limit, "min_count": min_count, "min_weight": min_weight}
    )
    if png is None:
        return _call("concept_network", given, user, console.existing(database), json_=json_)
    pictures, asked = _pictures(), checked(Network, given, option)

    async def run(memory: Memory) -> None:
        found = await concept_network(memory, user, asked)
        title = f"What is spoken of beside {about}" if about else "What is spoken of together"
        await asyncio.to_thread(pictures.network_png, found, png, title, overwrite=overwrite)
        console.screen.print(f"drawn in {png}", soft_wrap=True)

    console.with_memory(console.existing(database), run, user=user)


def usage(
    user: User,
    database: Database = None,
    after: After = None,
    before: Before = None,
    timezone: Annotated[str, typer.Option(help="Of hours and weekdays, as Europe/Lisbon.")] = "UTC",
    limit: Annotated[
        int, typer.Option(help="Tags, names, memories and sessions at most, 1 to 100.")
    ] = 10,
    json_: Json = False,
) -> None:
    """Tells what is asked of a memory and when, what replies use of it, and what is never used."""
    given = {"after": after, "before": before, "timezone": timezone, "limit": limit}
    _call("usage_patterns", given, user, console.existing(database), json_=json_)


def trace(
    query: Question,
    user: User,
    database: Database = None,
    expected: Annotated[
        str | None,
        typer.Option(
            help="What should be found: a memory's id or its beginning, a turn's id, or words."
        ),
    ] = None,
    limit: Results = 10,
    min_relevance: MinRelevance = None,
    content_type: ContentType = None,
    expired: Expired = False,
    ranking: Ranking = "learned",
    json_: Json = False,
) -> None:
    """Does a search and tells step by step how it went, and why something was found or was not."""
    asked = {
        "query": query,
        "expected": expected,
        "limit": limit,
        "min_relevance": min_relevance,
        "content_type": content_type,
    }
    _call(
        "trace_search",
        asked | {"include_expired": expired, "ranking": ranking},
        user,
        console.existing(database),
        json_=json_,
    )


def edit(
    memory_id: MemoryId,
    user: User,
    database: Database = None,
    content: Annotated[str | None, typer.Option(help="Its words.")] = None,
    category: InCategory = None,
    kind: OfKind = None,
    importance: Importance = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(
            help="A word it is filed under, instead of those it has; several times for several."
        ),
    ] = None,
    note: Annotated[str | None, typer.Option(help="A remark about it.")] = None,
    expires: Expires = None,
    holds: Annotated[bool | None, typer.Option(help="Whether it is true.")] = None,
    json_: Json = False,
) -> None:
    """Changes a memory; `hotmem undo` takes new words back."""
    changes: dict[str, Any] = {
        "content": content,
        "category": category,
        "kind": kind,
        "importance": importance,
        "note": note,
    }
    changes |= {"tags": tag or None, "expires_at": expires, "holds": holds}
    if not _given(changes):
        raise InvalidInput(
            f"Say what to change, by one or more of {', '.join(map(option, changes))}."
        )
    _call("edit_memory", {"id": memory_id} | changes, user, console.existing(database), json_=json_)


def quality(
    user: User,
    database: Database = None,
    days: Annotated[int, typer.Option(help="Days up to today.")] = 30,
    json_: Json = False,
) -> None:
    """Tells how much of what the bot was given its replies used, by layer, question and day."""
    _call("memory_quality", {"days": days}, user, console.existing(database), json_=json_)


def merge(
    into: Annotated[str, typer.Argument(help="Id of the memory that stays.")],
    ids: Annotated[list[str], typer.Argument(help="Ids of those that it stands for from then on.")],
    user: User,
    database: Database = None,
    json_: Json = False,
) -> None:
    """Lets one memory stand for others that say the same; `hotmem undo` takes it back."""
    _call(
        "merge_memories", {"into": into, "ids": ids}, user, console.existing(database), json_=json_
    )


def optimise(
    user: User,
    database: Database = None,
    unused_days: Annotated[
        int,
        typer.Option(help="Days without use after which a tag of one memory at most is put away."),
    ] = 1,
    json_: Json = False,
) -> None:
    """Tidies tags: one stands for those that mean the same; `hotmem undo` takes it back."""
    _call(
        "optimize_tags", {"unused_days": unused_days}, user, console.existing(database), json_=json_
    )


def evolve(
    user: User,
    database: Database = None,
    category: InCategory = None,
    json_: Json = False,
) -> None:
    """Files what is known under subcategories anew; `hotmem undo` takes it back."""
    _call(
        "evolve_categories", {"category": category}, user, console.existing(database), json_=json_
    )


def subcategories(user: User, database: Database = None, json_: Json = False) -> None:
    """Lists what the categories have evolved into."""
    _call("memory_subcategories", {}, user, console.existing(database), json_=json_)


def decisions(
    user: User,
    database: Database = None,
    limit: Annotated[int, typer.Option(help="How many, 1 to 1000.")] = 50,
    json_: Json = False,
) -> None:
    """Lists what was decided about memories, and why."""
    _call("memory_decisions", {"limit": limit}, user, console.existing(database), json_=json_)


def undo(
    decision: Annotated[
        str, typer.Argument(help="Its id or the beginning, as `hotmem decisions` shows it.")
    ],
    user: User,
    database: Database = None,
    json_: Json = False,
) -> None:
    """Takes a merge, an edit, an import, or what was done to tags and categories, back."""
    _call("undo_decision", {"decision": decision}, user, console.existing(database), json_=json_)


def validate(database: Database = None, json_: Json = False) -> None:
    """Checks the file and all its indexes."""
    _call("validate_storage", {}, ANYONE, console.existing(database), json_=json_)


def repair(database: Database = None, json_: Json = False) -> None:
    """Makes all index entries anew from what is stored."""
    _call("repair_index", {}, ANYONE, console.existing(database), json_=json_)


def export(
    file: Annotated[
        Path, typer.Argument(help="The file to be made; one that exists is not overwritten.")
    ],
    user: User,
    database: Database = None,
    all_: Annotated[
        bool,
        typer.Option(
            "--all",
            help="All that is held of the user, as one JSON document for people; no import takes it.",
        ),
    ] = False,
    json_: Json = False,
) -> None:
    """Writes everything that is known of a user to a new file, as JSON Lines.

    It is plain, whether the memory file is or not.
    """

    async def run(memory: Memory) -> None:
        with console.progress() as shown_progress:
            if all_:
                done = await import_export.export_subject(memory, user, file)
            else:
                done = await import_export.export_memories(
                    memory, user, Export(file=str(file)), console.counting(shown_progress)
                )
        _show("export_memories", as_json(done), json_=json_)
        if memory.options.key is not None and not json_:
            console.screen.print(
                f"{file} is not encrypted; whoever can read it reads what was said", soft_wrap=True
            )

    console.with_memory(console.existing(database), run, user=user)


def import_(
    file: Annotated[Path, typer.Argument(help="The file to be read.")],
    user: Annotated[
        str | None,
        typer.Option("--user", "-u", help="Whose memory. (default: each record's own user)"),
    ] = None,
    database: Database = None,
    form: Annotated[
        str | None, typer.Option(help=f"What it is: {', '.join(FileForm)}. (default: found out)")
    ] = None,
    from_user: Annotated[
        str | None,
        typer.Option(help="The user id in the file whose records are taken as the user's."),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(help="Name of the conversation of a transcript. (default: the file's name)"),
    ] = None,
    bot: Annotated[
        list[str] | None,
        typer.Option(help="A speaker of a transcript that is the bot; several times for several."),
    ] = None,
    timezone: Annotated[
        str, typer.Option(help="Time zone of clocks that name none, as Europe/Lisbon.")
    ] = "UTC",
    day_first: Annotated[
        bool | None,
        typer.Option(
            "--day-first/--month-first", help="How 06/05/2024 is read. (default: found out)"
        ),
    ] = None,
    with_forgotten: Annotated[
        bool,
        typer.Option(
            "--with-forgotten", help="Also what was forgotten since, which else stays out."
        ),
    ] = False,
    json_: Json = False,
) -> None:
    """Takes in an export, one of mem0, chat messages, or a transcript.

    All of it or nothing, and nothing twice. `hotmem undo` takes it back.
    """
    given = {
        "file": str(file),
        "form": form,
        "from_user": from_user,
        "session": session,
        "bots": bot,
        "timezone": timezone,
        "day_first": day_first,
    }
    given |= {"with_forgotten": with_forgotten}
    asked = checked(Import, _given(given), option)
    form_of(file)  # before a memory file is made for it

    async def run(memory: Memory) -> None:
        with console.progress() as shown_progress:
            done = await import_export.import_memories(
                memory, user, asked, console.counting(shown_progress)
            )
            bar = shown_progress.add_task("understanding", total=None)
            await memory.settle()
            shown_progress.update(bar, total=1, completed=1)
        _show("import_memories", as_json(done), json_=json_)

    console.with_memory(database or Settings().database, run)


def backup(
    target: Annotated[Path, typer.Argument(help="The copy to be made.")], database: Database = None
) -> None:
    """Copies the memory file while bots go on talking.

    The copy of an encrypted file has its key.
    """
    path = console.existing(database)

    async def run(memory: Memory) -> None:
        with console.progress() as shown_progress:
            bar = shown_progress.add_task("copying pages", total=None)
            asked = Copying(action="backup", file=str(target))
            await import_export.backup_restore(
                memory,
                ANYONE,
                asked,
                lambda left, all_: shown_progress.update(bar, total=all_, completed=all_ - left),
            )
        sealed = "" if memory.options.key is None else ", encrypted with the same key"
        console.screen.print(f"{path} copied to {target}{sealed}", soft_wrap=True)

    console.with_memory(path, run)


def restore(
    source: Annotated[Path, typer.Argument(help="The copy, made by `hotmem backup`.")],
    database: Database = None,
) -> None:
    """Makes a memory file of a copy; one that exists is never overwritten."""
    target = database or Settings().database
    stored.restore(
        console.checked_file(source, "Name a copy that `hotmem backup` made."),
        target,
        EncryptionKey.from_source(Settings().options().key),
    )
    console.screen.print(f"{target} restored from {source}", soft_wrap=True)


PANELS: Final = {
    "Look": (stats, timeline, network, subcategories, decisions),
    "Ask": (search, contextual, trace),
    "Add and change": (store, edit, merge, undo, optimise, evolve),
    "See whether it helps": (quality, usage),
    "The file": (export, import_, backup, restore, validate, repair),
    "For other programs": (serve_mcp, discover),
}
"""The commands by what they are for; `hotmem.cli.app` adds to them."""

NAMED: Final = {import_: "import", serve_mcp: "serve-mcp"}


def register(app: typer.Typer) -> None:
    """Adds the tools' commands to the command line."""
    for panel, commands in PANELS.items():
        for command in commands:
            app.command(NAMED.get(command), rich_help_panel=panel)(command)


def _call(
    name: str, arguments: dict[str, Any], user: str, path: Path, *, json_: bool = False
) -> None:
    """Calls a tool with the options that were given, and shows its answer."""
    given, wanted = _given(arguments), tool(name)
    checked(wanted.arguments, given, option)

    async def run(memory: Memory) -> None:
        answer = await wanted.call(memory, user, await _whole(memory, user, name, given))
        _show(name, answer, json_=json_)

    console.with_memory(path, run, user=None if user == ANYONE or name in MAKES_USERS else user)


async def _whole(
    memory: Memory, user_id: str, name: str, arguments: dict[str, Any]
) -> dict[str, Any]:
    """The arguments, with whole ids in the place of beginnings."""
    found = dict(arguments)
    for argument, tables in IDS.get(name, {}).items():
        for table in tables:
            if argument in found:
                found[argument] = await console.whole(memory, user_id, table, found[argument])
    return found


def option(argument: str) -> str:
    """What an argument of a tool is called on the command line.

    Of a list of values, each is called the same.
    """
    name = argument if argument in OPTIONS else argument.partition(".")[0]
    return name if name in POSITIONAL else f"--{OPTIONS.get(name, name).replace('_', '-')}"


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def _pictures() -> ModuleType:
    """What draws, if its packages are installed."""
    try:
        from hotmem.cli import plots
    except ImportError as error:
        raise InvalidInput(
            'The packages that draw are not installed. Run: pip install "pipecat-hotmem[pictures]"'
        ) from error
    return plots


def _show(name: str, answer: Any, *, json_: bool) -> None:  # noqa: ANN401 - whatever JSON holds
    """A tool's answer as a person reads it, or as JSON."""
    if json_:
        console.screen.print(escaping.format_json(answer), soft_wrap=True)
    else:
        console.screen.print(shown(name, answer))
