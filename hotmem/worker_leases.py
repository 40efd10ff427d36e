"""The leases of one worker: taken, renewed while its jobs run, and released."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, TypeVar

from hotmem.core.threads import has_died
from hotmem.errors import StoreError
from hotmem.storage import queries
from hotmem.storage.database import Database
from hotmem.storage.queries.jobs import LEASE_S

T = TypeVar("T")

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

    async def taken(self, taking: Awaitable[T]) -> T:
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
