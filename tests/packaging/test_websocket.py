"""The websocket of the guide to bots keeps its clients apart."""

import asyncio
import time
from pathlib import Path
from typing import Any, Final

import pytest
from pipecat.frames.frames import (
    Frame,
    ProposedUserStartedSpeakingFrame,
    ProposedUserStoppedSpeakingFrame,
    TranscriptionFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.transports.base_transport import BaseTransport
from websockets.sync.client import connect

from hotmem import Memory
from hotmem.pipecat import HotMemProcessor
from tests.packaging.source import ROOT
from tests.packaging.test_code_blocks import blocks, parts_of_a_bot
from tests.pipecat.scene import NOW, ScriptedModel, turns_in
from tests.serving import serving

PAGE: Final = ROOT / "docs/guides/bot.md"
QUESTION: Final = "What's my dog called?"
WAIT_S: Final = 60


class Recogniser(FrameProcessor):
    """Takes each transcript that a client sends as a whole turn."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        spoken = isinstance(frame, TranscriptionFrame)
        if spoken:
            await self.push_frame(ProposedUserStartedSpeakingFrame())
        await self.push_frame(frame, direction)
        if spoken:
            await self.push_frame(ProposedUserStoppedSpeakingFrame())


def test_each_client_of_the_websocket_has_a_memory_that_outlasts_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOTMEM_RECALL_DEADLINE_MS", "20000")
    models: list[ScriptedModel] = []

    def build_pipeline(transport: BaseTransport, memory: HotMemProcessor) -> Pipeline:
        parts = parts_of_a_bot()
        models.append(parts["llm"])
        user, assistant = parts["aggregators"]
        heard, spoken = transport.input(), transport.output()
        return Pipeline([heard, Recogniser(), user, memory, parts["llm"], spoken, assistant])

    names: dict[str, Any] = {
        "HotMemProcessor": HotMemProcessor,
        "Memory": Memory,
        "build_pipeline": build_pipeline,
        "signed_in_user": lambda websocket: websocket.query_params["user"],
    }
    exec(next(one.code for one in blocks(PAGE) if "@app.websocket" in one.code), names)
    with serving(names["app"]) as address:
        spoken = [("ana", "My dog is called Potola."), ("ben", QUESTION), ("ana", QUESTION)]
        for number, (user, text) in enumerate(spoken):
            with connect(f"ws://{address}/talk?user={user}") as line:
                frame = TranscriptionFrame(text, user, NOW)
                line.send(asyncio.run(ProtobufFrameSerializer().serialize(frame)) or b"")
                deadline = time.monotonic() + WAIT_S
                while not any(model.shown for model in models[number:]):
                    assert time.monotonic() < deadline
                    time.sleep(0.05)
    ben, ana = (str(model.shown) for model in models[1:])
    assert "<memory>" in ana and "Potola" in ana
    assert "Potola" not in ben
    stored = [text for role, text in turns_in(tmp_path / "service.db") if role == "user"]
    assert stored == ["My dog is called Potola.", QUESTION, QUESTION]
