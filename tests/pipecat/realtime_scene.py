"""A speech-to-speech bot for tests: a service of pipecat and a scripted server.

The service is OpenAI Realtime by default. Others speak the same protocol, some with other names of
events.
"""

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import count
from types import MappingProxyType
from typing import Any

from pipecat.frames.frames import (
    EndFrame,
    Frame,
    LLMFullResponseEndFrame,
    LLMRunFrame,
    TTSAudioRawFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.llm_service import LLMService
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService
from pipecat.workers.runner import WorkerRunner
from websockets.asyncio.server import ServerConnection, serve

from hotmem.pipecat import HotMemProcessor

GREETING = {"role": "developer", "content": "Say hello."}

CONVERSATION = {"id": "conversation", "object": "realtime.conversation"}

AUDIO = base64.b64encode(bytes(480)).decode()

Event = dict[str, Any]


class RealtimeServer:
    """Speaks the server's side of the protocol; the test says what happens.

    Args:
        names: What a service calls events that have other names than those of OpenAI Realtime, or
            that it alone has.

    Attributes:
        items: The text of each item the client has put into the conversation, in order.
        tools: The tools of each session update.
        log: What happened, in order: "item: …", "response.create" and what the test did.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self.items: list[str] = []
        self._names = names
        self.log: list[str] = []
        self.tools: list[list[Event]] = []
        self.greetings: list[str] = []
        self._connection: ServerConnection | None = None
        self._ids = count()

    async def handle(self, connection: ServerConnection) -> None:
        self._connection = connection
        await self.send("session.created", session={"type": "realtime"})
        if "conversation.created" in self._names:
            await self.send("conversation.created", conversation=CONVERSATION)
        async for message in connection:
            event = json.loads(message)
            match event["type"]:
                case "session.update":
                    self.tools.append(event["session"].get("tools") or [])
                    await self.send("session.updated", session={"type": "realtime"})
                case "conversation.item.create":
                    item = event["item"]
                    texts = [part["text"] for part in item.get("content") or ()]
                    text = " ".join(texts) or f"result: {item.get('output')}"
                    self.items.append(text)
                    self.log.append(f"item: {text}")
                    await self.send("conversation.item.added", item=item)
                case "response.create":
                    self.log.append("response.create")
                    if self.greetings:
                        await self.respond(self.greetings.pop(0))

    async def send(self, kind: str, **fields: Any) -> None:  # noqa: ANN401 - fields of events
        assert self._connection is not None
        event = {
            "type": self._names.get(kind, kind),
            "event_id": f"event-{next(self._ids)}",
            **fields,
        }
        await self._connection.send(json.dumps(event))

    async def user_starts(self) -> None:
        await self.send("input_audio_buffer.speech_started", audio_start_ms=0, item_id="user")

    async def user_stops(self) -> None:
        await self.send("input_audio_buffer.speech_stopped", audio_end_ms=1, item_id="user")

    async def user_speaks(self) -> None:
        """The user speaks for a moment."""
        await self.user_starts()
        await asyncio.sleep(0.1)
        await self.user_stops()

    async def transcribe(self, text: str) -> None:
        self.log.append(f"user: {text}")
        await self.send(
            "conversation.item.input_audio_transcription.completed",
            item_id="user",
            content_index=0,
            transcript=text,
        )

    async def begin(self, text: str) -> str:
        """Begin a response; returns its id."""
        identifier = f"response-{next(self._ids)}"
        self.log.append(f"begin: {text}")
        await self.send("response.created", response=_response(identifier, "in_progress"))
        item = {"id": f"item-{identifier}", "type": "message", "role": "assistant", "content": []}
        await self.send("conversation.item.added", item=item)
        place = {
            "response_id": identifier,
            "item_id": item["id"],
            "output_index": 0,
            "content_index": 0,
        }
        await self.send("response.output_audio.delta", delta=AUDIO, **place)
        await self.send("response.output_audio_transcript.delta", delta=text, **place)
        return identifier

    async def end(self, identifier: str, status: str = "completed") -> None:
        self.log.append("end")
        await self.send("response.done", response=_response(identifier, status))

    async def respond(self, text: str) -> None:
        await self.end(await self.begin(text))

    async def call(self, name: str, arguments: Event) -> None:
        """End a response with a function call."""
        identifier = f"response-{next(self._ids)}"
        await self.send("response.created", response=_response(identifier, "in_progress"))
        item = {
            "id": f"item-{identifier}",
            "type": "function_call",
            "call_id": f"call-{identifier}",
            "name": name,
            "arguments": "",
        }
        await self.send("conversation.item.added", item=item)
        await self.send(
            "response.function_call_arguments.done",
            response_id=identifier,
            item_id=item["id"],
            output_index=0,
            call_id=item["call_id"],
            name=name,
            arguments=json.dumps(arguments),
        )
        await self.end(identifier)


def _response(identifier: str, status: str) -> Event:
    return {
        "id": identifier,
        "object": "realtime.response",
        "status": status,
        "status_details": None,
        "output": [],
        "usage": None,
    }


class AudioClock(FrameProcessor):
    """Notes when the bot's audio passes, and takes time to play it.

    Args:
        playback_s: Seconds that the end of a response waits for its audio.

    Attributes:
        heard_at: When each audio frame came, by `time.perf_counter()`.
    """

    def __init__(self, playback_s: float) -> None:
        super().__init__()
        self.heard_at: list[float] = []
        self._playback_s = playback_s

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSAudioRawFrame):
            self.heard_at.append(time.perf_counter())
        elif isinstance(frame, LLMFullResponseEndFrame):
            await asyncio.sleep(self._playback_s)
        await self.push_frame(frame, direction)


class RealtimeScene:
    """A running speech-to-speech bot."""

    def __init__(
        self,
        server: RealtimeServer,
        worker: PipelineWorker,
        context: LLMContext,
        audio: AudioClock,
    ) -> None:
        self.server = server
        self.worker = worker
        self.context = context
        self.audio = audio

    async def turn(
        self, said: str, reply: str, *, late: bool = True, response_s: float = 0.3
    ) -> None:
        """A user turn and its reply, which begins before the transcript comes if that is late."""
        server = self.server
        await server.user_speaks()
        if not late:
            await server.transcribe(said)
            await asyncio.sleep(0.3)
        response = await server.begin(reply)
        if late:
            await asyncio.sleep(0.05)
            await server.transcribe(said)
        await asyncio.sleep(response_s)
        await server.end(response)
        await asyncio.sleep(0.3)

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until a condition holds."""
        async with asyncio.timeout(10):
            while not condition():  # noqa: ASYNC110 - the condition has no event
                await asyncio.sleep(0.02)


@asynccontextmanager
async def realtime_server(
    names: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[tuple[RealtimeServer, str]]:
    """A running server and its URL."""
    server = RealtimeServer(names)
    async with serve(server.handle, "127.0.0.1", 0) as listening:
        port = next(iter(listening.sockets)).getsockname()[1]
        yield server, f"ws://127.0.0.1:{port}"


def openai_realtime(url: str) -> LLMService[Any]:
    """The service that is used by default."""
    settings = OpenAIRealtimeLLMService.Settings(system_instruction="Be brief.")
    return OpenAIRealtimeLLMService(api_key="none", base_url=url, settings=settings)


@asynccontextmanager
async def realtime_scene(
    processor: HotMemProcessor,
    *,
    greeting: str = "Hello!",
    tools: Callable[[LLMService[Any]], Any] | None = None,
    tapped: bool = True,
    playback_s: float = 0.0,
    service: Callable[[str], LLMService[Any]] = openai_realtime,
    names: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[RealtimeScene]:
    """Run a bot that greets first, until the pipeline has ended.

    Args:
        processor: The processor.
        greeting: What the bot says first; "" to have the user speak first.
        tools: Registers functions and returns their schemas.
        tapped: Whether `after_model` is in the pipeline.
        playback_s: Seconds that the end of a response takes to reach the assistant aggregator.
        service: Makes the service, with the URL of the server.
        names: What it calls events that have other names than those of OpenAI Realtime.
    """
    async with realtime_server(names) as (server, url):
        llm = service(url)
        context = LLMContext(messages=[dict(GREETING)])  # type: ignore[list-item]
        if tools is not None:
            context = LLMContext(messages=[dict(GREETING)], tools=tools(llm))  # type: ignore[list-item]
        user, assistant = LLMContextAggregatorPair(context)
        taps = [processor.after_model] if tapped else []
        audio = AudioClock(playback_s)
        worker = PipelineWorker(
            Pipeline([user, processor, llm, *taps, audio, assistant]),
            params=PipelineParams(),
            enable_rtvi=False,
            cancel_on_idle_timeout=False,
        )
        stage = RealtimeScene(server, worker, context, audio)
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        run = asyncio.create_task(runner.run())
        try:
            if greeting:
                server.greetings.append(greeting)
                await worker.queue_frame(LLMRunFrame())
                await stage.until(lambda: "end" in server.log)
                await asyncio.sleep(0.2)
            yield stage
        finally:
            await worker.queue_frame(EndFrame())
            await asyncio.wait_for(run, 30)
