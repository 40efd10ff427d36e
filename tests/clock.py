"""A virtual clock: `asyncio.sleep(3600)` returns at once, and takes an hour by `time.monotonic()`.

It is for tests of code that waits, on the test's event loop and on those of
`hotmem.core.threads`. Time stands still while anything runs, on a loop or in a thread of
`asyncio.to_thread`, and jumps to the next timer when nothing else can.
"""

import asyncio
import sys
import time
from collections.abc import Callable
from math import inf
from threading import Lock
from typing import Any, Final

import pytest

from hotmem.core.threads import LoopThread

CLOCKS: Final = ("monotonic", "perf_counter")

POLL_S: Final = 0.002
"""Real seconds between two looks whether something has happened."""


class VirtualClock:
    """The clock of the running event loop; the fixture `clock` installs it.

    Attributes:
        elapsed: Virtual seconds since it was installed.
    """

    def __init__(self) -> None:
        self.elapsed = 0.0
        self._started = time.monotonic()
        self._threads = 0
        self._waiting: dict[Any, float] = {}
        """Each loop, and until when it waits; 0 while it runs."""
        self._lock = Lock()
        self._real: dict[str, Callable[[], float]] = {}

    def time(self) -> float:
        """What `time.monotonic` and `time.perf_counter` return."""
        return self._started + self.elapsed

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Take the place of both clocks, everywhere they have been imported, and of waiting."""
        for name in CLOCKS:
            self._real[name] = getattr(time, name)
            for module in _importing(self._real[name], name):
                patch.setattr(module, name, self.time)
        self._drive(asyncio.get_running_loop(), patch)
        begin, close = LoopThread.__init__, LoopThread.close

        def begun(thread: LoopThread, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
            begin(thread, *arguments, **options)
            self._drive(thread._loop, patch)
            thread._loop.call_soon_threadsafe(lambda: None)  # it waits by the real clock until then

        async def closed(thread: LoopThread) -> None:
            await close(thread)
            self._waiting.pop(thread._loop, None)

        patch.setattr(LoopThread, "__init__", begun)
        patch.setattr(LoopThread, "close", closed)

    def leave(self) -> None:
        """Give modules that were imported meanwhile the real clocks, once `patch` is undone."""
        for name, real in self._real.items():
            for module in _importing(self.time, name):
                setattr(module, name, real)

    def _drive(self, loop: Any, patch: pytest.MonkeyPatch) -> None:  # noqa: ANN401 - its insides
        self._waiting[loop] = 0.0
        patch.setattr(loop._selector, "select", self._select(loop, loop._selector.select))
        patch.setattr(loop, "run_in_executor", self._counted(loop.run_in_executor))

    def _select(self, loop: Any, select: Callable[[float], Any]) -> Callable[..., Any]:  # noqa: ANN401
        def virtual(timeout: float | None = None) -> Any:  # noqa: ANN401 - as the selector's
            if timeout is not None and timeout <= 0:
                return select(0)
            until = inf if timeout is None else self.elapsed + timeout
            self._waiting[loop] = until
            pause = 0.0
            while not (events := select(pause)) and self.elapsed < until:
                pause = 0.0 if self._advance() else POLL_S
            self._waiting[loop] = 0.0
            return events

        return virtual

    def _advance(self) -> bool:
        """Jump to the next timer if no loop and no thread has anything to do."""
        with self._lock:
            idle = not self._threads and all(
                until > self.elapsed and not loop._ready for loop, until in self._waiting.items()
            )
            following = min(self._waiting.values())
            if not idle or following == inf:
                return False
            self.elapsed = following
            return True

    def _counted(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any) -> Any:  # noqa: ANN401 - as the loop's
            self._count(1)
            future = run(*arguments)
            future.add_done_callback(lambda _: self._count(-1))
            return future

        return counted

    def _count(self, change: int) -> None:
        with self._lock:
            self._threads += change


def _importing(clock: Callable[[], float], name: str) -> list[Any]:
    """The modules that have a clock under its name."""
    return [
        module
        for imported, module in list(sys.modules.items())
        if imported.partition(".")[0] in ("time", "hotmem", "tests")
        and getattr(module, name, None) == clock
    ]
