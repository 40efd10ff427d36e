"""A virtual clock: `asyncio.sleep(3600)` returns at once, and takes an hour by `time.monotonic()`.

It is for tests of code that waits, on one event loop. Time stands still while callbacks run, and
jumps to the next timer when nothing else can. Work in `asyncio.to_thread` is waited for without
advancing it. Threads with an event loop (`hotmem.core.loop_thread`) have no part in it.
"""

import asyncio
import sys
import time
from collections.abc import Callable
from typing import Any, Final

import pytest

THREAD_POLL_S: Final = 0.005
"""Real seconds between two looks whether work in a thread has ended."""


class VirtualClock:
    """The clock of the running event loop; the fixture `clock` installs it.

    Attributes:
        elapsed: Virtual seconds since it was installed.
    """

    def __init__(self) -> None:
        self.elapsed = 0.0
        self._started = time.monotonic()
        self._threads = 0

    def time(self) -> float:
        """What `time.monotonic` and `time.perf_counter` return."""
        return self._started + self.elapsed

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Take the place of both clocks, everywhere they have been imported, and of waiting."""
        loop: Any = asyncio.get_running_loop()
        real = {time.monotonic: self.time, time.perf_counter: self.time}
        for name, module in list(sys.modules.items()):
            if name == "time" or name.partition(".")[0] in ("hotmem", "tests"):
                for attribute in ("monotonic", "perf_counter"):
                    if getattr(module, attribute, None) in real:
                        patch.setattr(module, attribute, self.time)
        patch.setattr(loop._selector, "select", self._select(loop._selector.select))
        patch.setattr(loop, "run_in_executor", self._counted(loop.run_in_executor))

    def _select(self, select: Callable[[float | None], Any]) -> Callable[[float | None], Any]:
        def virtual(timeout: float | None = None) -> Any:  # noqa: ANN401 - as the selector's
            if timeout is None or timeout <= 0:
                return select(timeout)
            events = select(THREAD_POLL_S if self._threads else 0)
            if not events and not self._threads:
                self.elapsed += timeout
            return events

        return virtual

    def _counted(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any) -> Any:  # noqa: ANN401 - as the loop's
            self._threads += 1
            future = run(*arguments)
            future.add_done_callback(self._thread_ended)
            return future

        return counted

    def _thread_ended(self, _: object) -> None:
        self._threads -= 1
