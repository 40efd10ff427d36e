"""Queue of writes to the memory, which run one by one and delay no frame."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from hotmem.pipecat.callbacks import ReportFailure

DELAY_S: Final = 0.03
"""Seconds that the first write after a pause waits, as it would compete with the context frame of
its turn for the interpreter's lock."""

FALLBACK_AFTER_S: Final = 0.3
"""Seconds after which a write that waits for a lock is replaced by its fallback, as the lock may
be held until the process ends."""

Operation: TypeAlias = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Write:
    """A write.

    Attributes:
        name: Its name, for the log.
        run: The write itself.
        fallback: What to run if it is blocked, or the pipeline ends first.
    """

    name: str
    run: Operation
    fallback: Operation | None = None


class WriteQueue:
    """Runs writes in order; a failed write is reported and does not stop the next.

    Args:
        report_failure: Called with the name of a failed write and its exception.
        is_blocked: Whether a write waits for another program's lock.
    """

    def __init__(self, report_failure: ReportFailure, is_blocked: Callable[[], bool]) -> None:
        self._writes: asyncio.Queue[Write] = asyncio.Queue()
        self._report_failure = report_failure
        self._is_blocked = is_blocked
        self._running: Write | None = None
        self._tasks: set[asyncio.Task[object]] = set()

    def put(self, name: str, run: Operation, fallback: Operation | None = None) -> None:
        """Add a write."""
        self._writes.put_nowait(Write(name, run, fallback))

    async def run(self) -> None:
        """Run the writes until cancelled."""
        while True:
            was_empty = self._writes.empty()
            write = await self._writes.get()
            self._running = write
            try:
                if was_empty:
                    await asyncio.sleep(DELAY_S)
                await self._run(write)
            except Exception as error:  # a failed write must not stop the next
                await self._report_failure(write.name, error)
            finally:
                self._writes.task_done()
            self._running = None

    async def _run(self, write: Write) -> None:
        """Run a write, or its fallback if it is blocked; the write then continues on its own."""
        task = asyncio.ensure_future(write.run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        while write.fallback is not None:
            done, _ = await asyncio.wait({task}, timeout=FALLBACK_AFTER_S)
            if done:
                break
            if self._is_blocked():
                task.add_done_callback(lambda done: done.cancelled() or done.exception())
                await write.fallback()
                return
        await task

    async def close(self) -> None:
        """Cancel the writes that still wait for a lock."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def abandon(self) -> list[Write]:
        """Remove and return the writes left after `run` was cancelled, with the one it was at."""
        left = [] if self._running is None else [self._running]
        while not self._writes.empty():
            left.append(self._writes.get_nowait())
            self._writes.task_done()
        return left

    async def drain(self) -> None:
        """Wait until every write so far is done."""
        await self._writes.join()
        await asyncio.gather(*self._tasks, return_exceptions=True)
