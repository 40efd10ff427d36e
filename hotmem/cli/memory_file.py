"""Opening the memory for a command."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import fields
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from hotmem.cli import console
from hotmem.core.location import EncryptionKey, Location, ServerUrl, locate
from hotmem.errors import InvalidInput
from hotmem.settings import Settings

if TYPE_CHECKING:
    from hotmem import Memory
    from hotmem.storage import Storage
    from hotmem.storage.queries.times import Table
P = ParamSpec("P")
T = TypeVar("T")
Ids = TypeVar("Ids", str, list[str])

MAX_USERS_LISTED: Final = 10
"""User IDs listed in the error for an unknown user."""


def named_database(database: str | None) -> Location:
    """Return the memory of a command that may create one."""
    return locate(database) if database else Settings().database


def existing_database(database: str | None) -> Location:
    """Return the memory of a command that does not create one.

    Raises:
        InvalidInput: If it is a file that does not exist.
    """
    location = named_database(database)
    if isinstance(location, ServerUrl):
        return location
    return existing_file(location, "Name a memory file with --database, or set HOTMEM_DATABASE.")


def existing_database_file(database: str | None, instead: str) -> Path:
    """Return the memory file of a command that works on files only.

    Args:
        database: What the user named.
        instead: What to do with a database on a server, the second sentence of the error.

    Raises:
        InvalidInput: If it is no file, or does not exist.
    """
    location = existing_database(database)
    if isinstance(location, ServerUrl):
        raise InvalidInput(f"{location} is a database on a server, not a file. {instead}")
    return location


def existing_file(path: Path, fix: str) -> Path:
    """Return the path of an existing file.

    Args:
        path: Path to check.
        fix: Second sentence of the error.

    Raises:
        InvalidInput: If the path is not a file.
    """
    from hotmem.storage.sqlite.files import check_reachable

    check_reachable(path)
    if path.is_file():
        return path
    problem = "is a folder" if path.is_dir() else "is not a file" if path.exists() else "not found"
    raise InvalidInput(f"{path} {problem}. {fix}")


def encryption_key() -> EncryptionKey | None:
    """Return the key of HOTMEM_KEY or HOTMEM_KEY_FILE."""
    return EncryptionKey.from_source(Settings().options().key)


def with_memory(
    location: Location, run: Callable[["Memory"], Awaitable[None]], *, user: str | None = None
) -> None:
    """Open a memory, run a command on it and close it.

    Args:
        location: Memory file or URL.
        run: The command.
        user: User ID that must exist; None skips the check.

    Raises:
        InvalidInput: If the user is unknown.
    """
    from hotmem import Memory
    from hotmem.operations.results import acting
    from hotmem.types import Actor

    async def opened() -> None:
        async with Memory.open(location, Settings().options()) as memory:
            if user is not None:
                await check_user(memory, user)
            with acting(Actor.COMMAND_LINE):
                await run(memory)

    asyncio.run(opened())


def with_storage(location: Location, run: Callable[["Storage"], Awaitable[T]]) -> T:
    """Open a memory without models or background work, and return the result of `run`."""
    from hotmem.storage import open_storage

    storage = open_storage(location, encryption_key())

    async def opened() -> T:
        try:
            return await run(storage)
        finally:
            await storage.database.close()

    return asyncio.run(opened())


async def check_user(memory: "Memory", user_id: str) -> None:
    """Check that a user exists.

    Raises:
        InvalidInput: If the user is unknown; the message lists known users.
    """
    from hotmem.storage import queries

    runtime = memory.runtime
    if await runtime.find_user(user_id) is not None:
        return
    known = await runtime.database.read_all(queries.users.names, MAX_USERS_LISTED + 1)
    if not known:
        raise InvalidInput(
            f"{runtime.location} is empty: no turn has been stored yet. "
            "Name another file with --database, or talk to a bot first."
        )
    listed = ", ".join(map(repr, known[:MAX_USERS_LISTED]))
    more = ", …" if len(known) > MAX_USERS_LISTED else ""
    raise InvalidInput(
        f"{runtime.location} has no user {user_id!r}. Name another with --user: {listed}{more}."
    )


async def full_ids(memory: "Memory", user_id: str, table: "Table", ids: Ids) -> Ids:
    """Complete IDs that are given by their first characters.

    Raises:
        InvalidInput: If several IDs begin with the same characters.
    """
    from hotmem.storage import queries

    database = memory.runtime.database
    user = await database.read_all(queries.users.find, user_id)
    if user is None:
        return ids
    if isinstance(ids, str):
        return await database.read(queries.times.whole, user, table, ids)
    return [await database.read(queries.times.whole, user, table, one) for one in ids]


ID_ARGUMENTS: Final[dict[str, dict[str, tuple["Table", ...]]]] = {
    "edit_memory": {"id": ("memories",)},
    "merge_memories": {"into": ("memories",), "ids": ("memories",)},
    "trace_search": {"expected": ("memories", "turns")},
    "undo_decision": {"decision": ("decisions", "memories")},
}
"""Tool arguments that are IDs, with their tables; on the command line they may be abbreviated."""

COMMON: Final = frozenset({"memory_id", "user", "database", "json_"})
"""Parameters of commands that change nothing."""

OPTION_NAMES: Final = {
    "id": "memory_id",
    "time_range.start": "after",
    "time_range.end": "before",
    "expires_at": "expires",
    "new_name": "rename",
    "tags": "tag",
    "bots": "bot",
    "actions": "action",
    "include_expired": "expired",
    "include_conversation": "conversation",
    "include_stored": "stored",
    "pinned": "pin",
    "weights": "weight",
}
"""Tool arguments whose options have another name."""

POSITIONAL: Final = frozenset({"query", "id", "into", "ids", "decision", "file", "name"})
"""Tool arguments that are positional on the command line."""

ANY_USER: Final = "anyone"
"""User ID passed to tools that work on the whole file."""

CREATES_USERS: Final = ("store_memory",)
"""Tools that accept a new user ID."""


def option_name(argument: str) -> str:
    """Return the command-line name of a tool argument; items of a list have the same name."""
    name = argument if argument in OPTION_NAMES else argument.partition(".")[0]
    return name if name in POSITIONAL else f"--{OPTION_NAMES.get(name, name).replace('_', '-')}"


def tool_command(
    name: str, *, changes: bool = False, whole_file: bool = False
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Make the command of a tool from a function that declares and documents its own options.

    The options for the user, the database and the form of the output are added.

    Args:
        name: The tool's name.
        changes: Whether one of the options must be given that are not in `COMMON`.
        whole_file: Whether it has no option for the user.
    """
    user = Parameter("user", Parameter.POSITIONAL_OR_KEYWORD, annotation=console.User)
    database = user.replace(name="database", annotation=console.Database, default=None)
    as_json = user.replace(name="json_", annotation=console.Json, default=False)

    def made(command: Callable[P, None]) -> Callable[P, None]:
        @wraps(command)
        def run(*_: P.args, **options: P.kwargs) -> None:
            own = {option: value for option, value in options.items() if option not in COMMON}
            if changes and not given_only(own):
                listed = ", ".join(map(option_name, own))
                raise InvalidInput(f"No change is given. Pass one or more of {listed}.")
            call_tool(name, options)

        declared = signature(command)
        own = declared.parameters.values()
        required = [one for one in own if one.default is one.empty]
        run.__signature__ = declared.replace(  # type: ignore[attr-defined]
            parameters=[
                *required,
                *(() if whole_file else (user,)),
                database,
                *(one for one in own if one not in required),
                as_json,
            ]
        )
        return run

    return made


