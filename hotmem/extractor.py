"""Extracts facts with a language model beside the other background jobs, if one is configured.

    turns that wait ─▶ claim ─▶ prompt ─▶ endpoint ─▶ proposals ─▶ grounding ─▶ facts stored
                         │                   │            └▶ not supported: dropped
                         └▶ budget spent     └▶ no answer: later, after a pause that grows

What the rules read of a turn is stored before it is sent, so that a failure costs nothing but the
call.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from hotmem.consolidation.same_subject import find_same_subjects
from hotmem.consolidation.supersession import find_supersession
from hotmem.core.logs import log
from hotmem.core.metrics import count_extraction
from hotmem.core.priority import ForegroundPriority
from hotmem.errors import StoreError
from hotmem.models.chat_endpoint import ChatAnswer, ChatEndpoint, EndpointFailed
from hotmem.options import ExtractionOptions
from hotmem.remember import WriteContext, other_owner
from hotmem.storage import queries
from hotmem.storage.queries.extractions import Budget
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
from hotmem.understanding.extraction import (
    Proposal,
    ground,
    read_proposals,
    write_prompt,
)
from hotmem.understanding.extraction.grounding import without_instructions
from hotmem.understanding.facts.classification import classify_statements
from hotmem.understanding.facts.hearsay import mark_hearsay
from hotmem.worker_leases import WorkerLeases

ANSWER_TOKENS: Final = 2_000
"""Tokens of an answer at most."""

CHARACTERS_PER_TOKEN: Final = 3
"""For estimates; English has about four."""

PAUSE_S: Final = 60.0
"""Seconds without calls after a failed one; each further pause is four times as long."""

PAUSE_GROWTH: Final = 4
LONGEST_PAUSE_S: Final = 3600.0
"""Longest pause, which also follows a failure that a person must fix."""

SPENT_CHECK_S: Final = 600.0
"""Seconds between two looks whether the day's budget is free again."""

CHECK_S: Final = 30.0
"""Seconds between two looks for sessions that nothing signals."""


