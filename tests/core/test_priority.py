"""Background work waits for foreground calls, up to a limit."""

import asyncio

import pytest

from hotmem.core.threads import MAX_IDLE_WAIT_S, ForegroundPriority
from tests.clock import VirtualClock


async def test_waits_for_the_last_foreground_call(clock: VirtualClock) -> None:
    priority = ForegroundPriority()
    with priority.foreground():
        waiting = asyncio.create_task(priority.wait_idle())
        with priority.foreground():
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.02)
        assert not waiting.done()
    await asyncio.wait_for(waiting, 1)
    await asyncio.wait_for(priority.wait_idle(), 1)


async def test_a_failed_foreground_call_is_no_longer_active(clock: VirtualClock) -> None:
    priority = ForegroundPriority()
    with pytest.raises(ValueError, match="late"), priority.foreground():
        raise ValueError("late")
    await asyncio.wait_for(priority.wait_idle(), 0.1)


async def test_waits_no_longer_than_the_limit(clock: VirtualClock) -> None:
    priority = ForegroundPriority()
    with priority.foreground():
        await priority.wait_idle()
    assert clock.elapsed == pytest.approx(MAX_IDLE_WAIT_S)


async def test_blocks_a_thread_until_idle() -> None:
    priority = ForegroundPriority()
    with priority.foreground():
        waiting = asyncio.create_task(asyncio.to_thread(priority.wait_idle_blocking))
        await asyncio.sleep(0.05)
        assert not waiting.done()
    await asyncio.wait_for(waiting, 1)
    await asyncio.wait_for(asyncio.to_thread(priority.wait_idle_blocking), 0.1)
