"""Maintenance tools: statistics, timeline, merges, tags, decisions, undo, validation and repair."""

import asyncio
import hmac
import json
import math
import secrets
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from typing import Annotated, Any, Final, Literal

from pydantic import AwareDatetime, Field

from hotmem.core.validation import validate_order
from hotmem.errors import InvalidInput
from hotmem.memory import Memory
from hotmem.operations.requests import Id, Request
from hotmem.portability import importer
from hotmem.retrieval.query import NOBODY
from hotmem.storage import queries
from hotmem.storage.database import Database
from hotmem.text.validation import validate_text
from hotmem.types import (
    Category,
    Decision,
    DecisionAction,
    EvolutionResult,
    Fault,
    LabelMentions,
    Period,
    Stats,
    Subcategory,
    UndoResult,
    UserKey,
)


@dataclass(frozen=True, slots=True)
class NoArguments(Request):
    """No arguments."""


@dataclass(frozen=True, slots=True)
class TimelineArguments(Request):
    """Arguments of `memory_timeline`.

    Attributes:
        by: Length of a period, in UTC.
        about: Only turns and memories that mention this name.
        after: Earliest time, inclusive.
        before: Latest time, exclusive.
    """

    by: Literal["day", "month", "year"] = "month"
    about: Id | None = None
    after: AwareDatetime | None = None
    before: AwareDatetime | None = None

    def __post_init__(self) -> None:
        validate_order(self.after, self.before)


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeArguments(Request):
    """Arguments of `merge_memories`.

    Attributes:
        into: ID of the memory to keep.
        ids: IDs of the memories to merge into it.
        reason: Reason recorded with the decision.
    """

    into: Annotated[Id, Field(description="ID of the memory to keep.")]
    ids: Annotated[
        tuple[Id, ...],
        Field(min_length=1, max_length=100, description="IDs of the memories to merge into it."),
    ]
    reason: Annotated[str, Field(max_length=500)] = "asked to"


@dataclass(frozen=True, slots=True)
class DecisionsArguments(Request):
    """Arguments of `memory_decisions`.

    Attributes:
        limit: Decisions at most, latest first.
        actions: Only these actions; empty for all.
    """

    limit: Annotated[int, Field(ge=1, le=1000)] = 50
    actions: Annotated[
        tuple[DecisionAction, ...], Field(description="Only these actions; empty for all.")
    ] = ()


@dataclass(frozen=True, slots=True)
class EvolveArguments(Request):
    """Arguments of `evolve_categories`: the category; None for all."""

    category: Category | None = None


@dataclass(frozen=True, slots=True)
class EvolutionReport:
    """Result of `evolve_categories`, by category."""

    categories: tuple[EvolutionResult, ...]


