"""A voice bot in the browser, with hosted services. Lines marked with HotMem add the memory.

    pip install pipecat-hotmem
    pip install "pipecat-ai[webrtc,runner,deepgram,openai,cartesia]"
    python browser_bot.py           # and open the address that it prints

DEEPGRAM_API_KEY, OPENAI_API_KEY and CARTESIA_API_KEY are read from the environment or `.env`.
"""

import os
import sys
from typing import TYPE_CHECKING

from hotmem import MEMORY_GUIDE
from hotmem.pipecat import HotMemProcessor  # HotMem; before pipecat's own imports

# isort: split
from dotenv import load_dotenv
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import LLMRunFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.workers.runner import WorkerRunner

if TYPE_CHECKING:
    from pipecat.processors.frame_processor import FrameProcessor
    from pipecat.runner.types import RunnerArguments
    from pipecat.transports.base_transport import BaseTransport

KEYS = ("DEEPGRAM_API_KEY", "OPENAI_API_KEY", "CARTESIA_API_KEY")
VOICE = "71a7ad14-091c-4e8e-a314-022ece01c121"
PROMPT = f"You are a friendly voice assistant. Answer in one or two sentences. {MEMORY_GUIDE}"


def build_worker(
    transport: "BaseTransport",
    stt: "FrameProcessor",
    llm: "FrameProcessor",
    tts: "FrameProcessor",
) -> PipelineWorker:
    """Build the pipeline, which greets who connects and stops when they leave."""
    context = LLMContext(messages=[{"role": "developer", "content": PROMPT}])
    user, assistant = LLMContextAggregatorPair(
        context, user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    )
    memory = HotMemProcessor("memory.db", user_id="me")  # HotMem
    pipeline = Pipeline(
        [
            transport.input(),
            stt,
            memory.listener,  # HotMem: searches while the user speaks
            user,
            memory,  # HotMem: injects the context block
            llm,
            tts,
            transport.output(),
            assistant,
        ]
    )
    worker = PipelineWorker(pipeline)

    async def on_connected(*_: object) -> None:
        context.add_message(
            {"role": "developer", "content": "Greet the user, by name if you know it."}
        )
        await worker.queue_frame(LLMRunFrame())

    async def on_disconnected(*_: object) -> None:
        await worker.cancel()

    transport.add_event_handler("on_client_connected", on_connected)
    transport.add_event_handler("on_client_disconnected", on_disconnected)
    return worker


async def bot(arguments: "RunnerArguments") -> None:
    """Run a bot for one client; called by pipecat's runner."""
    from pipecat.runner.utils import create_transport
    from pipecat.services.cartesia.tts import CartesiaTTSService
    from pipecat.services.deepgram.stt import DeepgramSTTService
    from pipecat.services.openai.llm import OpenAILLMService
    from pipecat.transports.base_transport import TransportParams

    transport = await create_transport(
        arguments,
        {"webrtc": lambda: TransportParams(audio_in_enabled=True, audio_out_enabled=True)},
    )
    worker = build_worker(
        transport,
        DeepgramSTTService(api_key=os.environ["DEEPGRAM_API_KEY"]),
        OpenAILLMService(api_key=os.environ["OPENAI_API_KEY"]),
        CartesiaTTSService(
            api_key=os.environ["CARTESIA_API_KEY"],
            settings=CartesiaTTSService.Settings(voice=VOICE),
        ),
    )
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await runner.run()


def main() -> None:
    """Serve the bot, or exit with the names of missing keys."""
    try:
        load_dotenv()
    except UnicodeDecodeError:
        sys.exit(".env is not UTF-8. Save it as UTF-8.")
    missing = [key for key in KEYS if not os.environ.get(key)]
    if missing:
        sys.exit(f"Missing: {', '.join(missing)}. Put them into the environment or into .env.")
    from pipecat.runner.run import main as serve

    serve()


if __name__ == "__main__":
    main()
