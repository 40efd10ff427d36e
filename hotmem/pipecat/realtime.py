"""Memory for speech-to-speech services, which answer audio before there is text of it.

Such a service keeps the conversation itself and answers without a context frame, so a block in the
context would never reach it. Blocks are appended to its conversation instead, without asking for a
response, and never while one is being generated or spoken: some services would break it off.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import datetime
from time import perf_counter
from typing import Any, Final, TypeAlias

from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    Frame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMSetToolsFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext, LLMContextMessage

from hotmem.core.logs import log
from hotmem.pipecat.context import insert_messages, message_role
from hotmem.pipecat.context_injector import ContextInjector
from hotmem.pipecat.recall_session import RecallResult, RecallSession
from hotmem.pipecat.session_settings import Conversation, ConversationPart
from hotmem.pipecat.session_start import SessionStart
from hotmem.pipecat.transcript import MemoryAppendFrame
from hotmem.pipecat.turn_state import TurnState, is_command_outcome, now_ms, parse_time
from hotmem.pipecat.voice_commands import VoiceCommands, retention_notice
from hotmem.types import ContextBlock

GRACE_S: Final = 0.1
"""Seconds after the end of a response before a block is appended: its text is still on the way
from the assistant aggregator, and the next response may follow at once."""

IGNORE_APPENDED: Final = (
    "AzureVoiceLiveLLMService",
    "InworldRealtimeLLMService",
    "OpenAILiveLLMService",
    "UltravoxRealtimeLLMService",
)
"""Services that ignore appended messages, by their classes in pipecat 1.13 and 1.14."""

PushAppended: TypeAlias = Callable[[MemoryAppendFrame], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Offer:
    """A text that waits until the service can take it.

    Attributes:
        text: The text.
        block: Its block; None for a notice.
        turn: The turn of the block; None for the opening block and a notice.
    """

    text: str
    block: ContextBlock | None = None
    turn: TurnState | None = None

    @property
    def is_outcome(self) -> bool:
        """Whether it is the outcome of a voice command."""
        return self.turn is not None and self.block is not None and is_command_outcome(self.block)

    @property
    def is_recall(self) -> bool:
        """Whether it is the block of a turn."""
        return self.turn is not None and not self.is_outcome


class RealtimeDelivery(ConversationPart):
    """Gives a speech-to-speech service the memory of one conversation.

    Args:
        conversation: The conversation.
        commands: Voice commands.
        recalls: The recalls.
        session_start: The opening block.
        injector: Redacts contexts, and reports the blocks that are delivered.
        push: Pushes an append frame to the service.
    """

    def __init__(
        self,
        conversation: Conversation,
        commands: VoiceCommands,
        recalls: RecallSession,
        session_start: SessionStart,
        injector: ContextInjector,
        push: PushAppended,
    ) -> None:
        super().__init__(conversation)
        self._was_heard = False
        self._appends = True
        self._commands = commands
        self._recalls = recalls
        self._session_start = session_start
        self._injector = injector
        self._push = push
        self._offers: list[_Offer] = []
        self._pushed: list[tuple[datetime, ContextBlock]] = []
        self._outcome_at: datetime | None = None
        self._offered: set[str] = set()
        self._known: set[tuple[str | None, str]] = set()
        self._notice = ""
        self._opening_index: int | None = None
        self._has_context = False
        self._context: LLMContext | None = None
        self._is_generating = False
        self._is_speaking = False
        self._tasks: set[asyncio.Task[None]] = set()

    def note_service(self, name: str) -> None:
        """Note whether the service takes appended messages.

        If not, no block is recorded as given to its model, and no "yes" confirms a deletion: the
        model was not told to ask.

        Args:
            name: Name of the service: its class and a number, unless the program named it.
        """
        self._appends = name.partition("#")[0] not in IGNORE_APPENDED

    def observe(self, frame: Frame) -> None:
        """Note when a response is generated and spoken; append what waited for its end."""
        match frame:
            case LLMFullResponseStartFrame():
                self._is_generating = True
            case BotStartedSpeakingFrame():
                self._is_speaking = True
            case LLMFullResponseEndFrame() | InterruptionFrame():
                self._is_generating = False
                self._release_later()
            case BotStoppedSpeakingFrame():
                self._is_speaking = False
                self._release_later()
            case LLMSetToolsFrame() if self._context is not None:
                # The service reads the tools of the copy it was given.
                self._context.set_tools(frame.tools)

    async def hear(self, text: str) -> None:
        """Recall for the final transcripts of the turn so far, which may go on.

        If the response has not begun, the block is in time for it, else for the next one.
        """
        self._was_heard = True
        turn = await self._recalls.turn_of_transcript(text)
        if turn is not None and not turn.is_command:
            self._start(self._deliver(turn, ""))

    async def inject(self, frame: LLMContextFrame, *, upstream: bool) -> LLMContextFrame:
        """The frame to push, with the opening block in it; never waits after the first one.

        Only the first context reaches the model, before it has spoken. Later ones are what the
        service starts from if it connects again.
        """
        first, self._has_context = not self._has_context, True
        try:
            await self._recall(frame.context, upstream=upstream)
        except Exception as error:  # the frame continues
            await self._report_failure("context", error)
        timeout_s = self._settings.deadline_ms / 1000 if first else 0.0
        opening = await self._injector.opening(None, timeout_s)
        context = await self._injector.redact(frame.context)
        if first:
            if opening is not None:
                self._opening_index = _opening_index(context) if opening.text else None
                await self._injector.report_opening(opening)
                self._add_known(opening)
            else:
                self._start(self._offer_opening())
        if opening is not None and self._opening_index is not None:
            # Always in one place, as some services count the messages they have seen.
            message: LLMContextMessage = {"role": "user", "content": opening.text}
            context = insert_messages(context, self._opening_index, message)
        self._context = None if context is frame.context else context
        return frame if context is frame.context else replace(frame, context=context)

    def replied_turn(self, text: str, timestamp: str) -> TurnState | None:
        """The turn that a reply belongs to, with the block that was appended before it began.

        Args:
            text: The spoken part of the reply.
            timestamp: When it began, ISO 8601.
        """
        began_at = parse_time(timestamp, now_ms())
        before = [block for at, block in self._pushed if at <= began_at]
        self._pushed = self._pushed[len(before) :]
        if self._outcome_at is None or self._outcome_at <= began_at:
            # What the bot said before it had a confirmation question does not ask it.
            self._commands.add_reply(text)
        turn = self._recalls.latest_turn
        if turn is not None:
            if before:
                turn.delivered = before[-1]
            elif any(turn.delivered is block for _, block in self._pushed):
                turn.delivered = None
        return turn

    async def close(self) -> None:
        """Cancel the tasks, and log if no transcript has come."""
        if not self._was_heard:
            log.warning("no transcript of the user", session_id=self._settings.session_id)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _recall(self, context: LLMContext, *, upstream: bool) -> None:
        """Recall for the user turn that ended, unless the context is that of a tool's result."""
        if upstream:
            self._recalls.resume_reply()
            return
        turn = await self._recalls.turn_of(context, speculative=False)
        if turn is not None:
            self._start(self._deliver(turn, retention_notice(self._retention)))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._create_task(work, "hotmem-realtime")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver(self, turn: TurnState, notice: str) -> None:
        """Offer the block of a turn once its recall is done, or else a new notice."""
        await asyncio.wait(turn.recalls)
        block = turn.block
        if block is not None:
            self._offer(_Offer(block.text, block, turn))
        if notice and notice != self._notice and not (block and is_command_outcome(block)):
            self._offer(_Offer(notice))
        self._notice = notice

    async def _offer_opening(self) -> None:
        opening = await self._session_start.ready()
        if opening is not None:
            self._offer(_Offer(opening.text, opening))

    def _offer(self, offer: _Offer) -> None:
        """Append a text as soon as no response is under way, in place of an earlier recall's."""
        block = offer.block
        if not self._appends or not offer.text:
            return
        if block is not None and block.id in self._offered:
            return
        if block is not None and not offer.is_outcome and not self._has_news(block):
            return
        if block is not None:
            self._offered.add(block.id)
        kept = [one for one in self._offers if not (offer.is_recall and one.is_recall)]
        self._offers = [*kept, offer]
        self._start(self._release())

    def _release_later(self) -> None:
        if self._offers:
            self._start(self._release(GRACE_S))

    async def _release(self, after_s: float = 0.0) -> None:
        await asyncio.sleep(after_s)
        while self._offers and not (self._is_generating or self._is_speaking):
            offer = self._offers.pop(0)
            try:
                await self._give(offer)
            except Exception as error:  # the conversation goes on without it
                await self._report_failure("context", error)

    async def _give(self, offer: _Offer) -> None:
        block, memory = offer.block, self._handle.current
        if block is not None and not (memory and memory.runtime.suppression.current(block)):
            return
        respond = (
            offer.turn is not None
            and offer.is_outcome
            and self._commands.needs_response(offer.turn.request.text)
        )
        message: LLMContextMessage = {"role": "developer", "content": offer.text}
        await self._push(MemoryAppendFrame([message], run_llm=respond))
        if block is None:
            return
        at = now_ms()
        self._pushed.append((at, block))
        self._add_known(block)
        if offer.is_outcome:
            self._outcome_at = at
        if offer.turn is None:
            await self._injector.report_opening(block)
        else:
            result = RecallResult(block, offer.turn.timing(perf_counter()))
            await self._injector.report(result, offer.turn)

    def _has_news(self, block: ContextBlock) -> bool:
        """Whether it has an item that the service's conversation does not have yet."""
        return any((item.memory_id, item.text) not in self._known for item in block.items)

    def _add_known(self, block: ContextBlock) -> None:
        self._known.update((item.memory_id, item.text) for item in block.items)


def _opening_index(context: LLMContext) -> int:
    """The place of the opening block: before the last message, which the model answers.

    After a system message, as services look for that in the first place only.
    """
    messages = context.get_messages()
    if not messages or message_role(messages[-1]) == "system":
        return len(messages)
    return len(messages) - 1
