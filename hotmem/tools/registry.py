"""All memory tools, and which of them each interface offers."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from hotmem.errors import InvalidInput
from hotmem.memory import Memory
from hotmem.tools import files, maintenance, quality
from hotmem.tools.editing import (
    EditArguments,
    EditSubcategoryArguments,
    OptimizeTagsArguments,
    edit_memory,
    edit_subcategory,
    optimize_tags,
)
from hotmem.tools.files import BackupArguments, ExportArguments, ImportArguments
from hotmem.tools.maintenance import (
    DecisionsArguments,
    EvolveArguments,
    ForgetArguments,
    MergeArguments,
    NetworkArguments,
    NoArguments,
    TimelineArguments,
    UndoArguments,
    forget_memory,
)
from hotmem.tools.memory_tools import (
    ContextualArguments,
    Discovery,
    SearchArguments,
    StoreArguments,
    Tool,
    TraceArguments,
    discover,
    search_contextual,
    search_memory,
    store_memory,
    trace_search,
)
from hotmem.tools.quality import QualityArguments, UsageArguments, memory_quality


async def _discover_all(memory: Memory, user_id: str, _: NoArguments) -> Discovery:
    return await discover(TOOLS, memory, user_id)


def _select(offered: Callable[[Tool], bool]) -> tuple[Tool, ...]:
    """Return the offered tools; discover_memory_tools among them lists only these."""
    selected = tuple(one for one in TOOLS if offered(one))

    async def discover_selected(memory: Memory, user_id: str, _: NoArguments) -> Discovery:
        return await discover(selected, memory, user_id)

    return tuple(
        replace(one, run=discover_selected) if one.run is _discover_all else one for one in selected
    )


TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        "store_memory",
        "Store a statement permanently. It is classified, tagged and compared with existing "
        "memories automatically; only the content is required.",
        "memory",
        StoreArguments,
        store_memory,
    ),
    Tool(
        "search_memory",
        "Search memories and earlier conversations, most relevant first. Only the query is "
        "required. It may ask for a kind, a tag or a time: 'reminders for this week', 'decisions "
        "about the website', 'notes tagged tax from May'.",
        "memory",
        SearchArguments,
        search_memory,
    ),
    Tool(
        "search_contextual",
        "Search for conversations about something. Returns the best messages of each with their "
        "neighbours, related conversations, and what was said in several of them. If no "
        "conversation is about it, searches the whole memory and says so.",
        "memory",
        ContextualArguments,
        search_contextual,
    ),
    Tool(
        "discover_memory_tools",
        "List all tools by group, the health of the memory, and what to do about it: conflicts, "
        "duplicates, reminders that are over, tags that mean the same. Each with its call.",
        "memory",
        NoArguments,
        _discover_all,
    ),
    Tool(
        "memory_stats",
        "Count turns, sessions, and memories by category, kind and tag.",
        "maintenance",
        NoArguments,
        maintenance.memory_stats,
    ),
    Tool(
        "edit_memory",
        "Change the text, category, kind, importance, tags, note or validity of a memory. It "
        "can be undone.",
        "maintenance",
        EditArguments,
        edit_memory,
    ),
    Tool(
        "merge_memories",
        "Merge memories that state the same into one. It can be undone.",
        "maintenance",
        MergeArguments,
        maintenance.merge_memories,
    ),
    Tool(
        "forget_memory",
        "Delete a memory, a session, everything that mentions a name, or everything. The first "
        "call deletes nothing and returns what would be deleted and a confirmation. Ask the user, "
        "and call it again with the confirmation only if they agree.",
        "maintenance",
        ForgetArguments,
        forget_memory,
        deletes=True,
    ),
    Tool(
        "optimize_tags",
        "Merge tags that mean the same and archive hardly used ones. It can be undone.",
        "maintenance",
        OptimizeTagsArguments,
        optimize_tags,
    ),
    Tool(
        "evolve_categories",
        "Rebuild the subcategories of each category from its memories. It can be undone.",
        "maintenance",
        EvolveArguments,
        maintenance.evolve_categories,
    ),
    Tool(
        "edit_subcategory",
        "Rename, merge, split or pin a subcategory. It then stays as it is when its category "
        "evolves. It can be undone.",
        "maintenance",
        EditSubcategoryArguments,
        edit_subcategory,
    ),
    Tool(
        "memory_decisions",
        "List decisions about memories, automatic and manual ones: facts read from speech, "
        "classifications, endings, edits, merges. With reasons, and what changed.",
        "maintenance",
        DecisionsArguments,
        maintenance.memory_decisions,
    ),
    Tool(
        "retry_jobs",
        "Retry background jobs that failed, such as reading the facts of a turn.",
        "maintenance",
        NoArguments,
        maintenance.retry_jobs,
    ),
    Tool(
        "undo_decision",
        "Undo a decision of `memory_decisions`. The undoing is a decision too, and can mostly be "
        "undone in turn.",
        "maintenance",
        UndoArguments,
        maintenance.undo_decision,
    ),
    Tool(
        "memory_subcategories",
        "List the subcategories of each category with their keywords, size and example memories.",
        "analysis",
        NoArguments,
        maintenance.memory_subcategories,
    ),
    Tool(
        "memory_timeline",
        "Count turns and list new memories by day, month or year, for everything or one name.",
        "analysis",
        TimelineArguments,
        maintenance.memory_timeline,
    ),
    Tool(
        "concept_network",
        "List names and concepts that are mentioned together, how often, and in which memories; "
        "for everything or around one of them.",
        "analysis",
        NetworkArguments,
        maintenance.concept_network,
    ),
    Tool(
        "usage_patterns",
        "Show when the memory is queried, which memories replies use, and which are never used.",
        "analysis",
        UsageArguments,
        quality.usage_patterns,
    ),
    Tool(
        "export_memories",
        "Export the user's turns and memories to a new JSON Lines file. The file is not "
        "encrypted, even if the memory is.",
        "migration",
        ExportArguments,
        files.export_memories,
        ("file",),
    ),
    Tool(
        "import_memories",
        "Import a HotMem or mem0 export, chat messages or a transcript. If a record is invalid, "
        "nothing is imported. Repeating it continues an interrupted import, and skips what exists.",
        "migration",
        ImportArguments,
        files.import_memories,
        ("file",),
    ),
    Tool(
        "backup_restore",
        "Copy the whole memory file while it is in use, or create a new memory file from such a "
        "copy. The copy of an encrypted file has the same key.",
        "migration",
        BackupArguments,
        files.backup_restore,
        ("file", "target"),
        whole_file=True,
    ),
    Tool(
        "trace_search",
        "Search and explain each step, and why an expected memory, turn or text was or was not "
        "found.",
        "debugging",
        TraceArguments,
        trace_search,
    ),
    Tool(
        "memory_quality",
        "Show how much of the context blocks the replies used, their tokens, and how often "
        "nothing was known, by layer, intent and day.",
        "analysis",
        QualityArguments,
        memory_quality,
    ),
    Tool(
        "validate_storage",
        "Check the integrity of the file and its indexes.",
        "debugging",
        NoArguments,
        maintenance.validate_storage,
        whole_file=True,
    ),
    Tool(
        "repair_index",
        "Rebuild all index entries from the stored turns and memories.",
        "debugging",
        NoArguments,
        maintenance.repair_index,
        whole_file=True,
    ),
)
"""All tools, in the order in which they are listed."""

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
