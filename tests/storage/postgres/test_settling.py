"""Waiting for background jobs in a database that many users share."""

import asyncio

import pytest

from hotmem import Memory, Options, Turn
from hotmem.options import BackgroundMode, BackgroundOptions
from hotmem.types import Role
from tests.storage.contract.story import NOW


async def test_a_call_waits_for_its_own_users_jobs_only(url: str) -> None:
    def opened(mode: BackgroundMode) -> Memory:
        return Memory.open(url, Options(background=BackgroundOptions(mode=mode)))

    async with opened(BackgroundMode.ELSEWHERE) as memory:
        await memory.remember(Turn("ben", "s", Role.USER, "My cat is called Fips.", NOW))
        await asyncio.wait_for(memory.settle("ana"), 5)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(memory.settle("ben"), 0.5)
        async with opened(BackgroundMode.HERE):
            await asyncio.wait_for(memory.settle("ben"), 20)
