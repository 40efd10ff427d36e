"""The opening block, and the user's instructions on later turns."""

import asyncio
import time
from pathlib import Path

import pytest
from pipecat.frames.frames import LLMContextFrame, LLMContextUserTurnFrame, LLMRunFrame, TextFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.tests.utils import SleepFrame

from hotmem import Memory
from hotmem.block.rendering import INSTRUCTIONS
from hotmem.pipecat import HotMemProcessor
from hotmem.types import ContextBlock, EvidenceKind
from pipelines.responder import reply_to
from tests.conversation import models, user_of
from tests.pipecat.daniel import (
    MONDAY,
    PATIENT_MS,
    THURSDAY,
    asking,
    blocks,
    contexts,
    daniels,
    events,
)
from tests.pipecat.failing import Hanging, Raising
from tests.pipecat.scene import scene, turns_in
from tests.pipeline_runs import run_test

ANNIE = "- “call me Annie”"


def session(
    memory: Memory | Path,
    name: str,
    *,
    deadline_ms: float = PATIENT_MS,
    opening_tokens: int | None = None,
) -> HotMemProcessor:
    """A processor for a session of a user without a name."""
    clock = {"monday": MONDAY, "thursday": THURSDAY}[name]
    return HotMemProcessor(
        memory,
        user_id="annie",
        session_id=name,
        deadline_ms=deadline_ms,
        opening_tokens=opening_tokens,
        clock=lambda: clock,
    )


def first_words() -> LLMContextFrame:
    """A context without a user message."""
    return LLMContextFrame(
        context=LLMContext(messages=[{"role": "developer", "content": "Greet the user."}])
    )


async def taught(memory: Memory | Path) -> None:
    """Store the first session."""
    async with scene(session(memory, "monday"), ["Hello!", "Of course.", "I see."]) as stage:
        await stage.exchange(
            "Hi, please call me Annie.", "Never mention my ex.", "I am allergic to peanuts."
        )


@pytest.mark.parametrize("opening_tokens", [0, None])
async def test_what_recall_needs_is_loaded_before_the_user_speaks(
    memory: Memory, database: Path, monkeypatch: pytest.MonkeyPatch, opening_tokens: int | None
) -> None:
    await taught(memory)
    async with Memory.open(database, memory.runtime.options) as fresh:
        key = await user_of(fresh.runtime.database, "annie")
        index = fresh.runtime.storage.engine._indexes.index(EvidenceKind.PASSAGE, key)
        assert not index.loaded
        recalled, recall = asyncio.Event(), fresh.recall

        async def noting(text: str, *, user_id: str, deadline_ms: float) -> ContextBlock:
            block = await recall(text, user_id=user_id, deadline_ms=deadline_ms)
            recalled.set()
            return block

        monkeypatch.setattr(fresh, "recall", noting)
        async with scene(session(fresh, "thursday", opening_tokens=opening_tokens), []):
            await asyncio.wait_for(recalled.wait(), 10)
            assert index.loaded


@pytest.mark.real_clock
async def test_the_second_session_greets_by_name(database: Path) -> None:
    await taught(database)
    processor = session(database, "thursday")
    given = events(processor, "on_memory_opened")
    async with scene(processor, ["Hello Annie!"]) as stage:
        await stage.worker.queue_frame(LLMRunFrame())
        await stage.reply()
        (shown,) = stage.model.shown
        (block,) = blocks(shown)
        assert "Call them Annie." in block
        assert ANNIE in block
        assert "- “never mention my ex”" in block
        assert "allergic to peanuts" in block
        assert reply_to(LLMContext(messages=shown)) == "Hello Annie! Good to hear from you."  # type: ignore[arg-type]
        assert blocks(list(stage.context.get_messages())) == []  # type: ignore[arg-type]
    assert [one.text for one in given] == [block]
    assert ("user", block) not in turns_in(database)
    assert not any("<memory>" in text for _, text in turns_in(database))


async def test_instructions_are_injected_on_every_turn(memory: Memory) -> None:
    await taught(memory)
    await memory.settle()
    async with scene(session(memory, "thursday")) as stage:
        await stage.exchange(
            "Hello!",
            "Am I allergic to anything?",
            "Thanks!",
            "Turn the light off.",
            "What is my aunt's shoe size?",
        )
        opening, *later = map(blocks, stage.model.shown)
        assert "Call them Annie." in opening[0]
        for told in later:
            wishes = [block for block in told if INSTRUCTIONS in block]
            assert [block.splitlines()[2:-1] for block in wishes] == [
                [ANNIE, "- “never mention my ex”"]
            ]
        assert [len(told) for told in (later[0], later[1], later[2])] == [2, 1, 1]
        assert "peanuts" in later[0][1]
        assert len(stage.context.get_messages()) == 10


async def test_an_instruction_of_this_session_is_injected_from_the_next_turn(
    memory: Memory,
) -> None:
    async with scene(session(memory, "monday")) as stage:
        await stage.exchange("Good morning!", "Always call me Annie.")
        await memory.settle()
        await asyncio.sleep(0.3)
        await stage.exchange("Thanks!")
        assert INSTRUCTIONS not in str(stage.model.shown[:2])
        assert "- “always call me Annie”" in blocks(stage.model.shown[2])[0]


