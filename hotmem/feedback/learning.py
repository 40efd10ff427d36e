"""The feedback path: reply → usage → quality record and layer weights."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Final

from hotmem.feedback.quality import quality_records
from hotmem.feedback.usage import detect_usage
from hotmem.feedback.weights import TrainingExample, update
from hotmem.models import Encoder
from hotmem.options import LearningOptions
from hotmem.storage import Storage, queries
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

MAX_VISIBLE: Final = 200
"""Number of visible texts compared with a reply, latest ones."""


async def learn_from_reply(
    storage: Storage,
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
    """Detect how a reply used a block, record it and update the layer weights.

    Args:
        storage: The store.
        encoder: The memory's encoder, used in a thread.
        block: The block given to the language model.
        heard: The part of the reply that was heard, cleaned.
        options: Learning options.
        count: Counts the tokens of a text.
        now: The current time, UTC.
        recorded: Whether usage is recorded; called just before the write.
        interrupted: Whether the reply was cut off.
        again: Whether feedback on the block was given before.

    Raises:
        StoreError: If the write failed.
    """
    uses, records = await asyncio.to_thread(_detect_usage, encoder, block, heard, count)
    used = sum(use.kind is not UsageKind.UNUSED for use in uses)
    user = await storage.database.read_all(queries.users.find, block.user_id)
    weights = block.trace.weights
    if user is not None:
        weights = await _record_and_learn(
            storage,
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


def _detect_usage(
    encoder: Encoder, block: ContextBlock, heard: str, count: Callable[[str], int]
) -> tuple[tuple[ItemUse, ...], list[QualityRecord]]:
    """How the reply used each item, and the quality records; none if nothing was heard."""
    visible = [truncate(text) for text in block.visible[-MAX_VISIBLE:]]
    uses = detect_usage(encoder, block.items, truncate_start(block.query), truncate(heard), visible)
    return uses, quality_records(block, uses, count) if heard else []


async def _record_and_learn(
    storage: Storage,
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
    """Record the usage, once per block, and return the updated layer weights."""
    new = bool(uses or records) and not again
    if new and (
        not recorded()
        or await storage.database.write(
            queries.usage.record_with_quality, user, block, uses, records, interrupted=interrupted
        )
    ):
        await storage.database.write(
            queries.memories.record_access,
            user,
            [
                use.item.memory_id
                for use in uses
                if use.item.memory_id and use.kind is not UsageKind.UNUSED
            ],
            now,
        )
        example = _training_example(block, uses) if options.moves_weights else None
        if example is not None and block.trace.analysis is not None:
            return await storage.database.write(
                queries.layer_weights.learn,
                user,
                block.trace.analysis.intent,
                lambda before: update(before, example),
                now,
            )
    return options.weights or (await storage.database.read(queries.users.profile, user, ())).weights


def _training_example(block: ContextBlock, uses: tuple[ItemUse, ...]) -> TrainingExample | None:
    asked = [
        report.layer for report in block.trace.layers if report.outcome is LayerOutcome.ANSWERED
    ]
    return TrainingExample.of(uses, block.trace.weights, asked)
