"""A bot in text: real aggregators and worker around HotMem, a model that says what it is told, and everything it was shown."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path

from pipecat.frames.frames import (
    EndFrame,
    Frame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    ProposedUserStartedSpeakingFrame,
    ProposedUserStoppedSpeakingFrame,
    TranscriptionFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    AssistantTurnStoppedMessage,
    LLMAssistantAggregator,
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.turns.user_turn_strategies import ExternalUserTurnStrategies
from pipecat.workers.runner import WorkerRunner

from hotmem.pipecat import HotMemProcessor
from hotmem.store.driver import connect

Message = dict[str, str]


class ScriptedModel(FrameProcessor):
    """Says the scripted replies one after the other, word by word, and keeps the messages of every context it was shown."""

    def __init__(self, replies: Sequence[str], word_s: float = 0.0) -> None:
        super().__init__()
        self.shown: list[list[Message]] = []
        self._replies = iter(replies)
        self._word_s = word_s

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if not isinstance(frame, LLMContextFrame):
            await self.push_frame(frame, direction)
            return
        self.shown.append([dict(message) for message in frame.context.get_messages()])  # type: ignore[arg-type]
        await self.push_frame(LLMFullResponseStartFrame())
        for word in next(self._replies, "All right.").split():
            await self.push_frame(LLMTextFrame(f"{word} "))
            await asyncio.sleep(self._word_s)
        await self.push_frame(LLMFullResponseEndFrame())


@dataclass
class Scene:
    """A running bot."""

    worker: PipelineWorker
    context: LLMContext
    model: ScriptedModel
    stopped: "asyncio.Queue[AssistantTurnStoppedMessage]" = field(default_factory=asyncio.Queue)

    async def say(self, text: str) -> None:
        """Ends a turn of the user with these words; breaks in if the bot is speaking."""
        await self.worker.queue_frame(ProposedUserStartedSpeakingFrame())
        await self.worker.queue_frame(TranscriptionFrame(text, "user", "2026-03-02T18:00:00Z", finalized=True))
        await self.worker.queue_frame(ProposedUserStoppedSpeakingFrame())

    async def exchange(self, text: str) -> str:
        """Says something and waits for the reply."""
        await self.say(text)
        return await self.reply()

    async def reply(self) -> str:
        """The next reply, as far as it was heard."""
        return (await asyncio.wait_for(self.stopped.get(), 10)).content.strip()


@asynccontextmanager
async def scene(processor: HotMemProcessor, replies: Sequence[str] = (), *, word_s: float = 0.0) -> AsyncIterator[Scene]:
    """Runs a bot; on leaving, the pipeline has ended."""
    context = LLMContext()
    user, assistant = LLMContextAggregatorPair(context, user_params=LLMUserAggregatorParams(user_turn_strategies=ExternalUserTurnStrategies()))
    model = ScriptedModel(replies, word_s)
    worker = PipelineWorker(Pipeline([user, processor, model, assistant]), enable_rtvi=False, cancel_on_idle_timeout=False)
    stage = Scene(worker, context, model)

    async def on_stopped(_: LLMAssistantAggregator, message: AssistantTurnStoppedMessage) -> None:
        await stage.stopped.put(message)

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
    """Role and words of every stored turn, in the order they were written."""
    with closing(connect(path, read_only=True)) as conn:
        return [(role, text) for role, text in conn.execute("SELECT role, text FROM turns ORDER BY id")]
