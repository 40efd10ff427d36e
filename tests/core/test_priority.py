"""Background work makes way for recalls, but not for ever."""

import asyncio
import time

import pytest

from hotmem.core import priority as module
from hotmem.core.priority import RecallPriority


async def test_work_waits_for_the_last_recall() -> None:
    precedence = RecallPriority()
    with precedence.recalling():
        waiting = asyncio.create_task(precedence.wait_idle())
        with precedence.recalling():
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.02)
        assert not waiting.done()
    await asyncio.wait_for(waiting, 1)
    await asyncio.wait_for(precedence.wait_idle(), 1)


async def test_a_recall_that_fails_holds_nothing_back() -> None:
    precedence = RecallPriority()
    with pytest.raises(ValueError, match="late"), precedence.recalling():
        raise ValueError("late")
    await asyncio.wait_for(precedence.wait_idle(), 0.1)


async def test_work_goes_on_beside_endless_recalls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WAIT_S", 0.05)
    precedence = RecallPriority()
    began = time.perf_counter()
    with precedence.recalling():
        await precedence.wait_idle()
    assert 0.04 < time.perf_counter() - began < 0.5


async def test_work_in_a_thread_waits_too() -> None:
    precedence = RecallPriority()
    with precedence.recalling():
        waiting = asyncio.create_task(asyncio.to_thread(precedence.wait_idle_blocking))
        await asyncio.sleep(0.05)
        assert not waiting.done()
    await asyncio.wait_for(waiting, 1)
    await asyncio.wait_for(asyncio.to_thread(precedence.wait_idle_blocking), 0.1)
