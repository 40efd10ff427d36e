"""All memory tools, and which of them each interface offers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, update_wrapper
from typing import Final

from hotmem.errors import InvalidInput
from hotmem.memory import Memory
from hotmem.tools import editing, files, maintenance, memory_tools, quality
from hotmem.tools.advice import Advice, find_advice, restrict
from hotmem.tools.maintenance import Health, NoArguments
from hotmem.tools.memory_tools import Tool
from hotmem.types import Action


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


async def discover_memory_tools(
    memory: Memory, user_id: str, _: NoArguments, offered: Sequence[Tool] | None = None
) -> Discovery:
    """List all tools by group, the health of the memory, and what to do about it.

    Conflicts, duplicates, reminders that are over, tags that mean the same. Each with its call.

    Args:
        memory: An open memory.
        user_id: User ID.
        offered: Only these tools; None lists all.
    """
    offered = TOOLS if offered is None else offered
    stats = await maintenance.memory_stats(memory, user_id, NoArguments())
    groups = {
        group: {one.name: one.description for one in offered if one.group == group}
        for group in dict.fromkeys(one.group for one in offered)
    }
    return Discovery(
        groups,
        stats.memories,
        maintenance.memory_health(stats),
        restrict(await find_advice(memory, user_id), frozenset(one.name for one in offered)),
    )


CHANGE: Final = Action.CHANGE

TOOLS: Final = (
    Tool(memory_tools.store_memory, "memory", action=None),
    Tool(memory_tools.search_memory, "memory", action=None),
    Tool(memory_tools.search_contextual, "memory", action=None),
    Tool(discover_memory_tools, "memory", action=None),
    Tool(maintenance.memory_stats, "maintenance"),
    Tool(editing.edit_memory, "maintenance", action=CHANGE),
    Tool(maintenance.merge_memories, "maintenance", action=CHANGE),
    Tool(maintenance.forget_memory, "maintenance", action=None, deletes=True),
    Tool(editing.optimize_tags, "maintenance", action=CHANGE),
    Tool(maintenance.evolve_categories, "maintenance", action=CHANGE),
    Tool(editing.edit_subcategory, "maintenance", action=CHANGE),
    Tool(maintenance.memory_decisions, "maintenance"),
    Tool(maintenance.retry_jobs, "maintenance", action=CHANGE),
    Tool(maintenance.undo_decision, "maintenance", action=CHANGE),
    Tool(maintenance.memory_subcategories, "analysis"),
    Tool(maintenance.memory_timeline, "analysis"),
    Tool(maintenance.concept_network, "analysis"),
    Tool(quality.usage_patterns, "analysis"),
    Tool(files.export_memories, "migration", files=("file",), action=None),
    Tool(files.import_memories, "migration", files=("file",), action=CHANGE),
    Tool(
        files.backup_restore,
        "migration",
        files=("file", "target"),
        action=None,
        whole_file=True,
    ),
    Tool(memory_tools.trace_search, "debugging", action=None),
    Tool(quality.memory_quality, "analysis"),
    Tool(maintenance.validate_storage, "debugging", action=None, whole_file=True),
    Tool(maintenance.repair_index, "debugging", action=CHANGE, whole_file=True),
)
"""All tools, in the order in which they are listed."""


def _select(offered: Callable[[Tool], bool]) -> tuple[Tool, ...]:
    """Return the offered tools; discover_memory_tools among them lists only these."""
    selected = tuple(one for one in TOOLS if offered(one))
    discover = partial(discover_memory_tools, offered=selected)
    update_wrapper(discover, discover_memory_tools)
    return tuple(
        replace(one, run=discover) if one.run is discover_memory_tools else one for one in selected
    )


FOR_MODELS: Final = _select(lambda one: one.group == "memory")
"""Tools for a bot's own language model: few, to save latency, and none that read or write files,
because anyone may talk to a bot."""

FOR_PROGRAMS: Final = _select(lambda one: not one.whole_file)
"""Tools for a local program that may access one user's memory."""

BY_HTTP: Final = _select(lambda one: not one.whole_file and not one.files)
"""Tools for programs that connect by HTTP: none that read or write files of this machine."""


def tool(name: str, among: Sequence[Tool] = TOOLS) -> Tool:
    """Return the tool with a name.

    Raises:
        InvalidInput: If there is none.
    """
    for one in among:
        if one.name == name:
            return one
    names = ", ".join(one.name for one in among)
    raise InvalidInput(f"There is no tool {name!r}. Use one of: {names}.")
