"""Threads with an event loop of their own, their priority, and the id of a process."""

import asyncio
import os
import socket
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final, TypeVar
from uuid import uuid4

PROC: Final = Path("/proc")
"""What Linux tells of processes; elsewhere there is no such folder."""


def new_process_id() -> str:
    """A unique id that names this machine and process."""
    return f"{_machine()}/{os.getpid()}/{uuid4().hex}"


def has_died(process_id: str) -> bool:
    """Whether a process of this machine has ended; False where that cannot be known."""
    machine, _, rest = process_id.partition("/")
    pid = rest.partition("/")[0]
    if machine != _machine() or not pid.isdigit() or os.name != "posix":
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return _is_zombie(pid)


@cache
def _machine() -> str:
    """The host's name, boot and, in containers that may share both, space of process numbers."""
    parts = [socket.gethostname().replace("/", "-")]
    with suppress(OSError):
        parts.append((PROC / "sys/kernel/random/boot_id").read_text("utf-8").strip())
        parts.append(str((PROC / "self/ns/pid").stat().st_ino))
    return ".".join(parts)


def _is_zombie(pid: str) -> bool:
    """Whether a process has ended and its parent has not asked for its result yet."""
    try:
        state = (PROC / pid / "stat").read_text("utf-8", "replace")
    except OSError:
        return False
    return state.rpartition(")")[2].split()[:1] == ["Z"]


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
