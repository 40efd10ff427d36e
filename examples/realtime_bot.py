"""A speech-to-speech bot in the browser. Lines marked with HotMem add the memory.

    pip install pipecat-hotmem "pipecat-ai[webrtc,runner,openai]"
    python realtime_bot.py           # and open the address that it prints

OPENAI_API_KEY is read from the environment or `.env`.
"""

import os
import sys
from typing import TYPE_CHECKING

from hotmem import MEMORY_GUIDE, Memory  # HotMem; before pipecat's own imports
from hotmem.pipecat import HotMemProcessor
from hotmem.pipecat.functions import memory_functions

# isort: split
from dotenv import load_dotenv
from pipecat.frames.frames import LLMRunFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.services.openai.realtime.events import (
    AudioConfiguration,
    AudioInput,
    InputAudioTranscription,
    SessionProperties,
)
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService
from pipecat.workers.runner import WorkerRunner

if TYPE_CHECKING:
    from pipecat.runner.types import RunnerArguments
    from pipecat.transports.base_transport import BaseTransport

USER = "me"
PROMPT = (
    "You are a friendly voice assistant. Answer in one or two short sentences. If you are asked for"
    " something of an earlier conversation that you do not know, call search_memory."
    f" {MEMORY_GUIDE}"
)


def build_service(
    api_key: str, base_url: str = "wss://api.openai.com/v1/realtime"
) -> OpenAIRealtimeLLMService:
    """Build the service, with transcripts, without which nothing the user says is stored."""
    audio = AudioConfiguration(input=AudioInput(transcription=InputAudioTranscription()))
    return OpenAIRealtimeLLMService(
        api_key=api_key,
        base_url=base_url,
        settings=OpenAIRealtimeLLMService.Settings(
            system_instruction=PROMPT, session_properties=SessionProperties(audio=audio)
        ),
    )


def build_worker(
    transport: "BaseTransport", llm: OpenAIRealtimeLLMService, memory: Memory
) -> PipelineWorker:
    """Build the pipeline, which greets who connects and stops when they leave."""
    context = LLMContext(
        messages=[{"role": "developer", "content": "Greet the user, by name if you know it."}],
        tools=memory_functions(memory, USER, llm),  # HotMem: recall in time for the same reply
    )
    user, assistant = LLMContextAggregatorPair(context)
    hotmem = HotMemProcessor(memory, user_id=USER)  # HotMem
    pipeline = Pipeline(
        [
            transport.input(),
            user,
            hotmem,  # HotMem: what is known before the bot speaks, and blocks between replies
            llm,
            hotmem.after_model,  # HotMem: knows when a reply is under way
            transport.output(),
            assistant,
        ]
    )
    worker = PipelineWorker(pipeline)

    async def on_connected(*_: object) -> None:
        await worker.queue_frame(LLMRunFrame())

    async def on_disconnected(*_: object) -> None:
        await worker.cancel()

    transport.add_event_handler("on_client_connected", on_connected)
    transport.add_event_handler("on_client_disconnected", on_disconnected)
    return worker


async def bot(arguments: "RunnerArguments") -> None:
    """Run a bot for one client; called by pipecat's runner."""
    from pipecat.runner.utils import create_transport
    from pipecat.transports.base_transport import TransportParams

    transport = await create_transport(
        arguments,
        {"webrtc": lambda: TransportParams(audio_in_enabled=True, audio_out_enabled=True)},
    )
    async with Memory.open("memory.db") as memory:
        llm = build_service(api_key=os.environ["OPENAI_API_KEY"])
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(build_worker(transport, llm, memory))
        await runner.run()


def main() -> None:
    """Serve the bot, or exit if the key is missing."""
    try:
        load_dotenv()
    except UnicodeDecodeError:
        sys.exit(".env is not UTF-8. Save it as UTF-8.")
    if not os.environ.get("OPENAI_API_KEY"):
        sys.exit("Missing: OPENAI_API_KEY. Put it into the environment or into .env.")
    from pipecat.runner.run import main as serve

    serve()


if __name__ == "__main__":
    main()
