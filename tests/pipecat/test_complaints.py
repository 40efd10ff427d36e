"""Known faults of memory integrations for pipecat, as tests."""

import asyncio
import time
from pathlib import Path

import pytest
from pipecat.frames.frames import (
    Frame,
    LLMContextFrame,
    LLMMessagesAppendFrame,
)
from pipecat.tests.utils import SleepFrame

from hotmem import Memory
from hotmem.pipecat import HotMemProcessor, shutdown
from tests.pipecat.daniel import SMALL_TALK, TOLD, asking, blocks, daniels, events
from tests.pipecat.failing import Hanging
from tests.pipecat.scene import scene, turns_in
from tests.pipeline_runs import run_test


async def test_blocks_do_not_accumulate_in_the_context(told: Memory) -> None:
    async with scene(daniels(told)) as bot:
        for _ in range(5):
            await bot.exchange("What is my dog called?", "Where does my sister live?")
    assert len(bot.context.get_messages()) == 20
    assert "<memory>" not in str(bot.context.get_messages())
    assert [len(blocks(messages)) for messages in bot.model.shown] == [1] * 10
    for messages in bot.model.shown:
        assert [message["role"] for message in messages[-2:]] == ["user", "user"]
        assert "<memory>" in messages[-2]["content"], "right before the words of the user"
    assert "Rocky" in blocks(bot.model.shown[0])[0]
    assert "Boston" in blocks(bot.model.shown[1])[0]


async def test_no_block_when_none_is_needed(told: Memory) -> None:
    async with scene(daniels(told)) as bot:
        await bot.exchange("What is my dog called?", SMALL_TALK)
    assert blocks(bot.model.shown[0])
    assert not blocks(bot.model.shown[1])


async def test_neither_block_nor_history_is_stored_as_user_turns(
    told: Memory, database: Path
) -> None:
    async with scene(daniels(told), ["She is called Rocky.", "In Boston."]) as bot:
        await bot.exchange("What is my dog called?")
        await bot.worker.queue_frame(
            LLMMessagesAppendFrame(
                messages=[{"role": "developer", "content": "Be brief."}], run_llm=False
            )
        )
        await bot.exchange("Where does my sister live?")
    assert turns_in(database) == [
        *(("user", text) for text in TOLD),
        ("user", "What is my dog called?"),
        ("assistant", "She is called Rocky."),
        ("user", "Where does my sister live?"),
        ("assistant", "In Boston."),
    ]


async def test_recall_has_a_deadline(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutdown, "STEP_TIMEOUT_S", 0.1)
    processor = daniels(Hanging(database), deadline_ms=150)
    moments: list[float] = []

    def note(_: HotMemProcessor, frame: Frame) -> None:
        if isinstance(frame, LLMContextFrame):
            moments.append(time.perf_counter())

    processor.add_event_handler("on_before_process_frame", note)
    processor.add_event_handler("on_before_push_frame", note)
    await run_test(processor, frames_to_send=[asking("Am I allergic?"), SleepFrame(0.4)])
    came, went = moments
    assert 0.14 < went - came < 0.4


async def test_the_spoken_part_of_an_interrupted_reply_is_stored_and_used_for_feedback(
    told: Memory, database: Path
) -> None:
    processor = daniels(told)
    usages = events(processor, "on_memory_used")
    reply = "Your dog is called Rocky. " + "Let me think. " * 30 + "Your sister lives in Boston."
    async with scene(processor, [reply, "Sorry."], word_s=0.05) as bot:
        await bot.say("What's my dog called, and what's my sister called?")
        await asyncio.sleep(1.5)
        await bot.say("Stop, please.")
        heard = await bot.reply()
        await bot.reply()
    assert heard.startswith("Your dog is called Rocky.")
    assert "Boston" not in heard
    assert ("assistant", heard) in turns_in(database)
    assert usages[0].interrupted
    used = " ".join(use.item.text for use in usages[0].used)
    assert "Rocky" in used
    assert "Boston" not in used


async def test_the_last_reply_is_stored_and_the_session_ends(
    memory: Memory, database: Path
) -> None:
    async with scene(
        daniels(memory), ["I will remember that your dog is called Rocky."], word_s=0.02
    ) as bot:
        await bot.say("My dog is called Rocky and she is three years old.")
        await asyncio.sleep(0.8)
    await memory.settle()
    assert [role for role, _ in turns_in(database)] == ["user", "assistant"]
    assert await memory.lookup.summary(user_id="daniel", session_id="thursday") is not None
