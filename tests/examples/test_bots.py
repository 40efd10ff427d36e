"""The voice bots run with scripted services, and what they build is what they run."""

import asyncio
import base64
import json
import math
import time
from array import array
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import httpx
import pytest
from pipecat.audio.utils import create_stream_resampler, pcm_to_ulaw
from pipecat.frames.frames import (
    EndFrame,
    Frame,
    LLMTextFrame,
    ProposedUserStartedSpeakingFrame,
    ProposedUserStoppedSpeakingFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_response_universal import LLMUserAggregatorParams
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.serializers.twilio import TwilioFrameSerializer
from pipecat.turns.user_turn_strategies import ExternalUserTurnStrategies
from pipecat.workers.runner import WorkerRunner
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as connect_to

from examples import browser_bot, realtime_bot, room_bot, telephone_bot
from hotmem import Memory, Turn
from hotmem.storage.sqlite.connection import connect
from hotmem.types import Role
from pipelines.bot import SAMPLE_RATE
from pipelines.recording import read_audio
from tests.packaging.source import ROOT
from tests.pipecat.realtime_scene import realtime_server
from tests.pipecat.scene import NOW, ScriptedModel, turns_in
from tests.serving import serving

DEMO: Final = ROOT / "pipelines" / "recordings"
ANSWERING: Final = "https://bot.example.com/call"
EXTERNAL: Final = LLMUserAggregatorParams(user_turn_strategies=ExternalUserTurnStrategies())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, with prepared models."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOTMEM_RECALL_DEADLINE_MS", "20000")
    return tmp_path


class Transport:
    """A transport without a network; its events are fired by a test."""

    def __init__(self) -> None:
        self.handlers: dict[str, Any] = {}
        self.captured: list[str] = []

    def input(self) -> FrameProcessor:
        return IdentityFilter()  # type: ignore[no-untyped-call]

    output = input

    def add_event_handler(self, name: str, handler: Any) -> None:  # noqa: ANN401 - any handler
        self.handlers[name] = handler

    async def capture_participant_transcription(self, participant_id: str) -> None:
        self.captured.append(participant_id)


