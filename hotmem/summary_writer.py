"""Has a language model write the summaries of sessions that have ended, if that is wanted.

A session is sent as a whole once it has an extractive summary of all its turns, which stays if the
call fails or the turns do not support the answer. One without a sentence is not sent. If the
session grows later, it gets an extractive summary again when it has ended again, and is sent once
more, as long as the budget allows.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from hotmem.consolidation.summary import render_summary
from hotmem.consolidation.summary_grounding import ground_summary
from hotmem.consolidation.summary_proposals import read_summary, write_prompt
from hotmem.core.priority import ForegroundPriority
from hotmem.remember import WriteContext
from hotmem.storage import queries
from hotmem.storage.queries.model_calls import Budget, Claim, Cost
from hotmem.types import (
    ExtractionBatch,
    ExtractionOutcome,
    ExtractionResult,
    JobKind,
    SessionSummary,
    Turn,
)

ANSWER_TOKENS: Final = 1_500
"""Tokens of an answer at most."""


class SummaryWriter:
    """The calls that write summaries: a `hotmem.model_calls.ModelJob`.

    Args:
        context: The live parts of the write path.
        priority: Lets recalls go first.
    """

    name = "summary"
    answer_tokens = ANSWER_TOKENS

    def __init__(self, context: WriteContext, priority: ForegroundPriority) -> None:
        self._context = context
        self._database = context.storage.database
        self._priority = priority

    async def discard(self) -> None:
        """Ends the waiting of all sessions."""
        if await self._database.read_all(queries.model_summaries.any_waiting):
            await self._database.write_all(queries.model_summaries.discard)

    async def is_due(self) -> bool:
        """Whether a session with an extractive summary waits."""
        return await self._database.read_all(queries.model_summaries.any_due)

    async def claim(self, budget: Budget, now: datetime, cost: Cost) -> Claim:
        """Takes the lease of a user with such a session, and puts the call on record."""
        return await self._database.write_all(
            queries.model_summaries.claim, self._context.worker_id, budget, now, cost
        )

    def write_prompt(self, turns: Sequence[Turn]) -> list[dict[str, str]]:
        """The messages that are sent."""
        return write_prompt(turns)

    async def store(
        self, batch: ExtractionBatch, answer: str, usage: ExtractionResult
    ) -> tuple[ExtractionResult, int]:
        """Stores the summary of an answer, if the turns support enough of it."""
        await self._priority.wait_idle()
        turns = [turn for _, turn in batch.turns]
        summary, result = await asyncio.to_thread(self._read, turns, answer, usage)
        stored = await self._database.write(
            queries.claims.finish,
            batch.user,
            self._context.worker_id,
            JobKind.EXTRACTION,
            queries.model_summaries.complete,
            batch,
            result,
            summary,
            render_summary,
        )
        return result, stored

    def _read(
        self, turns: Sequence[Turn], answer: str, usage: ExtractionResult
    ) -> tuple[SessionSummary | None, ExtractionResult]:
        """The summary, if enough of it is supported, and what is on record. Blocking."""
        read = read_summary(answer)
        if read is None:
            return None, replace(usage, outcome=ExtractionOutcome.UNREADABLE)
        parts, malformed = read
        found = ground_summary(
            parts, turns, lambda texts: list(self._context.reader.parse_texts(texts))
        )
        return found.summary, replace(usage, dropped=malformed + len(found.dropped))
