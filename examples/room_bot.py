"""A bot in a room with several people: each turn is remembered with who said it.

    pip install pipecat-hotmem
    pip install "pipecat-ai[daily,openai,cartesia]"
    python room_bot.py https://YOUR-DOMAIN.daily.co/ROOM TOKEN

The memory belongs to Ana. What others say is stored under their names; only Ana can have something
forgotten, or hear what is known of her. OPENAI_API_KEY and CARTESIA_API_KEY are needed.

A participant chooses their name themselves: use Daily's meeting tokens if that matters.
"""

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import Any

from hotmem import MEMORY_GUIDE
from hotmem.pipecat import HotMemProcessor  # before pipecat's own imports

# isort: split
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.transports.base_transport import BaseTransport
from pipecat.workers.runner import WorkerRunner

VOICE = "71a7ad14-091c-4e8e-a314-022ece01c121"
PROMPT = f"You take part in a conversation. Answer in one or two sentences. {MEMORY_GUIDE}"


def build_worker(
    transport: BaseTransport,
    llm: FrameProcessor,
    tts: FrameProcessor,
    user_params: LLMUserAggregatorParams,
) -> PipelineWorker:
    """Build the pipeline; the transport's transcripts carry the ids of the participants."""
    speakers: dict[str, str] = {}
    memory = HotMemProcessor(
        "memory.db", user_id="ana", user_name="Ana", bot_name="Bot", speakers=speakers
    )
    context = LLMContext(messages=[{"role": "developer", "content": PROMPT}])
    user, assistant = LLMContextAggregatorPair(context, user_params=user_params)
    worker = PipelineWorker(
        Pipeline(
            [
                transport.input(),
                memory.listener,
                user,
                memory,
                llm,
                tts,
                transport.output(),
                assistant,
            ]
        )
    )

    async def on_joined(
        transport: Any,  # noqa: ANN401 - DailyTransport, which needs Daily's SDK
        participant: Mapping[str, Any],
    ) -> None:
        speakers[participant["id"]] = participant["info"].get("userName") or "a guest"
        await transport.capture_participant_transcription(participant["id"])

    async def on_left(_: object, __: object, ___: object) -> None:
        await worker.cancel()

    transport.add_event_handler("on_participant_joined", on_joined)
    transport.add_event_handler("on_participant_left", on_left)
    return worker


async def main(room: str, token: str) -> None:
    """Join a room of Daily, until somebody leaves."""
    from pipecat.services.cartesia.tts import CartesiaTTSService
    from pipecat.services.openai.llm import OpenAILLMService
    from pipecat.transports.daily.transport import DailyParams, DailyTransport

    transport = DailyTransport(
        room,
        token,
        "Bot",
        DailyParams(audio_in_enabled=True, audio_out_enabled=True, transcription_enabled=True),
    )
    worker = build_worker(
        transport,
        OpenAILLMService(api_key=os.environ["OPENAI_API_KEY"]),
        CartesiaTTSService(
            api_key=os.environ["CARTESIA_API_KEY"],
            settings=CartesiaTTSService.Settings(voice=VOICE),
        ),
        LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer()),
    )
    runner = WorkerRunner()
    await runner.add_workers(worker)
    await runner.run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
