"""The virtual clock of other tests."""

import asyncio
import sys
import time
from types import ModuleType

import pytest

from hotmem.core.threads import LoopThread
from tests.clock import VirtualClock


async def test_sleeping_advances_the_clock_and_takes_no_time(clock: VirtualClock) -> None:
    started, real = time.monotonic(), time.time()
    await asyncio.sleep(3600)
    assert clock.elapsed == pytest.approx(3600)
    assert time.monotonic() - started == pytest.approx(3600)
    assert time.time() - real < 60


async def test_timers_fire_in_their_order(clock: VirtualClock) -> None:
    fired: list[tuple[int, float]] = []

    async def fire(after: int) -> None:
        await asyncio.sleep(after)
        fired.append((after, round(clock.elapsed)))

    await asyncio.gather(fire(30), fire(10), fire(20))
    assert fired == [(10, 10), (20, 20), (30, 30)]


async def test_a_timeout_is_reached(clock: VirtualClock) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(5):
            await asyncio.sleep(60)
    assert clock.elapsed == pytest.approx(5)


async def test_work_in_a_thread_does_not_run_into_a_timeout(clock: VirtualClock) -> None:
    async with asyncio.timeout(0.01):
        assert await asyncio.to_thread(lambda: sum(range(3_000_000))) > 0
    assert clock.elapsed == 0


async def test_the_real_clock_is_back_afterwards() -> None:
    started = time.monotonic()
    await asyncio.sleep(0.01)
    assert 0 < time.monotonic() - started < 10


async def test_a_module_imported_meanwhile_gets_the_real_clock() -> None:
    module = ModuleType("tests.imported_meanwhile")
    clock = VirtualClock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, module.__name__, module)
        with patch.context() as inner:
            clock.install(inner)
            module.perf_counter = time.perf_counter  # type: ignore[attr-defined]
        clock.leave()
        assert module.perf_counter is time.perf_counter


async def test_a_loop_on_a_thread_of_its_own_waits_by_the_same_clock(clock: VirtualClock) -> None:
    loop, started = LoopThread("waiting"), time.time()
    await asyncio.gather(loop.run(asyncio.sleep(600)), asyncio.sleep(300))
    await loop.close()
    assert clock.elapsed == pytest.approx(600) and time.time() - started < 60
