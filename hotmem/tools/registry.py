"""Every tool with its name, its description and its arguments: what the doors show and call.

A door adds nothing of its own.
"""

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
from hotmem.storage.sqlite.files import make_folder
from hotmem.tools import cooccurrence, import_export, maintenance, usage_stats
from hotmem.tools.cooccurrence import Network
from hotmem.tools.editing import Edit, edit_memory
from hotmem.tools.import_export import Copying, Export, Import
from hotmem.tools.maintenance import Evolve, Health, Merge, Nothing, Recent, Span, Undo, Unused
from hotmem.tools.quality import LatestDays, memory_quality
from hotmem.tools.usage_stats import Patterns
from hotmem.types import Act, Action


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreArguments(StoreContext):
    """What is to be stored.

    Attributes:
        content: The statement, in a whole sentence.
    """

    __pydantic_config__ = CLOSED

    content: Annotated[
        str,
        Field(description="What is to be kept, as a whole sentence that can be understood alone."),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchArguments(SearchOptions):
    """What is to be found.

    Attributes:
        query: The question or some words.
    """

    __pydantic_config__ = CLOSED

    query: Annotated[str, Field(description="The question, or some words.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextualArguments:
    """What was talked about.

    Attributes:
        query: The question or some words.
        session: The live session.
    """

    __pydantic_config__ = CLOSED

    query: Annotated[str, Field(description="The question, or some words.")]
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceArguments(TraceOptions):
    """What is to be told of a search.

    Attributes:
        query: The question or some words.
    """

    __pydantic_config__ = CLOSED

    query: Annotated[str, Field(description="The question, or some words.")]


@dataclass(frozen=True, slots=True)
class Discovery:
    """The tools there are, and the state of the memory.

    Attributes:
        tools: What each tool does, by name, by group.
        memories: How many statements are known.
        health: How the memory is, with what could be improved.
    """

    tools: Mapping[str, Mapping[str, str]]
    memories: int
    health: Health


CHANGES: Final = (
    "edit_memory",
    "merge_memories",
    "optimize_tags",
    "evolve_categories",
    "undo_decision",
    "import_memories",
    "repair_index",
)
"""Tools that change a memory."""

RECORDED: Final = (
    "store_memory",
    "search_memory",
    "search_contextual",
    "trace_search",
    "export_memories",
    "backup_restore",
    "discover_memory_tools",
    "validate_storage",
)
"""Tools that the memory itself writes down in the audit trail, and those that show nothing that
was said."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One operation.

    Attributes:
        name: What it is called, everywhere.
        description: What it does, as a language model or a person is told.
        group: What it belongs to: "memory", "maintenance", "analysis", "migration" or "debugging".
        arguments: The class of its arguments.
        run: Does it, for a user of a memory.
        files: Its arguments that name files.
        whole_file: Whether it reads or writes the memory file with all users in it. It is for who
            owns the file, never for a server of one user.
    """

    name: str
    description: str
    group: str
    arguments: type[Any]
    run: Callable[[Memory, str, Any], Awaitable[object]]
    files: tuple[str, ...] = ()
    whole_file: bool = False

    @property
    def action(self) -> Action | None:
        """What the audit trail calls it.

        None if nothing is read or changed, or what it runs writes it down itself.
        """
        return (
            None
            if self.name in RECORDED
            else Action.CHANGE
            if self.name in CHANGES
            else Action.READ
        )

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return schema(self.arguments)

    async def call(
        self, memory: Memory, user_id: str, arguments: Mapping[str, Any], folder: Path | None = None
    ) -> Any:  # noqa: ANN401 - JSON
        """Does it with arguments as they come from outside, and returns what JSON holds.

        Args:
            memory: An open memory.
            user_id: Whose memory.
            arguments: The arguments by name.
            folder: The one folder in which files may be named, for those who may not have the run
                of the disk; None is anywhere.

        Raises:
            InvalidInput: If an argument is unknown, missing or wrong.
            StoreError: If the file cannot be read or written.
        """
        asked = checked(self.arguments, arguments)
        if folder is not None:
            given = {
                name: value for name in self.files if (value := getattr(asked, name)) is not None
            }
            asked = replace(
                asked, **{name: _inside(folder, name, value) for name, value in given.items()}
            )
        answer = await self.run(memory, user_id, asked)
        if self.action is not None:
            await memory.audit(
                Act(self.action, self.name), user_id=None if self.whole_file else user_id
            )
        return as_json(answer)


def _inside(folder: Path, name: str, value: str) -> str:
    """A plain file name as a path in the folder, which is made if it is not there."""
    if value in (".", "..") or Path(value).name != value or (folder / value).is_symlink():
        raise InvalidInput(
            f"{name} is {value!r}. Name a file without folders; it is looked for in {folder}."
        )
    make_folder(folder)
    if folder.is_symlink() or (hasattr(os, "geteuid") and folder.stat().st_uid != os.geteuid()):
        raise InvalidInput(
            f"{folder} is a link, or another account's. Remove it, or name a folder of your own."
        )
    return str(folder / value)


async def _store(memory: Memory, user_id: str, asked: StoreArguments) -> object:
    return await memory.store_memory(
        asked.content, user_id=user_id, context=_part(StoreContext, asked)
    )


async def _search(memory: Memory, user_id: str, asked: SearchArguments) -> object:
    return await memory.search_memory(
        asked.query, user_id=user_id, options=_part(SearchOptions, asked)
    )


async def _search_contextual(memory: Memory, user_id: str, asked: ContextualArguments) -> object:
    return await memory.search_contextual(asked.query, user_id=user_id, session_id=asked.session)


async def _trace(memory: Memory, user_id: str, asked: TraceArguments) -> object:
    return await memory.trace_search(
        asked.query, user_id=user_id, options=_part(TraceOptions, asked)
    )


def _part(kind: type[Any], arguments: object) -> Any:  # noqa: ANN401 - an instance of `kind`
    """The fields of a class that its arguments extend."""
    return kind(**{field.name: getattr(arguments, field.name) for field in fields(kind)})


async def _discover(memory: Memory, user_id: str, _: Nothing) -> Discovery:
    return await _discovered(TOOLS, memory, user_id)


async def _discovered(tools: Sequence[Tool], memory: Memory, user_id: str) -> Discovery:
    state = await maintenance.memory_stats(memory, user_id, Nothing())
    groups = {
        group: {one.name: one.description for one in tools if one.group == group}
        for group in dict.fromkeys(one.group for one in tools)
    }
    return Discovery(groups, state.memories, await maintenance.memory_health(memory, user_id))


def _offered(wanted: Callable[[Tool], bool]) -> tuple[Tool, ...]:
    """The tools that are wanted; among them the one that lists tools lists these."""
    chosen = tuple(one for one in TOOLS if wanted(one))

    async def discover(memory: Memory, user_id: str, _: Nothing) -> Discovery:
        return await _discovered(chosen, memory, user_id)

    return tuple(replace(one, run=discover) if one.run is _discover else one for one in chosen)


TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        "store_memory",
        "Keeps a statement for good. It is filed, tagged and compared with what is known by itself; only the content is needed.",
        "memory",
        StoreArguments,
        _store,
    ),
    Tool(
        "search_memory",
        "Finds what is known and what was said in earlier conversations, the most relevant first. Only the query is needed.",
        "memory",
        SearchArguments,
        _search,
    ),
    Tool(
        "search_contextual",
        "Finds the conversations that were about something: the best messages of each in their place, and related conversations.",
        "memory",
        ContextualArguments,
        _search_contextual,
    ),
    Tool(
        "discover_memory_tools",
        "Lists all tools by group, and tells the state of the memory.",
        "memory",
        Nothing,
        _discover,
    ),
    Tool(
        "memory_stats",
        "Counts what is remembered: turns, sessions, memories by category, kind and tag.",
        "maintenance",
        Nothing,
        maintenance.memory_stats,
    ),
    Tool(
        "edit_memory",
        "Changes a memory: its words, category, kind, importance, tags, note, or until when it is true. New words can be taken back.",
        "maintenance",
        Edit,
        edit_memory,
    ),
    Tool(
        "merge_memories",
        "Lets one memory stand for others that say the same. It can be taken back.",
        "maintenance",
        Merge,
        maintenance.merge_memories,
    ),
    Tool(
        "optimize_tags",
        "Lets one tag stand for those that mean the same, and puts away hardly used ones. It can be taken back.",
        "maintenance",
        Unused,
        maintenance.optimize_tags,
    ),
    Tool(
        "evolve_categories",
        "Finds what the memories of each category are about and files them under subcategories anew. It can be taken back.",
        "maintenance",
        Evolve,
        maintenance.evolve_categories,
    ),
    Tool(
        "memory_decisions",
        "Lists what was decided about memories, and why.",
        "maintenance",
        Recent,
        maintenance.memory_decisions,
    ),
    Tool(
        "undo_decision",
        "Takes a merge, an edit, an import, or what was done to tags and categories, back.",
        "maintenance",
        Undo,
        maintenance.undo_decision,
    ),
    Tool(
        "memory_subcategories",
        "Lists what the categories have evolved into: each subcategory with its words, its size and the statements that stand for it.",
        "analysis",
        Nothing,
        maintenance.memory_subcategories,
    ),
    Tool(
        "memory_timeline",
        "Tells what each day, month or year brought, of everything or of one name.",
        "analysis",
        Span,
        maintenance.memory_timeline,
    ),
    Tool(
        "concept_network",
        "Tells which names and concepts are spoken of together, how often, and in which memories; of everything or around one of them.",
        "analysis",
        Network,
        cooccurrence.concept_network,
    ),
    Tool(
        "usage_patterns",
        "Tells what is asked of the memory and when, what replies use of it, and what is never used.",
        "analysis",
        Patterns,
        usage_stats.usage_patterns,
    ),
    Tool(
        "export_memories",
        "Writes everything that is known of the user to a new file, as JSON Lines. The file is plain, whether the memory is encrypted or not.",
        "migration",
        Export,
        import_export.export_memories,
        ("file",),
    ),
    Tool(
        "import_memories",
        "Takes in a file: an export, one of mem0, chat messages, or a transcript. All of it or nothing; repeated it goes on and does nothing twice.",
        "migration",
        Import,
        import_export.import_memories,
        ("file",),
    ),
    Tool(
        "backup_restore",
        "Copies the whole memory file while it is in use, or makes a new memory file of such a copy. The copy of an encrypted file has its key.",
        "migration",
        Copying,
        import_export.backup_restore,
        ("file", "target"),
        whole_file=True,
    ),
    Tool(
        "trace_search",
        "Does a search and tells step by step how it went; and why a memory, a turn or words that were expected were found or were not.",
        "debugging",
        TraceArguments,
        _trace,
    ),
    Tool(
        "memory_quality",
        "Tells how much of what was given the replies used, what it cost, and how often nothing was known: by layer, intent and day.",
        "analysis",
        LatestDays,
        memory_quality,
    ),
    Tool(
        "validate_storage",
        "Checks the file and all its indexes.",
        "debugging",
        Nothing,
        maintenance.validate_storage,
        whole_file=True,
    ),
    Tool(
        "repair_index",
        "Makes all index entries anew from what is stored.",
        "debugging",
        Nothing,
        maintenance.repair_index,
        whole_file=True,
    ),
)
"""In the order in which they are shown."""

FOR_MODELS: Final = _offered(lambda one: one.group == "memory")
"""Those that a bot's own model is offered: too many confuse a model and cost it time, and
whoever talks to a bot is not to read or write files."""

FOR_PROGRAMS: Final = _offered(lambda one: not one.whole_file)
"""Those that a program is offered which was given one user's memory: nothing that reaches beyond
this user."""

BY_HTTP: Final = _offered(lambda one: not one.whole_file and not one.files)
"""Those for programs that may run anywhere: nothing that reads or writes files of this machine."""


def tool(name: str, among: Sequence[Tool] = TOOLS) -> Tool:
    """The tool of a name.

    Raises:
        InvalidInput: If there is none.
    """
    for one in among:
        if one.name == name:
            return one
    raise InvalidInput(f"{name!r} is no tool. There are: {', '.join(one.name for one in among)}.")
