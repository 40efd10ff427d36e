"""Removes what is to be forgotten, from tables, indexes, memory and the engine's own files."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta

from hotmem.core.logs import log
from hotmem.core.steady_clock import SteadyClock
from hotmem.storage.database import Connection, Database
from hotmem.storage.queries import deletions, forget, times
from hotmem.storage.search.engine import SearchEngine
from hotmem.types import ForgetResult, Restorable, UserKey
from hotmem.types.forgetting import ForgetTarget


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
