"""Coroutines on a thread with its own event loop."""

import asyncio
import threading

import pytest

from hotmem.core.threads import LoopThread


async def test_runs_at_most_max_concurrent_in_order() -> None:
    loop, running, most = LoopThread("test", 2), 0, 0
    started: list[int] = []

    async def work(number: int) -> str:
        nonlocal running, most
        started.append(number)
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return threading.current_thread().name

    names = await asyncio.gather(*(loop.run(work(number)) for number in range(8)))
    await loop.close()
    assert (most, started, set(names)) == (2, list(range(8)), {"test"})


async def test_without_a_limit_all_run_at_once() -> None:
    loop, gate = LoopThread("test"), asyncio.Event()

    async def work(number: int) -> int:
        if number == 7:
            gate.set()
        await gate.wait()
        return number

    assert await asyncio.wait_for(
        asyncio.gather(*(loop.run(work(number)) for number in range(8))), 5
    ) == list(range(8))
    await loop.close()


async def test_a_cancelled_call_frees_its_slot() -> None:
    loop = LoopThread("test", 1)
    stuck = asyncio.create_task(loop.run(asyncio.sleep(60)))
    waiting = asyncio.create_task(loop.run(asyncio.sleep(60)))
    await asyncio.sleep(0.02)
    with pytest.raises(TimeoutError):
        await loop.run(asyncio.sleep(0), 0.05)
    waiting.cancel()
    stuck.cancel()
    assert await asyncio.wait_for(loop.run(asyncio.sleep(0, "done")), 5) == "done"
    await asyncio.gather(stuck, waiting, return_exceptions=True)
    await loop.close()
