"""Evolution of a category: clustering its memories into named subcategories.

members ─▶ clusters ─▶ names ─▶ draft ─▶ placement in pages ─▶ live
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Final

import numpy as np

from hotmem.consolidation.cluster_names import assign_names, extract_keywords, match_previous_names
from hotmem.consolidation.clustering import cluster
from hotmem.core.counts import counted
from hotmem.core.priority import ForegroundPriority
from hotmem.options import EvolutionOptions
from hotmem.storage import Storage, queries
from hotmem.types import Category, CategoryMembers, EvolutionResult, SubcategoryDraft, UserKey

MAX_CLUSTERED: Final = 2000
"""Maximum number of memories that are clustered; the others are placed in the result."""

DIGEST_SIZE: Final = 3
"""Number of statements in a digest."""


async def evolve(
    storage: Storage,
    priority: ForegroundPriority,
    user: UserKey,
    category: Category,
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
        options: Size and number of subcategories.
        now: The current time, UTC.

    Raises:
        StoreError: If reading or writing failed; then nothing is changed.
    """
    database = storage.database
    await priority.wait_idle()
    members = await database.read(queries.evolutions.members, user, category, MAX_CLUSTERED)
    drafts = await asyncio.to_thread(
        draft_subcategories, members, category, options, now, priority.wait_idle_blocking
    )
    await priority.wait_idle()
    evolution = await database.write(queries.evolutions.draft, user, category, drafts, members, now)
    before = tuple(members.named)
    unchanged = EvolutionResult(category, members.total, before, (), None)
    if evolution is None or not drafts:
        return unchanged
    after: int | None = 0
    while after is not None:
        await priority.wait_idle()
        after = await database.write(queries.placement.assign_batch, user, evolution, after)
    named = tuple(one.name for one in drafts)
    new = tuple(name for name in named if name not in before)
    reason = (
        f"{counted(members.total, 'memory', 'memories')} of {category} in "
        f"{counted(len(named), 'subcategory', 'subcategories')}: "
        f"{len(named) - len(new)} as before, {len(new)} new"
    )
    decision = await database.write(queries.evolutions.adopt, user, evolution, reason, now)
    if not decision:
        return unchanged
    return EvolutionResult(category, members.total, named, new, decision)


def draft_subcategories(
    members: CategoryMembers,
    category: Category,
    options: EvolutionOptions,
    now: datetime,
    wait_idle_blocking: Callable[[], None] = lambda: None,
) -> list[SubcategoryDraft]:
    """Draft the subcategories of a category; none if there are too few memories.

    Args:
        members: The memories.
        category: Their category.
        options: Size and number of subcategories.
        now: The current time, UTC.
        wait_idle_blocking: Called every few milliseconds; blocks while recalls run.
    """
    centroids, nearest = cluster(
        members.rows, options.cluster_size, options.most, wait_idle_blocking
    )
    places = [np.flatnonzero(nearest == group) for group in range(len(centroids))]
    keys = [frozenset(members.keys[place] for place in group) for group in places]
    words = extract_keywords(
        [[members.tags[place] for place in group] for group in places], wait_idle_blocking
    )
    kept = match_previous_names({name: held for name, (held, _) in members.named.items()}, keys)
    drafts = []
    for group, centroid, own, name in zip(
        places, centroids, words, assign_names(words, kept, category), strict=True
    ):
        best = group[np.argsort(-(members.rows[group] @ centroid), kind="stable")[:DIGEST_SIZE]]
        since = members.named[name][1] if name in members.named else now
        examples = tuple(members.ids[place] for place in best)
        drafts.append(
            SubcategoryDraft(
                name,
                own,
                examples,
                since,
                centroid,
                tuple(members.keys[place] for place in group.tolist()),
            )
        )
    return drafts
