"""Runs jobs of the worker under leases, counts failures and retries what was set aside."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

from hotmem.core.logs import log
from hotmem.core.threads import ForegroundPriority, has_died
from hotmem.errors import (
    MemoryClosed,
    StoreError,
    StoreFull,
    StoreGone,
    StoreLocked,
    StoreReadOnly,
    StoreTooNew,
    StoreUnreachable,
    StoreUnusable,
)
from hotmem.options import BackgroundOptions
from hotmem.remember import WriteContext
from hotmem.storage import queries, steps
from hotmem.storage.database import Database
from hotmem.storage.queries.jobs import LEASE_S
from hotmem.types import JobKind, UserKey

T = TypeVar("T")

DATABASE_ERRORS: Final = (
    StoreLocked,
    StoreReadOnly,
    StoreTooNew,
    StoreFull,
    StoreGone,
    StoreUnreachable,
    StoreUnusable,
    MemoryClosed,
)
"""Errors of the database rather than of a job: no job can run."""

RETRY_BATCH: Final = 64
"""Jobs set aside that get one more try at once; more follow if any of them succeeds."""

RETRY_EVERY_S: Final = 3600.0
"""Seconds between two such tries while a memory is open."""


class JobRunner:
    """Runs jobs so that one that fails does not hold up the others.

    Args:
        context: The live parts of the write path.
        options: Tries and pauses.
        priority: Lets recalls go first.
    """

    def __init__(
        self, context: WriteContext, options: BackgroundOptions, priority: ForegroundPriority
    ) -> None:
        self._context = context
        self._database = context.storage.database
        self._options = options
        self._priority = priority
        self._retried: int | None = 0
        self._retrying_since = datetime.max.replace(tzinfo=UTC)

    def start(self, now: datetime) -> None:
        """Notes when the worker started, at the first call: what failed before is tried again."""
        self._retrying_since = min(self._retrying_since, now)

    async def attempt(
        self,
        kind: JobKind,
        jobs: Sequence[T],
        key: Callable[[T], int | str],
        run: Callable[[Sequence[T], bool], Awaitable[Any]],
        *,
        last: bool = True,
    ) -> None:
        """Runs some jobs at once; if that fails, each half, until the job that fails is alone.

        Args:
            kind: Kind of job.
            jobs: Jobs whose leases this worker has.
            key: The key of a job's row.
            run: Runs some of them. Its second argument tells whether they are the last, whose
                result releases the leases of the kind.
            last: Whether these are the last.

        Raises:
            StoreError: If no job can run, as the database cannot be written.
        """
        try:
            await run(jobs, last)
        except DATABASE_ERRORS:
            raise
        except Exception as error:  # a job that fails must not hold up the others
            if len(jobs) == 1:
                await self.count_failure(kind, key(jobs[0]), error, last=last)
                return
            middle = len(jobs) // 2
            for half, ends in ((jobs[:middle], False), (jobs[middle:], last)):
                await self._priority.wait_idle()
                await self.attempt(kind, half, key, run, last=ends)

    async def count_failure(
        self,
        kind: JobKind,
        key: int | str,
        error: Exception,
        user: UserKey | None = None,
        *,
        last: bool = True,
    ) -> None:
        """Counts a failed try; the job pauses, or is set aside after its last try."""
        log.warning("job failed", kind=kind, key=key, error=type(error).__name__)
        await self._database.write_all(
            queries.claims.finish_all,
            self._context.worker_id if last else None,
            kind,
            queries.job_failures.record,
            kind,
            key,
            type(error).__name__,
            self._options.attempts,
            self._options.pause_s,
            await self._database.read_all(queries.times.now),
            user,
        )

    async def retry_set_aside(self, now: datetime) -> bool:
        """Gives some jobs that were set aside one more try, on start and every hour."""
        since = self._retrying_since
        if now - since > timedelta(seconds=RETRY_EVERY_S):
            self._retrying_since = since = now
            self._retried = 0
        if self._retried is None:
            return False
        given = await steps.retry_failures(self._database, since, self._retried, RETRY_BATCH)
        self._retried = self._retried + given if given else None
        return bool(given)


Answered = TypeVar("Answered")

RENEW_S: Final = LEASE_S / 3
"""Seconds between two renewals while jobs run."""

RENEWALS: Final = 45
"""Renewals at most, a quarter of an hour: jobs that hang are taken over too."""


class WorkerLeases:
    """The leases of one worker.

    Args:
        database: The database.
        owner: Identifies the worker.
    """

    def __init__(self, database: Database, owner: str) -> None:
        self._database = database
        self._owner = owner
        self._taking: asyncio.Future[Any] | None = None

    async def taken(self, taking: Awaitable[Answered]) -> Answered:
        """The result of a write that takes leases.

        The write goes on if the caller is cancelled, and `close` waits for it: leases taken later
        would be released by nobody.
        """
        future = asyncio.ensure_future(taking)
        self._taking = future
        return await asyncio.shield(future)

    @asynccontextmanager
    async def renewed(self) -> AsyncIterator[None]:
        """Renews the leases within, so that a long job is not taken over."""
        renewing = asyncio.create_task(self._renew())
        try:
            yield
        finally:
            renewing.cancel()

    async def _renew(self) -> None:
        for _ in range(RENEWALS):
            await asyncio.sleep(RENEW_S)
            with suppress(StoreError):
                await self._database.write_all(queries.jobs.renew, self._owner)

    async def any_other(self) -> bool:
        """Whether another worker has a lease."""
        return await self._database.read_all(queries.jobs.any_other, self._owner)

    async def release_dead(self) -> bool:
        """Releases leases of workers on this machine that died, before they expire.

        Returns:
            Whether there were any.
        """
        released = False
        with suppress(StoreError):
            for owner in await self._database.read_all(queries.jobs.owners):
                if has_died(owner):
                    await self._database.write_all(queries.jobs.release_all, owner)
                    released = True
        return released

    async def close(self) -> None:
        """Releases the leases of the worker, which has stopped."""
        if self._taking is not None:
            await asyncio.gather(self._taking, return_exceptions=True)
        with suppress(StoreError):
            if await self._database.read_all(queries.jobs.any_leased, self._owner):
                await self._database.write_all(queries.jobs.release_all, self._owner)
