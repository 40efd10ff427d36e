"""Recalls before background work: both want the interpreter's lock, and only one of them is waited for."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event
from typing import Final

PATIENCE_S: Final = 1.0
"""Seconds that a piece of background work makes way at most: with many conversations at once there is always a recall."""


class Precedence:
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

    async def free(self) -> None:
        """Returns once no recall is on its way, after `PATIENCE_S` at the latest."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):  # not wait_for, which Python 3.11 lets swallow a cancellation
                await self._free.wait()

    def give_way(self) -> None:
        """The same for work in a thread, which it blocks meanwhile."""
        self._free_in_threads.wait(PATIENCE_S)

    def _set(self) -> None:
        self._free.set()
        self._free_in_threads.set()
