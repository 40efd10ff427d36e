"""Advice: what the state of a user's memory suggests to do, each with the calls that do it."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

import numpy as np

from hotmem.consolidation.equivalence import (
    StatementPair,
    differs_in_one_word,
    equivalence_probability,
)
from hotmem.core.validation import counted
from hotmem.core.vector_math import matmul
from hotmem.memory import Memory
from hotmem.operations.results import Call, settle
from hotmem.operations.store import SIMILAR_FROM
from hotmem.retrieval.candidates import stated_times
from hotmem.storage import queries
from hotmem.storage.queries.advice import ComparedMemories, OpenConflict
from hotmem.tools.editing import find_mergeable_tags
from hotmem.types import Category, Evidence, EvidenceKind, JobKind, Source, UserKey

MAX_EACH: Final = 5
"""Advice of one kind at most, so that a language model reads the most useful."""

MAX_COMPARED: Final = 1000
"""Latest memories that are compared with each other."""

MAX_PAIRS: Final = 500
"""Most similar pairs of these that the equivalence model judges."""

MIN_DUPLICATE: Final = 0.5
"""Probability from which two memories are called duplicates. It is higher than for the hint at a
store, as nobody has asked: from 0.2 on there are pairs that only share a name."""

MAX_REMINDERS: Final = 500
"""Reminders whose time is read."""

UNUSED_DAYS: Final = 30
"""Days after which a memory that was never used counts as unused."""

MIN_RECALLS: Final = 30
"""Recalls with a reply from which it means something that a memory was never used."""

MAX_CHARACTERS: Final = 120
"""Characters of a memory that are quoted."""


class About(StrEnum):
    """What advice is about."""

    CONFLICT = "conflict"
    FAILED = "not understood"
    MERGE = "duplicate"
    REMINDER = "reminder over"
    TAGS = "tags"
    CATEGORY = "category"
    UNUSED = "never used"


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to do.

    Attributes:
        about: What it is about.
        text: What was found, one sentence or two.
        calls: Calls that do it; if there are several, they are alternatives.
        memory_ids: The memories that it is about, if any.
    """

    about: About
    text: str
    calls: tuple[Call, ...]
    memory_ids: tuple[str, ...] = ()


def restrict(advice: Sequence[Advice], tools: Collection[str]) -> tuple[Advice, ...]:
    """Return the advice whose calls are offered; a conflict in any case, as the user can be asked.

    Args:
        advice: The advice.
        tools: Names of the tools that are offered.
    """
    offered = (
        replace(one, calls=tuple(call for call in one.calls if call.tool in tools))
        for one in advice
    )
    return tuple(one for one in offered if one.calls or one.about is About.CONFLICT)


async def find_advice(memory: Memory, user_id: str) -> tuple[Advice, ...]:
    """Return what the state of a user's memory suggests to do, the most urgent first.

    Args:
        memory: An open memory.
        user_id: User ID; an unknown user gets none.

    Raises:
        StoreError: If the database cannot be read.
    """
    runtime, now = memory.runtime, datetime.now(UTC)
    database, user = runtime.database, await runtime.find_user(user_id)
    if user is None:
        return ()
    conflicts = await database.read(queries.advice.open_conflicts, user, MAX_EACH)
    failed = await database.read(queries.advice.set_aside, user)
    latest = await database.read(queries.advice.latest, user, MAX_COMPARED)
    pairs = await asyncio.to_thread(duplicates, latest, runtime.priority.wait_idle_blocking)
    grown = await database.read(queries.advice.grown, user, runtime.options.evolution.cluster_size)
    return (
        *map(_about_conflict, conflicts),
        *_about_failed(failed),
        *(_about_duplicate(latest, *pair) for pair in pairs[:MAX_EACH]),
        *map(_about_reminder, (await _past_reminders(memory, user, now))[:MAX_EACH]),
        *await _about_tags(memory, user),
        *(_about_category(category, gained) for category, gained in grown.items()),
        *await _about_unused(memory, user, now),
    )


