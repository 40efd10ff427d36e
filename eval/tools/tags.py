"""Tags of what is said in conversations: how many there are, how often one is used again, and what consolidation makes of them.

A memory's tag is used again if an earlier memory of the same user has it, or after consolidation one that stands for the same tag. Each
conversation is one user's store; tags are consolidated once, at its last turn.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from eval.datasets import Conversation
from eval.run import Models, ingested
from hotmem import Memory
from hotmem.query import NOBODY
from hotmem.tools.upkeep import Unused, optimised

PAGE: Final = 1000
"""Memories read at once."""

EVERY_TURN: Final = 2**62
"""A row number behind that of every turn."""


@dataclass(frozen=True, slots=True)
class Tags:
    """The tags of some conversations.

    Attributes:
        conversations: How many.
        memories: Memories.
        tagged: Share of them that have a tag.
        uses: Tags of all memories, one counted for each memory it is of.
        before: Tags before consolidation, all users together.
        merged: Those that went into another.
        archived: Those put away unused.
        reused_before: Share of the uses that name a tag which was there before, before consolidation.
        reused: The same after it, each tag being the one that stands for it.
        merges: What went into what.
    """

    conversations: int
    memories: int
    tagged: float
    uses: int
    before: int
    merged: int
    archived: int
    reused_before: float
    reused: float
    merges: tuple[tuple[str, str], ...]

    @property
    def fewer(self) -> float:
        """Share of the tags that are no longer in use."""
        return (self.merged + self.archived) / max(self.before, 1)


async def measure(conversations: Iterator[Conversation], models: Models) -> Tags:
    """Ingests each conversation through the public API, and consolidates its tags."""
    filed: list[list[tuple[str, ...]]] = []
    into: list[Mapping[str, str]] = []
    before = archived = 0
    for conversation in conversations:
        async with ingested(conversation, models) as memory:
            user = await memory.store.user(conversation.user) or NOBODY
            filed.append([tags async for tags in _filed(memory, conversation)])
            unused, now = timedelta(days=Unused().unused_days), max(turn.spoken_at for turn in conversation.turns)
            found = await optimised(memory.store, models.shelved_encoder, memory.precedence, user, unused, now)
        into.append(found.merged)
        before, archived = before + found.before, archived + found.archived
    uses = sum(len(tags) for memories in filed for tags in memories)
    memories = sum(map(len, filed))
    return Tags(
        conversations=len(filed),
        memories=memories,
        tagged=sum(bool(tags) for of in filed for tags in of) / max(memories, 1),
        uses=uses,
        before=before,
        merged=sum(map(len, into)),
        archived=archived,
        reused_before=sum(reused(of, {}) for of in filed) / max(uses, 1),
        reused=sum(reused(of, stands) for of, stands in zip(filed, into, strict=True)) / max(uses, 1),
        merges=tuple(pair for stands in into for pair in stands.items()),
    )


def reused(memories: Sequence[Sequence[str]], stands: Mapping[str, str]) -> int:
    """How many uses of tags name one that an earlier memory has.

    Args:
        memories: The tags of each memory, in the order in which they were stored.
        stands: What stands for which tag.
    """
    seen: set[str] = set()
    again = 0
    for tags in memories:
        names = [stands.get(tag, tag) for tag in tags]
        again += sum(name in seen for name in names)
        seen.update(names)
    return again


async def _filed(memory: Memory, conversation: Conversation) -> AsyncIterator[tuple[str, ...]]:
    """The tags of each memory, in the order in which they were stored."""
    user, after = await memory.store.user(conversation.user) or NOBODY, 0
    while page := await memory.store.memory_records(user, after, PAGE, EVERY_TURN):
        after = page[-1][0]
        for _, record in page:
            yield record.tags
