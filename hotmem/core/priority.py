"""Priority of foreground work over background work.

Both need the interpreter lock; somebody waits only for the foreground.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event
from typing import Final

MAX_IDLE_WAIT_S: Final = 1.0
"""Maximum seconds a piece of background work waits, so that a busy foreground cannot starve it."""


class ForegroundPriority:
    """Count foreground calls in progress and let background work wait until there are none."""

    def __init__(self) -> None:
        self._active = 0
        self._idle, self._idle_for_threads = asyncio.Event(), Event()
        self._set_idle()

    @contextmanager
    def foreground(self) -> Iterator[None]:
        """Hold back background work during the block."""
        self._active += 1
        self._idle.clear()
        self._idle_for_threads.clear()
        try:
            yield
        finally:
            self._active -= 1
            if not self._active:
                self._set_idle()

    async def wait_idle(self) -> None:
        """Wait until no foreground call is in progress, at most `MAX_IDLE_WAIT_S`."""
        # Not asyncio.wait_for: in Python 3.11 it can swallow a cancellation.
        with suppress(TimeoutError):
            async with asyncio.timeout(MAX_IDLE_WAIT_S):
                await self._idle.wait()

    def wait_idle_blocking(self) -> None:
        """Block the calling thread until no foreground call is in progress, as `wait_idle`."""
        self._idle_for_threads.wait(MAX_IDLE_WAIT_S)

    def _set_idle(self) -> None:
        self._idle.set()
        self._idle_for_threads.set()
