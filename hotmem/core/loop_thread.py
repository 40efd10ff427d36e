"""The lanes of recalls and of storing.

Each a thread with an event loop of its own, in which one call after the other runs from end to end.

A recall is thirty milliseconds of Python, which holds the interpreter's lock. Handed from thread to
thread it takes a fifth longer and a quarter more of the processors, as the next thread wakes on a
core that knows nothing of it; and the bot's own loop must not be blocked. What is stored outright
has a lane of its own, so that no recall waits behind it.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from threading import Thread
from typing import Any, Final, NamedTuple, TypeVar

T = TypeVar("T")

CONCURRENT_RECALLS: Final = 2
"""Recalls under way at once: while one waits for the encoder the next begins. Were all begun
that have been asked for, each would wait for the others' parses, and of fifty conversations the
slowest twentieth would wait 97 ms instead of 26."""

HELPER_THREADS: Final = 2
"""Threads for what runs without the interpreter's lock (the encoder) or may be given up (parses
of what was said before)."""


MAX_INLINE_CHARACTERS: Final = 10_000
"""Characters of text up to which work on it is done at once: some 2 ms, where a thread costs a
fifth of one."""


async def run_off_loop(characters: int, work: Callable[[], T]) -> T:
    """The result of work on so many characters of text, done in a thread where they are many, so that the bot's own loop goes on."""
    return work() if characters <= MAX_INLINE_CHARACTERS else await asyncio.to_thread(work)


class WorkerThreads(NamedTuple):
    """Where recalls and searches run, and where memories are stored outright."""

    recalls: "LoopThread"
    storing: "LoopThread"

    @classmethod
    def open(cls, *, networked: bool) -> "WorkerThreads":
        """Both, their threads started.

        Args:
            networked: Whether recalls wait for a network, where one must not hold up the others.
        """
        return cls(
            LoopThread("hotmem-lane-recalls", None if networked else CONCURRENT_RECALLS),
            LoopThread("hotmem-lane-storing"),
        )

    async def close(self) -> None:
        """Finishes what is running and ends the threads."""
        for lane in self:
            await lane.close()


class LoopThread:
    """Runs coroutines in its thread; where they never wait, one after the other.

    Args:
        name: The thread's name.
        at_once: How many are under way at once, while the others wait in the order they came; None
            for any number.
    """

    def __init__(self, name: str, at_once: int | None = None) -> None:
        self._places = nullcontext() if at_once is None else asyncio.Semaphore(at_once)
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(
            ThreadPoolExecutor(HELPER_THREADS, thread_name_prefix=f"{name}-beside")
        )
        self._thread = Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    async def run(self, work: Coroutine[Any, Any, T], limit_s: float | None = None) -> T:
        """The coroutine's result. Cancelled, it stops where it next waits.

        Args:
            work: The coroutine.
            limit_s: Seconds it is waited for; None for as long as it takes.

        Raises:
            TimeoutError: If it was not done by then.
        """
        result = asyncio.wrap_future(
            asyncio.run_coroutine_threadsafe(self._placed(work), self._loop)
        )
        async with asyncio.timeout(limit_s):
            return await result

    async def close(self) -> None:
        """Finishes what is running and ends the thread."""
        await self.run(self._finish())
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)
        self._loop.close()

    async def _placed(self, work: Coroutine[Any, Any, T]) -> T:
        with closing(work):
            async with self._places:
                return await work

    async def _finish(self) -> None:
        running = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*running, return_exceptions=True)
        await self._loop.shutdown_default_executor()