def duplicates(
    latest: ComparedMemories, wait_idle_blocking: Callable[[], None] = lambda: None
) -> list[tuple[int, int]]:
    """Find memories that may state the same, as `store_memory` does; the most probable first.

    Args:
        latest: The memories, the latest first.
        wait_idle_blocking: Called often; blocks while recalls run.

    Returns:
        Places of the earlier and of the later one of each pair; a memory is in one pair only.
    """
    if not latest.ids:
        return []
    wait_idle_blocking()
    cosines = np.triu(matmul(latest.vectors, latest.vectors.T), 1)
    places = np.flatnonzero(cosines >= SIMILAR_FROM)
    best = places[np.argsort(-cosines.ravel()[places], kind="stable")[:MAX_PAIRS]]
    found: list[tuple[float, int, int]] = []
    for place in best.tolist():
        wait_idle_blocking()
        late, early = divmod(place, len(latest.ids))
        texts = latest.texts[early], latest.texts[late]
        same = equivalence_probability(StatementPair(*texts, float(cosines[late, early])))
        if same >= MIN_DUPLICATE and not differs_in_one_word(*texts):
            found.append((same, early, late))
    taken: set[int] = set()
    pairs: list[tuple[int, int]] = []
    for _, early, late in sorted(found, key=lambda one: -one[0]):
        if not taken & {early, late}:
            taken |= {early, late}
            pairs.append((early, late))
    return pairs


def _about_conflict(one: OpenConflict) -> Advice:
    against = "what was said" if one.by is None else quoted(one.by)
    return Advice(
        About.CONFLICT,
        f"{quoted(one.text)} (said on {one.said_at.date()}) may be outdated because of {against}"
        f" ({one.at.date()}). Ask the user which is right.",
        settle(one.id),
        (one.id,),
    )


def _about_failed(failed: dict[JobKind, int]) -> list[Advice]:
    if not failed:
        return []
    listed = ", ".join(f"{number} of kind {kind}" for kind, number in failed.items())
    return [
        Advice(
            About.FAILED,
            f"Background jobs failed and were set aside ({listed}), so that part of what was said"
            " is not understood yet. Its words can be searched.",
            (Call("retry_jobs", {}, "retry them"),),
        )
    ]


def _about_duplicate(latest: ComparedMemories, early: int, late: int) -> Advice:
    longer = len(latest.texts[early].split()) > len(latest.texts[late].split())
    kept, merged = (early, late) if longer else (late, early)
    into, other = latest.ids[kept], latest.ids[merged]
    return Advice(
        About.MERGE,
        f"{quoted(latest.texts[early])} and {quoted(latest.texts[late])} may state the same.",
        (Call("merge_memories", {"into": into, "ids": [other]}, "merge them; can be undone"),),
        (into, other),
    )


async def _past_reminders(memory: Memory, user: UserKey, now: datetime) -> list[Evidence]:
    """Current reminders whose time is over."""
    database = memory.runtime.database
    keys = await database.read(queries.advice.reminders, user, MAX_REMINDERS)
    found = await database.read(queries.evidence.load, user, {EvidenceKind.MEMORY: keys})
    timed = (
        one._replace(times=stated_times(one, now.tzinfo)) if one.source is Source.STATEMENT else one
        for one in found
        if one.valid_until is None
    )
    return [one for one in timed if one.is_past(now)]


def _about_reminder(one: Evidence) -> Advice:
    name = one.memory_id or ""
    return Advice(
        About.REMINDER,
        f"The time of {quoted(one.text)} is over.",
        (Call("edit_memory", {"id": name, "holds": False}, "end it; can be undone"),),
        (name,),
    )


async def _about_tags(memory: Memory, user: UserKey) -> list[Advice]:
    _, pairs = await find_mergeable_tags(memory.runtime, user)
    if not pairs:
        return []
    listed = ", ".join(f"{tag.name} → {into.name}" for tag, into in pairs[:MAX_EACH])
    return [
        Advice(
            About.TAGS,
            f"{counted(len(pairs), 'tag means', 'tags mean')} the same as another: {listed}"
            f"{', …' if len(pairs) > MAX_EACH else ''}.",
            (
                Call(
                    "optimize_tags",
                    {},
                    "merge them, and archive tags that are hardly used; can be undone",
                ),
            ),
        )
    ]


def _about_category(category: Category, gained: int) -> Advice:
    return Advice(
        About.CATEGORY,
        f"{counted(gained, 'memory', 'memories')} of {category} came since its subcategories were "
        "last built.",
        (Call("evolve_categories", {"category": category}, "build them; can be undone"),),
    )


async def _about_unused(memory: Memory, user: UserKey, now: datetime) -> list[Advice]:
    found = await memory.runtime.database.read(
        queries.advice.unused, user, now - timedelta(days=UNUSED_DAYS)
    )
    if found.recalls < MIN_RECALLS or not found.unused:
        return []
    return [
        Advice(
            About.UNUSED,
            f"Never used by a search or a reply, in {found.recalls} recalls: {found.unused} of "
            f"{counted(found.memories, 'memory', 'memories')} older than {UNUSED_DAYS} days.",
            (Call("usage_patterns", {}, "show the most important of them"),),
        )
    ]


def quoted(text: str) -> str:
    """Return the beginning of a text in quotation marks."""
    return f"“{text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + '…'}”"
