"""The virtual clock of other tests."""

import asyncio
import time

import pytest

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
