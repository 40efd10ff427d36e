"""A lane runs what it is given in its thread, so many at once, in the order they came."""

import asyncio
import threading

import pytest

from hotmem.core.loop_thread import LoopThread


async def test_what_waits_makes_room_for_as_many_as_there_are_places() -> None:
    lane, under_way, most = LoopThread("test", 2), 0, 0
    begun: list[int] = []

    async def work(number: int) -> str:
        nonlocal under_way, most
        begun.append(number)
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.01)
        under_way -= 1
        return threading.current_thread().name

    names = await asyncio.gather(*(lane.run(work(number)) for number in range(8)))
    await lane.close()
    assert (most, begun, set(names)) == (2, list(range(8)), {"test"})


async def test_without_a_bound_all_begin_at_once() -> None:
    lane, gate = LoopThread("test"), asyncio.Event()

    async def work(number: int) -> int:
        if number == 7:
            gate.set()
        await gate.wait()
        return number

    assert await asyncio.wait_for(
        asyncio.gather(*(lane.run(work(number)) for number in range(8))), 5
    ) == list(range(8))
    await lane.close()


async def test_one_that_is_given_up_leaves_its_place_to_the_next() -> None:
    lane = LoopThread("test", 1)
    stuck = asyncio.create_task(lane.run(asyncio.sleep(60)))
    waiting = asyncio.create_task(lane.run(asyncio.sleep(60)))
    await asyncio.sleep(0.02)
    with pytest.raises(TimeoutError):
        await lane.run(asyncio.sleep(0), 0.05)
    waiting.cancel()
    stuck.cancel()
    assert await asyncio.wait_for(lane.run(asyncio.sleep(0, "served")), 5) == "served"
    await asyncio.gather(stuck, waiting, return_exceptions=True)
    await lane.close()
