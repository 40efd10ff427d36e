"""HotMemProcessor: handles frames; each part of the work has its own module.

Recall: `recall_session`, injected by `context_injector`. Storing: `turn_writer`. End: `shutdown`.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, Literal
from uuid import uuid4

from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EagerTranscriptionFrame,
    Frame,
    FunctionCallsStartedFrame,
    InterimTranscriptionFrame,
    InterruptionFrame,
    LLMContextAssistantTurnFrame,
    LLMContextFrame,
    LLMContextUserTurnFrame,
    LLMServiceMetadataFrame,
    LLMSetToolsFrame,
    TranscriptionFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor, FrameProcessorSetup
from pipecat.utils.tracing.tracing_context import TracingContext

from hotmem.core.location import ServerUrl
from hotmem.core.logs import log
from hotmem.errors import HotMemError, StoreUnreachable
from hotmem.memory import Memory
from hotmem.options import Options
from hotmem.pipecat.context_injector import ContextInjector
from hotmem.pipecat.realtime import RealtimeDelivery
from hotmem.pipecat.recall_session import RecallResult, RecallSession
from hotmem.pipecat.session_settings import (
    Conversation,
    Guests,
    MemoryHandle,
    SessionSettings,
    resolve_deadline_ms,
)
from hotmem.pipecat.session_start import SessionStart
from hotmem.pipecat.shutdown import Shutdown
from hotmem.pipecat.telemetry import log_opening, log_recall, recall_metrics, trace_recall
from hotmem.pipecat.transcript import AfterModel, Listener, Transcript
from hotmem.pipecat.turn_writer import TurnWriter, WriteQueue
from hotmem.pipecat.voice_commands import VoiceCommands
from hotmem.types import ContextBlock
from hotmem.understanding.query.command_finder import CommandFinder
from hotmem.understanding.turn_retention import TurnRetention

EVENTS: Final = (
    "on_memory_opened",
    "on_memory_recalled",
    "on_memory_stored",
    "on_memory_spooled",
    "on_memory_used",
    "on_memory_error",
)


class HotMemProcessor(FrameProcessor):
    """Long-term memory for a voice bot.

    Belongs between the user aggregator and the LLM:

        memory = HotMemProcessor("memory.db", user_id="ana")
        pipeline = Pipeline([
            transport.input(), stt, memory.listener, aggregators.user(), memory, llm,
            memory.after_model, tts, transport.output(), aggregators.assistant(),
        ])

    `listener` starts recalls while the user speaks. `after_model` gives the LLM the same block
    again after tool calls. Both are optional.

    The LLM gets a copy of the context with a context block before the latest user message; the
    shared context is not changed. The block has the role `user`, because it quotes people. What
    the user asked to forget is redacted in the copy, and is not stored again if the bot repeats it.
    User turns and the spoken part of replies are stored after their frames were pushed. If the
    memory fails, frames pass as usual: the failure is logged and counted in `failures`, and the
    bot speaks without memory.

    When the bot speaks first, and with the user's first turn, the LLM also gets an opening block:
    who the user is, their instructions for the bot, upcoming events and open matters. The
    instructions ("call me Annie") are injected with every later turn too.

    A speech-to-speech service answers before there is a transcript, and keeps the conversation
    itself. It gets the opening block before it first speaks. It gets the block of a turn when there
    is a transcript and no response is under way; the block helps this reply or the next one.
    Nothing waits for memory then.

    Events:
        on_memory_opened(processor, block): An opening block was injected.
        on_memory_recalled(processor, block, timing): A block was injected in time.
        on_memory_stored(processor, turn): A turn was stored.
        on_memory_spooled(processor, turn): A turn was spooled, because the file is locked or gone,
            the disk is full, or the server cannot be reached.
        on_memory_used(processor, usage): A reply used items of its block.
        on_memory_error(processor, stage, error): The memory failed.

    Attributes:
        session_id: The conversation's id.
        listener: Belongs right after speech recognition.
        after_model: Belongs right after the LLM.
        failures: Number of failures.
    """

    def __init__(
        self,
        memory: Memory | str | Path | ServerUrl | None = None,
        *,
        user_id: str,
        session_id: str | None = None,
        user_name: str | None = None,
        bot_name: str | None = None,
        speakers: Mapping[str, str] | None = None,
        guests: Literal["none", "shared", "all"] = "shared",
        deadline_ms: float | None = None,
        max_tokens: int | None = None,
        opening_tokens: int | None = None,
        options: Options | None = None,
        clock: Callable[[], datetime] | None = None,
        realtime: bool | None = None,
    ) -> None:
        """Create the processor; files are opened when the pipeline starts.

        Args:
            memory: An open memory, which the caller closes, or the path or URL of one, which
                the processor opens and closes. None for HOTMEM_DATABASE, else memory.db.
            user_id: The user.
            session_id: The conversation's id; None for a new one.
            user_name: The user's name, the speaker of their turns.
            bot_name: The bot's name.
            speakers: Names by the transport's ids of the people in the room. It is read at each
                turn, so people who join later can be added. Who has the user's
                name here is the user; without it, the only speaker without a name is, and of
                several nobody. Other speakers cannot delete or list the user's memories.
            guests: What the questions of other speakers get: "none"; "shared", what was said in
                this conversation and what they said themselves; "all". Never a secret.
            deadline_ms: Maximum time a context frame waits for its block, in milliseconds; 0 takes
                only what is ready. None for the recall deadline of the memory's options, else
                HOTMEM_RECALL_DEADLINE_MS, else 150.
            max_tokens: Maximum number of tokens of a block; None for the memory's option.
            opening_tokens: Maximum number of tokens of the opening block; None for the memory's
                option, 0 for no opening block.
            options: Options of a memory given by path; None for those of the environment, as for
                `Memory`.
            clock: The current time, in the user's time zone, which "yesterday" is relative to.
                None for the clock of the memory's options (HOTMEM_TIME_ZONE). Replays pass the
                time of the recording.
            realtime: Whether the LLM service is speech to speech; None if the service itself says
                so, as pipecat's do.

        Raises:
            InvalidInput: If an argument or a HOTMEM_ variable is invalid.
        """
        super().__init__()
        self.failures = 0
        self.listener = Listener(self._on_speech)
        self._handle = handle = MemoryHandle(memory, options)
        self._settings = settings = SessionSettings(
            session_id=session_id or uuid4().hex,
            user_id=user_id,
            deadline_ms=resolve_deadline_ms(deadline_ms, handle.memory.runtime.options),
            max_tokens=max_tokens,
            clock=clock or handle.memory.runtime.options.now,
            opening_tokens=opening_tokens,
            user_name=user_name,
            bot_name=bot_name,
            speakers={} if speakers is None else speakers,
            guests=Guests(guests),
        )
        self.session_id = settings.session_id
        self._transcript = Transcript()
        self._tracing: TracingContext | None = None
        self._writer_task: asyncio.Task[None] | None = None
        self._opening_task: asyncio.Task[None] | None = None
        self._queue = WriteQueue(self._report_failure, handle.is_blocked)
        retention = TurnRetention(CommandFinder(lambda: handle.encoder))
        shared = Conversation(handle, settings, retention, self.create_task, self._report_failure)
        self._commands = VoiceCommands(settings.user_id, settings.session_id, retention)
        self._session_start = SessionStart(shared)
        self._recalls = RecallSession(
            shared, self._commands, self._session_start, self._queue.drain
        )
        self._injector = ContextInjector(
            shared, self._recalls, self._session_start, self._report_opening, self._report_recall
        )
        self._writer = TurnWriter(
            shared, self._commands, self._session_start, self._queue, self._call_event_handler
        )
        self._shutdown = Shutdown(shared, self._recalls, self._session_start, self._queue)
        self._is_realtime = self._recalls.realtime = bool(realtime)
        self._detects_realtime = realtime is None
        self._held_replies: list[LLMContextAssistantTurnFrame] = []
        self._realtime = RealtimeDelivery(
            shared,
            self._commands,
            self._recalls,
            self._session_start,
            self._injector,
            self.push_frame,
        )
        self.after_model = AfterModel(partial(self._inject, upstream=True), self._realtime.observe)
        for event in EVENTS:
            self._register_event_handler(event)

    @property
    def late(self) -> int:
        """Number of turns whose block missed the deadline, or was incomplete."""
        return self._recalls.deadlines_missed

    @property
    def spooled(self) -> int:
        """Number of turns spooled beside the memory file, to store once it can be written."""
        return self._writer.spooled

    @property
    def lost(self) -> int:
        """Number of turns that are neither stored nor spooled."""
        return self._writer.lost

    def can_generate_metrics(self) -> bool:
        """Yes: the time that contexts wait for their blocks, as processing time."""
        return True

    async def setup(self, setup: FrameProcessorSetup) -> None:  # type: ignore[override]  # as pipecat's own FrameProcessor does
        """Open a memory given by path, and start the write queue."""
        await super().setup(setup)
        self._tracing = setup.tracing_context if setup.enable_tracing else None
        try:
            await self._handle.open()
        except Exception as error:  # the bot speaks without memory
            await self._report_failure("open", error)
            if isinstance(error, StoreUnreachable):
                self._opening_task = self.create_task(self._open_later(), "hotmem-open")
        self._session_start.prepare()
        self._writer_task = self.create_task(self._queue.run(), "hotmem-writer")

    async def _open_later(self) -> None:
        """Open the memory once its server is reached; what was said meanwhile is in the spool."""
        try:
            await self._handle.retry()
        except Exception as error:  # the bot goes on without memory
            await self._report_failure("open", error)
        if self._handle.current is not None:
            self._session_start.prepare()

    async def cleanup(self) -> None:
        """Finish the writes, end the session, and close the memory if it was opened here."""
        if self._opening_task is not None:
            await self.cancel_task(self._opening_task)
            self._opening_task = None
        if self._is_realtime:
            await self._realtime.close()
        if self._writer_task is not None:
            await self._shutdown.run(partial(self.cancel_task, self._writer_task))
            self._writer_task = None
        await self._writer.report_lost()
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat leaves it untyped

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Inject memory into context frames, store turns, and push every frame."""
        await super().process_frame(frame, direction)
        match frame:
            case LLMServiceMetadataFrame():
                self._realtime.note_service(frame.service_name)
                if frame.is_realtime_service and self._detects_realtime:
                    self._is_realtime = self._recalls.realtime = True
            case TranscriptionFrame() if self._is_realtime and direction is FrameDirection.UPSTREAM:
                await self._on_speech(frame)
            case BotStartedSpeakingFrame() | BotStoppedSpeakingFrame() | LLMSetToolsFrame():
                self._realtime.observe(frame)
            case InterruptionFrame():
                self._recalls.interrupt()
                self._realtime.observe(frame)
            case FunctionCallsStartedFrame():
                self._recalls.start_tool_call()
            case LLMContextUserTurnFrame():
                await self._on_user_turn(frame.text)
            case LLMContextAssistantTurnFrame():
                await self._on_assistant_turn(frame)
            case LLMContextFrame() if direction is FrameDirection.DOWNSTREAM:
                frame = await self._inject(frame)
        await self.push_frame(frame, direction)

    async def _inject(self, frame: LLMContextFrame, *, upstream: bool = False) -> LLMContextFrame:
        if self._is_realtime:
            return await self._realtime.inject(frame, upstream=upstream)
        return await self._injector.inject(frame)

    async def _on_user_turn(self, text: str) -> None:
        segments = self._transcript.end_turn(text)
        removed = await self._recalls.end_turn(text, segments)
        await self._writer.add_user_turn(text, segments, removed)
        held, self._held_replies = self._held_replies, []
        for reply in held:
            await self._add_reply(reply)

    async def _on_assistant_turn(self, frame: LLMContextAssistantTurnFrame) -> None:
        if self._is_realtime and self._transcript.final_text:
            # The user turn it answers has not ended, and decides whether it is stored.
            self._held_replies.append(frame)
        else:
            await self._add_reply(frame)

    async def _add_reply(self, frame: LLMContextAssistantTurnFrame) -> None:
        if self._is_realtime:
            turn = self._realtime.replied_turn(frame.text, frame.timestamp)
        else:
            self._commands.add_reply(frame.text)
            turn = self._recalls.replied_turn(frame.timestamp)
        await self._writer.add_reply(frame.text, frame.timestamp, turn)

    async def _on_speech(self, frame: Frame) -> None:
        """Prefetch for the transcript so far."""
        try:
            match frame:
                case TranscriptionFrame():
                    self._transcript.add_final(frame.text, frame.user_id)
                case InterimTranscriptionFrame() | EagerTranscriptionFrame():
                    self._transcript.set_interim(frame.text)
            self._recalls.prefetch(
                self._transcript.text,
                paused=not isinstance(frame, InterimTranscriptionFrame),
                final=isinstance(frame, TranscriptionFrame | EagerTranscriptionFrame),
            )
            if self._is_realtime and isinstance(frame, TranscriptionFrame):
                await self._realtime.hear(self._transcript.text)
        except Exception as error:  # the user aggregator must still get the frame
            await self._report_failure("listen", error)

    async def _report_opening(self, block: ContextBlock) -> None:
        log_opening(block, self.session_id)
        await self._call_event_handler("on_memory_opened", block)

    async def _report_recall(self, result: RecallResult, started_at: float) -> None:
        """Log, measure and trace a recall, and call its event handlers."""
        log_recall(result.block, result.timing)
        if self.metrics_enabled:
            await self.push_frame(recall_metrics(self.name, result.timing))
        if self._tracing is not None:
            turn = self._tracing.get_turn_context()
            trace_recall(turn, result.block, result.timing, started_at)
        await self._call_event_handler("on_memory_recalled", result.block, result.timing)

    async def _report_failure(self, stage: str, error: Exception) -> None:
        """Count and log a failure, and call its event handlers.

        Only HotMem's own messages are logged, as others may hold user text.
        """
        self.failures += 1
        log.error(
            "memory failed",
            stage=stage,
            session_id=self.session_id,
            error=type(error).__name__,
            reason=str(error) if isinstance(error, HotMemError) else None,
        )
        await self._call_event_handler("on_memory_error", stage, error)
