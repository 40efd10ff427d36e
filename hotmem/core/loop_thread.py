"""Event loops on threads of their own."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from threading import Thread
from typing import Any, Final, TypeVar

T = TypeVar("T")

HELPER_THREADS: Final = 2
"""Threads of a loop's default executor, which `asyncio.to_thread` uses."""

MAX_INLINE_CHARACTERS: Final = 10_000
"""Length of a text up to which processing it costs less than handing it to a thread."""


async def run_off_loop(characters: int, work: Callable[[], T]) -> T:
    """Return the result of `work`, run in a thread if the text is long.

    Args:
        characters: Length of the text that `work` processes.
        work: A blocking function.
    """
    return work() if characters <= MAX_INLINE_CHARACTERS else await asyncio.to_thread(work)


class LoopThread:
    """Run coroutines on a dedicated thread with its own event loop.

    The caller's loop is never blocked. Each coroutine runs on one thread from start to end, so its
    working set stays in one core's cache.

    Args:
        name: Name of the thread.
        max_concurrent: Number of coroutines that may run at once; the others wait in the order in
            which they were submitted. None for no limit.
    """

    def __init__(self, name: str, max_concurrent: int | None = None) -> None:
        self._slots = nullcontext() if max_concurrent is None else asyncio.Semaphore(max_concurrent)
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(
            ThreadPoolExecutor(HELPER_THREADS, thread_name_prefix=f"{name}-helper")
        )
        self._thread = Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    async def run(self, work: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """Run a coroutine on the thread and return its result.

        Cancelling the call cancels the coroutine at its next await.

        Args:
            work: The coroutine.
            timeout_s: Seconds to wait for it; None to wait without limit.

        Raises:
            TimeoutError: If the timeout expires.
        """
        result = asyncio.wrap_future(
            asyncio.run_coroutine_threadsafe(self._run_in_slot(work), self._loop)
        )
        async with asyncio.timeout(timeout_s):
            return await result

    async def close(self) -> None:
        """Wait for running coroutines, then stop the loop and join the thread."""
        await self.run(self._finish())
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)
        self._loop.close()

    async def _run_in_slot(self, work: Coroutine[Any, Any, T]) -> T:
        with closing(work):
            async with self._slots:
                return await work

    async def _finish(self) -> None:
        running = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*running, return_exceptions=True)
        await self._loop.shutdown_default_executor()
