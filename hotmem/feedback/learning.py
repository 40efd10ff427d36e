"""The feedback path: what was heard of a reply → which items it used → layer weights."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Final

from hotmem.feedback.quality import tallied
from hotmem.feedback.usage import detect
from hotmem.feedback.weights import TrainingExample, learnt
from hotmem.models import Encoder
from hotmem.options import LearningOptions
from hotmem.storage.store import Store
from hotmem.text.truncation import truncate, truncate_start
from hotmem.types import (
    ContextBlock,
    ItemUse,
    LayerOutcome,
    QualityRecord,
    Usage,
    UsageKind,
    UserKey,
    Weights,
)

MOST_VISIBLE: Final = 200
"""Texts before the language model that are compared with a reply, the last ones."""


async def learn(
    store: Store,
    encoder: Encoder,
    block: ContextBlock,
    heard: str,
    options: LearningOptions,
    count: Callable[[str], int],
    now: datetime,
    recorded: Callable[[], bool],
    *,
    interrupted: bool,
    again: bool = False,
) -> Usage:
    """What a reply made of a block, noted and learnt from.

    Args:
        store: The store that writes.
        encoder: The memory's encoder, asked in a thread.
        block: The block the language model was given.
        heard: What the user heard of its reply, cleaned.
        options: What is learnt.
        count: Tokens of a text.
        now: The wall clock, UTC.
        recorded: Whether the usage is recorded, asked when all is ready to be written.
        interrupted: Whether the reply was cut off.
        again: Whether the block was fed back before, where that is not on record.

    Raises:
        StoreError: If it could not be written.
    """
    uses, records = await asyncio.to_thread(_judged, encoder, block, heard, count)
    used = sum(use.kind is not UsageKind.UNUSED for use in uses)
    user = await store.user(block.user_id)
    weights = block.trace.weights
    if user is not None:
        weights = await _weights(
            store,
            user,
            block,
            uses,
            records,
            options,
            now,
            recorded,
            interrupted=interrupted,
            again=again,
        )
    return Usage(block.id, uses, used / len(uses) if uses else 0.0, interrupted, weights)


def _judged(
    encoder: Encoder, block: ContextBlock, heard: str, count: Callable[[str], int]
) -> tuple[tuple[ItemUse, ...], list[QualityRecord]]:
    """How each item was used, and what that adds to the quality record.

    Nothing, where nothing was heard that could have used any.
    """
    visible = [truncate(text) for text in block.visible[-MOST_VISIBLE:]]
    uses = detect(encoder, block.items, truncate_start(block.query), truncate(heard), visible)
    return uses, tallied(block, uses, count) if heard else []


async def _weights(
    store: Store,
    user: UserKey,
    block: ContextBlock,
    uses: tuple[ItemUse, ...],
    records: list[QualityRecord],
    options: LearningOptions,
    now: datetime,
    recorded: Callable[[], bool],
    *,
    interrupted: bool,
    again: bool,
) -> Weights:
    """The user's layer weights after it. A block's usage counts once."""
    new = bool(uses or records) and not again
    if new and (
        not recorded()
        or await store.record_usage(user, block, uses, records, interrupted=interrupted)
    ):
        await store.touch_memories(
            user,
            [
                use.item.memory_id
                for use in uses
                if use.item.memory_id and use.kind is not UsageKind.UNUSED
            ],
            now,
        )
        lesson = _lesson(block, uses) if options.moves_weights else None
        if lesson is not None and block.trace.analysis is not None:
            return await store.learn_weights(
                user, block.trace.analysis.intent, lambda before: learnt(before, lesson), now
            )
    return options.weights or (await store.profile(user, ())).weights


def _lesson(block: ContextBlock, uses: tuple[ItemUse, ...]) -> TrainingExample | None:
    asked = [
        report.layer for report in block.trace.layers if report.outcome is LayerOutcome.ANSWERED
    ]
    return TrainingExample.of(uses, block.trace.weights, asked)
