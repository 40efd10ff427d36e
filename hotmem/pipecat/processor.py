"""The frame processor: hands the language model what is known, remembers what was said, learns from what was heard."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Final
from uuid import uuid4

from pipecat.frames.frames import (
    EagerTranscriptionFrame,
    Frame,
    FunctionCallsStartedFrame,
    InterimTranscriptionFrame,
    InterruptionFrame,
    LLMContextAssistantTurnFrame,
    LLMContextFrame,
    LLMContextUserTurnFrame,
    MetricsFrame,
    TranscriptionFrame,
)
from pipecat.metrics.metrics import ProcessingMetricsData
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor, FrameProcessorSetup
from pipecat.utils.tracing.tracing_context import TracingContext

from hotmem.core.logs import log
from hotmem.core.loop_thread import run_off_loop
from hotmem.core.validation import validate_number
from hotmem.errors import DeadlineExceeded, HotMemError, StoreError, StoreLocked, StoreReadOnly
from hotmem.memory import Memory
from hotmem.options import MIN_TOKENS, Options
from hotmem.pipecat.context import spoken, visible_texts, with_block
from hotmem.pipecat.recall_session import RecallSession, Terms
from hotmem.pipecat.redaction import Redaction
from hotmem.pipecat.session_start import SessionStart
from hotmem.pipecat.taps import AfterModel, Listener
from hotmem.pipecat.telemetry import log_recall, trace_recall
from hotmem.pipecat.transcript import Transcript
from hotmem.pipecat.turn_state import Timing, TurnState, answered
from hotmem.pipecat.write_queue import WriteQueue
from hotmem.settings import Settings
from hotmem.storage.spool import Removal
from hotmem.text.validation import validate_id
from hotmem.types import ContextBlock, Role, Turn

PARTING_S: Final = 5.0
"""Seconds that the last writes with the end of the session, and then closing, may take when the
pipeline ends."""

UNDERSTOOD_S: Final = 1.0
"""Seconds of those for which what was said last is waited to be understood: who calls again at
once is known."""


class HotMemProcessor(FrameProcessor):
    """Gives a voice bot a long-term memory.

    Belongs between the user aggregator and the language model.

        memory = HotMemProcessor("memory.db", user_id="ana")
        pipeline = Pipeline([
            transport.input(), stt, memory.listener, aggregators.user(), memory, llm,
            memory.after_model, tts, transport.output(), aggregators.assistant(),
        ])

    `listener` lets the search run while the user speaks; `after_model` gives memory to the model
    when a tool has answered. Either may be left out.

    The model gets a copy of the context with one block of memory before the latest user message;
    the shared context stays as it is. The block has the role of the user, as it quotes what people
    said. What the user had forgotten is hidden in the copy, and what the bot says of it all the
    same is not remembered. What the user said and the part of the reply that was heard are
    remembered after the frame has gone on. Nothing that fails here stops a frame: failures are
    logged, counted in `failures`, and the bot speaks without memory.

    Without being asked the model is told who the user is, what they want of the bot, what is at
    hand today and tomorrow, and what was left open: when the bot speaks first, and with the user's
    first turn. The user's wishes ("call me Annie") are told with every later turn too.

    Events: `on_memory_opened(processor, block)` for what is told without being asked,
    `on_memory_recalled(processor, block, timing)` for each block that is in time,
    `on_memory_stored(processor, turn)` for each turn that is remembered,
    `on_memory_spooled(processor, turn)` for each that has to wait beside a memory file that is
    locked, full or gone, `on_memory_used(processor, usage)` after each reply made of a block with
    items, and `on_memory_error(processor, stage, error)` for each failure.

    Attributes:
        session_id: The conversation's id.
        listener: Belongs right after speech recognition.
        after_model: Belongs right after the language model.
        failures: Times the memory raised an error.
        spooled: Turns that the memory file could not take at once; they are stored when it can be
            written, in their order.
    """

    def __init__(
        self,
        memory: Memory | str | Path | None = None,
        *,
        user_id: str,
        session_id: str | None = None,
        user_name: str | None = None,
        bot_name: str | None = None,
        speakers: Mapping[str, str] | None = None,
        deadline_ms: float | None = None,
        max_tokens: int | None = None,
        opening_tokens: int | None = None,
        options: Options | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        """Prepares the processor; files are opened when the pipeline is set up.

        Args:
            memory: An open memory, which stays the caller's to close, or the path of one, which the
                processor opens and closes. None is the file of HOTMEM_DATABASE, else memory.db.
            user_id: Whose memory it is.
            session_id: The conversation's id; None makes a new one.
            user_name: The user's name, if known; shown as the speaker of their turns.
            bot_name: The bot's name, if it has one.
            speakers: Names by the ids that the transport gives the people in the room; whoever is
                not among them, or bears the user's name, is the user. Others cannot have anything
                deleted or told of what is known of the user.
            deadline_ms: Milliseconds a context frame waits for its block at most; 0 takes only what
                is ready. None takes the recall deadline of the memory's options, if they have one,
                else HOTMEM_RECALL_DEADLINE_MS, else 150.
            max_tokens: Tokens of a block at most; None takes the memory's own option.
            opening_tokens: Tokens at most of what is told without being asked; None takes the
                memory's own option, 0 tells nothing.
            options: Options of the memory opened from a path; None takes them from the environment,
                as `Memory` does.
            clock: Tells when something was said, in the user's zone, by which "yesterday" is
                reckoned; that of the memory's options (HOTMEM_TIME_ZONE), if not given. Replays
                pass the recording's own time.

        Raises:
            InvalidInput: If an id, a number or a HOTMEM_ variable cannot be used, naming it.
        """
        super().__init__()
        asked = memory if isinstance(memory, Memory) else Memory(memory, options)
        clock = clock or asked.options.now
        self.session_id = validate_id(session_id or uuid4().hex, "session_id")
        self.failures = 0
        self.spooled = 0
        self._spooled_last = ""
        self.listener = Listener(self._heard)
        self.after_model = AfterModel(self._with_memory)
        self._owned = None if asked is memory else asked
        self._user_id = validate_id(user_id, "user_id")
        self._user_name = user_name
        self._bot_name = bot_name
        self._speakers = dict(speakers or {})
        self._guests = frozenset(one for one, name in self._speakers.items() if name != user_name)
        self._clock = clock
        self._outbox = WriteQueue(
            self._failed,
            lambda: (
                self._questions.memory is not None and self._questions.memory.blocked() is not None
            ),
        )
        self._writer: asyncio.Task[None] | None = None
        self._hearing = Transcript()
        self._redaction = Redaction()
        self._tracing: TracingContext | None = None
        deadline = _deadline(deadline_ms, asked.options)
        max_tokens = (
            None
            if max_tokens is None
            else validate_number(max_tokens, "max_tokens", MIN_TOKENS, whole=True)
        )
        terms = Terms(user_id, self.session_id, deadline, max_tokens, clock)
        self._questions = RecallSession(terms, self.create_task, self._failed, self._outbox.drained)
        self._questions.memory = memory if isinstance(memory, Memory) else None
        self._deadline_s = deadline / 1000
        opening_tokens = (
            None
            if opening_tokens is None
            else validate_number(opening_tokens, "opening_tokens", 0, whole=True)
        )
        self._opening = SessionStart(terms, opening_tokens, self.create_task, self._failed)
        self._opened: ContextBlock | None = None
        for event in (
            "on_memory_opened",
            "on_memory_recalled",
            "on_memory_stored",
            "on_memory_spooled",
            "on_memory_used",
            "on_memory_error",
        ):
            self._register_event_handler(event)

    def can_generate_metrics(self) -> bool:
        """Yes: how long contexts wait for their blocks, as processing time."""
        return True

    @property
    def late(self) -> int:
        """RecallSession whose block missed the deadline, or a part of it."""
        return self._questions.late

    async def setup(self, setup: FrameProcessorSetup) -> None:  # type: ignore[override]  # as pipecat's own FrameProcessor does
        """Opens a memory given by its path and starts the writing task."""
        await super().setup(setup)
        self._tracing = setup.tracing_context if setup.enable_tracing else None
        if self._owned is not None:
            try:
                await self._owned.start()
                self._questions.memory = self._owned
            except Exception as error:  # a bot without its memory still speaks
                await self._failed("open", error)
        if self._questions.memory is not None:
            self._opening.prepare(self._questions.memory)
        self._writer = self.create_task(self._outbox.run(), "hotmem-writer")

    async def cleanup(self) -> None:
        """Finishes the writes, ends the session, and closes the memory if it was opened here."""
        if self._writer is not None:
            await self._part(self._writer)
            self._writer = None
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat leaves it untyped

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Adds memory to contexts, takes note of turns, and passes every frame on."""
        await super().process_frame(frame, direction)
        match frame:
            case InterruptionFrame():
                self._questions.interrupted()
            case FunctionCallsStartedFrame():
                self._questions.calling()
            case LLMContextUserTurnFrame():
                await self._remember_user(frame.text)
            case LLMContextAssistantTurnFrame():
                await self._remember_reply(frame)
            case LLMContextFrame() if direction is FrameDirection.DOWNSTREAM:
                frame = await self._with_memory(frame)
        await self.push_frame(frame, direction)

    async def _heard(self, frame: Frame) -> None:
        """Searches ahead for what is being said."""
        try:
            match frame:
                case TranscriptionFrame():
                    self._hearing.hear(frame.text, frame.user_id)
                case InterimTranscriptionFrame() | EagerTranscriptionFrame():
                    self._hearing.guess(frame.text)
            final = isinstance(frame, TranscriptionFrame | EagerTranscriptionFrame)
            self._questions.prefetch(
                self._hearing.text,
                paused=not isinstance(frame, InterimTranscriptionFrame),
                final=final,
            )
        except Exception as error:  # what was said goes on to the user's turn
            await self._failed("listen", error)

    async def _with_memory(self, frame: LLMContextFrame) -> LLMContextFrame:
        """The frame with a copy of its context that holds what is known, or the frame itself if nothing is in time."""
        began = perf_counter()
        exchange: TurnState | None = None
        recalled: tuple[ContextBlock, Timing] | None = None
        try:
            exchange = self._questions.asked(frame.context, speculation=frame.speculation)
            if exchange is not None:
                recalled = await self._recalled(exchange)
        except Exception as error:  # the frame goes on, without a block if need be
            await self._failed("context", error)
        opened = await self._opened_with(exchange, began)
        blocks = [
            block.text
            for block in (opened, recalled[0] if recalled else None)
            if block is not None and block.text
        ]
        notice = (
            ""
            if recalled and _tells_what_was_done(recalled[0])
            else self._questions.commands.notice
        )
        context = await self._without_forgotten(frame.context)
        if blocks or notice or context is not frame.context:
            frame = replace(frame, context=with_block(context, *blocks, notice=notice))
        try:
            await self._tell_of(opened, recalled, exchange)
        except Exception as error:  # the frame goes on
            await self._failed("context", error)
        return frame

    async def _without_forgotten(self, context: LLMContext) -> LLMContext:
        memory = self._questions.memory
        if memory is None:
            return context
        applied = partial(
            self._redaction.applied, context, partial(memory.hides, user_id=self._user_id)
        )
        return await run_off_loop(sum(map(len, visible_texts(context))), applied)

    async def _recalled(self, exchange: TurnState) -> tuple[ContextBlock, Timing] | None:
        """The block of an exchange and what it cost; None if none is in time."""
        block, timing = await self._questions.block(exchange)
        return None if block is None else (block, timing)

    async def _opened_with(self, exchange: TurnState | None, began: float) -> ContextBlock | None:
        """What is told without being asked, if it is there before the deadline of the frame that came at `began`."""
        try:
            question = None if exchange is None else exchange.question
            return await self._opening.block(question, self._deadline_s - (perf_counter() - began))
        except Exception as error:  # the frame goes on without it
            await self._failed("opening", error)
            return None

    async def _tell_of(
        self,
        opened: ContextBlock | None,
        recalled: tuple[ContextBlock, Timing] | None,
        exchange: TurnState | None,
    ) -> None:
        """Notes which blocks the model was given, and tells of those that are new."""
        if (
            opened is not None
            and opened.text
            and opened is self._opening.whole
            and opened is not self._opened
        ):
            self._opened = opened
            self._questions.opened = opened.items
            log.info(
                "opened",
                session_id=self.session_id,
                block_id=opened.id,
                items=len(opened.items),
                tokens=opened.tokens,
            )
            await self._call_event_handler("on_memory_opened", opened)
        if exchange is None or recalled is None:
            return
        block, timing = recalled
        new = exchange.given is not block
        exchange.given, exchange.interrupted = block, False
        self._questions.commands.told(block)
        if new:
            await self._tell(block, timing, exchange.began)
        if new and _tells_what_was_done(block) and self._questions.memory is not None:
            self._opening.refresh(
                self._questions.memory, whole=True
            )  # something may have been forgotten

    async def _tell(self, block: ContextBlock, timing: Timing, began: float) -> None:
        """Tells of a block that was given: in the log, as a metric, as spans, and as an event."""
        log_recall(block, timing)
        if self.metrics_enabled:
            await self.push_frame(
                MetricsFrame(
                    data=[ProcessingMetricsData(processor=self.name, value=timing.waited / 1000)]
                )
            )
        if self._tracing is not None:
            trace_recall(self._tracing.get_turn_context(), block, timing, began)
        await self._call_event_handler("on_memory_recalled", block, timing)

    async def _remember_user(self, text: str) -> None:
        """Notes a turn for remembering, cut up by speaker where the transport names them, and what the user takes back with it for removing."""
        pieces, commands, memory = (
            self._hearing.turn(text),
            self._questions.commands,
            self._questions.memory,
        )
        going = self._questions.turn_ended(text, pieces, self._guests)
        if memory is not None and going:
            self._outbox.put(
                "take back",
                partial(self._take_back, memory, going),
                partial(memory.spool, Removal(self._user_id, going)),
            )
        if not commands.keeps:
            if memory is not None and commands.notice:
                self._outbox.put("withhold", partial(memory.withhold, text, user_id=self._user_id))
            return
        if memory is not None:
            await run_off_loop(len(text), partial(memory.speaks_of, text, user_id=self._user_id))
        for piece in pieces:
            await self._remember(
                Role.USER, piece.text, self._speakers.get(piece.speaker or "", self._user_name)
            )

    async def _remember_reply(self, frame: LLMContextAssistantTurnFrame) -> None:
        """Notes what was heard of a reply, for remembering and as feedback.

        Off the record not even the question's is kept.
        """
        self._questions.commands.replied(frame.text)
        memory, exchange = (
            self._questions.memory,
            answered(self._questions.exchanges, frame.timestamp),
        )
        number = None if exchange is None else exchange.question.turn
        if not self._questions.commands.keeps_reply(number):
            return
        await self._remember(Role.ASSISTANT, frame.text, self._bot_name, number)
        if memory is None or exchange is None or exchange.given is None:
            return
        exchange.heard = spoken(f"{exchange.heard} {frame.text}")
        if exchange.heard and exchange.completed_by(frame.timestamp):
            self._outbox.put(
                "feedback",
                partial(
                    self._feed_back, memory, exchange.given, exchange.heard, exchange.interrupted
                ),
            )

    async def _remember(
        self, role: Role, text: str, speaker: str | None, replies_to: int | None = None
    ) -> None:
        """Notes a turn for remembering.

        What was said is dated now, not when its write comes round.
        """
        memory, words = self._questions.memory, spoken(text)
        if memory is None or not words:
            return
        try:
            turn = Turn(
                self._user_id,
                self.session_id,
                role,
                words,
                spoken_at=self._clock(),
                speaker=speaker,
            )
        except HotMemError as error:
            await self._failed("remember", error)
            return
        self._questions.commands.noted(turn.id, replies_to)
        self._outbox.put(
            "remember", partial(self._store, memory, turn), partial(self._spool, memory, turn)
        )

    async def _store(self, memory: Memory, turn: Turn) -> None:
        """Remembers a turn; one that the memory file cannot take waits beside it, and those that come after it too."""
        if memory.spooled:
            await self._spool(memory, turn)
            return
        try:
            kept = await memory.remember(turn)
        except StoreReadOnly:
            raise
        except StoreError as error:
            await self._spool(memory, turn)
            await self._failed("remember", error)
            return
        if not kept:
            return
        if turn.role is Role.USER:
            self._opening.refresh(memory)
        await self._call_event_handler("on_memory_stored", turn)

    async def _spool(self, memory: Memory, turn: Turn) -> None:
        if turn.id == self._spooled_last:
            return
        await memory.spool(turn)
        self._spooled_last = turn.id
        self.spooled += 1
        log.warning(
            "turn waits for the memory file", session_id=self.session_id, waiting=memory.spooled
        )
        await self._call_event_handler("on_memory_spooled", turn)

    async def _take_back(self, memory: Memory, going: tuple[str, ...]) -> None:
        """Removes turns that were taken back.

        While the memory file cannot be written that waits beside it, as they may.
        """
        try:
            await self._questions.commands.take_back(memory, going)
        except StoreReadOnly:
            raise
        except StoreError:
            await memory.spool(Removal(self._user_id, going))
            raise

    async def _feed_back(
        self, memory: Memory, block: ContextBlock, reply: str, interrupted: bool
    ) -> None:
        usage = await memory.feedback(block, reply, interrupted=interrupted)
        if usage.uses:
            await self._call_event_handler("on_memory_used", usage)

    async def _part(self, writer: asyncio.Task[None]) -> None:
        """Every step is tried, whatever became of the one before."""
        memory = self._questions.memory
        self._questions.stop()
        blocked = _not_blocked if memory is None else memory.blocked
        if memory is not None:
            await self._within("end of session", self._finish(memory), blocked)
        overdue = _overdue(blocked())
        await self.cancel_task(writer)
        await self._outbox.close()
        for write in self._outbox.abandon():
            await self._failed(write.name, overdue)
            if write.instead is not None:
                await self._within(write.name, write.instead(), blocked)
        await self._questions.close()
        await self._opening.close()
        if self._owned is not None:
            await self._within("close", self._owned.close(), blocked)

    async def _finish(self, memory: Memory) -> None:
        await self._outbox.drained()
        await memory.end_session(user_id=self._user_id, session_id=self.session_id)
        if self._owned is not None:
            with suppress(TimeoutError):  # the rest is understood when the memory is opened next
                await asyncio.wait_for(memory.settle(), UNDERSTOOD_S)

    async def _within(
        self, stage: str, work: Awaitable[object], blocked: Callable[[], StoreLocked | None]
    ) -> None:
        """Waits for a step of the parting, not longer than `PARTING_S`."""
        task = asyncio.ensure_future(work)
        try:
            done, _ = await asyncio.wait({task}, timeout=PARTING_S)
            if done:
                task.result()
                return
            error = _overdue(
                blocked()
            )  # before the step is given up, and with it the wait for the lock
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await self._failed(stage, error)
        except Exception as error:  # the other steps of the parting still have to be done
            await self._failed(stage, error)

    async def _failed(self, stage: str, error: Exception) -> None:
        """Counts, logs and tells of a failure.

        Only HotMem's own messages are logged: they never hold speech.
        """
        self.failures += 1
        reason = str(error) if isinstance(error, HotMemError) else None
        log.error(
            "memory failed",
            stage=stage,
            session_id=self.session_id,
            error=type(error).__name__,
            reason=reason,
        )
        await self._call_event_handler("on_memory_error", stage, error)


def _tells_what_was_done(block: ContextBlock) -> bool:
    """Whether the block of a question answers what was asked of the memory itself."""
    return bool(block.text) and block.trace.analysis is None


def _not_blocked() -> None:
    """There is no memory, and nothing that holds it."""


def _overdue(blocked: StoreLocked | None) -> HotMemError:
    """Why a step of the parting was not done in time."""
    return blocked or DeadlineExceeded(
        f"It was not done within {PARTING_S:.0f} s of the end of the pipeline and was given up."
    )


def _deadline(given: float | None, options: Options) -> float:
    """Milliseconds a context waits: those given in code, else those of the environment."""
    if given is not None:
        return validate_number(given, "deadline_ms", 0.0)
    if options.recall.deadline_ms is not None:
        return options.recall.deadline_ms
    return Settings.from_environment().recall_deadline_ms
