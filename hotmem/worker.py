"""Background jobs: claims what waits in the database, runs it, retries what fails.

The queue is the database: a row without a vector waits to be embedded, a turn in `pending_turns`
to be understood, a session marked due to be summarised, a category that has grown to evolve. After
a crash everything is found there again. Users are served in turn. A job that fails is retried after
pauses that grow, and then set aside; the others go on.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Final

from hotmem.consolidation.evolution import MAX_CLUSTERED, draft_parts, evolve
from hotmem.core.logs import log
from hotmem.core.threads import ForegroundPriority
from hotmem.errors import InvalidInput
from hotmem.job_runner import DATABASE_ERRORS, JobRunner, WorkerLeases
from hotmem.model_calls import ModelCalls
from hotmem.operations.retention import Retention
from hotmem.options import BackgroundOptions, EvolutionOptions, ExtractionOptions
from hotmem.portability.importer import WRITE_S
from hotmem.remember import (
    WaitingText,
    WriteContext,
    embed_rows,
    summarise_session,
    understand_turns,
)
from hotmem.storage import queries, steps
from hotmem.storage.queries.claims import Claimed
from hotmem.storage.queries.jobs import UserRotation
from hotmem.topic_namer import TopicNamer
from hotmem.types import Category, EvolutionResult, JobKind, Turn, UserKey
from hotmem.understanding.turn_reader import BATCH

OTHERS_CHECK_S: Final = 0.1
"""Seconds between two looks whether other workers are done, while `settle` waits for them."""

MIN_PAUSE_S: Final = 0.05
"""Seconds between two looks for jobs at least."""

IDLE_CHECK_S: Final = 30.0
"""Seconds between two looks for sessions that have become idle."""

EVOLUTION_CHECK_S: Final = 300.0
"""Seconds between two looks for categories that are due to evolve; each counts all memories."""


class Worker:
    """The one task that runs the background jobs of a memory.

    Args:
        context: The live parts of the write path.
        options: Batch size, tries, pauses and idle time.
        evolution: Whether and when categories evolve.
        extraction: The language model that is called beside these jobs, if any.
        retention: Removes what is past its retention period.
        priority: Lets recalls go first.
    """

    def __init__(
        self,
        context: WriteContext,
        options: BackgroundOptions,
        evolution: EvolutionOptions,
        extraction: ExtractionOptions,
        retention: Retention,
        priority: ForegroundPriority,
    ) -> None:
        self._context = context
        self._storage = context.storage
        self._database = context.storage.database
        self._options = options
        self._evolution = evolution
        self._retention = retention
        self._priority = priority
        self._served = UserRotation()
        self._leases = WorkerLeases(self._database, context.worker_id)
        self._runner = JobRunner(context, options, priority)
        self._model_calls = ModelCalls(context, extraction, priority, self.wake)
        self._namer = TopicNamer(context, extraction, priority)
        self._evolving = asyncio.Lock()
        self._evolution_checked_at = datetime.min.replace(tzinfo=UTC)
        self._wanted = asyncio.Event()
        self._settled = asyncio.Event()
        self._failed_rounds = 0
        self._resumes_at: float | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Starts the task; jobs that an earlier process left are done first."""
        self._wanted.set()
        self._task = asyncio.create_task(self._run(), name="hotmem-worker")
        self._model_calls.start()

    def wake(self) -> None:
        """Signals that there are jobs."""
        self._settled.clear()
        self._wanted.set()

    async def settle(self) -> None:
        """Returns when no job is left, here or in other workers. Those set aside do not count."""
        others = True
        # Jobs that another worker releases, or extraction adds, are found by a later round.
        while others or not self._settled.is_set():
            others = await self._leases.any_other()
            self.wake()
            await self._settled.wait()
            await self._model_calls.settle()
            others = others or await self._leases.any_other()
            if others:
                await asyncio.sleep(OTHERS_CHECK_S)

    async def evolve(self, user: UserKey, categories: Iterable[Category]) -> list[EvolutionResult]:
        """Finds the subcategories of categories again, one category after the other.

        Raises:
            StoreError: If they could not be written; they stay as they were.
        """
        found = []
        for category in categories:
            async with self._evolving:
                found.append(
                    await evolve(
                        self._storage,
                        self._priority,
                        user,
                        category,
                        self._namer.topics,
                        self._namer.name,
                        self._evolution,
                        await self._now(),
                    )
                )
        return found

    async def split(self, user: UserKey, category: Category, name: str) -> str:
        """Splits a subcategory by topic; returns the decision's id.

        Raises:
            InvalidInput: If there is no such subcategory, or its memories share one topic.
        """
        async with self._evolving:
            members = await self._database.read(
                queries.evolutions.members, user, category, MAX_CLUSTERED
            )
            if name not in members.named:
                raise queries.subcategories.missing(category, name)
            topics, now = (await self._namer.topics())[category], await self._now()
            parts = await asyncio.to_thread(
                draft_parts, members, name, topics, self._evolution, now
            )
            if len(parts.subcategories) < 2:
                raise InvalidInput(f"No two topics were found in {name!r}. It stays as it is.")
            return await self._database.write(
                queries.subcategories.split, user, category, name, parts, now
            )

    async def _now(self) -> datetime:
        return await self._database.read_all(queries.times.now)

    async def close(self) -> None:
        """Stops after the current job and releases the leases; other jobs stay in the database."""
        await self._model_calls.close()
        await self._namer.close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            await self._leases.close()
        self._settled.set()

    async def _run(self) -> None:
        await self._leases.release_dead()
        while True:
            self._wanted.clear()
            await self._priority.wait_idle()
            async with self._leases.renewed():
                more = await self._run_round()
            if await self._leases.release_dead() or more:
                continue
            if not self._wanted.is_set() and not self._resumes_at:
                self._settled.set()
            self._model_calls.wake()
            try:
                async with asyncio.timeout(self._pause_s()):
                    await self._wanted.wait()
            except TimeoutError:
                self._settled.clear()

    def _pause_s(self) -> float:
        """Seconds until there may be jobs that nothing signals."""
        longest = min(IDLE_CHECK_S, self._options.poll_s)
        pause = longest
        if self._resumes_at:
            pause = self._resumes_at - time.monotonic()
        return min(longest, max(min(pause, self._options.idle_s), MIN_PAUSE_S))

    async def _run_round(self) -> bool:
        """Runs some jobs of each kind; False if there are none.

        The encoder runs while the parser does: it releases the interpreter's lock. A failure is
        logged and counted, never raised.
        """
        try:
            now = await self._now()
            self._runner.start(now)
            resumes_at = await steps.resume_failures(self._database, now)
            pause_s = None if resumes_at is None else (resumes_at - now).total_seconds()
            self._resumes_at = None if pause_s is None else time.monotonic() + pause_s
            claimed = await self._claim()
            outcomes = await asyncio.gather(
                self._embed(claimed.texts),
                self._understand(claimed.turns),
                return_exceptions=True,
            )
            for outcome in outcomes:
                if isinstance(outcome, BaseException):
                    raise outcome
            await self._storage.forgetting.finish()
            rolled_back = await self._roll_back_imports()
            summarised = await self._summarise(now, thorough=not any(outcomes))
            more = (
                any((*outcomes, rolled_back, summarised))
                or await self._embed_again()
                or await self._evolve(now)
                or await self._runner.retry_set_aside(now)
                or await self._apply_retention(now)
            )
        except Exception as error:  # background jobs must not end the process
            self._failed_rounds += 1
            self._resumes_at = None
            log.error("jobs failed", error=type(error).__name__, failures=self._failed_rounds)
            return self._failed_rounds < self._options.attempts
        self._failed_rounds = 0
        return more

    async def _claim(self) -> Claimed:
        """Takes the leases of some jobs; writes only if there are any."""
        worker, encoder = self._context.worker_id, self._context.encoder_id
        if not await self._database.read_all(queries.claims.any_waiting, encoder, worker):
            return Claimed([], [])
        return await self._leases.taken(
            self._database.write_all(
                queries.claims.claim, encoder, self._served, worker, self._options.batch, BATCH
            )
        )

    async def _embed(self, waiting: Sequence[WaitingText]) -> bool:
        for kind, group in groupby(waiting, key=lambda row: row[0]):
            await self._runner.attempt(
                JobKind(kind),
                list(group),
                lambda row: row[1],
                lambda rows, last: embed_rows(self._context, rows, last=last),
            )
        return bool(waiting)

    async def _embed_again(self) -> bool:
        """Embeds some rows that still have vectors of the former encoder."""
        if await self._database.read_all(queries.reembedding.former_encoder) is None:
            self._context.former.encoder = None
            return False
        if await self._database.read_all(queries.embedding.superseded, self._context.encoder_id):
            return False
        claim, worker = queries.claims.claim_again, self._context.worker_id
        rows: list[WaitingText] | None = await self._leases.taken(
            self._database.write_all(claim, worker, self._options.batch)
        )
        if rows is None:
            return False
        if not rows:
            await self._database.write_all(queries.embedding.finish, self._context.encoder_id)
            log.info("change of encoder complete", encoder=self._context.encoder.name)
            return True
        try:
            await embed_rows(self._context, rows, anew=True)
        except DATABASE_ERRORS:
            raise
        except Exception as error:  # which row it is shows when they wait like new rows
            log.warning(
                "rows not embedded again",
                kind=rows[0][0],
                rows=len(rows),
                error=type(error).__name__,
            )
            keys = [key for _, key, _ in rows]
            await self._database.write_all(
                queries.claims.finish_all,
                self._context.worker_id,
                JobKind(rows[0][0]),
                queries.embedding.skip,
                self._context.encoder_id,
                rows[0][0],
                keys,
            )
        return True

    async def _understand(self, waiting: Sequence[tuple[int, Turn]]) -> bool:
        """Understands some turns, each user's in order."""
        if waiting:
            await self._runner.attempt(
                JobKind.TURN,
                waiting,
                lambda turn: turn[0],
                lambda turns, last: understand_turns(self._context, turns, last=last),
            )
        return bool(waiting)

    async def _roll_back_imports(self) -> bool:
        found = await self._database.read_all(queries.import_rollback.due)
        if found is not None:
            await self._runner.attempt(
                JobKind.IMPORT,
                [found],
                lambda found: found.key,
                lambda *_: steps.roll_back_imports(self._database, WRITE_S),
            )
        return found is not None

    async def _summarise(self, now: datetime, *, thorough: bool) -> bool:
        session = await steps.session_due(
            self._database,
            self._served,
            now,
            self._options.idle_s,
            thorough=thorough,
        )
        if session is None:
            return False
        claim = queries.claims.claim_session
        if await self._leases.taken(
            self._database.write(claim, session.user, self._context.worker_id, session.key)
        ):
            await self._runner.attempt(
                JobKind.SESSION,
                [session],
                lambda session: session.key,
                lambda sessions, _: summarise_session(self._context, sessions[0]),
            )
            return True
        return False

    async def _evolve(self, now: datetime) -> bool:
        """Evolves a category that is due."""
        pause = timedelta(seconds=min(EVOLUTION_CHECK_S, self._evolution.every_s))
        if not self._evolution.on or now < self._evolution_checked_at + pause:
            return False
        found = await self._database.read_all(
            queries.evolutions.due,
            now,
            timedelta(seconds=self._evolution.every_s),
            self._evolution.cluster_size,
        )
        if found is None:
            self._evolution_checked_at = now
            return False
        user, category = found
        claim = queries.claims.claim_category
        if not await self._leases.taken(self._database.write(claim, user, self._context.worker_id)):
            self._evolution_checked_at = now
            return False
        try:
            await self.evolve(user, [category])
        except DATABASE_ERRORS:
            raise
        except Exception as error:  # a category that cannot evolve must not hold up the others
            await self._runner.count_failure(JobKind.CATEGORY, category, error, user)
        else:
            await self._database.write(
                queries.claims.finish,
                user,
                self._context.worker_id,
                JobKind.CATEGORY,
                queries.job_failures.clear,
                JobKind.CATEGORY,
                category,
            )
        return True

    async def _apply_retention(self, now: datetime) -> bool:
        try:
            return await self._retention.run_batch(now)
        except DATABASE_ERRORS:
            raise
        except Exception as error:  # a user whose data cannot be removed must not hold up others
            log.error("retention failed", error=type(error).__name__)
            self._retention.skip()
            return True
