"""The tools for a bot's own language model: store, search and discover; and the search trace."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from hotmem.errors import InvalidInput
from hotmem.memory import Memory
from hotmem.operations.requests import (
    CLOSED,
    SearchOptions,
    StoreContext,
    TraceOptions,
    checked,
    schema,
)
from hotmem.operations.results import as_json
from hotmem.options import MIN_TOKENS
from hotmem.storage.sqlite.files import make_folder
from hotmem.tools import maintenance
from hotmem.tools.advice import Advice, find_advice, restrict
from hotmem.tools.maintenance import Health, NoArguments
from hotmem.types import Act, Action

CHANGING: Final = (
    "edit_memory",
    "merge_memories",
    "optimize_tags",
    "evolve_categories",
    "edit_subcategory",
    "undo_decision",
    "retry_jobs",
    "import_memories",
    "repair_index",
)
"""Tools that change a memory."""

NOT_AUDITED: Final = (
    "store_memory",
    "search_memory",
    "search_contextual",
    "trace_search",
    "export_memories",
    "backup_restore",
    "discover_memory_tools",
    "validate_storage",
    "forget_memory",
)
"""Tools whose operations write the audit log themselves, or that return no stored text."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A memory operation offered to language models, MCP clients and the command line.

    Attributes:
        name: Name in all interfaces.
        description: What it does, for a language model or a person.
        group: "memory", "maintenance", "analysis", "migration" or "debugging".
        arguments: Class of its arguments.
        run: Function of memory, user ID and arguments.
        files: Arguments that are file names.
        whole_file: Whether it works on the whole memory file with all users; never offered by a
            server for one user.
        deletes: Whether it deletes what cannot be restored by another tool; clients may ask the
            person first.
    """

    name: str
    description: str
    group: str
    arguments: type[Any]
    run: Callable[[Memory, str, Any], Awaitable[object]]
    files: tuple[str, ...] = ()
    whole_file: bool = False
    deletes: bool = False

    @property
    def action(self) -> Action | None:
        """Action in the audit log; None if `call` does not write an entry."""
        if self.name in NOT_AUDITED:
            return None
        return Action.CHANGE if self.name in CHANGING else Action.READ

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments."""
        return schema(self.arguments)

    async def call(
        self, memory: Memory, user_id: str, arguments: Mapping[str, Any], folder: Path | None = None
    ) -> Any:  # noqa: ANN401 - JSON
        """Validate the arguments, run the tool and return its result as JSON data.

        Args:
            memory: An open memory.
            user_id: User ID.
            arguments: Arguments by name.
            folder: Only folder in which the tool may use files; None allows any path.

        Raises:
            InvalidInput: If an argument is unknown, missing or invalid.
            StoreError: If the file cannot be read or written.
        """
        request = checked(self.arguments, arguments)
        if folder is not None:
            given = {
                name: value for name in self.files if (value := getattr(request, name)) is not None
            }
            paths = {name: _path_in(folder, name, value) for name, value in given.items()}
            request = replace(request, **paths)
        result = await self.run(memory, user_id, request)
        if self.action is not None:
            await memory.audit(
                Act(self.action, self.name), user_id=None if self.whole_file else user_id
            )
        return as_json(result)


def _path_in(folder: Path, name: str, value: str) -> str:
    """Return the path of a plain file name in the folder, which is created if missing."""
    if value in (".", "..") or Path(value).name != value or (folder / value).is_symlink():
        raise InvalidInput(f"{name} is {value!r}. Pass a file name without folders, in {folder}.")
    make_folder(folder)
    if folder.is_symlink() or (hasattr(os, "geteuid") and folder.stat().st_uid != os.geteuid()):
        raise InvalidInput(
            f"{folder} is a link or belongs to another account. "
            "Remove it, or name a folder of your own."
        )
    return str(folder / value)


Query = Annotated[str, Field(description="The question, or some words.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreArguments(StoreContext):
    """Arguments of `store_memory`.

    Attributes:
        content: The statement, as a whole sentence.
    """

    __pydantic_config__ = CLOSED

    content: Annotated[
        str, Field(description="The statement, as a whole sentence that can be understood alone.")
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchArguments(SearchOptions):
    """Arguments of `search_memory`.

    Attributes:
        query: The question, or some words.
    """

    __pydantic_config__ = CLOSED

    query: Query


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextualArguments:
    """Arguments of `search_contextual`.

    Attributes:
        query: The question, or some words.
        session: The live session.
        max_tokens: Token budget of `lines`, the result as a text; None leaves them out.
    """

    __pydantic_config__ = CLOSED

    query: Query
    session: str | None = None
    max_tokens: Annotated[int, Field(ge=MIN_TOKENS)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceArguments(TraceOptions):
    """Arguments of `trace_search`.

    Attributes:
        query: The question, or some words.
    """

    __pydantic_config__ = CLOSED

    query: Query


@dataclass(frozen=True, slots=True)
class Discovery:
    """Result of `discover_memory_tools`.

    Attributes:
        tools: Descriptions of the tools by name, by group.
        memories: Number of memories.
        health: Health of the memory.
        advice: What to do about it.
    """

    tools: Mapping[str, Mapping[str, str]]
    memories: int
    health: Health
    advice: tuple[Advice, ...]


async def store_memory(memory: Memory, user_id: str, arguments: StoreArguments) -> object:
    """Store a statement."""
    context = _base(StoreContext, arguments)
    return await memory.store_memory(arguments.content, user_id=user_id, context=context)


async def search_memory(memory: Memory, user_id: str, arguments: SearchArguments) -> object:
    """Search memories, summaries and turns."""
    options = _base(SearchOptions, arguments)
    return await memory.search_memory(arguments.query, user_id=user_id, options=options)


async def search_contextual(memory: Memory, user_id: str, arguments: ContextualArguments) -> object:
    """Search conversations."""
    return await memory.search_contextual(
        arguments.query,
        user_id=user_id,
        session_id=arguments.session,
        max_tokens=arguments.max_tokens,
    )


async def trace_search(memory: Memory, user_id: str, arguments: TraceArguments) -> object:
    """Search and explain each step."""
    options = _base(TraceOptions, arguments)
    return await memory.trace_search(arguments.query, user_id=user_id, options=options)


async def discover(tools: Sequence[Tool], memory: Memory, user_id: str) -> Discovery:
    """List tools by group, measure the health of the memory, and say what to do about it."""
    stats = await maintenance.memory_stats(memory, user_id, NoArguments())
    groups = {
        group: {one.name: one.description for one in tools if one.group == group}
        for group in dict.fromkeys(one.group for one in tools)
    }
    offered = frozenset(one.name for one in tools)
    return Discovery(
        groups,
        stats.memories,
        await maintenance.memory_health(memory, user_id),
        restrict(await find_advice(memory, user_id), offered),
    )


def _base(kind: type[Any], arguments: object) -> Any:  # noqa: ANN401 - an instance of `kind`
    """Return the fields of the base class that the arguments extend."""
    return kind(**{field.name: getattr(arguments, field.name) for field in fields(kind)})
