"""Keeping a memory in order.

What there is, what was decided and how it is taken back, and whether the file is sound.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, Field

from hotmem.consolidation.tagging import MIN_COSINE, consolidate_tags
from hotmem.core.priority import ForegroundPriority
from hotmem.core.validation import validate_order
from hotmem.memory import Memory
from hotmem.models import Encoder
from hotmem.operations.requests import CLOSED
from hotmem.retrieval.query import NOBODY
from hotmem.storage import Storage, queries
from hotmem.types import (
    Category,
    Decision,
    EvolutionResult,
    Fault,
    Period,
    Stats,
    Subcategory,
    UndoResult,
    UserKey,
)

MOST_TAGS: Final = 20_000
"""Tags compared with each other, the most recent; all pairs of so many take some seconds."""


EMBEDDED_AT_ONCE: Final = 16
"""Tags embedded before recalls go first again; some 25 ms."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """No arguments."""

    __pydantic_config__ = CLOSED


@dataclass(frozen=True, slots=True)
class Span:
    """Which stretch of a memory.

    Attributes:
        by: Length of a period, in UTC.
        about: Only what mentions this name.
        after: Said at or after.
        before: Said before.
    """

    __pydantic_config__ = CLOSED

    by: Literal["day", "month", "year"] = "month"
    about: str | None = None
    after: AwareDatetime | None = None
    before: AwareDatetime | None = None

    def __post_init__(self) -> None:
        validate_order(self.after, self.before)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Memories that say the same.

    Attributes:
        into: The id of the one that stays.
        ids: The ids of the others.
        reason: Why, for the record.
    """

    __pydantic_config__ = CLOSED

    into: Annotated[str, Field(description="The id of the memory that stays.")]
    ids: Annotated[
        tuple[str, ...],
        Field(min_length=1, max_length=100, description="The ids of those that go into it."),
    ]
    reason: str = "asked to"


@dataclass(frozen=True, slots=True)
class Recent:
    """How many of the latest."""

    __pydantic_config__ = CLOSED

    limit: Annotated[int, Field(ge=1, le=1000)] = 50


@dataclass(frozen=True, slots=True)
class Unused:
    """Days without use after which a tag of one memory at most is put away.

    The next memory of it brings it back, for both.
    """

    __pydantic_config__ = CLOSED

    unused_days: Annotated[int, Field(ge=0, le=36_500)] = 1


@dataclass(frozen=True, slots=True)
class Evolve:
    """Which category is to evolve; all, if none is named."""

    __pydantic_config__ = CLOSED

    category: Category | None = None


@dataclass(frozen=True, slots=True)
class Evolution:
    """What became of each category."""

    categories: tuple[EvolutionResult, ...]


@dataclass(frozen=True, slots=True)
class Subcategories:
    """What the categories have evolved into, by category, the largest first."""

    subcategories: tuple[Subcategory, ...]


@dataclass(frozen=True, slots=True)
class TagsOptimised:
    """What became of the tags.

    Attributes:
        decision: The decision's id, by which it can be taken back.
        before: Tags in use before.
        merged: Tags that mean the same as another, and which.
        archived: How many were put away; used again they come back.
    """

    decision: str
    before: int
    merged: Mapping[str, str]
    archived: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """What is to be taken back."""

    __pydantic_config__ = CLOSED

    decision: Annotated[str, Field(description="The id of the decision.")]


@dataclass(frozen=True, slots=True)
class Merged:
    """What became of a merge.

    The decision's id, by which it can be taken back, and how many memories went into another.
    """

    decision: str
    memories: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """Every period that has anything, the earliest first."""

    periods: tuple[Period, ...]


