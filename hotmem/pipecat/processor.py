"""The frame processor: hands the language model what is known, remembers what was said, learns from what was heard."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Final
from uuid import uuid4

import structlog
from pipecat.frames.frames import Frame, InterruptionFrame, LLMContextAssistantTurnFrame, LLMContextFrame, LLMContextUserTurnFrame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor, FrameProcessorSetup

from hotmem.commands import Commands
from hotmem.errors import HotMemError
from hotmem.memory import Memory
from hotmem.options import Options
from hotmem.pipecat.context import latest_question, spoken, visible_texts, with_block
from hotmem.pipecat.exchange import Exchange, answered
from hotmem.pipecat.outbox import Outbox
from hotmem.types import ContextBlock, Layer, Role, Turn

MEMORY_SHARE: Final = 0.95
"""Share of the deadline the memory is told, so that a block of what was ready by then still arrives in time."""

PARTING_S: Final = 5.0
"""Seconds that the last writes with the end of the session, and then closing, may take when the pipeline ends."""

log = structlog.get_logger(__name__)


def utc_now() -> datetime:
    """The time of day, UTC."""
    return datetime.now(UTC)


class HotMemProcessor(FrameProcessor):
    """Gives a voice bot a long-term memory. Belongs between the user aggregator and the language model.

        memory = HotMemProcessor("memory.db", user_id="ana")
        pipeline = Pipeline([transport.input(), stt, aggregators.user(), memory, llm, tts, transport.output(), aggregators.assistant()])

    The model gets a copy of the context with one block of memory before the latest user message; the shared context stays as it is.
    What the user said and the part of the reply that was heard are remembered after the frame has gone on. Nothing that fails here
    stops a frame: failures are logged, counted in `failures`, and the bot speaks without memory.

    Events: `on_recalled(processor, block)` for each block that is in time, `on_feedback(processor, usage)` after each reply made of
    a block with items.

    Attributes:
        session_id: The conversation's id.
        failures: Times the memory raised an error.
        late: Blocks that missed the deadline.
    """

    def __init__(
        self,
        memory: Memory | str | Path,
        *,
        user_id: str,
        session_id: str | None = None,
        user_name: str | None = None,
        bot_name: str | None = None,
        deadline_ms: float = 150.0,
        max_tokens: int | None = None,
        options: Options | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Prepares the processor; files are opened when the pipeline is set up.

        Args:
            memory: An open memory, which stays the caller's to close, or the path of one, which the processor opens and closes.
            user_id: Whose memory it is.
            session_id: The conversation's id; None makes a new one.
            user_name: The user's name, if known; shown as the speaker of their turns.
            bot_name: The bot's name, if it has one.
            deadline_ms: Milliseconds a context frame waits for its block at most.
            max_tokens: Tokens of a block at most; None takes the memory's own option.
            options: Options of the memory opened from a path.
            clock: Tells when something was said, with time zone. Replays pass the recording's own time.
        """
        super().__init__()
        self.session_id = session_id or uuid4().hex
        self.failures = 0
        self.late = 0
        self._owned = None if isinstance(memory, Memory) else Memory(memory, options)
        self._memory = memory if isinstance(memory, Memory) else None
        self._user_id = user_id
        self._user_name = user_name
        self._bot_name = bot_name
        self._deadline_ms = deadline_ms
        self._max_tokens = max_tokens
        self._clock = clock
        self._outbox = Outbox(self._failed)
        self._writer: asyncio.Task[None] | None = None
        self._exchanges: deque[Exchange] = deque(maxlen=2)
        self._commands = Commands(user_id, self.session_id)
        self._register_event_handler("on_recalled")
        self._register_event_handler("on_feedback")

    async def setup(self, setup: FrameProcessorSetup) -> None:  # type: ignore[override]  # as pipecat's own FrameProcessor does
        """Opens a memory given by its path and starts the writing task."""
        await super().setup(setup)
        if self._owned is not None:
            try:
                await self._owned.start()
                self._memory = self._owned
            except Exception as error:  # a bot without its memory still speaks
                self._failed("open", error)
        self._writer = self.create_task(self._outbox.run(), "hotmem-writer")

    async def cleanup(self) -> None:
        """Finishes the writes, ends the session, and closes the memory if it was opened here."""
        if self._writer is not None:
            await self._part()
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat leaves it untyped

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Adds memory to contexts, takes note of turns, and passes every frame on."""
        await super().process_frame(frame, direction)
        match frame:
            case InterruptionFrame() if self._exchanges:
                self._exchanges[-1].interrupted = True
            case LLMContextUserTurnFrame():
                self._remember(Role.USER, frame.text)
            case LLMContextAssistantTurnFrame():
                self._remember(Role.ASSISTANT, frame.text)
                self._learn(frame)
            case LLMContextFrame() if direction is FrameDirection.DOWNSTREAM:
                frame = await self._with_memory(frame)
        await self.push_frame(frame, direction)

    async def _with_memory(self, frame: LLMContextFrame) -> LLMContextFrame:
        """The frame with a copy of its context that holds the block, or the frame itself if there is none in time."""
        try:
            exchange = self._asked(frame)
            if exchange is None:
                return frame
            done, _ = await asyncio.wait({exchange.recall}, timeout=self._deadline_ms / 1000)
            if not done:
                self.late += 1
                log.warning("recall late", session_id=self.session_id, deadline_ms=self._deadline_ms)
                return frame
            block = exchange.recall.result()
            if block is None:
                return frame
            if exchange.given is None:
                await self._call_event_handler("on_recalled", block)
            exchange.given, exchange.interrupted = block, False
            if not block.text:
                return frame
            return replace(frame, context=with_block(frame.context, block.text))
        except Exception as error:  # the frame goes on without a block
            self._failed("context", error)
            return frame

    def _asked(self, frame: LLMContextFrame) -> Exchange | None:
        """The exchange the frame belongs to: the current one when a tool call or a confirmed guess comes back, else a new one."""
        question = latest_question(frame.context)
        if question is None or self._memory is None:
            return None
        if not self._exchanges or self._exchanges[-1].question != question:
            self._drop_search()
            recall = self._recall(self._memory, question.text, visible_texts(frame.context))
            self._exchanges.append(Exchange(question, self.create_task(recall, "hotmem-recall")))
        return self._exchanges[-1]

    async def _recall(self, memory: Memory, text: str, visible: tuple[str, ...]) -> ContextBlock | None:
        started = perf_counter()
        at, given = self._clock(), next((exchange.given.items for exchange in reversed(self._exchanges) if exchange.given), ())
        try:
            answer = await self._commands.answer(memory, text, at, given, self._max_tokens or memory.options.recall.max_tokens)
            if answer is not None:
                return answer
            block = await memory.recall(
                text,
                user_id=self._user_id,
                session_id=self.session_id,
                at=at,
                max_tokens=self._max_tokens,
                deadline_ms=self._deadline_ms * MEMORY_SHARE,
                visible=visible,
            )
        except Exception as error:  # the turn goes on without a block
            self._failed("recall", error)
            return None
        self._log(block, (perf_counter() - started) * 1000)
        return block

    def _remember(self, role: Role, text: str) -> None:
        """Notes a turn for remembering. What was said is dated now, not when its write comes round."""
        if self._memory is None or not (words := spoken(text)):
            return
        if not (self._commands.keeps(words, self._clock()) if role is Role.USER else self._commands.keeps_reply):
            return
        try:
            speaker = self._user_name if role is Role.USER else self._bot_name
            turn = Turn(self._user_id, self.session_id, role, words, spoken_at=self._clock(), speaker=speaker)
        except HotMemError as error:
            self._failed("remember", error)
            return
        self._outbox.put("remember", partial(self._memory.remember, turn))

    def _learn(self, frame: LLMContextAssistantTurnFrame) -> None:
        """Notes what was heard of a reply as feedback on the block it was made of; off the record not even the question is kept."""
        exchange = answered(self._exchanges, frame.timestamp) if self._commands.keeps_reply else None
        if self._memory is None or exchange is None or exchange.given is None or not exchange.given.items or not frame.text.strip():
            return
        self._outbox.put("feedback", partial(self._feed_back, self._memory, exchange.given, frame.text, exchange.interrupted))

    async def _feed_back(self, memory: Memory, block: ContextBlock, reply: str, interrupted: bool) -> None:
        usage = await memory.feedback(block, reply, interrupted=interrupted)
        await self._call_event_handler("on_feedback", usage)

    def _drop_search(self) -> None:
        """Gives up a search that was still running for an earlier question."""
        if self._exchanges and not self._exchanges[-1].recall.done():
            self._exchanges[-1].recall.cancel()

    async def _part(self) -> None:
        if self._memory is not None:
            await self._within("end of session", self._finish(self._memory))
        if self._writer is not None:
            await self.cancel_task(self._writer)
            self._writer = None
        for exchange in self._exchanges:
            await self.cancel_task(exchange.recall)
        if self._owned is not None and self._memory is not None:
            await self._within("close", self._owned.close())
        self._memory = None

    async def _finish(self, memory: Memory) -> None:
        await self._outbox.drained()
        await memory.end_session(user_id=self._user_id, session_id=self.session_id)

    async def _within(self, stage: str, work: Awaitable[object]) -> None:
        """Waits for a step of the parting, not longer than `PARTING_S`."""
        try:
            await asyncio.wait_for(work, PARTING_S)
        except Exception as error:  # the other steps of the parting still have to be done
            self._failed(stage, error)

    def _failed(self, stage: str, error: Exception) -> None:
        """Counts and logs a failure. Only HotMem's own messages are logged: they never hold speech."""
        self.failures += 1
        reason = str(error) if isinstance(error, HotMemError) else None
        log.error("memory failed", stage=stage, session_id=self.session_id, error=type(error).__name__, reason=reason)

    def _log(self, block: ContextBlock, ms: float) -> None:
        log.info(
            "recall",
            session_id=self.session_id,
            block_id=block.id,
            hits={report.layer.value: report.hits for report in block.trace.layers},
            merged=block.trace.merged,
            items=len(block.items),
            top_source=_top_source(block),
            tokens=block.tokens,
            ms=round(ms, 1),
        )


def _top_source(block: ContextBlock) -> Layer | None:
    """The layer that found the block's most relevant item."""
    return max(block.items, key=lambda item: item.relevance).layer if block.items else None