async def test_a_forgotten_instruction_is_not_injected(memory: Memory) -> None:
    await taught(memory)
    await memory.settle()
    async with scene(session(memory, "thursday")) as stage:
        await stage.exchange("Hello!", "Delete all of my data.", "Yes, do it.")
        await asyncio.sleep(0.5)
        stage.context.set_messages([])
        await stage.worker.queue_frame(LLMRunFrame())
        await stage.reply()
        assert blocks(stage.model.shown[-1]) == []
        await stage.exchange("Thanks!")
        assert ANNIE in blocks(stage.model.shown[0])[0]
        assert blocks(stage.model.shown[-1]) == []


async def test_the_opening_block_is_before_the_first_user_message(told: Memory) -> None:
    down, _ = await run_test(
        daniels(told, opening_tokens=None),
        frames_to_send=[SleepFrame(0.3), asking("What is my dog called?")],
    )
    (frame,) = contexts(down)
    opening, recalled, question = frame.context.get_messages()
    assert "Call them Daniel." in str(opening)
    assert "Rocky" in str(recalled)
    assert question["role"] == "user"  # type: ignore[index]


async def test_the_first_turn_has_the_opening_block_after_a_greeting_and_a_failed_speculation(
    memory: Memory,
) -> None:
    await taught(memory)
    await memory.settle()
    ended = LLMContextUserTurnFrame(text="Am I allergic?", timestamp="2026-03-05T08:00:00Z")
    sent = [
        first_words(),
        asking("Am I aller", speculation=True),
        ended,
        asking("Am I allergic?"),
        asking("Am I allergic?"),
    ]
    down, _ = await run_test(session(memory, "thursday"), frames_to_send=[SleepFrame(0.3), *sent])
    assert [
        "Call them Annie." in str(frame.context.get_messages()) for frame in contexts(down)
    ] == [True] * 4


async def test_the_opening_block_has_its_own_token_limit(memory: Memory) -> None:
    await taught(memory)
    await memory.settle()
    down, _ = await run_test(
        session(memory, "thursday", opening_tokens=60),
        frames_to_send=[SleepFrame(0.3), first_words()],
    )
    (block,) = blocks(list(contexts(down)[0].context.get_messages()))  # type: ignore[arg-type]
    assert memory.runtime.recall.tokens.count(block) <= 60
    assert ANNIE in block


async def test_the_opening_block_can_be_disabled(memory: Memory) -> None:
    await taught(memory)
    await memory.settle()
    sent = [first_words(), asking("Thanks!")]
    down, _ = await run_test(
        session(memory, "thursday", opening_tokens=0), frames_to_send=[SleepFrame(0.3), *sent]
    )
    assert contexts(down) == sent


class Late(Memory):
    """A memory whose opening block is slow."""

    async def opening(self, **more: object) -> ContextBlock:
        await asyncio.sleep(0.6)
        return await super().opening(**more)  # type: ignore[arg-type]


class Broken(Memory):
    """A memory whose opening block fails."""

    async def opening(self, **_: object) -> ContextBlock:
        raise OSError("peanuts")


async def test_a_late_opening_block_delays_no_frame_and_is_injected_once_ready(
    database: Path, memory: Memory
) -> None:
    await taught(memory)
    await memory.settle()
    async with Late(database, **models(memory)) as late:
        processor = session(late, "thursday", deadline_ms=100)
        began = time.perf_counter()
        down, _ = await run_test(processor, frames_to_send=[first_words(), TextFrame("on")])
        assert "Annie" not in str(contexts(down)[0].context.get_messages())
        assert time.perf_counter() - began < 3
        again = session(late, "thursday", deadline_ms=100)
        down, _ = await run_test(
            again, frames_to_send=[first_words(), SleepFrame(2.5), asking("Thanks!")]
        )
        assert ["Annie" in str(frame.context.get_messages()) for frame in contexts(down)] == [
            False,
            True,
        ]
        assert processor.failures == again.failures == 0


@pytest.mark.parametrize("kind", [Broken, Raising, Hanging])
async def test_a_failed_opening_block_stops_no_frame(
    kind: type[Memory], memory: Memory, database: Path
) -> None:
    await taught(memory)
    await memory.settle()
    async with kind(database, **models(memory)) as broken:
        processor = session(broken, "thursday", deadline_ms=100)
        sent = [first_words(), SleepFrame(0.3), asking("Am I allergic?"), TextFrame("on")]
        began = time.perf_counter()
        down, _ = await run_test(processor, frames_to_send=sent)
        assert time.perf_counter() - began < 4
        assert len(contexts(down)) == 2
        assert isinstance(down[-1], TextFrame)
        assert (processor.failures > 0) is (kind is not Hanging)


async def test_a_failed_opening_block_is_not_waited_for(memory: Memory, database: Path) -> None:
    async with Broken(database, **models(memory)) as broken:
        processor = session(broken, "thursday", deadline_ms=3_000)
        began = time.perf_counter()
        down, _ = await run_test(
            processor, frames_to_send=[first_words(), first_words(), first_words()]
        )
        assert len(contexts(down)) == 3
        assert time.perf_counter() - began < 2.5


async def test_a_memory_that_cannot_be_opened(shopping_list: Path) -> None:
    frame = first_words()
    down, _ = await run_test(
        session(shopping_list, "thursday"), frames_to_send=[frame], start_timeout=60
    )
    assert contexts(down) == [frame]


async def test_the_opening_block_has_sources(memory: Memory) -> None:
    await taught(memory)
    await memory.settle()
    async with scene(session(memory, "thursday")) as stage:
        await stage.worker.queue_frame(LLMRunFrame())
        await stage.reply()
        await stage.exchange("How do you know that?")
        assert "from what" in blocks(stage.model.shown[1])[-1]
