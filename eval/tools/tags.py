"""Tags of conversations: number, reuse, and the effect of consolidation.

A tag is reused if an earlier memory of the same user has it. After consolidation a memory has the
tags that replace its own, without archived ones. Each conversation is one user's memory; tags are
consolidated once, at its last turn.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np

from eval.datasets import Conversation
from eval.run import Models, ingested
from hotmem import Memory
from hotmem.retrieval.query import NOBODY
from hotmem.storage import queries
from hotmem.tools.tags import OptimizeTagsArguments, merge_tags

PAGE: Final = 1000
"""Memories read per page."""

EVERY_TURN: Final = 2**62
"""A row id after that of every turn."""


@dataclass(frozen=True, slots=True)
class Tags:
    """Results on some conversations.

    Attributes:
        conversations: Number of conversations.
        memories: Number of memories.
        tagged_before: Share of memories with a tag, before consolidation.
        tagged: The same after it.
        uses_before: Tags of all memories, counted once per memory, before consolidation.
        uses: The same after it, of tags in use.
        before: Number of tags before consolidation, over all users.
        merged: Tags merged into another.
        archived: Tags archived because only one memory has them.
        reused_before: Share of uses of a tag that existed before, before consolidation.
        reused: The same after it, of tags in use.
        reused_of_all: The same after it, including archived tags.
        merges: Merged tags and their replacements.
    """

    conversations: int
    memories: int
    tagged_before: float
    tagged: float
    uses_before: int
    uses: int
    before: int
    merged: int
    archived: int
    reused_before: float
    reused: float
    reused_of_all: float
    merges: tuple[tuple[str, str], ...]

    @property
    def fewer(self) -> float:
        """Share of the tags that are no longer in use."""
        return (self.merged + self.archived) / max(self.before, 1)


async def measure(conversations: Iterator[Conversation], models: Models) -> Tags:
    """Ingest each conversation through the public API, and consolidate its tags."""
    filed: list[list[tuple[str, ...]]] = []
    joined: list[list[tuple[str, ...]]] = []
    shown: list[list[tuple[str, ...]]] = []
    merges: list[tuple[str, str]] = []
    before = archived = 0
    for conversation in conversations:
        async with ingested(conversation, models) as memory:
            user = (
                await memory.runtime.storage.database.read_all(
                    queries.users.find, conversation.user
                )
                or NOBODY
            )
            found = [tags async for tags in _filed(memory, conversation)]
            unused, now = (
                timedelta(days=OptimizeTagsArguments().unused_days),
                max(turn.spoken_at for turn in conversation.turns),
            )
            done = await merge_tags(
                memory.runtime.database, models.cached_encoder, memory.priority, user, unused, now
            )
            in_use, _ = await memory.runtime.storage.database.read(
                queries.tags.in_use, user, done.before
            )
        filed.append(found)
        joined.append(
            [tuple(dict.fromkeys(done.merged.get(tag, tag) for tag in tags)) for tags in found]
        )
        shown.append([tuple(tag for tag in tags if tag in in_use) for tags in joined[-1]])
        merges += done.merged.items()
        before, archived = before + done.before, archived + done.archived
    return Tags(
        conversations=len(filed),
        memories=sum(map(len, filed)),
        tagged_before=_tagged(filed),
        tagged=_tagged(shown),
        uses_before=_uses(filed),
        uses=_uses(shown),
        before=before,
        merged=len(merges),
        archived=archived,
        reused_before=sum(map(reused, filed)) / max(_uses(filed), 1),
        reused=sum(map(reused, shown)) / max(_uses(shown), 1),
        reused_of_all=sum(map(reused, joined)) / max(_uses(joined), 1),
        merges=tuple(merges),
    )


def reused(memories: Sequence[Sequence[str]]) -> int:
    """Return how many uses of tags name one that an earlier memory has.

    Args:
        memories: Tags of each memory, in the order of storage.
    """
    seen: set[str] = set()
    again = 0
    for tags in memories:
        again += sum(tag in seen for tag in tags)
        seen.update(tags)
    return again


def _uses(stores: Sequence[Sequence[Sequence[str]]]) -> int:
    return sum(len(tags) for memories in stores for tags in memories)


def _tagged(stores: Sequence[Sequence[Sequence[str]]]) -> float:
    return float(np.mean([bool(tags) for memories in stores for tags in memories] or [False]))


async def _filed(memory: Memory, conversation: Conversation) -> AsyncIterator[tuple[str, ...]]:
    """Return the tags of each memory, in the order of storage."""
    user, after = (
        await memory.runtime.storage.database.read_all(queries.users.find, conversation.user)
        or NOBODY,
        0,
    )
    while page := await memory.runtime.storage.database.read(
        queries.export_rows.memories, user, after, PAGE, EVERY_TURN
    ):
        after = page[-1][0]
        for _, record in page:
            yield record.tags
