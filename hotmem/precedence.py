"""Recalls before background work: both want the interpreter's lock, and only one of them is waited for."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

PATIENCE_S: Final = 1.0
"""Seconds that a piece of background work makes way at most: with many conversations at once there is always a recall."""


class Precedence:
    """Counts the recalls on their way."""

    def __init__(self) -> None:
        self._recalls = 0
        self._free = asyncio.Event()
        self._free.set()

    @contextmanager
    def recalling(self) -> Iterator[None]:
        """Holds back background work meanwhile."""
        self._recalls += 1
        self._free.clear()
        try:
            yield
        finally:
            self._recalls -= 1
            if not self._recalls:
                self._free.set()

    async def free(self) -> None:
        """Returns once no recall is on its way, after `PATIENCE_S` at the latest."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):  # not wait_for, which Python 3.11 lets swallow a cancellation
                await self._free.wait()
