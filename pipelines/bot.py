"""The voice bot that every pipeline here runs.

Input → user aggregator → HotMem → LLM → output → assistant aggregator.
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

from hotmem import MEMORY_GUIDE
from hotmem.pipecat import HotMemProcessor

SAMPLE_RATE: Final = 16_000
"""Sample rate of input audio in Hz, as Silero, smart-turn and Whisper expect."""

BOT_NAME: Final = "Bot"
"""Speaker name of the bot's turns in the memory."""

INSTRUCTIONS: Final = (
    "You are a friendly voice assistant. Answer in one or two short spoken sentences."
    f" {MEMORY_GUIDE}"
)
"""Prompt of the LLM; the rule-based responder ignores it."""


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot, with the parts whose events the pipelines handle."""

    worker: PipelineWorker
    memory: HotMemProcessor
    user: LLMUserAggregator
    assistant: LLMAssistantAggregator


def build_bot(
    memory: HotMemProcessor,
    llm: FrameProcessor,
    *,
    inputs: Sequence[FrameProcessor] = (),
    outputs: Sequence[FrameProcessor] = (),
) -> Bot:
    """Build a bot with memory.

    Args:
        memory: The HotMem processor.
        llm: The LLM service.
        inputs: Processors up to speech recognition; Silero and smart-turn then detect user turns.
            Empty if the caller queues the frames of user turns itself (keyboard).
        outputs: Processors from speech synthesis to the loudspeaker.
    """
    user_params = (
        LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
        if inputs
        else LLMUserAggregatorParams(user_turn_strategies=ExternalUserTurnStrategies())
    )
    context = LLMContext(messages=[{"role": "developer", "content": INSTRUCTIONS}])
    user, assistant = LLMContextAggregatorPair(context, user_params=user_params)
    pipeline = Pipeline(
        [*inputs, memory.listener, user, memory, llm, memory.after_model, *outputs, assistant]
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
    """Run the bot; on exit, process the queued frames and end the session."""
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(bot.worker)
    run = asyncio.create_task(runner.run(), name="bot")
    try:
        yield
    finally:
        await bot.worker.queue_frame(EndFrame())
        await run
