"""The one bot behind every pipeline here.

Ears → user turns → HotMem → language model → mouth → the bot's turns.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import EndFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMAssistantAggregator,
    LLMContextAggregatorPair,
    LLMUserAggregator,
    LLMUserAggregatorParams,
)
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.turns.user_turn_strategies import ExternalUserTurnStrategies
from pipecat.workers.runner import WorkerRunner

from hotmem.pipecat import HotMemProcessor

SAMPLE_RATE: Final = 16_000
"""Samples a second of all audio that goes in; what Silero, smart-turn and Whisper want."""

BOT_NAME: Final = "Bot"
"""The speaker of the bot's turns, as the memory writes it."""

INSTRUCTIONS: Final = (
    "You are a friendly voice assistant. Answer in one or two short spoken sentences. A block of remembered facts may stand before the user's"
    " words: rely on it and nothing else for facts about the user, say when you are unsure, and say that you do not know when it says so."
)
"""What a language model is told; the rule-based responder does not read it."""


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot ready to run, with the parts that are listened to."""

    worker: PipelineWorker
    memory: HotMemProcessor
    user: LLMUserAggregator
    assistant: LLMAssistantAggregator


def build_bot(
    memory: HotMemProcessor,
    llm: FrameProcessor,
    *,
    ears: Sequence[FrameProcessor] = (),
    mouth: Sequence[FrameProcessor] = (),
) -> Bot:
    """A bot with memory.

    Args:
        memory: HotMem's processor.
        llm: What answers.
        ears: Processors up to speech recognition. Without any the caller frames the user's turns
            (keyboard); with them Silero hears when the user speaks and smart-turn when they have
            finished.
        mouth: Processors from speech synthesis to the loudspeaker, if there is one.
    """
    hearing = LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    reading = LLMUserAggregatorParams(user_turn_strategies=ExternalUserTurnStrategies())
    context = LLMContext(messages=[{"role": "developer", "content": INSTRUCTIONS}])
    user, assistant = LLMContextAggregatorPair(context, user_params=hearing if ears else reading)
    pipeline = Pipeline(
        [*ears, memory.listener, user, memory, llm, memory.after_model, *mouth, assistant]
    )
    params = PipelineParams(audio_in_sample_rate=SAMPLE_RATE)
    return Bot(
        PipelineWorker(pipeline, params=params, cancel_on_idle_timeout=False, enable_rtvi=False),
        memory,
        user,
        assistant,
    )


@asynccontextmanager
async def running(bot: Bot) -> AsyncIterator[None]:
    """Runs the bot; on leaving, what was queued is played out and the session ends."""
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(bot.worker)
    run = asyncio.create_task(runner.run(), name="bot")
    try:
        yield
    finally:
        await bot.worker.queue_frame(EndFrame())
        await run
