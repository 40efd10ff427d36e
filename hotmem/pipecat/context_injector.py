"""Inject memory into context frames before the LLM."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TypeAlias

from pipecat.frames.frames import LLMContextFrame
from pipecat.processors.aggregators.llm_context import LLMContext

from hotmem.core.threads import run_off_loop
from hotmem.pipecat.context import Redaction, inject_blocks, visible_texts
from hotmem.pipecat.recall_session import RecallResult, RecallSession
from hotmem.pipecat.session_settings import Conversation, ConversationPart
from hotmem.pipecat.session_start import SessionStart
from hotmem.pipecat.turn_state import TurnState, is_command_outcome
from hotmem.pipecat.voice_commands import retention_notice
from hotmem.types import ContextBlock

ReportOpening: TypeAlias = Callable[[ContextBlock], Awaitable[None]]
ReportRecall: TypeAlias = Callable[[RecallResult, float], Awaitable[None]]


class ContextInjector(ConversationPart):
    """Injects the blocks of one conversation into copies of its context.

    Args:
        conversation: The conversation.
        recalls: The recalls.
        session_start: The opening block.
        report_opening: Reports an opening block that is injected for the first time.
        report_recall: Reports a recall whose block is injected for the first time, and when it
            started, by `time.perf_counter()`.
    """

    def __init__(
        self,
        conversation: Conversation,
        recalls: RecallSession,
        session_start: SessionStart,
        report_opening: ReportOpening,
        report_recall: ReportRecall,
    ) -> None:
        super().__init__(conversation)
        self._recalls = recalls
        self._session_start = session_start
        self._report_opening = report_opening
        self._report_recall = report_recall
        self._redaction = Redaction()

    async def inject(self, frame: LLMContextFrame) -> LLMContextFrame:
        """A frame with a copy of the context that has memory; the same frame if there is none."""
        arrived_at = perf_counter()
        turn: TurnState | None = None
        result: RecallResult | None = None
        try:
            turn = await self._recalls.turn_of(frame.context, speculative=frame.speculation)
            if turn is not None:
                result = await self._recalls.wait(turn)
        except Exception as error:  # the frame continues without the block
            await self._report_failure("context", error)
        timeout_s = self._settings.deadline_ms / 1000 - (perf_counter() - arrived_at)
        opening = await self.opening(turn, timeout_s)
        block = None if result is None else result.block
        texts = [one.text for one in (opening, block) if one is not None and one.text]
        is_outcome = block is not None and is_command_outcome(block)
        notice = "" if is_outcome else retention_notice(self._retention)
        context = await self.redact(frame.context)
        if texts or notice or context is not frame.context:
            frame = replace(frame, context=inject_blocks(context, *texts, notice=notice))
        try:
            if opening is not None:
                await self.report_opening(opening)
            if turn is not None and result is not None:
                await self.report(result, turn)
        except Exception as error:  # the frame continues
            await self._report_failure("context", error)
        return frame

    async def opening(self, turn: TurnState | None, timeout_s: float) -> ContextBlock | None:
        """The opening block, if it is ready in time.

        Args:
            turn: The turn; None where the bot speaks first.
            timeout_s: Maximum time to wait, in seconds.
        """
        try:
            return await self._session_start.wait(turn, timeout_s)
        except Exception as error:  # the frame continues without it
            await self._report_failure("opening", error)
            return None

    async def redact(self, context: LLMContext) -> LLMContext:
        """A copy of the context without forgotten content; the context itself if it has none."""
        memory = self._handle.current
        if memory is None:
            return context
        is_forgotten = partial(memory.runtime.suppression.hides, user_id=self._settings.user_id)
        return await run_off_loop(
            sum(map(len, visible_texts(context))),
            partial(self._redaction.redact, context, is_forgotten),
        )

    async def report_opening(self, opening: ContextBlock) -> None:
        """Record an opening block that the language model was given, and report a new one."""
        if self._session_start.add_delivered(opening):
            await self._report_opening(opening)

    async def report(self, result: RecallResult, turn: TurnState) -> None:
        """Record the block of a turn that the language model was given, and report a new one."""
        if not self._recalls.add_delivered(turn, result.block):
            return
        await self._report_recall(result, turn.started_at)
        memory = self._handle.current
        if memory is not None and is_command_outcome(result.block):
            # A command may have deleted memories of the opening block.
            self._session_start.refresh(memory, whole=True)
