"""Evolution of a category: clustering its memories into named subcategories.

members ─▶ clusters by topic ─▶ names ─▶ draft ─▶ placement in pages ─▶ live
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import numpy as np

from hotmem.consolidation.clustering import (
    cluster,
    extract_keywords,
    match_previous_names,
    shared_name,
)
from hotmem.consolidation.topic_names import Topics
from hotmem.core.threads import ForegroundPriority
from hotmem.core.validation import counted
from hotmem.core.vector_math import normalize_rows
from hotmem.options import EvolutionOptions
from hotmem.storage import Storage, queries
from hotmem.text.stemming import stems
from hotmem.types import (
    Category,
    CategoryMembers,
    EvolutionDraft,
    EvolutionResult,
    FormerSubcategory,
    SubcategoryDraft,
    UserKey,
    Vector,
)

MAX_CLUSTERED: Final = 2000
"""Maximum number of memories that are clustered; the others are placed in the result."""

MAX_PARTS: Final = 3
"""Maximum number of parts into which a subcategory is split at once."""

DIGEST_SIZE: Final = 3
"""Number of statements in a digest."""


async def evolve(
    storage: Storage,
    priority: ForegroundPriority,
    user: UserKey,
    category: Category,
    topics: Callable[[], Awaitable[Mapping[Category, Topics]]],
    names: Callable[[UserKey, Sequence[Sequence[str]]], Awaitable[list[str | None]]],
    options: EvolutionOptions,
    now: datetime,
) -> EvolutionResult:
    """Cluster a user's category into subcategories.

    If memories are forgotten meanwhile, nothing is changed, as keywords could contain their words,
    and the category stays due.

    Args:
        storage: The memory file.
        priority: Each step waits until no recall is running.
        user: The user.
        category: The category.
        topics: Returns the topics that can name a subcategory, by category.
        names: Returns better names for groups of statements, None where it knows none.
        options: Size and number of subcategories.
        now: The current time, UTC.

    Raises:
        StoreError: If reading or writing failed; then nothing is changed.
    """
    database = storage.database
    await priority.wait_idle()
    members = await database.read(queries.evolutions.members, user, category, MAX_CLUSTERED)
    drafted = EvolutionDraft((), np.empty(0, dtype=np.float32))
    if len(members.keys) >= 2 * options.cluster_size:
        drafted = await asyncio.to_thread(
            draft_subcategories,
            members,
            (await topics())[category],
            options,
            now,
            priority.wait_idle_blocking,
        )
        fresh = [one for one in drafted.subcategories if one.name not in members.named]
        found = await names(user, [_statements(one, members) for one in fresh])
        drafted = rename_drafts(
            drafted,
            members,
            {one.name: name for one, name in zip(fresh, found, strict=True) if name},
        )
    await priority.wait_idle()
    evolution = await database.write(
        queries.evolutions.draft, user, category, drafted, members, now
    )
    before = tuple(members.named)
    unchanged = EvolutionResult(category, members.total, before, (), None)
    if evolution is None or not drafted.subcategories:
        return unchanged
    after: int | None = 0
    while after is not None:
        await priority.wait_idle()
        after = await database.write(queries.placement.assign_batch, user, evolution, after)
    named = tuple(one.name for one in drafted.subcategories)
    new = tuple(name for name in named if name not in before)
    reason = (
        f"{counted(members.total, 'memory', 'memories')} of {category}, "
        f"{counted(len(named), 'subcategory', 'subcategories')}: "
        f"{len(named) - len(new)} as before, {len(new)} new"
    )
    decision = await database.write(queries.evolutions.adopt, user, evolution, reason, now)
    if not decision:
        return unchanged
    return EvolutionResult(category, members.total, named, new, decision)


def draft_subcategories(
    members: CategoryMembers,
    topics: Topics,
    options: EvolutionOptions,
    now: datetime,
    wait_idle_blocking: Callable[[], None] = lambda: None,
) -> EvolutionDraft:
    """Draft the subcategories of a category.

    Memories without a topic in common with enough others are in none.

    Args:
        members: The memories, one or more.
        topics: Topics that can name a subcategory.
        options: Size and number of subcategories.
        now: The current time, UTC.
        wait_idle_blocking: Called every few milliseconds; blocks while recalls run.
    """
    pinned = {name: one for name, one in members.named.items() if one.pinned}
    fixed = np.array([_centroid(one, members) for one in pinned.values()], dtype=np.float32)
    found = cluster(
        members.rows,
        topics.rows,
        fixed.reshape(-1, members.rows.shape[1]),
        options.cluster_size,
        options.most,
        wait_idle_blocking,
    )
    places = found.places.copy()
    for place, one in enumerate(pinned.values()):
        places[[key in one.members for key in members.keys]] = place
    groups = [np.flatnonzero(places == place) for place in range(len(found.centroids))]
    keywords = extract_keywords(
        [[members.tags[place] for place in group] for group in groups], wait_idle_blocking
    )
    kept = match_previous_names(
        {name: one.members for name, one in members.named.items() if not one.pinned},
        [frozenset(members.keys[place] for place in group) for group in groups],
    )
    kept[: len(pinned)] = list(pinned)
    taken = {name for name in kept if name is not None}
    drafts = []
    for group, centroid, topic, words, name in zip(
        groups, found.centroids, found.topics, keywords, kept, strict=True
    ):
        if topic is not None and len(group) < options.cluster_size:
            continue  # a pinned subcategory holds some of its memories
        if name is None:
            shared = shared_name(
                words,
                [members.tags[place] for place in group],
                [members.texts[place] for place in group],
            )
            candidates = (shared, None if topic is None else topics.names[topic])
            name = next((one for one in candidates if one and one not in taken), None)
            if name is None:
                continue
            taken.add(name)
        best = group[np.argsort(-(members.rows[group] @ centroid), kind="stable")[:DIGEST_SIZE]]
        former = members.named.get(name, FormerSubcategory(frozenset(), now))
        of_name = (word for word in former.keywords if stems(word) & stems(name))
        held = former.members if name in pinned else frozenset()
        drafts.append(
            SubcategoryDraft(
                name,
                tuple(dict.fromkeys((*words, *of_name))),
                tuple(members.ids[place] for place in best),
                former.since,
                centroid,
                tuple(sorted(held.union(members.keys[place] for place in group))),
                name in pinned,
            )
        )
    return EvolutionDraft(tuple(drafts), found.centre)


def rename_drafts(
    drafted: EvolutionDraft, members: CategoryMembers, names: Mapping[str, str]
) -> EvolutionDraft:
    """Give new names to drafts, by their former names, unless another has the name.

    Words of a name that the memories contain become keywords, so that the name does not outlive
    them.
    """
    taken = {one.name for one in drafted.subcategories}
    renamed = []
    for one in drafted.subcategories:
        name = names.get(one.name, one.name)
        if name in taken:
            renamed.append(one)
            continue
        taken.add(name)
        texts = " ".join(_statements(one, members)).casefold()
        words = tuple(word for word in name.casefold().split() if word in texts)
        keywords = tuple(dict.fromkeys((*one.keywords, *words)))
        renamed.append(replace(one, name=name, keywords=keywords))
    return replace(drafted, subcategories=tuple(renamed))


def _statements(one: SubcategoryDraft, members: CategoryMembers) -> list[str]:
    """Texts of the memories of a draft, the most central first."""
    held = frozenset(one.members)
    places = np.array([place for place, key in enumerate(members.keys) if key in held])
    order = np.argsort(-(members.rows[places] @ one.centroid), kind="stable")
    return [members.texts[place] for place in places[order]]


def draft_parts(
    members: CategoryMembers,
    name: str,
    topics: Topics,
    options: EvolutionOptions,
    now: datetime,
) -> EvolutionDraft:
    """Draft pinned parts of a subcategory; fewer than two if its memories share one topic.

    Args:
        members: The memories of its category.
        name: Name of the subcategory.
        topics: Topics that can name a part.
        options: Size of subcategories; parts may be smaller.
        now: The current time, UTC.
    """
    held = [place for place, key in enumerate(members.keys) if key in members.named[name].members]
    least = max(min(options.cluster_size, len(held) // 4), 2)
    if len(held) < 2 * least:
        return EvolutionDraft((), np.empty(0, dtype=np.float32))
    own = replace(
        members,
        keys=tuple(members.keys[place] for place in held),
        ids=tuple(members.ids[place] for place in held),
        texts=tuple(members.texts[place] for place in held),
        tags=tuple(members.tags[place] for place in held),
        rows=members.rows[held],
        named={},
    )
    others = members.named.keys() - {name}
    free = [place for place, topic in enumerate(topics.names) if topic not in others]
    found = draft_subcategories(
        own,
        Topics(tuple(topics.names[place] for place in free), topics.rows[free]),
        replace(options, cluster_size=least, most=MAX_PARTS),
        now,
    )
    parts = [replace(one, pinned=True) for one in found.subcategories if one.name not in others]
    return replace(found, subcategories=tuple(parts))


def _centroid(one: FormerSubcategory, members: CategoryMembers) -> Vector:
    """The centroid of a subcategory; if it is unknown, the mean of its embedded memories."""
    if one.centroid is not None:
        return one.centroid
    held = [place for place, key in enumerate(members.keys) if key in one.members]
    if not held:
        return np.zeros(members.rows.shape[1], dtype=np.float32)
    return normalize_rows(members.rows[held].mean(axis=0))