def given_only(options: dict[str, Any]) -> dict[str, Any]:
    """Drop options that were not given."""
    return {name: value for name, value in options.items() if value not in (None, [])}


def tool_arguments(arguments: type[Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a tool for the options of its command."""
    own = {field.name for field in fields(arguments)}
    argument_of = {option: argument for argument, option in OPTION_NAMES.items()}
    given: dict[str, Any] = {}
    for option, value in given_only(options).items():
        name, _, part = (option if option in own else argument_of[option]).partition(".")
        if part:
            given.setdefault(name, {})[part] = value
        else:
            given[name] = dict(map(_named_number, value)) if option == "weight" else value
    return given


def call_tool(name: str, options: dict[str, Any]) -> None:
    """Call a tool with the options of a command, and print the result.

    Args:
        name: The tool's name.
        options: Its options, with `user`, `database` and `json_`, by parameter. If it has one
            named `png`, the result can be drawn instead.

    Raises:
        InvalidInput: If an argument is invalid; the message names its option.
    """
    from hotmem.operations.requests import checked
    from hotmem.tools.registry import tool

    user, json_ = options.pop("user", ANY_USER), options.pop("json_")
    creates = name in CREATES_USERS
    location = (named_database if creates else existing_database)(options.pop("database"))
    png, overwrite = options.pop("png", None), options.pop("overwrite", False)
    plots = None if png is None else _plots()
    wanted = tool(name)
    given = tool_arguments(wanted.arguments, options)
    arguments = checked(wanted.arguments, given, option_name)

    async def run(memory: "Memory") -> None:
        if plots is not None:
            found = await wanted.run(memory, user, arguments)
            await asyncio.to_thread(plots.draw, found, arguments, png, overwrite=overwrite)
            console.print_line(f"plot written to {png}")
            return
        print_result(
            name,
            await wanted.call(memory, user, await _with_full_ids(memory, user, name, given)),
            json_=json_,
        )

    with_memory(location, run, user=None if creates or user == ANY_USER else user)


def _plots() -> ModuleType:
    with console.requires_extra("pictures", "plotting packages"):
        from hotmem.cli import plots
    return plots


def print_result(name: str, result: Any, *, json_: bool) -> None:  # noqa: ANN401 - JSON
    """Print the result of a tool as a table, or as JSON."""
    if json_:
        console.print_json(result)
        return
    from hotmem.cli.tables import render

    console.screen.print(render(name, result))


async def _with_full_ids(
    memory: "Memory", user_id: str, name: str, arguments: dict[str, Any]
) -> dict[str, Any]:
    completed = dict(arguments)
    for argument, tables in ID_ARGUMENTS.get(name, {}).items():
        for table in tables:
            if argument in completed:
                completed[argument] = await full_ids(memory, user_id, table, completed[argument])
    return completed


def _named_number(given: str) -> tuple[str, str]:
    """Split "words=0.5" into its name and its number.

    Raises:
        InvalidInput: If it has no "=".
    """
    name, separator, number = given.partition("=")
    if not separator:
        raise InvalidInput(f"--weight is {given!r}. Write NAME=NUMBER, such as words=0.5.")
    return name, number
