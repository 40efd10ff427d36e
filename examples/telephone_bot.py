"""A voice bot on the telephone with Twilio, which remembers each caller by their number.

    pip install pipecat-hotmem
    pip install "pipecat-ai[websocket,deepgram,openai,cartesia]" uvicorn
    uvicorn telephone_bot:app --port 8765

The environment holds DEEPGRAM_API_KEY, OPENAI_API_KEY, CARTESIA_API_KEY, TWILIO_ACCOUNT_SID,
TWILIO_AUTH_TOKEN and PUBLIC_HOST, the host name that Twilio reaches, as bot.example.com. The
number's webhook for calls is https://PUBLIC_HOST/call.

A caller's number can be forged: ask for more before the bot reads out anything confidential.
"""

import base64
import hmac
import os
import secrets
from collections.abc import Mapping
from urllib.parse import parse_qsl
from xml.sax.saxutils import quoteattr

from hotmem import MEMORY_GUIDE
from hotmem.pipecat import HotMemProcessor  # before pipecat's own imports

# isort: split
from fastapi import FastAPI, HTTPException, Request, Response, WebSocket
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import LLMRunFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.runner.utils import parse_telephony_websocket
from pipecat.serializers.twilio import TwilioFrameSerializer
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams, FastAPIWebsocketTransport
from pipecat.workers.runner import WorkerRunner

VOICE = "71a7ad14-091c-4e8e-a314-022ece01c121"
PROMPT = f"You are on the telephone. Greet the caller, by name if you know it. {MEMORY_GUIDE}"
RATE = 8000
"""Sample rate of telephone audio, in Hz."""

app = FastAPI()
callers: dict[str, str] = {}
"""Numbers of callers whose audio has not connected yet, by a secret that Twilio passes on."""


def signature(url: str, form: Mapping[str, str]) -> str:
    """Return Twilio's signature of a request."""
    signed = url + "".join(f"{name}{value}" for name, value in sorted(form.items()))
    key = os.environ["TWILIO_AUTH_TOKEN"].encode()
    return base64.b64encode(hmac.digest(key, signed.encode(), "sha1")).decode()


@app.post("/call")
async def call(request: Request) -> Response:
    """Answer a call: tell Twilio to stream its audio here."""
    host, form = os.environ["PUBLIC_HOST"], dict(parse_qsl((await request.body()).decode()))
    given = request.headers.get("X-Twilio-Signature", "")
    if not hmac.compare_digest(given.encode(), signature(f"https://{host}/call", form).encode()):
        raise HTTPException(403)
    secret = secrets.token_urlsafe()
    callers[secret] = form["From"]
    twiml = (
        f"<Response><Connect><Stream url={quoteattr(f'wss://{host}/audio')}>"
        f'<Parameter name="secret" value={quoteattr(secret)}/></Stream></Connect></Response>'
    )
    return Response(twiml, media_type="application/xml")


@app.websocket("/audio")
async def audio(websocket: WebSocket) -> None:
    """Run a bot for one call."""
    await websocket.accept()
    _, data = await parse_telephony_websocket(websocket)
    caller = callers.pop(data.body.get("secret", ""), None)
    if caller is None:
        await websocket.close(1008)
        return
    serializer = TwilioFrameSerializer(
        data.stream_id,
        call_sid=data.call_id,
        account_sid=os.environ["TWILIO_ACCOUNT_SID"],
        auth_token=os.environ["TWILIO_AUTH_TOKEN"],
    )
    transport = FastAPIWebsocketTransport(
        websocket,
        FastAPIWebsocketParams(
            serializer=serializer, audio_in_enabled=True, audio_out_enabled=True
        ),
    )
    stt, llm, tts = services()
    memory = HotMemProcessor("memory.db", user_id=caller)
    context = LLMContext(messages=[{"role": "developer", "content": PROMPT}])
    user, assistant = LLMContextAggregatorPair(
        context, user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    )
    pipeline = Pipeline(
        [
            transport.input(),
            stt,
            memory.listener,
            user,
            memory,
            llm,
            tts,
            transport.output(),
            assistant,
        ]
    )
    params = PipelineParams(audio_in_sample_rate=RATE, audio_out_sample_rate=RATE)
    worker = PipelineWorker(pipeline, params=params)

    async def on_connected(*_: object) -> None:
        await worker.queue_frame(LLMRunFrame())

    async def on_disconnected(*_: object) -> None:
        await worker.cancel()

    transport.add_event_handler("on_client_connected", on_connected)
    transport.add_event_handler("on_client_disconnected", on_disconnected)
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await runner.run()


def services() -> tuple[FrameProcessor, FrameProcessor, FrameProcessor]:
    """Return speech recognition, language model and speech synthesis."""
    from pipecat.services.cartesia.tts import CartesiaTTSService
    from pipecat.services.deepgram.stt import DeepgramSTTService
    from pipecat.services.openai.llm import OpenAILLMService

    return (
        DeepgramSTTService(api_key=os.environ["DEEPGRAM_API_KEY"]),
        OpenAILLMService(api_key=os.environ["OPENAI_API_KEY"]),
        CartesiaTTSService(
            api_key=os.environ["CARTESIA_API_KEY"],
            settings=CartesiaTTSService.Settings(voice=VOICE),
        ),
    )
