"""optimize_tags: merge tags that mean the same, and archive unused ones."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from pydantic import Field

from hotmem.consolidation.tagging import consolidate_tags
from hotmem.core.counts import counted
from hotmem.core.priority import ForegroundPriority
from hotmem.memory import Memory
from hotmem.models import Encoder
from hotmem.operations.requests import CLOSED
from hotmem.retrieval.query import NOBODY
from hotmem.storage import queries
from hotmem.storage.database import Database
from hotmem.types import TagUse, UserKey

MAX_TAGS: Final = 20_000
"""Tags compared pairwise, most recent first."""

EMBEDDING_BATCH: Final = 16
"""Tags embedded at once; recalls take priority between batches."""


@dataclass(frozen=True, slots=True)
class OptimizeTagsArguments:
    """Arguments of `optimize_tags`.

    Attributes:
        unused_days: Days without use after which a tag of at most one memory is archived; the
            next memory with the tag restores it.
    """

    __pydantic_config__ = CLOSED

    unused_days: Annotated[int, Field(ge=0, le=36_500)] = 1


@dataclass(frozen=True, slots=True)
class TagReport:
    """Result of `optimize_tags`.

    Attributes:
        decision: ID of the decision, for `undo_decision`.
        before: Number of tags before.
        merged: Merged tags and the tag that replaces each.
        archived: Number of archived tags; a tag is restored when it is used again.
    """

    decision: str
    before: int
    merged: Mapping[str, str]
    archived: int


async def optimize_tags(
    memory: Memory, user_id: str, arguments: OptimizeTagsArguments
) -> TagReport:
    """Merge tags that mean the same, and archive tags that are hardly used."""
    database = memory.runtime.database
    user = await database.read_all(queries.users.find, user_id) or NOBODY
    return await merge_tags(
        database,
        memory.runtime.recall.encoder,
        memory.priority,
        user,
        timedelta(days=arguments.unused_days),
        datetime.now(UTC),
    )


async def merge_tags(
    database: Database,
    encoder: Encoder,
    precedence: ForegroundPriority,
    user: UserKey,
    unused: timedelta,
    now: datetime,
) -> TagReport:
    """Merge and archive the tags of one user.

    Tags are embedded here and not during conversations.

    Args:
        database: Database of the tags.
        encoder: Embeds tags that have no vector yet.
        precedence: Recalls take priority over each step.
        user: Key of the user.
        unused: Time without use after which a tag of at most one memory is archived.
        now: Current time, UTC.
    """
    tags, pairs = await find_mergeable_tags(database, encoder, precedence, user)
    reason = f"{counted(len(pairs), 'tag means', 'tags mean')} the same as another"
    numbers = [(tag.key, into.key) for tag, into in pairs]
    await precedence.wait_idle()
    decision, archived = await database.write(
        queries.tags.consolidate, user, numbers, now - unused, reason, now
    )
    return TagReport(decision, len(tags), {tag.name: into.name for tag, into in pairs}, archived)


async def find_mergeable_tags(
    database: Database, encoder: Encoder, precedence: ForegroundPriority, user: UserKey
) -> tuple[list[TagUse], list[tuple[TagUse, TagUse]]]:
    """Find tags that mean the same as another, each with the tag that would replace it.

    Args:
        database: Database of the tags; new vectors of tags are stored.
        encoder: Embeds tags that have no vector yet.
        precedence: Recalls take priority over each step.
        user: Key of the user.

    Returns:
        All tags that are compared, and the pairs.
    """
    await precedence.wait_idle()
    while waiting := await database.read(queries.tags.unembedded, user, EMBEDDING_BATCH):
        rows = await asyncio.to_thread(encoder.encode, [name for _, name in waiting])
        await database.write(
            queries.embedding.embed_tags,
            user,
            queries.encoders.identified(encoder.name, encoder.dimension),
            [key for key, _ in waiting],
            list(rows),
        )
        await precedence.wait_idle()
    tags, rows = await database.read(queries.tags.counted, user, MAX_TAGS)
    return tags, await asyncio.to_thread(
        consolidate_tags, tags, rows, precedence.wait_idle_blocking
    )
