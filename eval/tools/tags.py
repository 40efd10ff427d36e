"""Tags of memories: how often they are reused, and the effect of consolidation.

A tag is reused if an earlier memory of the same user has it. Tags that are shown count, archived
ones among them; words that wait for a second memory are counted apart. Tags are consolidated once,
at the end.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from eval.datasets import Conversation
from eval.files import tsv_records
from eval.run import Models, ingested
from hotmem import Memory, Turn
from hotmem.consolidation.tagging import consolidate_tags
from hotmem.models import Encoder
from hotmem.retrieval.query import NOBODY
from hotmem.storage import queries
from hotmem.tools.editing import OptimizeTagsArguments, merge_tags
from hotmem.types import MemoryRecord, Role, TagUse, UserKey

TRIAL: Final = Path(__file__).parents[1] / "data" / "trial"
"""Folder of the statements, `tags.tsv`, and of the pairs, `tag_pairs.tsv`."""

PAGE: Final = 1000
"""Memories read per page."""

EVERY_TURN: Final = 2**62
"""A row id after that of every turn."""

NOW: Final = datetime(2026, 6, 1, 12, tzinfo=UTC)
"""Time of stored statements, which `store_memory` ignores."""


@dataclass(frozen=True, slots=True)
class UserTags:
    """Tags of each memory of one user, in the order of storage.

    Attributes:
        words: Tags, and words that wait to become one, before consolidation.
        shown: Tags that are shown after it.
        merges: Merged tags and their replacements.
        archived: Number of archived tags.
    """

    words: Sequence[Sequence[str]]
    shown: Sequence[Sequence[str]]
    merges: tuple[tuple[str, str], ...]
    archived: int


async def measure(conversations: Iterable[Conversation], models: Models) -> dict[str, Any]:
    """Ingest each conversation through the public API, and consolidate its tags.

    Returns:
        Numbers of users and of memories; words of memories that are tags or wait to become one,
        before consolidation, each counted once per user; tags that are shown; the share of the
        memories that show one; the share of the uses of shown tags that name one that an earlier
        memory has, and the same of all words before consolidation; tags merged and archived, and
        the merged ones with their replacements.
    """
    found = []
    for conversation in conversations:
        async with ingested(conversation, models) as memory:
            found.append(await _consolidated(memory, conversation.user))
    memories = sum(len(one.words) for one in found)
    return {
        "users": len(found),
        "memories": memories,
        "words": sum(len({tag for tags in one.words for tag in tags}) for one in found),
        "shown": sum(len({tag for tags in one.shown for tag in tags}) for one in found),
        "tagged": sum(bool(tags) for one in found for tags in one.shown) / max(memories, 1),
        "reused": _share_reused([one.shown for one in found]),
        "reused_words": _share_reused([one.words for one in found]),
        "merged": sum(len(one.merges) for one in found),
        "archived": sum(one.archived for one in found),
        "merges": [merge for one in found for merge in one.merges],
    }


def statements(half: str) -> list[Conversation]:
    """Return the people of one half of `tags.tsv`, "dev" or "held", with their statements."""
    rows = [row for row in tsv_records(TRIAL / "tags.tsv") if row["half"] == half]
    return [
        Conversation(
            person,
            sessions=(),
            questions=(),
            stored=tuple(
                Turn(person, "stored", Role.USER, row["text"], NOW, None, str(number))
                for number, row in enumerate(group)
            ),
        )
        for person, group in groupby(rows, lambda row: row["person"])
    ]


def measure_pairs(half: str, encoder: Encoder) -> dict[str, float]:
    """Let consolidation judge each pair of one half of `tag_pairs.tsv`, "dev" or "held".

    Returns:
        Numbers of pairs and of those that mean the same; the share of these that it merges, and the
        share of its merges that is wrong, 0 without merges.
    """
    rows = [row for row in tsv_records(TRIAL / "tag_pairs.tsv") if row["half"] == half]
    merged = [
        bool(
            consolidate_tags(
                [TagUse(0, row["one"].lower(), 1), TagUse(1, row["other"].lower(), 1)],
                encoder.encode([row["one"].lower(), row["other"].lower()]),
            )
        )
        for row in rows
    ]
    same = [row["same"] == "true" for row in rows]
    right = sum(one and other for one, other in zip(merged, same, strict=True))
    return {
        "pairs": len(rows),
        "same": sum(same),
        "found": right / max(sum(same), 1),
        "wrong": 1 - right / sum(merged) if any(merged) else 0.0,
    }


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


def shown(memories: Sequence[MemoryRecord]) -> list[tuple[str, ...]]:
    """Return the tags that each memory shows: given ones, and those that another has, too."""
    uses = Counter(tag for one in memories for tag in {*one.tags, *one.found_tags})
    return [(*one.tags, *(tag for tag in one.found_tags if uses[tag] > 1)) for one in memories]


async def _consolidated(memory: Memory, user_id: str) -> UserTags:
    """Consolidate a user's tags at the time of the latest memory, and read those of each."""
    runtime = memory.runtime
    user = await runtime.database.read_all(queries.users.find, user_id) or NOBODY
    before = [record async for record in _records(memory, user)]
    unused = timedelta(days=OptimizeTagsArguments().unused_days)
    now = max((one.stored_at or one.said_at for one in before), default=NOW)
    done = await merge_tags(runtime, user, unused, now)
    after = [record async for record in _records(memory, user)]
    return UserTags(
        words=[(*one.tags, *one.found_tags) for one in before],
        shown=shown(after),
        merges=tuple(done.merged.items()),
        archived=done.archived,
    )


def _share_reused(users: Sequence[Sequence[Sequence[str]]]) -> float:
    """Return the share of the uses of tags that name one that an earlier memory has."""
    uses = sum(len(tags) for memories in users for tags in memories)
    return sum(map(reused, users)) / max(uses, 1)


async def _records(memory: Memory, user: UserKey) -> AsyncIterator[MemoryRecord]:
    """Yield the user's memories in the order of storage."""
    after = 0
    while page := await memory.runtime.database.read(
        queries.export_rows.memories, user, after, PAGE, EVERY_TURN
    ):
        after = page[-1][0]
        for _, record in page:
            yield record
