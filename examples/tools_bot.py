"""A bot whose model calls the memory tools itself.

    pip install "pipecat-hotmem[pipecat]"
    export OPENAI_API_KEY=…
    python tools_bot.py

HotMem gives the model a context block with every turn in any case. With the tools the model can
also search for more, or store what it concluded, for example from a document.
"""

import asyncio
import os
import sys

from hotmem import Memory  # before pipecat's own imports
from hotmem.pipecat import HotMemProcessor
from hotmem.pipecat.functions import memory_functions

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

USER = "me"


async def main() -> None:
    """Answer the lines of standard input."""
    async with Memory.open("memory.db") as memory:
        llm = OpenAILLMService(
            api_key=os.environ["OPENAI_API_KEY"],
            settings=OpenAILLMService.Settings(model=os.environ.get("OPENAI_MODEL", "gpt-4.1")),
        )
        context = LLMContext(tools=memory_functions(memory, USER, llm))
        user, assistant = LLMContextAggregatorPair(
            context,
            user_params=LLMUserAggregatorParams(user_turn_strategies=ExternalUserTurnStrategies()),
        )
        hotmem = HotMemProcessor(memory, user_id=USER)
        # after_model: results of tools reach the model from behind, and get the block there
        pipeline = Pipeline([user, hotmem, llm, hotmem.after_model, assistant])
        worker = PipelineWorker(pipeline, cancel_on_idle_timeout=False, enable_rtvi=False)
        replied = asyncio.Event()

        async def on_reply(_: object, message: AssistantTurnStoppedMessage) -> None:
            if message.content:  # empty when the model only called a tool
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
                    TranscriptionFrame(line, USER, time_now_iso8601(), finalized=True),
                    ProposedUserStoppedSpeakingFrame(),
                ]
            )
            async with asyncio.timeout(60):
                await replied.wait()
        await worker.queue_frame(EndFrame())
        await running


if __name__ == "__main__":
    asyncio.run(main())