class Extractor:
    """The task that sends turns to a language model.

    Args:
        context: The live parts of the write path.
        options: Endpoint and budget.
        priority: Lets recalls go first.
        stored: Called when facts were stored, which wait to be embedded.
    """

    def __init__(
        self,
        context: WriteContext,
        options: ExtractionOptions,
        priority: ForegroundPriority,
        stored: Callable[[], None],
    ) -> None:
        self._context = context
        self._database = context.storage.database
        self._options = options
        self._budget = Budget(options.daily_calls, options.daily_tokens, options.session_calls)
        self._priority = priority
        self._stored = stored
        self._endpoint = ChatEndpoint(options) if options.model else None
        self._leases = WorkerLeases(self._database, context.worker_id)
        self._wanted = asyncio.Event()
        self._settled = asyncio.Event()
        self._failures = 0
        self._resumes_at = 0.0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Starts the task; without a model it only ends the waiting of turns that wait."""
        self._wanted.set()
        self._task = asyncio.create_task(self._run(), name="hotmem-extractor")

    def wake(self) -> None:
        """Signals that there may be turns to send."""
        if self._endpoint is not None:
            self._settled.clear()
            self._wanted.set()

    async def settle(self) -> None:
        """Returns when no session is due, or none may be sent for now."""
        self.wake()
        if self._task is not None:
            await self._settled.wait()

    async def close(self) -> None:
        """Cancels a call that is being made, and closes the connections."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            await self._leases.close()
        self._settled.set()
        if self._endpoint is not None:
            await self._endpoint.close()

    async def _run(self) -> None:
        if self._endpoint is None:
            await self._discard()
            self._settled.set()
            return
        while True:
            self._wanted.clear()
            try:
                more = await self._run_once(self._endpoint)
            except Exception as error:  # background jobs must not end the process
                log.error("extraction failed", error=type(error).__name__)
                self._pause(lasting=False)
                more = False
            if more:
                continue
            if not self._wanted.is_set():
                self._settled.set()
            try:
                async with asyncio.timeout(CHECK_S):
                    await self._wanted.wait()
            except TimeoutError:
                self._settled.clear()

    async def _discard(self) -> None:
        """Ends the waiting of turns: what was said before it was turned on again is not sent."""
        try:
            if await self._database.read_all(queries.extractions.any_waiting):
                await self._database.write_all(queries.extractions.discard)
        except StoreError as error:
            log.warning("extraction not turned off", error=type(error).__name__)

    async def _run_once(self, endpoint: ChatEndpoint) -> bool:
        """Sends some turns of a session that is due; False if there is none or none may be sent."""
        if time.monotonic() < self._resumes_at or not await self._database.read_all(
            queries.extractions.any_due, self._options.every_turns
        ):
            return False
        now = await self._database.read_all(queries.times.now)
        if await self._database.read_all(queries.extractions.is_spent, self._budget, now):
            log.info("extraction budget spent")
            self._resumes_at = time.monotonic() + SPENT_CHECK_S
            return False
        claim = await self._leases.taken(
            self._database.write_all(
                queries.extractions.claim,
                self._context.worker_id,
                self._options.every_turns,
                self._budget,
                now,
                _cost,
            )
        )
        if claim.batch is not None:
            async with self._leases.renewed():
                await self._extract(endpoint, claim.batch)
        return claim.more

    async def _extract(self, endpoint: ChatEndpoint, batch: ExtractionBatch) -> None:
        """Sends the turns of a batch and stores what the answer says of them."""
        started = time.monotonic()
        turns = [turn for _, turn in batch.turns]
        prompt = _cost(turns)[0]
        try:
            answer = await endpoint.complete(write_prompt(turns), ANSWER_TOKENS)
        except EndpointFailed as failure:
            self._pause(lasting=failure.lasting)
            await self._database.write(
                queries.claims.finish,
                batch.user,
                self._context.worker_id,
                JobKind.EXTRACTION,
                queries.extractions.fail,
                batch,
                ExtractionResult(ExtractionOutcome.FAILED, prompt),
            )
            count_extraction(ExtractionOutcome.FAILED, prompt, 0, 0, 0)
            log.warning("extraction call failed", reason=failure.reason, turns=len(turns))
            return
        self._failures = 0
        result, facts = await self._read(batch, turns, answer, prompt)
        stored = await self._store(batch, result, facts)
        log.info(
            "extraction call complete",
            outcome=result.outcome,
            turns=len(turns),
            facts=stored,
            dropped=result.dropped,
            prompt_tokens=result.prompt_tokens,
            completion_tokens=result.completion_tokens,
            ms=round(1000 * (time.monotonic() - started)),
        )
        if stored:
            self._stored()

    async def _read(
        self, batch: ExtractionBatch, turns: Sequence[Turn], answer: ChatAnswer, prompt: int
    ) -> tuple[ExtractionResult, list[tuple[int, Statement]]]:
        """The facts of an answer that the turns support, by row number of their turn."""
        sent = answer.prompt_tokens or prompt
        received = answer.completion_tokens or _tokens(answer.text)
        read = read_proposals(answer.text)
        if read is None:
            return ExtractionResult(ExtractionOutcome.UNREADABLE, sent, received), []
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
            ExtractionResult(ExtractionOutcome.ANSWERED, sent, received, malformed + unsupported),
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
                marked = stated if owner is None else mark_hearsay(stated, owner)
                facts.extend((place, one) for one in marked.statements)
        return facts, len(proposals) - len(facts)

    async def _store(
        self,
        batch: ExtractionBatch,
        result: ExtractionResult,
        facts: Sequence[tuple[int, Statement]],
    ) -> int:
        """Stores the facts of a call that is paid for; returns how many were new."""
        stored = await self._database.write(
            queries.claims.finish,
            batch.user,
            self._context.worker_id,
            JobKind.EXTRACTION,
            queries.extractions.complete,
            batch,
            result,
            facts,
            find_supersession,
            find_same_subjects,
        )
        count_extraction(
            result.outcome,
            result.prompt_tokens,
            result.completion_tokens,
            stored,
            result.dropped,
        )
        return stored

    def _pause(self, *, lasting: bool) -> None:
        """Makes no call for a while, longer after each failure."""
        pause = LONGEST_PAUSE_S if lasting else PAUSE_S * PAUSE_GROWTH ** min(self._failures, 9)
        self._failures += 1
        self._resumes_at = time.monotonic() + min(pause, LONGEST_PAUSE_S)


def _cost(turns: Sequence[Turn]) -> tuple[int, int]:
    """Estimated tokens of a prompt with some turns, and of its answer at most."""
    return sum(_tokens(message["content"]) for message in write_prompt(turns)), ANSWER_TOKENS


def _tokens(text: str) -> int:
    return len(text) // CHARACTERS_PER_TOKEN + 1
