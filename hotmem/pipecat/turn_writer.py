"""Store the turns of user and bot, and learn from replies, after their frames were pushed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from hotmem.core.logs import log
from hotmem.core.metrics import count_lost, count_spooled
from hotmem.core.threads import run_off_loop
from hotmem.core.validation import counted
from hotmem.errors import HotMemError, SpoolFull, StoreError, StoreReadOnly
from hotmem.memory import Memory
from hotmem.pipecat.context import collapse_spaces
from hotmem.pipecat.session_settings import (
    Conversation,
    ConversationPart,
    EmitEvent,
    ReportFailure,
)
from hotmem.pipecat.session_start import SessionStart
from hotmem.pipecat.transcript import SpeakerSegment
from hotmem.pipecat.turn_state import TurnState
from hotmem.pipecat.voice_commands import VoiceCommands, retention_notice
from hotmem.storage.spool import Removal
from hotmem.types import ContextBlock, Role, Turn

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


class TurnWriter(ConversationPart):
    """Queues the writes of one conversation.

    Args:
        conversation: The conversation.
        commands: Voice commands.
        session_start: The opening block, made again after each stored user turn.
        queue: The write queue.
        emit_event: Calls event handlers.

    Attributes:
        spooled: Number of turns that had to be spooled, as the memory file could not be written.
        lost: Number of turns that are neither stored nor spooled.
    """

    def __init__(
        self,
        conversation: Conversation,
        commands: VoiceCommands,
        session_start: SessionStart,
        queue: WriteQueue,
        emit_event: EmitEvent,
    ) -> None:
        super().__init__(conversation)
        self.spooled = 0
        self.lost = 0
        self._commands = commands
        self._session_start = session_start
        self._queue = queue
        self._emit_event = emit_event
        self._last_spooled_id = ""
        self._named = False
        self._first_loss: HotMemError | None = None

    async def add_user_turn(
        self, text: str, segments: Sequence[SpeakerSegment], removed: tuple[str, ...]
    ) -> None:
        """Queue a user turn, one stored turn for each segment.

        Args:
            text: The text of the turn.
            segments: The same, by speaker.
            removed: Ids of stored turns that it withdraws, to remove.
        """
        memory, user_id = self._handle.current, self._settings.user_id
        if removed:
            spool = partial(self._spool_removal, self._handle.memory, removed)
            if memory is not None:
                self._queue.put("remove turns", partial(self._remove, memory, removed), spool)
            elif self._handle.retrying:
                self._queue.put("remove turns", spool)
        self._commands.withhold_consent(collapse_spaces(text))
        suppression = self._handle.memory.runtime.suppression
        if not self._retention.stores_turn:
            if memory is not None and retention_notice(self._retention):
                self._queue.put("withhold", partial(suppression.withhold, text, user_id=user_id))
            return
        if memory is not None:
            await run_off_loop(len(text), partial(suppression.speaks_of, text, user_id=user_id))
        left = self._retention.restated
        for segment in segments:
            own = not self._settings.is_guest(segment.speaker)
            words, left = (left, "") if own and self._retention.restated else (segment.text, left)
            await self._add(Role.USER, words, self._settings.user_speaker_name(segment.speaker))

    async def add_reply(self, text: str, timestamp: str, turn: TurnState | None) -> None:
        """Queue the spoken part of a reply, and feedback on the block it was made from.

        Args:
            text: The spoken part.
            timestamp: When the reply began, ISO 8601.
            turn: The turn it belongs to.
        """
        memory = self._handle.current
        number = None if turn is None else turn.message.turn
        if not self._retention.stores_reply(number):
            return
        await self._add(Role.ASSISTANT, text, self._settings.bot_name, number)
        if memory is None or turn is None or turn.delivered is None:
            return
        turn.add_reply(text)
        if turn.reply and turn.is_answered_by(timestamp):
            self._queue.put(
                "feedback",
                partial(self._give_feedback, memory, turn.delivered, turn.reply, turn.interrupted),
            )

    async def _add(
        self, role: Role, text: str, speaker: str | None, replies_to: int | None = None
    ) -> None:
        """Queue a turn, with the current time as the time it was spoken."""
        memory, words = self._handle.current, collapse_spaces(text)
        if not words or (memory is None and not self._handle.retrying):
            return
        settings = self._settings
        try:
            turn = Turn(
                settings.user_id,
                settings.session_id,
                role,
                words,
                spoken_at=settings.clock(),
                speaker=speaker,
            )
        except HotMemError as error:
            await self._report_failure("remember", error)
            return
        self._retention.add_stored(turn.id, replies_to)
        spool = partial(self._spool, self._handle.memory, turn)
        store = spool if memory is None else partial(self._store, memory, turn)
        self._queue.put("remember", store, spool)

    async def report_lost(self) -> None:
        """Report how many turns of the conversation are lost, with the first reason."""
        if (first := self._first_loss) is not None:
            await self._report_failure(
                "remember",
                type(first)(f"{counted(self.lost, 'turn was', 'turns were')} not stored: {first}"),
            )

    async def _lose(self, error: HotMemError) -> None:
        """Count a turn that is lost; the first is reported at once, all at the end."""
        self.lost += 1
        count_lost(1)
        if self._first_loss is None:
            self._first_loss = error
            await self._report_failure("remember", error)

    async def _store(self, memory: Memory, turn: Turn) -> None:
        """Store a turn; spool it if the file cannot be written, or if earlier turns are spooled."""
        if memory.runtime.spooled:
            await self._spool(memory, turn)
            return
        try:
            if (name := self._settings.user_name) and not self._named:
                await memory.set_user_name(turn.user_id, name)
                self._named = True
            is_stored = await memory.remember(turn)
        except StoreReadOnly as error:
            await self._lose(error)
            return
        except StoreError as error:
            await self._spool(memory, turn)
            await self._report_failure("remember", error)
            return
        if not is_stored:
            return
        if turn.role is Role.USER:
            self._session_start.refresh(memory)
        await self._emit_event("on_memory_stored", turn)

    async def _spool(self, memory: Memory, turn: Turn) -> None:
        if turn.id == self._last_spooled_id:
            return
        try:
            await memory.runtime.spool.put(turn)
        except (SpoolFull, StoreReadOnly) as error:
            await self._lose(error)
            return
        self._last_spooled_id = turn.id
        self.spooled += 1
        count_spooled(1)
        spooled = memory.runtime.spooled
        log.warning("turn spooled", session_id=self._settings.session_id, spooled=spooled)
        await self._emit_event("on_memory_spooled", turn)

    async def _remove(self, memory: Memory, turn_ids: tuple[str, ...]) -> None:
        """Remove withdrawn turns; spool the removal if the file cannot be written."""
        try:
            await self._commands.remove_turns(memory, turn_ids)
        except StoreReadOnly:
            raise
        except StoreError:
            await self._spool_removal(memory, turn_ids)
            raise

    async def _spool_removal(self, memory: Memory, turn_ids: tuple[str, ...]) -> None:
        await memory.runtime.spool.put(Removal(self._settings.user_id, turn_ids))

    async def _give_feedback(
        self, memory: Memory, block: ContextBlock, reply: str, interrupted: bool
    ) -> None:
        usage = await memory.feedback(block, reply, interrupted=interrupted)
        if usage.uses:
            await self._emit_event("on_memory_used", usage)
