"""Memory for speech-to-speech services."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    Frame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMMessagesAppendFrame,
    LLMRunFrame,
    LLMServiceMetadataFrame,
    LLMSetToolsFrame,
    TranscriptionFrame,
    TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.llm_service import LLMService
from pipecat.services.settings import LLMSettings
from pipecat.utils.text.base_text_aggregator import TextType

from hotmem import Memory, Turn
from hotmem.pipecat import HotMemProcessor
from hotmem.pipecat.functions import memory_functions
from hotmem.types import ContextBlock, Role
from pipelines.bot import Bot, running
from tests.pipecat.daniel import events
from tests.pipecat.realtime_scene import RealtimeScene, realtime_scene
from tests.pipecat.scene import turns_in

pytestmark = pytest.mark.real_clock  # it talks to a server over a socket

EARLIER = datetime(2026, 3, 1, 12, tzinfo=UTC)

FACTS = ("My locker code is 4471.", "My sister Maria lives in Porto.", "Please call me Annie.")

WHERE = "Where does my sister Maria live?"

CODE = "What is my locker code?"


@pytest.fixture
async def known(memory: Memory) -> Memory:
    for text in FACTS:
        await memory.remember(Turn("ana", "earlier", Role.USER, text, spoken_at=EARLIER))
    await memory.end_session(user_id="ana", session_id="earlier")
    await memory.settle("ana")
    return memory


def said_now(database: Path) -> list[tuple[str, str]]:
    """The turns stored in this conversation."""
    return turns_in(database)[len(FACTS) :]


def blocks(stage: RealtimeScene) -> list[str]:
    """The blocks appended to the conversation, after what it started with."""
    return [item for item in stage.server.items if item.startswith("<memory")]


def places(stage: RealtimeScene, *words: str) -> list[int]:
    """Where the log has the words for the first time, in order."""
    log = stage.server.log
    return [next(index for index, line in enumerate(log) if word in line) for word in words]


async def test_the_bot_knows_the_user_before_it_first_speaks(known: Memory) -> None:
    processor = HotMemProcessor(known, user_id="ana")
    opened = events(processor, "on_memory_opened")
    async with realtime_scene(processor) as stage:
        await stage.turn("Hello.", "Hi.")
        first = stage.server.items[0]
    assert "call me Annie" in first
    assert first.index("call me Annie") < first.index("Say hello.")
    assert len(stage.server.items) == 1 and len(opened) == 1
    assert "<memory" not in str(stage.context.get_messages())


async def test_an_opening_that_is_late_is_appended(
    known: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening = known.opening

    async def slow(**arguments: Any) -> ContextBlock:  # noqa: ANN401 - passed on
        await asyncio.sleep(0.6)
        return await opening(**arguments)

    monkeypatch.setattr(known, "opening", slow)
    async with realtime_scene(HotMemProcessor(known, user_id="ana", deadline_ms=50)) as stage:
        assert stage.server.items == ["Say hello."]
        await stage.until(lambda: blocks(stage))
    assert "call me Annie" in blocks(stage)[0]
    assert stage.server.log.count("response.create") == 1


async def test_a_late_transcript_is_answered_after_the_response(
    known: Memory, database: Path
) -> None:
    async with realtime_scene(HotMemProcessor(known, user_id="ana")) as stage:
        await stage.turn(WHERE, "I am not sure.")
        await stage.turn("That is a pity.", "In Porto, I hear now.")
    began, heard, ended, told = places(stage, "begin: I am", f"user: {WHERE}", "end", "Porto")
    assert began < heard < told
    assert stage.server.log[told - 1] == "end" and ended < began
    assert stage.server.log.count("response.create") == 1
    assert said_now(database) == [
        ("assistant", "Hello!"),
        ("user", WHERE),
        ("assistant", "I am not sure."),
        ("user", "That is a pity."),
        ("assistant", "In Porto, I hear now."),
    ]


async def test_an_early_transcript_is_in_time_for_its_reply(known: Memory) -> None:
    async with realtime_scene(HotMemProcessor(known, user_id="ana")) as stage:
        await stage.turn(WHERE, "In Porto.", late=False)
    told, began = places(stage, "lives in Porto", "begin: In Porto.")
    assert told < began


async def test_what_the_conversation_has_is_not_appended_again(known: Memory) -> None:
    async with realtime_scene(HotMemProcessor(known, user_id="ana")) as stage:
        await stage.turn(WHERE, "In Porto.")
        await stage.turn("Tell me again where Maria lives.", "In Porto.")
        assert len(blocks(stage)) == 1
        await stage.turn(CODE, "One moment.")
        assert "4471" in blocks(stage)[-1]
    assert "<memory" not in str(stage.context.get_messages())


@pytest.mark.parametrize("playback_s", [0.0, 0.5])
async def test_use_is_judged_by_the_reply_that_had_the_block(
    known: Memory, playback_s: float
) -> None:
    processor = HotMemProcessor(known, user_id="ana")
    used = events(processor, "on_memory_used")
    async with realtime_scene(processor, playback_s=playback_s) as stage:
        await stage.turn(WHERE, "Your sister Maria lives in Porto, I guess.")
        await asyncio.sleep(playback_s + 0.3)
        assert not used, "a reply cannot use a block that came after it"
        await stage.turn("So where?", "Your sister Maria lives in Porto.")
        await stage.until(lambda: used)
    assert "Porto" in used[0].uses[0].item.text


async def test_an_interrupted_reply_and_what_came_after(known: Memory, database: Path) -> None:
    async with realtime_scene(HotMemProcessor(known, user_id="ana")) as stage:
        server = stage.server
        await server.user_speaks()
        response = await server.begin("Well, let me think about")
        await server.transcribe(WHERE)
        await asyncio.sleep(1.3)  # the user turn is written a second after the response began
        assert not blocks(stage)
        await server.user_starts()
        await asyncio.sleep(0.05)
        await server.end(response, "cancelled")
        await stage.until(lambda: blocks(stage))
        await server.user_stops()
        response = await server.begin("Sorry. In Porto.")
        await server.transcribe("No, just say it.")
        await asyncio.sleep(0.2)
        await server.end(response)
        await asyncio.sleep(0.3)
    assert said_now(database) == [
        ("assistant", "Hello!"),
        ("user", WHERE),
        ("assistant", "Well, let me think about"),
        ("user", "No, just say it."),
        ("assistant", "Sorry. In Porto."),
    ]


async def test_a_service_that_does_not_transcribe(known: Memory, database: Path) -> None:
    processor = HotMemProcessor(known, user_id="ana")
    async with realtime_scene(processor) as stage:
        for reply in ("In Porto.", "You are welcome."):
            await stage.server.user_speaks()
            await stage.server.respond(reply)
            await asyncio.sleep(0.2)
    assert said_now(database) == [
        ("assistant", "Hello!"),
        ("assistant", "In Porto."),
        ("assistant", "You are welcome."),
    ]
    assert not blocks(stage) and processor.failures == 0


@pytest.mark.parametrize("cancelled", [False, True])
async def test_the_last_words_are_stored_when_the_session_ends(
    known: Memory, database: Path, cancelled: bool
) -> None:
    async with realtime_scene(HotMemProcessor(known, user_id="ana")) as stage:
        await stage.server.user_speaks()
        await stage.server.transcribe("I must go, my train to Lyon leaves at nine.")
        await asyncio.sleep(0.1)
        if cancelled:
            await stage.worker.cancel()
    assert said_now(database)[-1] == ("user", "I must go, my train to Lyon leaves at nine.")


async def test_the_model_recalls_by_tool(known: Memory) -> None:
    processor = HotMemProcessor(known, user_id="ana")
    async with realtime_scene(
        processor, tools=lambda llm: memory_functions(known, "ana", llm)
    ) as stage:
        server = stage.server
        server.greetings.append("She lives in Porto.")
        await server.user_speaks()
        await server.transcribe("Where does my sister live?")
        await server.call("search_memory", {"query": "sister Maria", "limit": 1})
        await stage.until(lambda: any("begin: She lives" in line for line in server.log))
        await asyncio.sleep(0.3)
    found, asked = places(stage, "result: ", "begin: She lives in Porto.")
    assert "Porto" in server.log[found] and found < asked


async def test_a_deletion_is_confirmed_by_an_answer_to_the_question(
    known: Memory,
) -> None:
    async with realtime_scene(HotMemProcessor(known, user_id="ana")) as stage:
        stage.server.greetings.append("Shall I delete everything about Maria?")
        await stage.turn("Please forget everything about Maria.", "Sure, I have forgotten Maria.")
        await stage.until(lambda: any("Shall I delete" in line for line in stage.server.log))
        await asyncio.sleep(0.3)
        assert any("Maria" in one.text for one in await known.memories("ana"))
        stage.server.greetings.append("It is deleted.")
        await stage.turn("Yes.", "Very well.")
        await stage.until(lambda: any("It is deleted" in line for line in stage.server.log))
        await asyncio.sleep(0.2)
    assert not any("Maria" in one.text for one in await known.memories("ana"))


async def test_a_yes_to_something_else_deletes_nothing(known: Memory) -> None:
    processor = HotMemProcessor(known, user_id="ana")
    async with realtime_scene(processor, playback_s=0.5) as stage:
        forget = "Please forget everything about Maria."
        stage.server.greetings.append("Would you like some coffee?")
        await stage.turn(forget, "Sure, I have forgotten Maria.", response_s=1.3)
        await stage.until(lambda: any("coffee" in line for line in stage.server.log))
        await asyncio.sleep(0.8)
        await stage.turn("Yes.", "Here you are.")
        await asyncio.sleep(0.5)
    assert any("Maria" in one.text for one in await known.memories("ana"))


async def test_neither_audio_nor_reply_waits_for_a_slow_memory(
    known: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    recall = known.recall

    async def slow(*arguments: Any, **named: Any) -> ContextBlock:  # noqa: ANN401 - passed on
        await asyncio.sleep(1)
        return await recall(*arguments, **named)

    processor = HotMemProcessor(known, user_id="ana")
    async with realtime_scene(processor) as stage:
        monkeypatch.setattr(known, "recall", slow)
        sent_at = time.perf_counter()
        await stage.turn(WHERE, "I am not sure.")
        heard = [at for at in stage.audio.heard_at if at > sent_at]
        assert heard[0] - sent_at < 0.5
        assert any("I am not sure" in str(one) for one in stage.context.get_messages())
        assert not blocks(stage)
        await stage.until(lambda: blocks(stage))
    assert processor.late == 0


async def test_blocks_wait_while_the_bot_speaks_without_the_tap(known: Memory) -> None:
    processor = HotMemProcessor(known, user_id="ana")
    async with realtime_scene(processor, tapped=False) as stage:
        await processor.process_frame(BotStartedSpeakingFrame(), FrameDirection.UPSTREAM)
        await stage.server.user_stops()
        await stage.server.transcribe(WHERE)
        await asyncio.sleep(0.5)
        assert not blocks(stage)
        await processor.process_frame(BotStoppedSpeakingFrame(), FrameDirection.UPSTREAM)
        await stage.until(lambda: blocks(stage))
        await asyncio.sleep(0.1)
        # Without the tap, the aggregator writes what is appended into the context.
        assert {"developer"} == {
            str(one.get("role"))  # type: ignore[union-attr]
            for one in stage.context.get_messages()
            if "<memory" in str(one)
        }


@pytest.mark.parametrize("realtime", [False, True])
async def test_the_argument_decides_over_the_service(known: Memory, realtime: bool) -> None:
    async with realtime_scene(HotMemProcessor(known, user_id="ana", realtime=realtime)) as stage:
        await stage.turn(WHERE, "I am not sure.")
    assert bool(blocks(stage)) is realtime


class SentenceService(LLMService[Any]):
    """Transcribes sentence by sentence, without telling when the user speaks, as Gemini Live does.

    Attributes:
        contexts: The messages of every context.
        appended: The text of every message appended.
    """

    def __init__(self) -> None:
        super().__init__(settings=LLMSettings(model="none"))
        self.contexts: list[list[Any]] = []
        self.appended: list[str] = []

    def service_metadata_frame(self) -> LLMServiceMetadataFrame:
        return LLMServiceMetadataFrame(service_name=self.name, is_realtime_service=True)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMContextFrame):
            self.contexts.append(list(frame.context.get_messages()))
        elif isinstance(frame, LLMMessagesAppendFrame):
            self.appended += [str(message) for message in frame.messages]
        await self.push_frame(frame, direction)

    async def hear(self, *sentences: str) -> None:
        for sentence in sentences:
            frame = TranscriptionFrame(sentence, "", "2026-03-02T18:00:00Z")
            await self.push_frame(frame, FrameDirection.UPSTREAM)
            await asyncio.sleep(0.1)

    async def answer(self, text: str) -> None:
        await self.push_frame(LLMFullResponseStartFrame())
        await self.push_frame(TTSTextFrame(text, text_type=TextType.SENTENCE))
        await asyncio.sleep(0.3)
        await self.push_frame(LLMFullResponseEndFrame())
        await asyncio.sleep(0.3)


@asynccontextmanager
async def sentence_scene(memory: Memory) -> AsyncIterator[SentenceService]:
    """A running bot with such a service."""
    processor = HotMemProcessor(memory, user_id="ana")
    service = SentenceService()
    context = LLMContext(messages=[{"role": "system", "content": "Be brief."}])
    user, assistant = LLMContextAggregatorPair(context)
    worker = PipelineWorker(
        Pipeline([user, processor, service, processor.after_model, assistant]),
        enable_rtvi=False,
        cancel_on_idle_timeout=False,
    )
    async with running(Bot(worker, processor, user, assistant)):
        await worker.queue_frame(LLMRunFrame())
        await asyncio.sleep(0.3)
        yield service


async def test_a_reply_interrupted_before_its_turn_is_known_waits_for_it(
    memory: Memory, database: Path
) -> None:
    async with sentence_scene(memory) as service:
        await service.hear("Off the record, my PIN is 9041.")
        await service.push_frame(LLMFullResponseStartFrame())
        await service.push_frame(TTSTextFrame("It is safe, and", text_type=TextType.SENTENCE))
        await asyncio.sleep(0.1)
        # a second before the user turn ends
        await service.broadcast_interruption()  # type: ignore[no-untyped-call]  # pipecat's
        await asyncio.sleep(1.2)
        await service.hear("Back on the record. My desk is blue.")
        await service.answer("Noted.")
    assert ("assistant", "It is safe, and") not in turns_in(database)
    assert turns_in(database)[-1] == ("assistant", "Noted.")


async def test_a_service_that_transcribes_sentences(known: Memory, database: Path) -> None:
    async with sentence_scene(known) as service:
        await service.hear("Listen.", WHERE)
        await service.answer("In Porto.")
        await service.hear("Thanks. And one thing more.", CODE)
        await service.answer("It is 4471.")
    assert [message["role"] for message in service.contexts[0]] == ["system", "user"]
    assert [text for text in service.appended if "Porto" in text]
    assert "4471" in service.appended[-1]
    counts = [len(messages) for messages in service.contexts]
    assert counts == sorted(counts), "services count the messages they have seen"
    assert said_now(database) == [
        ("user", f"Listen. {WHERE}"),
        ("assistant", "In Porto."),
        ("user", f"Thanks. And one thing more. {CODE}"),
        ("assistant", "It is 4471."),
    ]


async def test_tools_set_later_reach_a_service_that_was_given_a_copy(known: Memory) -> None:
    async with realtime_scene(
        HotMemProcessor(known, user_id="ana"), tools=lambda llm: memory_functions(known, "ana", llm)
    ) as stage:
        before = len(stage.server.tools)
        await stage.worker.queue_frame(LLMSetToolsFrame(tools=[]))
        await stage.until(lambda: len(stage.server.tools) > before)
    assert stage.server.tools[before - 1] and not stage.server.tools[-1]
