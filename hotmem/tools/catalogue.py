"""Every tool with its name, its description and its arguments: what the doors show and call. A door adds nothing of its own."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Final

from pydantic import Field

from hotmem.errors import InvalidInput
from hotmem.memory import Memory
from hotmem.tools import upkeep
from hotmem.tools.quality import LatestDays, memory_quality
from hotmem.tools.requests import CLOSED, SearchOptions, StoreContext, checked, schema
from hotmem.tools.results import as_json
from hotmem.tools.upkeep import Health, Merge, Nothing, Recent, Span, Undo, Unused


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreArguments(StoreContext):
    """What is to be stored.

    Attributes:
        content: The statement, in a whole sentence.
    """

    __pydantic_config__ = CLOSED

    content: Annotated[str, Field(description="What is to be kept, as a whole sentence that can be understood alone.")]


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


@dataclass(frozen=True, slots=True)
class Tool:
    """One operation.

    Attributes:
        name: What it is called, everywhere.
        description: What it does, as a language model or a person is told.
        group: What it belongs to: "memory", "maintenance", "analysis" or "debugging".
        arguments: The class of its arguments.
        run: Does it, for a user of a memory.
    """

    name: str
    description: str
    group: str
    arguments: type[Any]
    run: Callable[[Memory, str, Any], Awaitable[object]]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return schema(self.arguments)

    async def call(self, memory: Memory, user_id: str, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever JSON holds
        """Does it with arguments as they come from outside, and returns what JSON holds.

        Raises:
            InvalidInput: If an argument is unknown, missing or wrong.
            StoreError: If the file cannot be read or written.
        """
        return as_json(await self.run(memory, user_id, checked(self.arguments, arguments)))


async def _store(memory: Memory, user_id: str, asked: StoreArguments) -> object:
    return await memory.store_memory(asked.content, user_id=user_id, context=_part(StoreContext, asked))


async def _search(memory: Memory, user_id: str, asked: SearchArguments) -> object:
    return await memory.search_memory(asked.query, user_id=user_id, options=_part(SearchOptions, asked))


async def _search_contextual(memory: Memory, user_id: str, asked: ContextualArguments) -> object:
    return await memory.search_contextual(asked.query, user_id=user_id, session_id=asked.session)


def _part(kind: type[Any], arguments: object) -> Any:  # noqa: ANN401 - an instance of `kind`
    """The fields of a class that its arguments extend."""
    return kind(**{field.name: getattr(arguments, field.name) for field in fields(kind)})


async def _discover(memory: Memory, user_id: str, _: Nothing) -> Discovery:
    state = await upkeep.memory_stats(memory, user_id, Nothing())
    groups = {group: {one.name: one.description for one in TOOLS if one.group == group} for group in dict.fromkeys(one.group for one in TOOLS)}
    return Discovery(groups, state.memories, await upkeep.memory_health(memory, user_id))


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
    Tool("discover_memory_tools", "Lists all tools by group, and tells the state of the memory.", "memory", Nothing, _discover),
    Tool(
        "memory_stats",
        "Counts what is remembered: turns, sessions, memories by category, kind and tag.",
        "maintenance",
        Nothing,
        upkeep.memory_stats,
    ),
    Tool(
        "merge_memories",
        "Lets one memory stand for others that say the same. It can be taken back.",
        "maintenance",
        Merge,
        upkeep.merge_memories,
    ),
    Tool(
        "optimize_tags",
        "Lets one tag stand for those that mean the same, and puts away hardly used ones. It can be taken back.",
        "maintenance",
        Unused,
        upkeep.optimize_tags,
    ),
    Tool(
        "memory_decisions",
        "Lists what was decided about memories, and why.",
        "maintenance",
        Recent,
        upkeep.memory_decisions,
    ),
    Tool("undo_decision", "Takes a merge, or what was done to tags, back.", "maintenance", Undo, upkeep.undo_decision),
    Tool("memory_timeline", "Tells what each day, month or year brought, of everything or of one name.", "analysis", Span, upkeep.memory_timeline),
    Tool(
        "memory_quality",
        "Tells how much of what was given the replies used, what it cost, and how often nothing was known: by layer, intent and day.",
        "analysis",
        LatestDays,
        memory_quality,
    ),
    Tool("validate_storage", "Checks the file and all its indexes.", "debugging", Nothing, upkeep.validate_storage),
    Tool("repair_index", "Makes all index entries anew from what is stored.", "debugging", Nothing, upkeep.repair_index),
)
"""In the order in which they are shown."""

FOR_MODELS: Final = tuple(one for one in TOOLS if one.group == "memory")
"""Those that a bot's own model is offered; too many tools confuse a model and cost it time."""


def tool(name: str) -> Tool:
    """The tool of a name.

    Raises:
        InvalidInput: If there is none.
    """
    for one in TOOLS:
        if one.name == name:
            return one
    raise InvalidInput(f"{name!r} is no tool. There are: {', '.join(one.name for one in TOOLS)}.")