@dataclass(frozen=True, slots=True)
class Decisions:
    """What was decided, latest first."""

    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class Soundness:
    """Whether the file is sound, and what is wrong with it."""

    sound: bool
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class Repaired:
    """How many index entries were made anew, and what is still wrong."""

    entries: int
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class HealthPart:
    """A part of the health score.

    Attributes:
        share: 0 to 1.
        weight: What it counts in the score.
        meaning: What it is the share of.
    """

    share: float
    weight: float
    meaning: str


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a memory in one number, 0 to 1, with its parts, and what can be improved."""

    score: float
    parts: Mapping[str, HealthPart]
    advice: tuple[str, ...]


async def memory_stats(memory: Memory, user_id: str, _: Nothing) -> Stats:
    """What there is of a user."""
    storage, user = await _user(memory, user_id)
    return await storage.database.read(queries.maintenance.stats, user)


async def memory_timeline(memory: Memory, user_id: str, asked: Span) -> Timeline:
    """What each period brought."""
    storage, user = await _user(memory, user_id)
    return Timeline(
        tuple(
            await storage.database.read(
                queries.maintenance.timeline, user, asked.by, asked.about, asked.after, asked.before
            )
        )
    )


async def merge_memories(memory: Memory, user_id: str, asked: Merge) -> Merged:
    """Lets one memory stand for others that say the same.

    Raises:
        InvalidInput: If an id is not among the user's memories.
    """
    storage, user = await _user(memory, user_id)
    return Merged(
        await storage.database.write(
            queries.decisions.merge, user, asked.into, asked.ids, asked.reason, datetime.now(UTC)
        ),
        len(asked.ids),
    )


async def optimize_tags(memory: Memory, user_id: str, asked: Unused) -> TagsOptimised:
    """Lets one tag stand for those that mean the same, and puts away those that hardly anything is filed under."""
    storage, user = await _user(memory, user_id)
    return await optimised(
        storage,
        memory.runtime.recall.encoder,
        memory.priority,
        user,
        timedelta(days=asked.unused_days),
        datetime.now(UTC),
    )


async def optimised(
    storage: Storage,
    encoder: Encoder,
    precedence: ForegroundPriority,
    user: UserKey,
    unused: timedelta,
    now: datetime,
) -> TagsOptimised:
    """The same for a user's number, as of a time.

    Tags of what was said are embedded here, so that a conversation need not wait for it.

    Args:
        storage: The store that writes.
        encoder: Embeds the tags that are not yet.
        precedence: Tells when recalls are on their way, which go before each step.
        user: Whose tags.
        unused: How long a tag of one memory at most stays that is not used.
        now: When, UTC.
    """
    await precedence.wait_idle()
    while waiting := await storage.database.read(queries.tags.unembedded, user, EMBEDDED_AT_ONCE):
        rows = await asyncio.to_thread(encoder.encode, [name for _, name in waiting])
        await storage.database.write(
            queries.embedding.embed_tags,
            queries.encoders.identified(encoder.name, encoder.dimension),
            [key for key, _ in waiting],
            list(rows),
        )
        await precedence.wait_idle()
    tags, rows = await storage.database.read(queries.tags.counted, user, MOST_TAGS)
    pairs = await asyncio.to_thread(consolidate_tags, tags, rows, precedence.wait_idle_blocking)
    reason = (
        f"{len(pairs)} of {len(tags)} tags mean the same as another, cosine {MIN_COSINE} or more"
    )
    numbers = [(tag.key, into.key) for tag, into in pairs]
    await precedence.wait_idle()
    decision, archived = await storage.database.write(
        queries.tags.consolidate, user, numbers, now - unused, reason, now
    )
    return TagsOptimised(
        decision, len(tags), {tag.name: into.name for tag, into in pairs}, archived
    )


async def evolve_categories(memory: Memory, user_id: str, asked: Evolve) -> Evolution:
    """Finds the subcategories anew."""
    return Evolution(tuple(await memory.evolve(user_id, category=asked.category)))


async def memory_subcategories(memory: Memory, user_id: str, _: Nothing) -> Subcategories:
    """What the categories have evolved into, with what each is about."""
    return Subcategories(tuple(await memory.subcategories(user_id)))


async def memory_decisions(memory: Memory, user_id: str, asked: Recent) -> Decisions:
    """What was decided about memories, and why."""
    storage, user = await _user(memory, user_id)
    return Decisions(
        tuple(await storage.database.read(queries.decisions.of_user, user, asked.limit))
    )


async def undo_decision(memory: Memory, user_id: str, asked: Undo) -> UndoResult:
    """Takes a merge, an edit, a consolidation of tags, an evolution or an import back.

    Raises:
        InvalidInput: If there is no such decision, or it was taken back before.
    """
    storage, user = await _user(memory, user_id)
    undone = await storage.database.write(
        queries.edits.undo, user, asked.decision, datetime.now(UTC)
    )
    await memory.take_back()
    return undone


async def validate_storage(memory: Memory, _: str, __: Nothing) -> Soundness:
    """Checks the file and all its indexes."""
    faults = tuple(await memory.runtime.storage.database.read(queries.maintenance.faults))
    return Soundness(not faults, faults)


async def repair_index(memory: Memory, _: str, __: Nothing) -> Repaired:
    """Makes all index entries anew from what is stored."""
    return Repaired(
        await memory.runtime.storage.database.write(queries.maintenance.reindex),
        tuple(await memory.runtime.storage.database.read(queries.maintenance.faults)),
    )


async def memory_health(memory: Memory, user_id: str) -> Health:
    """How far a memory is understood, summarised and current."""
    storage, user = await _user(memory, user_id)
    stats = await storage.database.read(queries.maintenance.stats, user)
    parts = {
        "understood": HealthPart(
            1 - stats.waiting / max(stats.turns, 1), 0.4, "turns that are understood"
        ),
        "summarised": HealthPart(
            min(stats.summaries / max(stats.sessions, 1), 1.0),
            0.3,
            "conversations that are summarised",
        ),
        "distinct": HealthPart(
            1 - stats.merged / max(stats.memories + stats.merged, 1),
            0.1,
            "memories that say what no other says",
        ),
        "used": HealthPart(
            1 - stats.never_used / max(stats.memories, 1),
            0.2,
            "memories that a search or a reply has used",
        ),
    }
    advice = {
        "understood": "Turns wait to be understood: leave the memory open until settle() returns.",
        "summarised": "Conversations are not summarised yet: call end_session() when one is over.",
    }
    told = tuple(text for name, text in advice.items() if parts[name].share < 1)
    return Health(sum(part.share * part.weight for part in parts.values()), parts, told)


async def _user(memory: Memory, user_id: str) -> tuple[Storage, UserKey]:
    return memory.runtime.storage, await memory.runtime.storage.database.read(
        queries.users.find, user_id
    ) or NOBODY
