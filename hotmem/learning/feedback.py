"""The feedback path: what was heard of a reply → which items it used → layer weights."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from hotmem.learning.quality import tallied
from hotmem.learning.usage import detect
from hotmem.learning.weights import moved
from hotmem.options import LearningOptions
from hotmem.store.store import Store
from hotmem.types import ContextBlock, ItemUse, LayerOutcome, QualityRecord, Usage, UsageKind, UserKey, Weights


async def learn(
    store: Store, block: ContextBlock, heard: str, options: LearningOptions, count: Callable[[str], int], now: datetime, *, interrupted: bool
) -> Usage:
    """What a reply made of a block, noted and learnt from.

    Args:
        store: The store that writes.
        block: The block the language model was given.
        heard: What the user heard of its reply, cleaned.
        options: What is recorded and learnt.
        count: Tokens of a text.
        now: The wall clock, UTC.
        interrupted: Whether the reply was cut off.

    Raises:
        StoreError: If it could not be written.
    """
    uses, records = await asyncio.to_thread(_judged, block, heard, count)
    used = sum(use.kind is not UsageKind.UNUSED for use in uses)
    user = await store.user(block.user_id)
    weights = block.trace.weights if user is None else await _weights(store, user, block, uses, records, options, now, interrupted=interrupted)
    return Usage(block.id, uses, used / len(uses) if uses else 0.0, interrupted, weights)


def _judged(block: ContextBlock, heard: str, count: Callable[[str], int]) -> tuple[tuple[ItemUse, ...], list[QualityRecord]]:
    """How each item was used, and what that adds to the quality record: nothing, where nothing was heard that could have used any."""
    uses = detect(block.items, block.query, heard)
    return uses, tallied(block, uses, count) if heard else []


async def _weights(
    store: Store,
    user: UserKey,
    block: ContextBlock,
    uses: tuple[ItemUse, ...],
    records: list[QualityRecord],
    options: LearningOptions,
    now: datetime,
    *,
    interrupted: bool,
) -> Weights:
    """The layer weights after it. A block's usage counts once."""
    before = (await store.profile(user, ())).weights
    if not uses and not records:
        return before
    if options.analytics and not await store.record_usage(user, block, uses, records, interrupted=interrupted):
        return before
    await store.touch_memories(user, [use.item.memory_id for use in uses if use.item.memory_id and use.kind is not UsageKind.UNUSED], now)
    if not options.adaptive:
        return before
    asked = [report.layer for report in block.trace.layers if report.outcome is LayerOutcome.ANSWERED]
    after = moved(before, uses, asked, options.rate)
    if after != before:
        await store.put_weights(user, after, now)
    return after
