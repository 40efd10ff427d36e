"""Extracts facts with a language model; those that the words do not support are dropped."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from hotmem.core.metrics import count_facts
from hotmem.core.threads import ForegroundPriority
from hotmem.options import ExtractionOptions
from hotmem.readings import store_facts
from hotmem.remember import WriteContext, other_owner
from hotmem.storage import queries
from hotmem.storage.queries.model_calls import Budget, Claim, Cost
from hotmem.types import (
    ExtractionBatch,
    ExtractionOutcome,
    ExtractionResult,
    JobKind,
    Role,
    Statement,
    Turn,
    Understanding,
)
from hotmem.understanding.extraction import Proposal, ground, read_proposals, write_prompt
from hotmem.understanding.extraction.grounding import without_instructions
from hotmem.understanding.facts.classification import classify_statements
from hotmem.understanding.private_statements import as_secret_as, mark_hearsay

ANSWER_TOKENS: Final = 2_000
"""Tokens of an answer at most."""


class FactExtractor:
    """The calls that extract facts: a `hotmem.model_calls.ModelJob`.

    Args:
        context: The live parts of the write path.
        options: When a session is sent.
        priority: Lets recalls go first.
    """

    name = "extraction"
    answer_tokens = ANSWER_TOKENS

    def __init__(
        self, context: WriteContext, options: ExtractionOptions, priority: ForegroundPriority
    ) -> None:
        self._context = context
        self._database = context.storage.database
        self._every_turns = options.every_turns
        self._priority = priority

    async def discard(self) -> None:
        """Ends the waiting of all turns; sessions that go on are not sent whole later either."""
        if await self._database.read_all(queries.extractions.any_sendable):
            await self._database.write_all(queries.extractions.discard)

    async def is_due(self) -> bool:
        """Whether a session has ended, or has so many turns of the user that wait."""
        return await self._database.read_all(queries.extractions.any_due, self._every_turns)

    async def claim(self, budget: Budget, now: datetime, cost: Cost) -> Claim:
        """Takes the lease of a user with such a session, and puts the call on record."""
        return await self._database.write_all(
            queries.extractions.claim,
            self._context.worker_id,
            self._every_turns,
            budget,
            now,
            cost,
        )

    def write_prompt(self, turns: Sequence[Turn]) -> list[dict[str, str]]:
        """The messages that are sent."""
        return write_prompt(turns)

    async def store(
        self, batch: ExtractionBatch, answer: str, usage: ExtractionResult
    ) -> tuple[ExtractionResult, int]:
        """Stores the facts of an answer that the turns support, and how many there were."""
        result, facts = await self._read(batch, answer, usage)
        stored = await self._context.finish(
            batch.user, JobKind.EXTRACTION, store_facts, batch, result, facts
        )
        count_facts(stored, result.dropped)
        return result, stored

    async def _read(
        self, batch: ExtractionBatch, answer: str, usage: ExtractionResult
    ) -> tuple[ExtractionResult, list[tuple[int, Statement]]]:
        """The facts of an answer that the turns support, by row number of their turn."""
        read = read_proposals(answer)
        if read is None:
            return replace(usage, outcome=ExtractionOutcome.UNREADABLE), []
        turns = [turn for _, turn in batch.turns]
        proposals, malformed = read
        named = {one.turn - 1 for one in proposals}
        places = [
            place for place, turn in enumerate(turns) if place in named and turn.role == Role.USER
        ]
        owners = {place: await other_owner(self._context.storage, turns[place]) for place in places}
        await self._priority.wait_idle()
        facts, unsupported = await asyncio.to_thread(
            self._ground, proposals, turns, owners, batch.subjects
        )
        keys = [key for key, _ in batch.turns]
        return (
            replace(usage, dropped=malformed + unsupported),
            [(keys[place], statement) for place, statement in facts],
        )

    def _ground(
        self,
        proposals: Sequence[Proposal],
        turns: Sequence[Turn],
        owners: Mapping[int, str | None],
        subjects: Sequence[str],
    ) -> tuple[list[tuple[int, Statement]], int]:
        """The supported facts by place of their turn, classified, and how many are not. Blocking.

        Args:
            proposals: The proposed facts.
            turns: The turns that were sent.
            owners: For each turn that facts name, the user's name if somebody else said it.
            subjects: Whom and what the user's current facts are about.
        """
        reader = self._context.reader
        docs = dict(zip(owners, reader.parse([turns[place] for place in owners]), strict=True))
        found = ground(proposals, turns, docs, subjects)
        facts: list[tuple[int, Statement]] = []
        for place, statement in found.facts:
            (classified,) = classify_statements(docs[place], [statement], self._context.encoder)
            kept = without_instructions(statement, classified)
            owner = owners[place]
            if kept is not None:
                stated = Understanding((kept,))
                marked = stated if owner is None else mark_hearsay(stated, owner, turns[place])
                facts.extend((place, one) for one in as_secret_as(marked, turns[place]).statements)
        return facts, len(proposals) - len(facts)
