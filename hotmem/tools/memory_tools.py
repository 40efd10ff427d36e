"""What a tool is; the tools that store and search, and the search trace."""

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from inspect import getdoc, signature
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from hotmem.errors import InvalidInput
from hotmem.memory import Memory
from hotmem.operations.requests import (
    Request,
    SearchOptions,
    StoreContext,
    TraceOptions,
    checked,
    schema,
)
from hotmem.operations.results import as_json
from hotmem.options import MIN_TOKENS
from hotmem.storage.sqlite.files import make_folder
from hotmem.types import Act, Action


@dataclass(frozen=True, slots=True)
class Tool:
    """A memory operation offered to language models, MCP clients and the command line.

    Attributes:
        run: Function of memory, user ID and arguments; its name is the tool's, and its docstring
            describes the tool.
        group: "memory", "maintenance", "analysis", "migration" or "debugging".
        files: Arguments that are file names.
        action: Action in the audit log; None if the operation writes the log itself, or returns no
            stored text.
        whole_file: Whether it works on the whole memory file with all users; never offered by a
            server for one user.
        deletes: Whether it deletes what cannot be restored by another tool; clients may ask the
            person first.
    """

    run: Callable[[Memory, str, Any], Awaitable[object]]
    group: str
    files: tuple[str, ...] = ()
    action: Action | None = Action.READ
    whole_file: bool = False
    deletes: bool = False

    @property
    def name(self) -> str:
        """Name in all interfaces."""
        return self.run.__name__

    @property
    def description(self) -> str:
        """What it does, for a language model or a person: the docstring up to its sections."""
        text = re.split(r"\n\n[A-Z]\w+:\n", getdoc(self.run) or "", maxsplit=1)[0]
        return " ".join(text.split())

    @property
    def arguments(self) -> type[Any]:
        """Class of its arguments."""
        _, _, arguments, *_ = signature(self.run).parameters.values()
        kind: type[Any] = arguments.annotation
        return kind

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

    content: Annotated[
        str, Field(description="The statement, as a whole sentence that can be understood alone.")
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchArguments(SearchOptions):
    """Arguments of `search_memory`.

    Attributes:
        query: The question, or some words.
    """

    query: Query


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextualArguments(Request):
    """Arguments of `search_contextual`.

    Attributes:
        query: The question, or some words.
        session: The live session.
        max_tokens: Token budget of `lines`, the result as a text; None leaves them out.
    """

    query: Query
    session: str | None = None
    max_tokens: Annotated[int, Field(ge=MIN_TOKENS)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceArguments(TraceOptions):
    """Arguments of `trace_search`.

    Attributes:
        query: The question, or some words.
    """

    query: Query


async def store_memory(memory: Memory, user_id: str, arguments: StoreArguments) -> object:
    """Store a statement permanently.

    It is classified, tagged and compared with existing memories automatically; only the content is
    required.
    """
    return await memory.store_memory(arguments.content, user_id=user_id, context=arguments)


async def search_memory(memory: Memory, user_id: str, arguments: SearchArguments) -> object:
    """Search memories and earlier conversations, most relevant first.

    Only the query is required. It may ask for a kind, a tag or a time: 'reminders for this week',
    'decisions about the website', 'notes tagged tax from May'.
    """
    return await memory.search_memory(arguments.query, user_id=user_id, options=arguments)


async def search_contextual(memory: Memory, user_id: str, arguments: ContextualArguments) -> object:
    """Search for conversations about something.

    Returns the best messages of each with their neighbours, related conversations, and what was
    said in several of them. If no conversation is about it, searches the whole memory and says so.
    """
    return await memory.search_contextual(
        arguments.query,
        user_id=user_id,
        session_id=arguments.session,
        max_tokens=arguments.max_tokens,
    )


async def trace_search(memory: Memory, user_id: str, arguments: TraceArguments) -> object:
    """Search and explain each step, and why an expected memory, turn or text was or was not found.

    Raises:
        InvalidInput: If the query is empty.
        StoreError: If the file cannot be read.
    """
    return await memory.trace_search(arguments.query, user_id=user_id, options=arguments)
