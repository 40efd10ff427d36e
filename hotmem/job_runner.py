"""Runs jobs of the worker under leases, counts failures and retries what was set aside."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
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
        database: The database.
        options: Tries and pauses.
        priority: Lets recalls go first.
    """

    def __init__(
        self, database: Database, options: BackgroundOptions, priority: ForegroundPriority
    ) -> None:
        self._database = database
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
        run: Callable[[Sequence[T]], Awaitable[Any]],
        user: UserKey | None = None,
    ) -> None:
        """Runs some jobs at once; if that fails, each half, until the job that fails is alone.

        Args:
            kind: Kind of job.
            jobs: Jobs whose leases this worker has.
            key: The key of a job's row.
            run: Runs some of them.
            user: The user, needed for a category only (`job_failures.record`).

        Raises:
            StoreError: If no job can run, as the database cannot be written.
        """
        try:
            await run(jobs)
        except DATABASE_ERRORS:
            raise
        except Exception as error:  # a job that fails must not hold up the others
            if len(jobs) == 1:
                await self._count_failure(kind, key(jobs[0]), error, user)
                return
            middle = len(jobs) // 2
            for half in (jobs[:middle], jobs[middle:]):
                await self._priority.wait_idle()
                await self.attempt(kind, half, key, run, user)

    async def _count_failure(
        self, kind: JobKind, key: int | str, error: Exception, user: UserKey | None
    ) -> None:
        """Counts a failed try; the job pauses, or is set aside after its last try."""
        log.warning("job failed", kind=kind, key=key, error=type(error).__name__)
        await self._database.write_all(
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


RENEW_S: Final = LEASE_S / 3
"""Seconds between two renewals while jobs run."""

RENEWALS: Final = 45
"""Renewals at most, a quarter of an hour: jobs that hang are taken over too."""


class WorkerLeases:
    """The leases that one worker has of jobs of some kinds.

    Args:
        database: The database.
        owner: Identifies the worker.
        kinds: The kinds.
    """

    def __init__(self, database: Database, owner: str, kinds: Iterable[JobKind]) -> None:
        self._database = database
        self._owner = owner
        self._kinds = kinds
        self._may_have_any = False

    async def taken(self, taking: Awaitable[T]) -> T:
        """The result of a write that may take leases."""
        self._may_have_any = True
        return await taking

    async def release(self) -> None:
        """Releases the leases.

        Writes run one after the other, so those are released too that a write takes which goes on
        after its caller was cancelled.
        """
        if self._may_have_any:
            with suppress(StoreError):
                await self._database.write_all(queries.jobs.release, self._owner, self._kinds)
                self._may_have_any = False

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
                    await self._database.write_all(queries.jobs.release, owner)
                    released = True
        return released
