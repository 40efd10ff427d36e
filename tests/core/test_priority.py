"""Background work waits for foreground calls, up to a limit."""

import asyncio
import time

import pytest

from hotmem.core import priority as module
from hotmem.core.priority import ForegroundPriority


async def test_waits_for_the_last_foreground_call() -> None:
    priority = ForegroundPriority()
    with priority.foreground():
        waiting = asyncio.create_task(priority.wait_idle())
        with priority.foreground():
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.02)
        assert not waiting.done()
    await asyncio.wait_for(waiting, 1)
    await asyncio.wait_for(priority.wait_idle(), 1)


async def test_a_failed_foreground_call_is_no_longer_active() -> None:
    priority = ForegroundPriority()
    with pytest.raises(ValueError, match="late"), priority.foreground():
        raise ValueError("late")
    await asyncio.wait_for(priority.wait_idle(), 0.1)


async def test_waits_no_longer_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_IDLE_WAIT_S", 0.05)
    priority = ForegroundPriority()
    started = time.perf_counter()
    with priority.foreground():
        await priority.wait_idle()
    assert 0.04 < time.perf_counter() - started < 0.5


async def test_blocks_a_thread_until_idle() -> None:
    priority = ForegroundPriority()
    with priority.foreground():
        waiting = asyncio.create_task(asyncio.to_thread(priority.wait_idle_blocking))
        await asyncio.sleep(0.05)
        assert not waiting.done()
    await asyncio.wait_for(waiting, 1)
    await asyncio.wait_for(asyncio.to_thread(priority.wait_idle_blocking), 0.1)
