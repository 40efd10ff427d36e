"""A category evolves: its memories are clustered, named, placed, and the result takes the place of what was there.

members ─▶ groups ─▶ names ─▶ draft ─▶ placements, a portion at a time ─▶ live
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Final

import numpy as np

from hotmem.consolidation.cluster_names import assign_names, extract_keywords, match_previous_names
from hotmem.consolidation.clustering import cluster
from hotmem.core.priority import ForegroundPriority
from hotmem.options import EvolutionOptions
from hotmem.storage import Storage, queries
from hotmem.types import Category, CategoryMembers, EvolutionResult, SubcategoryDraft, UserKey

MAX_CLUSTERED: Final = 2000
"""Memories of a category that are clustered, 0.5 s of one processor; the others are placed in
what is found."""

DIGEST_SIZE: Final = 3
"""Statements of a digest."""


async def evolve(
    storage: Storage,
    precedence: ForegroundPriority,
    user: UserKey,
    category: Category,
    options: EvolutionOptions,
    now: datetime,
) -> EvolutionResult:
    """Finds the subcategories of a user's category anew. Recalls go before each step of it.

    What is forgotten meanwhile must not come back in a keyword: then nothing is changed, and it is
    due again.

    Args:
        storage: The memory file.
        precedence: Tells when recalls are on their way.
        user: Whose.
        category: Which category.
        options: Size and number of subcategories.
        now: The wall clock, UTC.

    Raises:
        StoreError: If it could not be read or written; then everything is as it was.
    """
    await precedence.wait_idle()
    members = await storage.database.read(
        queries.subcategories.members, user, category, MAX_CLUSTERED
    )
    drafts = await asyncio.to_thread(
        draft_subcategories, members, category, options, now, precedence.wait_idle_blocking
    )
    await precedence.wait_idle()
    evolution = await storage.database.write(
        queries.subcategories.draft, user, category, drafts, members, now
    )
    before = tuple(members.named)
    if evolution is None or not drafts:
        return EvolutionResult(category, members.total, before, (), None)
    after: int | None = 0
    while after is not None:
        await precedence.wait_idle()
        after = await storage.database.write(queries.subcategories.place_more, evolution, after)
    named = tuple(one.name for one in drafts)
    new = tuple(name for name in named if name not in before)
    reason = f"{members.total} memories of {category} are in {len(named)} subcategories: {len(named) - len(new)} as before, {len(new)} new"
    decision = await storage.database.write(queries.subcategories.adopt, evolution, reason, now)
    return (
        EvolutionResult(category, members.total, named, new, decision)
        if decision
        else EvolutionResult(category, members.total, before, (), None)
    )


def draft_subcategories(
    members: CategoryMembers,
    category: Category,
    options: EvolutionOptions,
    now: datetime,
    wait_idle_blocking: Callable[[], None] = lambda: None,
) -> list[SubcategoryDraft]:
    """The subcategories that the memories of a category fall into.

    None where there are too few, or nothing sets them apart.

    Args:
        members: The memories.
        category: Their category.
        options: Size and number of subcategories.
        now: The wall clock, UTC.
        wait_idle_blocking: Called every few milliseconds, to let others go before.
    """
    centroids, nearest = cluster(
        members.rows, options.cluster_size, options.most, wait_idle_blocking
    )
    places = [np.flatnonzero(nearest == group) for group in range(len(centroids))]
    keys = [frozenset(members.keys[place] for place in group) for group in places]
    words = extract_keywords(
        [[members.texts[place] for place in group] for group in places], wait_idle_blocking
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
