"""A text bot for tests: HotMem, pipecat's aggregators and worker, and a scripted LLM."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path

from pipecat.frames.frames import (
    EagerEndOfTurnCancelFrame,
    EagerTranscriptionFrame,
    EndFrame,
    Frame,
    FunctionCallInProgressFrame,
    FunctionCallResultFrame,
    FunctionCallsStartedFrame,
    InterimTranscriptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    ProposedUserStartedSpeakingFrame,
    ProposedUserStoppedSpeakingFrame,
    TranscriptionFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    AssistantTurnStoppedMessage,
    LLMAssistantAggregator,
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.turns.user_turn_strategies import ExternalUserTurnStrategies, UserTurnStrategies
from pipecat.workers.runner import WorkerRunner

from hotmem.pipecat import HotMemProcessor
from hotmem.storage.sqlite.connection import connect

Message = dict[str, str]

NOW = "2026-03-02T18:00:00Z"


TOOL_CALL = "(calls a tool)"
"""End of a reply that calls a tool and waits for its result."""

TOOL_S = 0.005
"""Duration of a tool call in seconds; the replies before and after it must differ in their
timestamps, which have milliseconds."""


class ScriptedModel(FrameProcessor):
    """Speaks the scripted replies in order, word by word.

    Attributes:
        shown: The messages of every context frame.
        shown_at: When each came, by `time.perf_counter()`.
        begun: Set once a reply has begun to be spoken; a tool is called after that.
    """

    def __init__(self, replies: Sequence[str], word_s: float = 0.0) -> None:
        super().__init__()
        self.shown: list[list[Message]] = []
        self.shown_at: list[float] = []
        self.begun = asyncio.Event()
        self._replies = iter(replies)
        self._word_s = word_s

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if not isinstance(frame, LLMContextFrame):
            await self.push_frame(frame, direction)
            return
        self.shown.append([dict(message) for message in frame.context.get_messages()])  # type: ignore[arg-type]
        self.shown_at.append(time.perf_counter())
        if frame.speculation:
            return
        reply = next(self._replies, None) or (
            "Are you sure?" if "ask whether" in str(self.shown[-1]) else "All right."
        )
        calling = reply.endswith(TOOL_CALL)
        await self.push_frame(LLMFullResponseStartFrame())
        for word in reply.removesuffix(TOOL_CALL).split():
            await self.push_frame(LLMTextFrame(f"{word} "))
            await asyncio.sleep(self._word_s)
        if calling:
            await self.broadcast_frame(FunctionCallsStartedFrame, function_calls=[])
        await self.push_frame(LLMFullResponseEndFrame())
        if calling:
            await self.begun.wait()
            await asyncio.sleep(TOOL_S)
            await self.push_frame(
                FunctionCallInProgressFrame("clock", "call-1", {}, cancel_on_interruption=True)
            )
            await self.push_frame(
                FunctionCallResultFrame("clock", "call-1", {}, {"time": "18:00"}, run_llm=True)
            )


@dataclass
class Scene:
    """A running bot."""

    worker: PipelineWorker
    context: LLMContext
    model: ScriptedModel
    stopped: "asyncio.Queue[AssistantTurnStoppedMessage]" = field(default_factory=asyncio.Queue)

    async def say(self, text: str) -> None:
        """Queue a user turn; interrupts the bot if it is speaking."""
        await self.worker.queue_frame(ProposedUserStartedSpeakingFrame())
        await self.worker.queue_frame(TranscriptionFrame(text, "user", NOW, finalized=True))
        await self.worker.queue_frame(ProposedUserStoppedSpeakingFrame())

    async def speak(
        self,
        *interims: str,
        final: str,
        speaker: str = "user",
        every_s: float = 0.05,
        pause_s: float = 0.3,
    ) -> None:
        """Queue a user turn with interim transcripts, then the final one after a pause."""
        await self.worker.queue_frame(ProposedUserStartedSpeakingFrame())
        for text in interims:
            await self.worker.queue_frame(InterimTranscriptionFrame(text, speaker, NOW))
            await asyncio.sleep(every_s)
        await self.worker.queue_frame(VADUserStoppedSpeakingFrame())
        await asyncio.sleep(pause_s)
        await self.worker.queue_frame(TranscriptionFrame(final, speaker, NOW, finalized=True))
        await self.worker.queue_frame(ProposedUserStoppedSpeakingFrame())

    async def guess(self, text: str, *, wait_s: float) -> None:
        """Start a turn with an eager transcript."""
        await self.worker.queue_frame(ProposedUserStartedSpeakingFrame())
        await self.worker.queue_frame(EagerTranscriptionFrame(text, "user", NOW))
        await asyncio.sleep(wait_s)

    async def commit(self, text: str, *, guessed: bool) -> None:
        """End an eager turn with its final transcript, the same text or another."""
        if not guessed:
            await self.worker.queue_frame(EagerEndOfTurnCancelFrame())
        await self.worker.queue_frame(TranscriptionFrame(text, "user", NOW, finalized=True))
        await asyncio.sleep(0.1)
        await self.worker.queue_frame(ProposedUserStoppedSpeakingFrame())

    async def exchange(self, *texts: str) -> None:
        """Queue user turns; wait for the reply to each."""
        for text in texts:
            await self.say(text)
            await self.reply()

    async def reply(self) -> str:
        """The spoken part of the next reply."""
        return (await asyncio.wait_for(self.stopped.get(), 10)).content.strip()


@asynccontextmanager
async def scene(
    processor: HotMemProcessor,
    replies: Sequence[str] = (),
    *,
    word_s: float = 0.0,
    turns: UserTurnStrategies | None = None,
    observed: bool = False,
) -> AsyncIterator[Scene]:
    """Run a bot, with metrics and tracing if observed, until the pipeline has ended."""
    context = LLMContext()
    user, assistant = LLMContextAggregatorPair(
        context,
        user_params=LLMUserAggregatorParams(
            user_turn_strategies=turns or ExternalUserTurnStrategies()
        ),
    )
    model = ScriptedModel(replies, word_s)
    pipeline = Pipeline(
        [processor.listener, user, processor, model, processor.after_model, assistant]
    )
    params = PipelineParams(enable_metrics=observed)
    worker = PipelineWorker(
        pipeline,
        params=params,
        enable_tracing=observed,
        enable_rtvi=False,
        cancel_on_idle_timeout=False,
    )
    stage = Scene(worker, context, model)

    async def on_stopped(_: LLMAssistantAggregator, message: AssistantTurnStoppedMessage) -> None:
        await stage.stopped.put(message)

    async def on_started(_: LLMAssistantAggregator) -> None:
        model.begun.set()

    assistant.add_event_handler("on_assistant_turn_started", on_started)
    assistant.add_event_handler("on_assistant_turn_stopped", on_stopped)
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    run = asyncio.create_task(runner.run())
    try:
        yield stage
    finally:
        await worker.queue_frame(EndFrame())
        await asyncio.wait_for(run, 30)


def turns_in(path: Path) -> list[tuple[str, str]]:
    """Role and text of every stored turn, in order."""
    with closing(connect(path, read_only=True)) as conn:
        return [
            (role, text) for role, text in conn.execute("SELECT role, text FROM turns ORDER BY id")
        ]
