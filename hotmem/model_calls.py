"""Sends conversations to a language model beside the other background jobs, if one is configured.

    session that is due ─▶ claim ─▶ prompt ─▶ endpoint ─▶ answer checked ─▶ stored
                             │                   └▶ no answer: later, after a pause that grows
                             └▶ budget spent: tomorrow

What is sent, and what becomes of the answer, is up to the jobs: facts (`hotmem.extractor`) and, if
wanted, summaries (`hotmem.model_calls`). They share the endpoint, the budget, the pauses and one
kind of lease, and run one after the other. What rules made of the turns is stored before they are
sent, so that a failure costs nothing but the call.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final, Protocol

from hotmem.consolidation.summary import render_summary
from hotmem.consolidation.summary_grounding import ground_summary, read_summary, write_prompt
from hotmem.core.logs import log
from hotmem.core.metrics import count_model_call
from hotmem.core.threads import ForegroundPriority
from hotmem.errors import StoreError
from hotmem.extractor import FactExtractor
from hotmem.job_runner import WorkerLeases
from hotmem.models.chat_endpoint import ChatAnswer, ChatEndpoint, EndpointFailed
from hotmem.options import ExtractionOptions
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
        if await self._database.read_all(queries.sessions.any_waiting):
            await self._database.write_all(queries.sessions.discard)

    async def is_due(self) -> bool:
        """Whether a session with an extractive summary waits."""
        return await self._database.read_all(queries.sessions.any_due)

    async def claim(self, budget: Budget, now: datetime, cost: Cost) -> Claim:
        """Takes the lease of a user with such a session, and puts the call on record."""
        return await self._database.write_all(
            queries.sessions.claim, self._context.worker_id, budget, now, cost
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
        put = queries.sessions.complete
        stored = await self._context.finish(
            batch.user, JobKind.EXTRACTION, put, batch, result, summary, render_summary
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


class ModelJob(Protocol):
    """One kind of call: which sessions wait for it, what is sent, what becomes of the answer.

    Attributes:
        name: Its name in logs and metrics.
        answer_tokens: Tokens of an answer at most.
    """

    name: str
    answer_tokens: int

    async def discard(self) -> None:
        """Ends the waiting of all sessions: what was said until now is not sent."""
        ...

    async def is_due(self) -> bool:
        """Whether a session waits that may be sent."""
        ...

    async def claim(self, budget: Budget, now: datetime, cost: Cost) -> Claim:
        """Takes the lease of a user with such a session, and puts the call on record."""
        ...

    def write_prompt(self, turns: Sequence[Turn]) -> list[dict[str, str]]:
        """The messages that are sent."""
        ...

    async def store(
        self, batch: ExtractionBatch, answer: str, usage: ExtractionResult
    ) -> tuple[ExtractionResult, int]:
        """Stores what the answer says and the turns support, and releases the lease.

        Args:
            batch: The turns that were sent.
            answer: The answer, untrusted.
            usage: What the call used.

        Returns:
            What is on record of the call, and how much was stored.
        """
        ...


class ModelCalls:
    """The task that makes the calls.

    Args:
        context: The live parts of the write path.
        options: Endpoint and budget.
        priority: Lets recalls go first.
        stored: Called when something was stored, which waits to be embedded.
    """

    def __init__(
        self,
        context: WriteContext,
        options: ExtractionOptions,
        priority: ForegroundPriority,
        stored: Callable[[], None],
    ) -> None:
        self._database = context.storage.database
        self._context = context
        self._budget = Budget(options.daily_calls, options.daily_tokens, options.session_calls)
        self._stored = stored
        self._endpoint = ChatEndpoint(options) if options.model else None
        self._jobs: dict[ModelJob, bool] = {
            FactExtractor(context, options, priority): bool(options.model),
            SummaryWriter(context, priority): bool(options.model) and options.summaries,
        }
        self._leases = WorkerLeases(self._database, context.worker_id)
        self._wanted = asyncio.Event()
        self._settled = asyncio.Event()
        self._failures = 0
        self._resumes_at = 0.0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Starts the task; without a model it only ends the waiting of what waits."""
        self._wanted.set()
        self._task = asyncio.create_task(self._run(), name="hotmem-model-calls")

    def wake(self) -> None:
        """Signals that there may be something to send."""
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
        await self._discard()
        if self._endpoint is None:
            self._settled.set()
            return
        while True:
            self._wanted.clear()
            try:
                more = await self._run_once(self._endpoint)
            except Exception as error:  # background jobs must not end the process
                log.error("model calls failed", error=type(error).__name__)
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
        """Ends the waiting for jobs that are off: what was said until now is not sent later."""
        try:
            for job, on in self._jobs.items():
                if not on:
                    await job.discard()
        except StoreError as error:
            log.warning("model calls not turned off", error=type(error).__name__)

    async def _run_once(self, endpoint: ChatEndpoint) -> bool:
        """Makes one call; False if no session is due, or none may be sent."""
        if time.monotonic() < self._resumes_at:
            return False
        for job, on in self._jobs.items():
            if not on or not await job.is_due():
                continue
            now = await self._database.read_all(queries.times.now)
            if await self._database.read_all(queries.model_calls.is_spent, self._budget, now):
                log.info("extraction budget spent")
                self._resumes_at = time.monotonic() + SPENT_CHECK_S
                return False
            claim = await self._leases.taken(job.claim(self._budget, now, partial(_cost, job)))
            if claim.batch is not None:
                async with self._leases.renewed():
                    await self._call(endpoint, job, claim.batch)
            if claim.more:
                return True
        return False

    async def _call(self, endpoint: ChatEndpoint, job: ModelJob, batch: ExtractionBatch) -> None:
        """Sends the turns of a batch and stores what the answer says of them."""
        started = time.monotonic()
        turns = [turn for _, turn in batch.turns]
        prompt, _ = _cost(job, turns)
        try:
            answer = await endpoint.complete(job.write_prompt(turns), job.answer_tokens)
        except EndpointFailed as failure:
            self._pause(lasting=failure.lasting)
            await self._fail(batch, ExtractionResult(ExtractionOutcome.FAILED, prompt))
            count_model_call(job.name, ExtractionOutcome.FAILED, prompt, 0)
            log.warning(f"{job.name} call failed", reason=failure.reason, turns=len(turns))
            return
        self._failures = 0
        result, stored = await job.store(batch, answer.text, _usage(answer, prompt))
        count_model_call(job.name, result.outcome, result.prompt_tokens, result.completion_tokens)
        log.info(
            f"{job.name} call complete",
            outcome=result.outcome,
            turns=len(turns),
            stored=stored,
            dropped=result.dropped,
            prompt_tokens=result.prompt_tokens,
            completion_tokens=result.completion_tokens,
            ms=round(1000 * (time.monotonic() - started)),
        )
        if stored:
            self._stored()

    async def _fail(self, batch: ExtractionBatch, result: ExtractionResult) -> None:
        """Completes the record of a call without an answer; its turns still wait."""
        complete = queries.model_calls.complete
        await self._context.finish(batch.user, JobKind.EXTRACTION, complete, batch.call, result)

    def _pause(self, *, lasting: bool) -> None:
        """Makes no call for a while, longer after each failure."""
        pause = LONGEST_PAUSE_S if lasting else PAUSE_S * PAUSE_GROWTH ** min(self._failures, 9)
        self._failures += 1
        self._resumes_at = time.monotonic() + min(pause, LONGEST_PAUSE_S)


def _usage(answer: ChatAnswer, prompt: int) -> ExtractionResult:
    """What a call used; estimated where the endpoint does not say."""
    return ExtractionResult(
        ExtractionOutcome.ANSWERED,
        answer.prompt_tokens or prompt,
        answer.completion_tokens or _tokens(answer.text),
    )


def _cost(job: ModelJob, turns: Sequence[Turn]) -> tuple[int, int]:
    """Estimated tokens of a prompt with some turns, and of its answer at most."""
    prompt = sum(_tokens(message["content"]) for message in job.write_prompt(turns))
    return prompt, job.answer_tokens


def _tokens(text: str) -> int:
    return len(text) // CHARACTERS_PER_TOKEN + 1
