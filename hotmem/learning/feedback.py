"""The feedback path: what was heard of a reply → which items it used → layer weights."""

import asyncio
from datetime import datetime

from hotmem.learning.usage import detect
from hotmem.learning.weights import Lesson, learnt
from hotmem.models import Encoder
from hotmem.options import LearningOptions
from hotmem.store.store import Store
from hotmem.types import ContextBlock, ItemUse, LayerOutcome, Usage, UsageKind, UserKey, Weights


async def learn(
    store: Store, encoder: Encoder, block: ContextBlock, heard: str, options: LearningOptions, now: datetime, *, interrupted: bool
) -> Usage:
    """What a reply made of a block, noted and learnt from.

    Args:
        store: The store that writes.
        encoder: The memory's encoder, asked in a thread.
        block: The block the language model was given.
        heard: What the user heard of its reply, cleaned.
        options: What is recorded and learnt.
        now: The wall clock, UTC.
        interrupted: Whether the reply was cut off.

    Raises:
        StoreError: If it could not be written.
    """
    uses = await asyncio.to_thread(detect, encoder, block.items, block.query, heard, block.visible)
    used = sum(use.kind is not UsageKind.UNUSED for use in uses)
    user = await store.user(block.user_id)
    weights = block.trace.weights if user is None else await _weights(store, user, block, uses, options, now, interrupted=interrupted)
    return Usage(block.id, uses, used / len(uses) if uses else 0.0, interrupted, weights)


async def _weights(
    store: Store, user: UserKey, block: ContextBlock, uses: tuple[ItemUse, ...], options: LearningOptions, now: datetime, *, interrupted: bool
) -> Weights:
    """The user's layer weights after it. A block's usage counts once."""
    if not options.analytics or await store.record_usage(user, block, uses, sum(block.trace.stages.values()), interrupted=interrupted):
        await store.touch_memories(user, [use.item.memory_id for use in uses if use.item.memory_id and use.kind is not UsageKind.UNUSED], now)
        lesson = _lesson(block, uses) if options.adaptive else None
        if lesson is not None and block.trace.analysis is not None:
            return await store.learn_weights(user, block.trace.analysis.intent, lambda before: learnt(before, lesson), now)
    return (await store.profile(user, ())).weights


def _lesson(block: ContextBlock, uses: tuple[ItemUse, ...]) -> Lesson | None:
    asked = [report.layer for report in block.trace.layers if report.outcome is LayerOutcome.ANSWERED]
    return Lesson.of(uses, block.trace.weights, asked)
