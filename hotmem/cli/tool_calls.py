"""Calling a memory tool from a command: options to arguments, result to the screen."""

from typing import TYPE_CHECKING, Any, Final

from hotmem.cli import console
from hotmem.cli.memory_file import full_ids, with_memory
from hotmem.core.location import Location

if TYPE_CHECKING:
    from hotmem import Memory
    from hotmem.storage.queries.ids import Table

ID_ARGUMENTS: Final[dict[str, dict[str, tuple["Table", ...]]]] = {
    "edit_memory": {"id": ("memories",)},
    "merge_memories": {"into": ("memories",), "ids": ("memories",)},
    "trace_search": {"expected": ("memories", "turns")},
    "undo_decision": {"decision": ("decisions", "memories")},
}
"""Tool arguments that are IDs, with their tables; on the command line they may be abbreviated."""

OPTION_NAMES: Final = {
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


def given_only(options: dict[str, Any]) -> dict[str, Any]:
    """Drop options that were not given."""
    return {name: value for name, value in options.items() if value is not None}


def call_tool(
    name: str, arguments: dict[str, Any], user: str, location: Location, *, json_: bool = False
) -> None:
    """Call a tool with the options that were given, and print the result.

    Raises:
        InvalidInput: If an argument is invalid; the message names its option.
    """
    from hotmem.operations.requests import checked
    from hotmem.tools.registry import tool

    given, wanted = given_only(arguments), tool(name)
    checked(wanted.arguments, given, option_name)

    async def run(memory: "Memory") -> None:
        print_result(
            name,
            await wanted.call(memory, user, await _with_full_ids(memory, user, name, given)),
            json_=json_,
        )

    check = user != ANY_USER and name not in CREATES_USERS
    with_memory(location, run, user=user if check else None)


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
