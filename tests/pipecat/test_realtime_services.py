"""What the table of docs/guides/realtime.md says of services, with a scripted server each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from pipecat.frames.frames import LLMMessagesAppendFrame
from pipecat.processors.aggregators.llm_context import LLMContextMessage
from pipecat.services.azure.realtime.llm import AzureRealtimeLLMService
from pipecat.services.azure.voice_live.llm import AzureVoiceLiveLLMService
from pipecat.services.inworld.realtime.llm import InworldRealtimeLLMService
from pipecat.services.llm_service import LLMService
from pipecat.services.xai.realtime.llm import GrokRealtimeLLMService

from hotmem import Memory
from hotmem.pipecat import HotMemProcessor
from hotmem.pipecat.functions import memory_functions
from tests.pipecat.daniel import events
from tests.pipecat.realtime_scene import realtime_scene
from tests.pipecat.test_realtime import WHERE, known, said_now

pytestmark = pytest.mark.real_clock  # it talks to a server over a socket

__all__ = ["known"]


@dataclass(frozen=True)
class Service:
    """A service of pipecat.

    Attributes:
        make: Makes it, with the URL of a server.
        appends: Whether it sends appended messages.
        names: What it calls events that have other names than those of OpenAI Realtime.
    """

    make: Callable[[str], LLMService[Any]]
    appends: bool
    names: Mapping[str, str] = field(default_factory=dict)


def azure(url: str) -> LLMService[Any]:
    settings = AzureRealtimeLLMService.Settings(model="none", system_instruction="Be brief.")
    return AzureRealtimeLLMService(api_key="none", base_url=url, settings=settings)


def grok(url: str) -> LLMService[Any]:
    settings = GrokRealtimeLLMService.Settings(system_instruction="Be brief.")
    return GrokRealtimeLLMService(api_key="none", base_url=url, settings=settings)


def inworld(url: str) -> LLMService[Any]:
    settings = InworldRealtimeLLMService.Settings(system_instruction="Be brief.")
    return InworldRealtimeLLMService(api_key="none", base_url=url, settings=settings)


def voice_live(url: str) -> LLMService[Any]:
    settings = AzureVoiceLiveLLMService.Settings(model="none", system_instruction="Be brief.")
    service = AzureVoiceLiveLLMService(api_key="none", endpoint=url, settings=settings)
    service.base_url = url  # an endpoint is changed to wss
    return service


SERVICES: Final = {
    "Azure Realtime": Service(azure, appends=True),
    "Grok": Service(grok, appends=True, names={"conversation.created": "conversation.created"}),
    "Inworld": Service(inworld, appends=False),
    "Voice Live": Service(
        voice_live,
        appends=False,
        names={
            "conversation.item.added": "conversation.item.created",
            "response.output_audio.delta": "response.audio.delta",
            "response.output_audio_transcript.delta": "response.audio_transcript.delta",
        },
    ),
}


@pytest.mark.parametrize("name", SERVICES)
async def test_the_opening_block_turns_and_blocks_of_a_service(
    name: str, known: Memory, database: Path
) -> None:
    service = SERVICES[name]
    processor = HotMemProcessor(known, user_id="ana")
    recalled = events(processor, "on_memory_recalled")
    async with realtime_scene(processor, service=service.make, names=service.names) as stage:
        (opening,) = stage.server.items
        await stage.turn(WHERE, "I am not sure.")
        await stage.turn("Do you know it now?", "She lives in Porto.")
        later = stage.server.items[1:]
    assert "call me Annie" in opening and "Say hello." in opening
    assert any("Porto" in block for block in later) is service.appends
    assert bool(recalled) is service.appends
    assert said_now(database)[-4:] == [
        ("user", WHERE),
        ("assistant", "I am not sure."),
        ("user", "Do you know it now?"),
        ("assistant", "She lives in Porto."),
    ]


@pytest.mark.parametrize("name", SERVICES)
async def test_a_service_has_the_memory_tools(name: str, known: Memory) -> None:
    service = SERVICES[name]

    def tools(llm: LLMService[Any]) -> Any:  # noqa: ANN401 - pipecat's schema
        return memory_functions(known, "ana", llm)

    processor = HotMemProcessor(known, user_id="ana")
    async with realtime_scene(
        processor, service=service.make, names=service.names, tools=tools
    ) as stage:
        await stage.server.call("search_memory", {"query": WHERE})
        await stage.until(lambda: any("result: " in line for line in stage.server.log))
    assert any(tool["name"] == "search_memory" for tool in stage.server.tools[-1])
    assert "Porto" in next(line for line in stage.server.log if "result: " in line)


@pytest.mark.parametrize("name", [name for name, one in SERVICES.items() if not one.appends])
async def test_a_service_still_ignores_what_is_appended(name: str, known: Memory) -> None:
    """If this fails, pipecat sends appended messages now: `IGNORE_APPENDED` is out of date."""
    service = SERVICES[name]
    processor = HotMemProcessor(known, user_id="ana")
    async with realtime_scene(processor, service=service.make, names=service.names) as stage:
        message: LLMContextMessage = {"role": "developer", "content": "It rains."}
        await stage.worker.queue_frame(LLMMessagesAppendFrame([message]))
        await stage.turn("Hello.", "Hello.")
    assert not any("It rains." in item for item in stage.server.items)


@pytest.mark.parametrize("name", [name for name, one in SERVICES.items() if not one.appends])
async def test_a_yes_deletes_nothing_if_the_model_was_not_told_to_ask(
    name: str, known: Memory
) -> None:
    service = SERVICES[name]
    processor = HotMemProcessor(known, user_id="ana")
    async with realtime_scene(processor, service=service.make, names=service.names) as stage:
        await stage.turn("Forget everything about Maria.", "Sure, I have forgotten Maria.")
        await stage.turn("Yes.", "Very well.")
    assert any("Maria" in one.text for one in await known.memories("ana"))