class Voice(FrameProcessor):
    """Speaks each piece of text as 200 ms of a tone."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)
        if isinstance(frame, LLMTextFrame):
            await self.push_frame(TTSAudioRawFrame(tone(1600), telephone_bot.RATE, 1))


def tone(samples: int) -> bytes:
    """A tone as 16 bit samples."""
    return array("h", (int(8000 * math.sin(one / 3)) for one in range(samples))).tobytes()


async def started(worker: PipelineWorker) -> "asyncio.Task[None]":
    """Run a bot."""
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    return asyncio.create_task(runner.run())


async def until(model: ScriptedModel, calls: int) -> None:
    """Wait until the model was called that often."""
    async with asyncio.timeout(60):
        while len(model.shown) < calls:  # noqa: ASYNC110 - the model has no event for it
            await asyncio.sleep(0.02)


async def test_the_browser_bot_greets_and_stops_when_the_browser_leaves() -> None:
    transport, model = Transport(), ScriptedModel(["Hello!"])
    worker = browser_bot.build_worker(
        transport,  # type: ignore[arg-type]
        IdentityFilter(),  # type: ignore[no-untyped-call]
        model,
        IdentityFilter(),  # type: ignore[no-untyped-call]
    )
    running = await started(worker)
    await transport.handlers["on_client_connected"]()
    await until(model, 1)
    assert "Greet the user" in str(model.shown[0])
    await transport.handlers["on_client_disconnected"]()
    await asyncio.wait_for(running, 30)


async def test_the_realtime_bot_knows_the_user_and_stores_what_is_said(folder: Path) -> None:
    transport = Transport()
    async with Memory.open("memory.db") as memory, realtime_server() as (server, url):
        said = Turn(
            "me", "earlier", Role.USER, "Please call me Annie.", spoken_at=datetime.now(UTC)
        )
        await memory.remember(said)
        await memory.settle("me")
        server.greetings.append("Hello, Annie!")
        worker = realtime_bot.build_worker(
            transport,  # type: ignore[arg-type]
            realtime_bot.build_service(api_key="none", base_url=url),
            memory,
        )
        running = await started(worker)
        await transport.handlers["on_client_connected"]()
        async with asyncio.timeout(30):
            while "end" not in server.log:  # noqa: ASYNC110 - the server has no event for it
                await asyncio.sleep(0.02)
        await server.user_starts()
        await asyncio.sleep(0.2)
        await server.user_stops()
        await server.transcribe("My dog is called Potola.")
        await server.respond("A fine name.")
        await asyncio.sleep(0.5)
        await transport.handlers["on_client_disconnected"]()
        await asyncio.wait_for(running, 30)
    assert "call me Annie" in server.items[0]
    assert {tool["name"] for tool in server.tools[-1]} >= {"search_memory"}
    assert ("user", "My dog is called Potola.") in turns_in(folder / "memory.db")


async def test_the_room_bot_stores_who_said_what(folder: Path) -> None:
    transport, model = Transport(), ScriptedModel([])
    worker = room_bot.build_worker(
        transport,  # type: ignore[arg-type]
        model,
        IdentityFilter(),  # type: ignore[no-untyped-call]
        EXTERNAL,
    )
    running = await started(worker)
    for name in ("Ana", "Ben"):
        participant = {"id": name.lower() * 3, "info": {"userName": name}}
        await transport.handlers["on_participant_joined"](transport, participant)
    assert transport.captured == ["anaanaana", "benbenben"]
    for number, (speaker, text) in enumerate(
        [
            ("anaanaana", "My dog is called Potola."),
            ("benbenben", "I play the cello."),
            ("anaanaana", "Who plays the cello?"),
        ],
        start=1,
    ):
        await worker.queue_frame(ProposedUserStartedSpeakingFrame())
        await worker.queue_frame(TranscriptionFrame(text, speaker, NOW, finalized=True))
        await worker.queue_frame(ProposedUserStoppedSpeakingFrame())
        await until(model, number)
        await asyncio.sleep(0.5)
    await worker.queue_frame(EndFrame())
    await asyncio.wait_for(running, 60)
    with closing(connect(folder / "memory.db", read_only=True)) as conn:
        said = conn.execute("SELECT speaker, text FROM turns WHERE role = 'user' ORDER BY id")
        assert said.fetchall() == [
            ("Ana", "My dog is called Potola."),
            ("Ben", "I play the cello."),
            ("Ana", "Who plays the cello?"),
        ]


class Recogniser(FrameProcessor):
    """Recognises the scripted utterance when the caller stops speaking."""

    def __init__(self, utterance: str) -> None:
        super().__init__()
        self._utterance = utterance

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, VADUserStoppedSpeakingFrame):
            await self.push_frame(TranscriptionFrame(self._utterance, "", NOW, finalized=True))
        await self.push_frame(frame, direction)


def call(
    address: str, model: ScriptedModel, utterance: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Call the bot from +351 555 0101, hear its greeting, say one thing and hear the reply."""
    monkeypatch.setattr(telephone_bot, "services", lambda: (Recogniser(utterance), model, Voice()))
    form = {"From": "+3515550101", "CallSid": "CA1"}
    headers = {"X-Twilio-Signature": telephone_bot.signature(ANSWERING, form)}
    twiml = httpx.post(f"http://{address}/call", data=form, headers=headers).text
    secret = ElementTree.fromstring(twiml).findall(".//Parameter")[0].attrib["value"]
    speech = asyncio.run(ulaw(DEMO / "monday" / "01.ogg"))
    with connect_to(f"ws://{address}/audio") as line:
        line.send(json.dumps({"event": "connected", "protocol": "Call"}))
        start = {"streamSid": "MZ1", "callSid": "CA1", "customParameters": {"secret": secret}}
        line.send(json.dumps({"event": "start", "start": start}))
        until_voice(line)
        for first in range(0, len(speech), 160):
            payload = base64.b64encode(speech[first : first + 160]).decode()
            line.send(json.dumps({"event": "media", "media": {"payload": payload}}))
            time.sleep(0.02)  # as a telephone sends it
        while len(model.shown) < 2:
            until_voice(line)


def until_voice(line: ClientConnection) -> None:
    """Wait for the bot's voice."""
    while json.loads(line.recv(60))["event"] != "media":
        pass


async def ulaw(path: Path) -> bytes:
    """Recorded speech as a telephone sends it, with a second of silence behind it."""
    samples = read_audio(path).tobytes() + bytes(2 * SAMPLE_RATE)
    resampler = create_stream_resampler()
    return bytes(await pcm_to_ulaw(samples, SAMPLE_RATE, telephone_bot.RATE, resampler))


def test_the_telephone_bot_knows_who_called_before(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang_up(_: object) -> None:
        """Ask nobody: the real one calls Twilio."""

    monkeypatch.setattr(TwilioFrameSerializer, "_hang_up_call", hang_up)
    monkeypatch.setenv("PUBLIC_HOST", "bot.example.com")
    monkeypatch.setenv("TWILIO_ACCOUNT_SID", "AC1")
    monkeypatch.setenv("TWILIO_AUTH_TOKEN", "secret")
    first, second = ScriptedModel(["Hello."]), ScriptedModel(["Hello."])
    with serving(telephone_bot.app) as address:
        call(address, first, "My dog is called Potola.", monkeypatch)
        call(address, second, "What's my dog called?", monkeypatch)
        refused = httpx.post(f"http://{address}/call", data={"From": "+3515550101"})
        assert refused.status_code == 403
        with connect_to(f"ws://{address}/audio") as line:
            line.send(json.dumps({"event": "connected"}))
            start = {"streamSid": "MZ2", "callSid": "CA2"}
            line.send(json.dumps({"event": "start", "start": start}))
            with pytest.raises(ConnectionClosed):
                line.recv(20)
    assert "Potola" in str(second.shown[1]) and "<memory>" in str(second.shown[1])
    said = [text for role, text in turns_in(folder / "memory.db") if role == "user"]
    assert said == ["My dog is called Potola.", "What's my dog called?"]