@dataclass(frozen=True, slots=True)
class Subcategories:
    """Subcategories by category, largest first."""

    subcategories: tuple[Subcategory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoArguments(Request):
    """Arguments of `undo_decision`."""

    decision: Annotated[Id, Field(description="ID of the decision.")]


@dataclass(frozen=True, slots=True)
class MergeResult:
    """Result of `merge_memories`: ID of the decision and number of merged memories."""

    decision: str
    memories: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """Periods with any turn or memory, earliest first."""

    periods: tuple[Period, ...]


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions, latest first."""

    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class RetryResult:
    """Result of `retry_jobs`: number of jobs that wait again."""

    jobs: int


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """Result of `validate_storage`: whether the file is intact, and its faults."""

    sound: bool
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class RepairReport:
    """Result of `repair_index`: number of rebuilt entries, and remaining faults."""

    entries: int
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class HealthMeasure:
    """A measure that contributes to the health score.

    Attributes:
        share: Value, 0 to 1.
        weight: Weight in the score.
        meaning: What it measures.
    """

    share: float
    weight: float
    meaning: str


@dataclass(frozen=True, slots=True)
class Health:
    """Health score of a memory, 0 to 1, and its measures."""

    score: float
    parts: Mapping[str, HealthMeasure]


async def memory_stats(memory: Memory, user_id: str, _: NoArguments) -> Stats:
    """Count turns, sessions, and memories by category, kind and tag."""
    database, user = await find_user(memory, user_id)
    return await database.read(queries.maintenance.stats, user)


async def memory_timeline(memory: Memory, user_id: str, arguments: TimelineArguments) -> Timeline:
    """Count turns and list new memories by day, month or year, for everything or one name."""
    database, user = await find_user(memory, user_id)
    return Timeline(
        tuple(
            await database.read(
                queries.maintenance.timeline,
                user,
                arguments.by,
                arguments.about,
                arguments.after,
                arguments.before,
            )
        )
    )


async def merge_memories(memory: Memory, user_id: str, arguments: MergeArguments) -> MergeResult:
    """Merge memories that state the same into one. It can be undone.

    Raises:
        InvalidInput: If an ID is not among the user's memories.
    """
    database, user = await find_user(memory, user_id)
    return MergeResult(
        await database.write(
            queries.decisions.merge,
            user,
            arguments.into,
            arguments.ids,
            arguments.reason,
            datetime.now(UTC),
        ),
        len(arguments.ids),
    )


async def evolve_categories(
    memory: Memory, user_id: str, arguments: EvolveArguments
) -> EvolutionReport:
    """Rebuild the subcategories of each category from its memories. It can be undone."""
    found = await memory.subcategories.evolve(user_id, category=arguments.category)
    return EvolutionReport(tuple(found))


async def memory_subcategories(memory: Memory, user_id: str, _: NoArguments) -> Subcategories:
    """List the subcategories of each category with their keywords, size and example memories."""
    return Subcategories(tuple(await memory.subcategories.of_user(user_id)))


async def memory_decisions(
    memory: Memory, user_id: str, arguments: DecisionsArguments
) -> Decisions:
    """List decisions about memories, automatic and manual ones.

    Facts read from speech, classifications, endings, edits, merges. With reasons, and what changed.
    """
    database, user = await find_user(memory, user_id)
    found = await database.read(
        queries.decisions.with_readings, user, arguments.limit, arguments.actions
    )
    return Decisions(tuple(found))


async def undo_decision(memory: Memory, user_id: str, arguments: UndoArguments) -> UndoResult:
    """Undo a decision of `memory_decisions`.

    The undoing is a decision too, and can mostly be undone in turn.

    Raises:
        InvalidInput: If the decision does not exist, cannot be undone or was already undone, or if
            something else was changed since that must be undone first.
    """
    database, user = await find_user(memory, user_id)
    undone = await database.write(queries.undoing.undo, user, arguments.decision, datetime.now(UTC))
    await importer.revert_imports(memory.runtime.storage, memory.runtime.priority)
    memory.runtime.worker.wake()
    return undone


async def retry_jobs(memory: Memory, user_id: str, _: NoArguments) -> RetryResult:
    """Retry background jobs that failed, such as reading the facts of a turn.

    Note:
        Those of the user, and those that were set aside among them.
    """
    database, user = await find_user(memory, user_id)
    jobs = await database.write(queries.job_failures.reset, user)
    memory.runtime.worker.wake()
    return RetryResult(jobs)


async def validate_storage(memory: Memory, _: str, __: NoArguments) -> ValidationReport:
    """Check the integrity of the file, its rows and its indexes."""
    faults = tuple(await memory.runtime.database.read_all(queries.maintenance.faults))
    return ValidationReport(not faults, faults)


async def repair_index(memory: Memory, _: str, __: NoArguments) -> RepairReport:
    """Mend damaged rows, and rebuild all index entries from the stored turns and memories.

    Vectors that cannot be read are computed again in the background.
    """
    database = memory.runtime.database
    entries = await database.write_all(queries.maintenance.repair)
    memory.runtime.worker.wake()
    return RepairReport(entries, tuple(await database.read_all(queries.maintenance.faults)))


def memory_health(stats: Stats) -> Health:
    """Measure how complete, distinct and used a memory is."""
    parts = {
        "understood": HealthMeasure(
            1 - stats.waiting / max(stats.turns, 1), 0.4, "turns with extracted facts"
        ),
        "summarised": HealthMeasure(
            min(stats.summaries / stats.sessions, 1.0) if stats.sessions else 1.0,
            0.3,
            "conversations with a summary",
        ),
        "distinct": HealthMeasure(
            1 - stats.merged / max(stats.memories + stats.merged, 1),
            0.1,
            "memories that duplicate no other",
        ),
        "used": HealthMeasure(
            1 - stats.never_used / max(stats.memories, 1),
            0.2,
            "memories used by a search or a reply",
        ),
    }
    return Health(sum(part.share * part.weight for part in parts.values()), parts)


async def find_user(memory: Memory, user_id: str) -> tuple[Database, UserKey]:
    """Return the database and the user in it; an unknown user is nobody, of whom it has nothing."""
    database = memory.runtime.database
    return database, await database.read_all(queries.users.find, user_id) or NOBODY


_PROCESS_KEY: Final = secrets.token_bytes(32)
"""Key of the confirmations of this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetArguments(Request):
    """Arguments of `forget_memory`; exactly one target is given.

    Attributes:
        memory_id: A memory, with the turns that it was read from.
        entity: A name: everything that mentions it.
        session: A session.
        everything: All data of the user.
        confirmation: What the first call returned, once the user agreed; None deletes nothing.
    """

    memory_id: (
        Annotated[str, Field(description="ID of a memory to delete, with its source turns.")] | None
    ) = None
    entity: Annotated[str, Field(description="Name; deletes all that mentions it.")] | None = None
    session: Annotated[str, Field(description="ID of a session to delete.")] | None = None
    everything: Annotated[bool, Field(description="Delete all data of the user.")] = False
    confirmation: (
        Annotated[str, Field(description="What the first call returned, once the user has agreed.")]
        | None
    ) = None


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """Result of `forget_memory`.

    Attributes:
        deleted: Whether it was deleted.
        description: What was or would be deleted, for the user.
        confirmation: To be passed with the same target; None once it is deleted, or if nothing
            matches.
    """

    deleted: bool
    description: str
    confirmation: str | None


async def forget_memory(memory: Memory, user_id: str, arguments: ForgetArguments) -> ForgetReport:
    """Delete a memory, a session, everything that mentions a name, or everything.

    The first call deletes nothing and returns what would be deleted and a confirmation. Ask the
    user, and call it again with the confirmation only if they agree.

    Raises:
        InvalidInput: If not exactly one target is given, or the confirmation is not the one of this
            target, or what matches has changed since.
        DeletionChanged: If it changes at this moment; nothing is deleted.
        StoreError: If the memory cannot be written.
    """
    target: dict[str, Any] = {
        "memory_id": arguments.memory_id,
        "entity": arguments.entity,
        "session_id": arguments.session,
        "everything": arguments.everything,
    }
    given = arguments.confirmation
    preview = await memory.forget(user_id=user_id, **target, dry_run=True)
    if not preview.anything:
        return ForgetReport(False, "Nothing of it is stored.", None)
    expected = _confirmation(user_id, target, preview.fingerprint)
    if given is None:
        return ForgetReport(False, f"{preview.summary()} would be deleted for good.", expected)
    if not hmac.compare_digest(given.encode(), expected.encode()):
        raise InvalidInput(
            "confirmation is not valid for this target, or what matches it has changed. Call again "
            "without confirmation, and ask the user."
        )
    deleted = await memory.forget(user_id=user_id, **target, confirmed=preview.ids)
    return ForgetReport(True, str(deleted), None)


def _confirmation(user_id: str, target: dict[str, Any], fingerprint: str) -> str:
    """Return the code that confirms this deletion, of this user, of what has this fingerprint."""
    stated = json.dumps([user_id, target, fingerprint], sort_keys=True).encode()
    return hmac.digest(_PROCESS_KEY, stated, "sha256").hex()[:12]


MAX_MENTIONS: Final = 300
"""Maximum names, and likewise concepts, considered."""

EDGES_PER_NODE: Final = 3
"""Mean number of edges per node."""

MEMORIES_PER_EDGE: Final = 3
"""Maximum memories listed per edge, latest first."""


ABOUT: Final = "Only what is mentioned together with this name or these words."


@dataclass(frozen=True, slots=True)
class NetworkArguments(Request):
    """Arguments of `concept_network`.

    Attributes:
        about: Only what is mentioned together with this name or these words.
        limit: Maximum nodes, 2 to 200.
        min_count: Minimum turns and memories that mention a node.
        min_weight: Minimum turns and memories that mention both nodes of an edge.
    """

    about: Annotated[str, Field(min_length=1, max_length=200, description=ABOUT)] | None = None
    limit: Annotated[int, Field(ge=2, le=200, description="Maximum nodes.")] = 40
    min_count: Annotated[int, Field(ge=1, description="Minimum turns and memories of a node.")] = 2
    min_weight: Annotated[int, Field(ge=1, description="Minimum turns and memories of a pair.")] = 1


@dataclass(frozen=True, slots=True)
class Node:
    """A name or a concept.

    Attributes:
        name: Its spelling.
        kind: "name" or "concept".
        turns: Number of turns that mention it.
        memories: Number of memories that mention it.
    """

    name: str
    kind: str
    turns: int
    memories: int


@dataclass(frozen=True, slots=True)
class EdgeMemory:
    """A memory that mentions both nodes of an edge: its ID and text."""

    id: str
    content: str


@dataclass(frozen=True, slots=True)
class Edge:
    """Two nodes that are mentioned together.

    Attributes:
        one: The more frequent node.
        other: The other node.
        weight: Number of turns and memories that mention both.
        strength: Normalised weight, 0 to 1: weight / √(count of one × count of the other).
        memories: The latest memories that mention both.
    """

    one: str
    other: str
    weight: int
    strength: float
    memories: tuple[EdgeMemory, ...]


@dataclass(frozen=True, slots=True)
class ConceptNetwork:
    """Nodes, most frequent first, and edges, strongest first.

    With `about`, that node and its edges come first.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """An edge between two mentions, given by their indices.

    Attributes:
        one: Index of the more frequent mention.
        other: Index of the other.
        weight: Number of turns and memories that mention both.
        strength: Normalised weight, 0 to 1.
        memories: Row numbers of the latest memories that mention both.
    """

    one: int
    other: int
    weight: int
    strength: float
    memories: tuple[int, ...]


async def concept_network(
    memory: Memory, user_id: str, arguments: NetworkArguments
) -> ConceptNetwork:
    """List names and concepts that are mentioned together, how often, and in which memories.

    For everything or around one of them.

    Args:
        memory: An open memory.
        user_id: User ID; an unknown user has an empty network.
        arguments: Limits and focus of the network.

    Raises:
        InvalidInput: If `about` has no visible character.
        StoreError: If the file cannot be read.
    """
    database, user = await find_user(memory, user_id)
    about = None if arguments.about is None else validate_text(arguments.about, "about")
    mentions = await database.read(queries.advice.mentions, user, about, MAX_MENTIONS)
    chosen, pairs = await asyncio.to_thread(
        select_network, mentions, arguments, centred=about is not None
    )
    texts = await database.read(
        queries.advice.texts, user, {key for pair in pairs for key in pair.memories}
    )
    nodes = tuple(
        Node(
            one.label.name,
            "name" if one.label.named else "concept",
            len(one.turns),
            len(one.memories),
        )
        for one in chosen
    )
    edges = tuple(
        Edge(
            nodes[pair.one].name,
            nodes[pair.other].name,
            pair.weight,
            pair.strength,
            tuple(EdgeMemory(*texts[key]) for key in pair.memories if key in texts),
        )
        for pair in pairs
    )
    return ConceptNetwork(nodes, edges)


def select_network(
    mentions: Sequence[LabelMentions], arguments: NetworkArguments, *, centred: bool
) -> tuple[list[LabelMentions], list[Pair]]:
    """Select the mentions that become nodes, and the edges between them.

    Args:
        mentions: Mentions, most frequent first.
        arguments: Limits of the network.
        centred: The first mention is the centre; the others are those most often mentioned
            together with it.

    Returns:
        Nodes, the centre first and then by frequency; and edges, those of the centre first and
        then by strength.
    """
    if centred:
        centre, *others = mentions
        counted = [(_cooccurrences(centre, one), one) for one in others]
        nearest = sorted(
            (pair for pair in counted if pair[0] >= arguments.min_weight),
            key=lambda pair: (-pair[0], pair[1].label.key),
        )
        chosen = (
            [centre, *(one for _, one in nearest[: arguments.limit - 1])] if centre.count else []
        )
    else:
        chosen = [one for one in mentions if one.count >= arguments.min_count][: arguments.limit]
    weights: Counter[tuple[int, int]] = Counter(
        pair
        for held in _mentions_by_row([one.turns for one in chosen]).values()
        for pair in combinations(held, 2)
    )
    latest: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for memory, held in sorted(
        _mentions_by_row([one.memories for one in chosen]).items(), reverse=True
    ):
        for pair in combinations(held, 2):
            weights[pair] += 1
            if len(latest[pair]) < MEMORIES_PER_EDGE:
                latest[pair].append(memory)
    pairs = [
        Pair(
            one,
            other,
            weight,
            weight / math.sqrt(chosen[one].count * chosen[other].count),
            tuple(latest[one, other]),
        )
        for (one, other), weight in weights.items()
        if weight >= arguments.min_weight
    ]
    pairs.sort(
        key=lambda pair: (
            centred and pair.one > 0,
            -pair.strength,
            -pair.weight,
            pair.one,
            pair.other,
        )
    )
    return chosen, pairs[: EDGES_PER_NODE * arguments.limit]


def _cooccurrences(one: LabelMentions, other: LabelMentions) -> int:
    return len(one.turns & other.turns) + len(one.memories & other.memories)


def _mentions_by_row(held: Sequence[frozenset[int]]) -> dict[int, list[int]]:
    """Return, for each row number, the ascending indices of the mentions in it."""
    places: defaultdict[int, list[int]] = defaultdict(list)
    for place, keys in enumerate(held):
        for key in keys:
            places[key].append(place)
    return places
