"""Maintenance steps that read first and write only if there is something to do.

A write transaction takes the database's lock and waits for the disk; most of these steps, which
the background worker repeats, find nothing to do.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta

from hotmem.core.logs import log
from hotmem.core.timing import SteadyClock
from hotmem.errors import StoreReadOnly
from hotmem.storage.database import Connection, Database
from hotmem.storage.queries import (
    deletions,
    forget,
    import_rollback,
    job_failures,
    jobs,
    maintenance,
    reembedding,
    retention,
    times,
)
from hotmem.storage.search import vectors
from hotmem.storage.search.engine import SearchEngine
from hotmem.types import ForgetResult, Restorable, UserKey
from hotmem.types.maintenance import ForgetTarget


async def record_language(database: Database) -> None:
    """Records the language of the search index in a new database.

    Raises:
        StoreError: If another one was recorded meanwhile, or it could not be written.
    """
    if not (database.read_only or await database.read_all(maintenance.is_recorded)):
        await database.write_all(maintenance.record, database.location)


async def adopt_encoder(database: Database, name: str, dimension: int) -> bool:
    """Makes this the database's encoder.

    Returns:
        Whether it was another one; every text is then embedded again in the background.

    Raises:
        StoreReadOnly: If it was another one and the database cannot be written.
        StoreError: If it could not be written.
    """
    if not database.read_only:
        return await database.write_all(vectors.adopt, name, dimension)
    before = await database.read_all(reembedding.current)
    if before not in (None, reembedding.identified(name, dimension)):
        raise StoreReadOnly(
            f"{database.location} was embedded by {before} and cannot be written, so {name} cannot"
            " search it. Choose the former encoder (HOTMEM_ENCODER), or make the database"
            " writable."
        )
    return False


async def resume_failures(database: Database, now: datetime) -> datetime | None:
    """Retries failed jobs whose pause is over; returns when the next pause ends, or None."""
    resumes_at = await database.read_all(job_failures.next_retry, now)
    if resumes_at is None or resumes_at > now:
        return resumes_at
    await database.write_all(job_failures.resume, now)
    return await database.read_all(job_failures.next_retry, now)


async def retry_failures(database: Database, before: datetime, given: int, limit: int) -> int:
    """Gives some of the jobs set aside before a time one more try; returns how many.

    0 if all of the `given` that got one before failed again.
    """
    if not await database.read_all(job_failures.any_set_aside):
        return 0
    return await database.write_all(job_failures.retry, before, given, limit)


async def roll_back_imports(database: Database, limit_s: float) -> bool:
    """Rolls back failed or undone imports for so many seconds; False if there is none."""
    found = await database.read_all(import_rollback.due)
    if found is None:
        return False
    return await database.write(import_rollback.roll_back, found.user, found.key, limit_s)


async def session_due(
    database: Database,
    served: jobs.UserRotation,
    now: datetime,
    idle_s: float,
    *,
    thorough: bool = True,
) -> jobs.DueSession | None:
    """A session to summarise: ended, or idle for so many seconds; users in turn.

    Args:
        database: The database.
        served: Which users were served last.
        now: The wall clock.
        idle_s: Seconds after which a session without a turn counts as ended.
        thorough: Whether all users are looked at; if not, a few, and others the next time.
    """
    if await database.read_all(jobs.any_idle_session, now, idle_s):
        await database.write_all(jobs.end_idle_sessions, now, idle_s)
    found, more = await database.read_all(jobs.next_session, served)
    while thorough and found is None and more:
        found, more = await database.read_all(jobs.next_session, served)
    return found


async def prune_audit(database: Database, before: datetime, limit: int) -> int:
    """Removes some audit entries from before a time; returns how many."""
    if not await database.read_all(retention.any_before, before):
        return 0
    return await database.write_all(retention.prune, before, limit)


class Forgetting:
    """Forgets, restores within a time of grace, and finishes what that time ended.

    Args:
        database: The database.
        engine: Holds words of users in memory.
    """

    def __init__(self, database: Database, engine: SearchEngine) -> None:
        self._database = database
        self._engine = engine
        self._clock = SteadyClock()

    async def forget(
        self,
        user: UserKey,
        target: ForgetTarget,
        *,
        dry_run: bool = False,
        grace: timedelta | None = None,
        confirmed: Collection[str] | None = None,
    ) -> ForgetResult:
        """Removes a target, everywhere.

        Args:
            user: The user.
            target: What is forgotten.
            dry_run: Whether it is only counted.
            grace: How long it can be restored. None removes it for good, along with earlier
                deletions that hold something of it.
            confirmed: The only ids that may be removed (`ForgetResult.ids`); None for any.

        Raises:
            DeletionChanged: If something else would be removed.
            StoreError: If it could not be written.
        """
        if grace is not None and not dry_run:
            now = await self.now()
            removed = await self._database.write(
                deletions.delete, user, target, now, now + grace, confirmed
            )
            self._engine.drop(user)
            return replace(removed, restorable_until=now + grace) if removed.anything else removed

        if dry_run:
            return await self._database.rehearse(self._remove, user, target, named=True)
        removed = await self._database.write(self._remove, user, target, confirmed=confirmed)
        self._engine.drop(user)
        return removed

    async def now(self) -> datetime:
        """The time by the database's clock, which periods of grace are measured by."""
        return self._clock.now(await self._database.read_all(times.now))

    async def restore(self, user: UserKey) -> tuple[Restorable, list[str]] | None:
        """Restores the user's latest deletion.

        Returns:
            The deletion and the words that are there again; None if there is none.
        """
        restored = await self._database.write(deletions.restore, user)
        self._engine.drop(user)
        return restored

    async def finish(self) -> None:
        """Erases deletions whose time of grace is over, and retries a purge that was prevented."""
        if self._database.read_only:
            return
        now = await self.now()
        if not await self._database.read_all(deletions.is_clock_plausible, now):
            return
        if await self._database.read_all(deletions.has_misdated, now):
            await self._database.write_all(deletions.redate, now)
        if await self._database.read_all(deletions.any_due, now):
            await self._database.write_all(self._erase, now)
            log.info("deletions erased")
            await self._database.purge(0)
        await self._database.retry_purge()

    def _remove(
        self,
        conn: Connection,
        user: UserKey,
        target: ForgetTarget,
        *,
        named: bool = False,
        confirmed: Collection[str] | None = None,
    ) -> ForgetResult:
        self._database.purge_later()
        deletions.erase_matching(conn, user, target)
        return forget.count_removed(
            conn,
            user,
            lambda conn, user: forget.remove(conn, user, target),
            named=named,
            confirmed=confirmed,
        )

    def _erase(self, conn: Connection, now: datetime) -> None:
        self._database.purge_later()
        deletions.erase_due(conn, now)
