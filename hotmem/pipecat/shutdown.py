"""Shutdown of a conversation: finish the writes, end the session, close the memory."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from hotmem.errors import DeadlineExceeded, HotMemError
from hotmem.memory import Memory
from hotmem.options import BackgroundMode
from hotmem.pipecat.recall_session import RecallSession
from hotmem.pipecat.session_settings import Conversation, ConversationPart
from hotmem.pipecat.session_start import SessionStart
from hotmem.pipecat.turn_writer import WriteQueue

STEP_TIMEOUT_S: Final = 5.0
"""Maximum duration of a step of the shutdown, in seconds."""

SETTLE_TIMEOUT_S: Final = 1.0
"""Seconds of it to wait for background work on the last turns, so that a user who calls again at
once is remembered."""


class Shutdown(ConversationPart):
    """Ends a conversation; every step runs, whatever failed before it.

    Args:
        conversation: The conversation.
        recalls: The recalls.
        session_start: The opening block.
        queue: The write queue.
    """

    def __init__(
        self,
        conversation: Conversation,
        recalls: RecallSession,
        session_start: SessionStart,
        queue: WriteQueue,
    ) -> None:
        super().__init__(conversation)
        self._recalls = recalls
        self._session_start = session_start
        self._queue = queue

    async def run(self, cancel_writer: Callable[[], Awaitable[None]]) -> None:
        """End the conversation.

        Args:
            cancel_writer: Cancels the task that runs the write queue.
        """
        memory = self._handle.current
        self._handle.release()
        self._recalls.stop_prefetch()
        step = "end of session" if memory is not None else "remember"
        error = await self._step(step, self._end_session(memory)) or self._timeout_error()
        await cancel_writer()
        await self._queue.close()
        for write in self._queue.abandon():
            await self._report_failure(write.name, error)
            if write.fallback is not None:
                await self._step(write.name, write.fallback())
        await self._recalls.close()
        await self._session_start.close()
        if self._handle.owned:
            await self._step("close", self._handle.memory.close())

    async def _end_session(self, memory: Memory | None) -> None:
        settings = self._settings
        await self._queue.drain()
        if memory is None:  # it was never opened: what was said goes to the spool
            return
        await memory.end_session(user_id=settings.user_id, session_id=settings.session_id)
        if self._handle.owned and memory.runtime.options.background.mode is BackgroundMode.HERE:
            with suppress(TimeoutError):  # the rest is done when the memory is opened next
                await asyncio.wait_for(memory.settle(settings.user_id), SETTLE_TIMEOUT_S)

    async def _step(self, name: str, work: Awaitable[object]) -> Exception | None:
        """Run a step within `STEP_TIMEOUT_S`; report its failure, and return it."""
        task = asyncio.ensure_future(work)
        try:
            done, _ = await asyncio.wait({task}, timeout=STEP_TIMEOUT_S)
            if done:
                task.result()
                return None
            # Cancelling the step would also end its wait for the lock.
            error: Exception = self._timeout_error()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        except Exception as failure:  # the other steps must still run
            error = failure
        await self._report_failure(name, error)
        return error

    def _timeout_error(self) -> HotMemError:
        """The error of a step that took too long: that of another program's lock, if one waits."""
        return self._handle.memory.runtime.blocked() or DeadlineExceeded(
            f"It did not finish within {STEP_TIMEOUT_S:.0f} s of the end of the pipeline and was"
            " cancelled."
        )
