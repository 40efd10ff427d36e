"""Writes that must not hold up a frame, done one after the other in the order they were said."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

AFTER_S: Final = 0.03
"""Seconds that the first write after a pause waits: the language model gets its context first,
and the interpreter's lock with it."""


PATIENCE_S: Final = 0.3
"""Seconds that a write may take before what can be done instead is done: a file that is locked
for longer may stay so until the process ends."""


class Write(NamedTuple):
    """One write.

    Attributes:
        name: Its name, for the log.
        run: What to await.
        instead: What to await when the pipeline ends before it is done, if anything can be done.
    """

    name: str
    run: Callable[[], Awaitable[object]]
    instead: Callable[[], Awaitable[object]] | None = None


class WriteQueue:
    """A queue of writes. A write that fails is reported and does not stop the ones after it.

    Args:
        failed: Told the name of a failed write and its exception.
        blocked: Whether a write waits for another program's lock at this moment.
    """

    def __init__(
        self,
        failed: Callable[[str, Exception], Awaitable[None]],
        blocked: Callable[[], object] = lambda: False,
    ) -> None:
        self._writes: asyncio.Queue[Write] = asyncio.Queue()
        self._failed = failed
        self._blocked = blocked
        self._running: Write | None = None
        self._slow: set[asyncio.Task[object]] = set()

    def put(
        self,
        name: str,
        run: Callable[[], Awaitable[object]],
        instead: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        """Adds a write; returns at once."""
        self._writes.put_nowait(Write(name, run, instead))

    async def run(self) -> None:
        """Does the writes until cancelled."""
        while True:
            paused = self._writes.empty()
            write = await self._writes.get()
            self._running = write
            try:
                if paused:
                    await asyncio.sleep(AFTER_S)
                await self._done(write)
            except Exception as error:  # the border at which a failed write must not stop the next
                await self._failed(write.name, error)
            finally:
                self._writes.task_done()
            self._running = None

    async def _done(self, write: Write) -> None:
        """Does a write.

        For one that waits for a lock what can be done instead is done, and the next does not wait
        for it.
        """
        work = asyncio.ensure_future(write.run())
        self._slow.add(work)
        work.add_done_callback(self._slow.discard)
        while write.instead is not None and not (await asyncio.wait({work}, timeout=PATIENCE_S))[0]:
            if self._blocked():
                work.add_done_callback(lambda done: done.cancelled() or done.exception())
                await write.instead()
                return
        await work

    async def close(self) -> None:
        """Ends the writes that still wait for a lock."""
        for work in self._slow:
            work.cancel()
        await asyncio.gather(*self._slow, return_exceptions=True)

    def abandon(self) -> list[Write]:
        """Gives up the writes that are left once `run` was cancelled, the one it was at among them.

        Returns them.
        """
        left = [] if self._running is None else [self._running]
        while not self._writes.empty():
            left.append(self._writes.get_nowait())
            self._writes.task_done()
        return left

    async def drained(self) -> None:
        """Returns once every write so far is done."""
        await self._writes.join()
        await asyncio.gather(*self._slow, return_exceptions=True)
