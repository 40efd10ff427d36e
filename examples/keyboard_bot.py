"""A bot by keyboard: pipecat, HotMem and any OpenAI-compatible model.

    pip install "pipecat-hotmem[pipecat]"
    export OPENAI_API_KEY=…      # for a local model also OPENAI_BASE_URL=http://localhost:11434/v1
    export OPENAI_MODEL=gpt-4.1
    python keyboard_bot.py

An empty line ends the session. Start it again and ask what you said before.
"""

import asyncio
import os
import sys

from hotmem.pipecat import HotMemProcessor  # before pipecat's own imports

# isort: split
from pipecat.frames.frames import (
    EndFrame,
    ProposedUserStartedSpeakingFrame,
    ProposedUserStoppedSpeakingFrame,
    TranscriptionFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    AssistantTurnStoppedMessage,
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.turns.user_turn_strategies import ExternalUserTurnStrategies
from pipecat.utils.time import time_now_iso8601
from pipecat.workers.runner import WorkerRunner


async def main() -> None:
    """Answer the lines of standard input."""
    memory = HotMemProcessor("memory.db", user_id="me")
    llm = OpenAILLMService(
        api_key=os.environ["OPENAI_API_KEY"],
        settings=OpenAILLMService.Settings(
            model=os.environ.get("OPENAI_MODEL", "gpt-4.1"),
            system_instruction="You are a friendly assistant. Answer in one or two sentences.",
        ),
    )
    user, assistant = LLMContextAggregatorPair(
        LLMContext(),
        user_params=LLMUserAggregatorParams(user_turn_strategies=ExternalUserTurnStrategies()),
    )
    worker = PipelineWorker(
        Pipeline([user, memory, llm, assistant]), cancel_on_idle_timeout=False, enable_rtvi=False
    )
    replied = asyncio.Event()

    async def on_reply(_: object, message: AssistantTurnStoppedMessage) -> None:
        print(message.content, flush=True)
        replied.set()

    assistant.add_event_handler("on_assistant_turn_stopped", on_reply)
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
        replied.clear()
        await worker.queue_frames(
            [
                ProposedUserStartedSpeakingFrame(),
                TranscriptionFrame(line, "me", time_now_iso8601(), finalized=True),
                ProposedUserStoppedSpeakingFrame(),
            ]
        )
        async with asyncio.timeout(60):
            await replied.wait()
    await worker.queue_frame(EndFrame())
    await running


if __name__ == "__main__":
    asyncio.run(main())
