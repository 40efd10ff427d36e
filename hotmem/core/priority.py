"""Recalls before background work.

Both want the interpreter's lock, and only one of them is waited for.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event
from typing import Final

MAX_WAIT_S: Final = 1.0
"""Seconds that a piece of background work makes way at most: with many conversations at once
there is always a recall."""


class RecallPriority:
    """Counts the recalls on their way."""

    def __init__(self) -> None:
        self._recalls = 0
        self._free, self._free_in_threads = asyncio.Event(), Event()
        self._set()

    @contextmanager
    def recalling(self) -> Iterator[None]:
        """Holds back background work meanwhile."""
        self._recalls += 1
        self._free.clear()
        self._free_in_threads.clear()
        try:
            yield
        finally:
            self._recalls -= 1
            if not self._recalls:
                self._set()

    async def wait_idle(self) -> None:
        """Returns once no recall is on its way, after `MAX_WAIT_S` at the latest."""
        with suppress(TimeoutError):
            async with asyncio.timeout(
                MAX_WAIT_S
            ):  # not wait_for, which Python 3.11 lets swallow a cancellation
                await self._free.wait()

    def wait_idle_blocking(self) -> None:
        """The same for work in a thread, which it blocks meanwhile."""
        self._free_in_threads.wait(MAX_WAIT_S)

    def _set(self) -> None:
        self._free.set()
        self._free_in_threads.set()
