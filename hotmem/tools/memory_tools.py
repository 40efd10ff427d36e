"""The tools for a bot's own language model: store, search and discover; and the search trace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any

from pydantic import Field

from hotmem.memory import Memory
from hotmem.operations.requests import CLOSED, SearchOptions, StoreContext, TraceOptions
from hotmem.options import MIN_TOKENS
from hotmem.tools import maintenance
from hotmem.tools.advice import Advice, find_advice, restrict
from hotmem.tools.maintenance import Health, NoArguments
from hotmem.tools.tool import Tool

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
