"""HotMem in a real pipeline: what the model sees, what is remembered, what is learnt, and what happens when memory fails."""

import asyncio
import time
from pathlib import Path

import pytest
import structlog
from pipecat.frames.frames import (
    CancelFrame,
    Frame,
    InterruptionFrame,
    LLMContextAssistantTurnFrame,
    LLMContextFrame,
    LLMContextUserTurnFrame,
    LLMMessagesAppendFrame,
    TextFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext, LLMSpecificMessage
from pipecat.tests.utils import SleepFrame, run_test

from hotmem import Memory, Turn, Usage
from hotmem.pipecat import HotMemProcessor
from hotmem.pipecat import processor as module
from hotmem.types import ContextBlock
from tests.pipecat.daniel import PATIENT_MS, SMALL_TALK, TOLD, blocks, daniels, tell
from tests.pipecat.scene import scene, turns_in


def asking(text: str, *, speculation: bool = False) -> LLMContextFrame:
    return LLMContextFrame(context=LLMContext(messages=[{"role": "user", "content": text}]), speculation=speculation)


def contexts(frames: "list[Frame]") -> list[LLMContextFrame]:
    return [frame for frame in frames if isinstance(frame, LLMContextFrame)]


async def test_ten_turns_leave_the_shared_context_free_of_memory(memory: Memory) -> None:
    await tell(memory)
    async with scene(daniels(memory)) as bot:
        for _ in range(5):
            await bot.exchange("What is my dog called?")
            await bot.exchange("Where does my sister live?")
    assert len(bot.context.get_messages()) == 20
    assert "<memory>" not in str(bot.context.get_messages())
    assert [len(blocks(messages)) for messages in bot.model.shown] == [1] * 10
    assert all(messages[-2]["role"] == "developer" and messages[-1]["role"] == "user" for messages in bot.model.shown)
    assert "Rocky" in blocks(bot.model.shown[0])[0]
    assert "Boston" in blocks(bot.model.shown[1])[0]


async def test_no_stale_block_stays_when_none_is_needed(memory: Memory) -> None:
    await tell(memory)
    async with scene(daniels(memory)) as bot:
        await bot.exchange("What is my dog called?")
        await bot.exchange(SMALL_TALK)
    assert blocks(bot.model.shown[0])
    assert not blocks(bot.model.shown[1])


async def test_turns_are_remembered_once_and_the_block_never(memory: Memory, database: Path) -> None:
    await tell(memory)
    async with scene(daniels(memory), ["She is called Rocky.", "In Boston."]) as bot:
        await bot.exchange("What is my dog called?")
        await bot.worker.queue_frame(LLMMessagesAppendFrame(messages=[{"role": "developer", "content": "Be brief."}], run_llm=False))
        await bot.exchange("Where does my sister live?")
    assert turns_in(database) == [
        *(("user", text) for text in TOLD),
        ("user", "What is my dog called?"),
        ("assistant", "She is called Rocky."),
        ("user", "Where does my sister live?"),
        ("assistant", "In Boston."),
    ]


async def test_the_last_reply_is_kept_and_the_session_ended(memory: Memory, database: Path) -> None:
    async with scene(daniels(memory), ["I will remember that your dog is called Rocky."], word_s=0.02) as bot:
        await bot.say("My dog is called Rocky and she is three years old.")
        await asyncio.sleep(0.8)
    await memory.settle()
    assert [role for role, _ in turns_in(database)] == ["user", "assistant"]
    assert await memory.summary(user_id="daniel", session_id="thursday") is not None


async def test_interruption_credits_only_what_was_heard(memory: Memory, database: Path) -> None:
    await tell(memory)
    processor = daniels(memory)
    usages: list[Usage] = []
    processor.add_event_handler("on_memory_used", lambda _, usage: usages.append(usage))
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


async def test_speculation_gets_memory_but_writes_none(memory: Memory, database: Path) -> None:
    await tell(memory)
    asked = "What is my dog called?"
    turn = LLMContextUserTurnFrame(text=asked, timestamp="2026-03-05T08:00:00Z")
    down, _ = await run_test(daniels(memory), frames_to_send=[asking(asked, speculation=True), SleepFrame(0.3)])
    (guess,) = contexts(list(down))
    assert guess.speculation
    assert "Rocky" in str(guess.context.get_messages())
    assert len(turns_in(database)) == len(TOLD)
    await run_test(daniels(memory), frames_to_send=[asking(asked, speculation=True), turn, SleepFrame(0.3)])
    assert turns_in(database)[len(TOLD) :] == [("user", asked)]


async def test_a_tool_call_comes_back_to_the_same_block(memory: Memory) -> None:
    await tell(memory)
    processor = daniels(memory)
    recalled: list[ContextBlock] = []
    processor.add_event_handler("on_memory_recalled", lambda _, block, __: recalled.append(block))
    first, back = asking("What is my dog called?"), asking("What is my dog called?")
    back.context.get_messages().append({"role": "tool", "content": "{}", "tool_call_id": "1"})
    down, _ = await run_test(processor, frames_to_send=[first, back, SleepFrame(0.3)])
    before, after = (frame.context.get_messages() for frame in contexts(list(down)))
    assert before[0] == after[0] == {"role": "developer", "content": recalled[0].text}
    assert len(recalled) == 1


async def test_odd_contexts_pass(memory: Memory) -> None:
    await tell(memory)
    odd = [
        LLMContext(),
        LLMContext(messages=[{"role": "user", "content": "  "}]),
        LLMContext(messages=[LLMSpecificMessage("google", {"parts": []})]),
        LLMContext(messages=[{"role": "user", "content": [{"type": "text", "text": "What is my dog called?"}]}]),
    ]
    sent = [LLMContextFrame(context=context) for context in odd]
    processor = daniels(memory)
    down, _ = await run_test(processor, frames_to_send=sent)
    assert [frame.context is context for frame, context in zip(contexts(list(down)), odd, strict=True)] == [True, True, True, False]
    assert processor.failures == 0


class Raising(Memory):
    """A memory whose disk has gone."""

    async def recall(self, *_: object, **__: object) -> ContextBlock:
        raise OSError("peanuts")

    async def remember(self, _: Turn) -> bool:
        raise OSError("peanuts")


class Hanging(Memory):
    """A memory that never answers."""

    async def recall(self, *_: object, **__: object) -> ContextBlock:
        await asyncio.Event().wait()
        raise AssertionError

    async def remember(self, _: Turn) -> bool:
        await asyncio.Event().wait()
        return True


@pytest.mark.parametrize(("kind", "failures", "late"), [(Raising, 2, 0), (Hanging, 1, 2)])
async def test_a_failing_memory_lets_every_frame_through_in_time(
    kind: type[Memory], failures: int, late: int, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PARTING_S", 0.3)
    processor = daniels(kind(database), deadline_ms=100)
    turn = LLMContextUserTurnFrame(text="I am allergic to peanuts.", timestamp="2026-03-05T08:00:00Z")
    sent = [turn, asking("Am I allergic?"), TextFrame("on"), asking("To what?"), TextFrame("and on")]
    started = time.perf_counter()
    with structlog.testing.capture_logs() as logs:
        down, _ = await run_test(processor, frames_to_send=sent)
    assert [type(frame) for frame in down] == [type(frame) for frame in sent]
    assert time.perf_counter() - started < 3
    assert processor.failures >= failures
    assert processor.late == late
    assert "peanuts" not in str(logs)


async def test_a_hanging_memory_delays_a_context_by_the_deadline_at_most(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PARTING_S", 0.1)
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


async def test_opens_and_closes_the_memory_of_a_path(database: Path) -> None:
    processor = daniels(database)
    turn = LLMContextUserTurnFrame(text="My dog is called Rocky.", timestamp="2026-03-05T08:00:00Z")
    await run_test(processor, frames_to_send=[turn], start_timeout=60)
    assert turns_in(database) == [("user", "My dog is called Rocky.")]
    assert processor.failures == 0


async def test_a_file_that_is_no_database_leaves_the_bot_without_memory(shopping_list: Path) -> None:
    processor = daniels(shopping_list)
    frame = asking("What is my dog called?")
    down, _ = await run_test(processor, frames_to_send=[frame], start_timeout=60)
    assert contexts(list(down)) == [frame]
    assert processor.failures == 1


async def test_interruptions_between_turns_do_no_harm(memory: Memory, database: Path) -> None:
    await tell(memory)
    reply = LLMContextAssistantTurnFrame(text="She is called Rocky.", timestamp="")
    processor = daniels(memory)
    usages: list[Usage] = []
    processor.add_event_handler("on_memory_used", lambda _, usage: usages.append(usage))
    frames = [InterruptionFrame(), asking("What is my dog called?"), SleepFrame(0.5), reply, SleepFrame(0.3), InterruptionFrame(), SleepFrame(0.1)]
    await run_test(processor, frames_to_send=frames)
    assert [usage.interrupted for usage in usages] == [False]
    assert turns_in(database)[-1] == ("assistant", "She is called Rocky.")


async def test_cancelling_keeps_what_was_said(memory: Memory, database: Path) -> None:
    turn = LLMContextUserTurnFrame(text="My dog is called Rocky.", timestamp="2026-03-05T08:00:00Z")
    await run_test(daniels(memory), frames_to_send=[turn, SleepFrame(0.1), CancelFrame()], send_end_frame=False)
    assert turns_in(database) == [("user", "My dog is called Rocky.")]


async def test_one_log_line_a_recall_without_speech(memory: Memory) -> None:
    await tell(memory)
    with structlog.testing.capture_logs() as logs:
        await run_test(daniels(memory), frames_to_send=[asking("What is my dog called?"), SleepFrame(0.3)])
    (line,) = [entry for entry in logs if entry["event"] == "recall"]
    assert line["items"] >= 1
    assert line["top_source"] in ("facts", "sessions", "semantic", "verbatim")
    assert {"hits", "merged", "tokens", "ms"} <= line.keys()
    assert "Rocky" not in str(logs)


async def test_two_users_never_meet(memory: Memory) -> None:
    await tell(memory)
    processor = HotMemProcessor(memory, user_id="eve", deadline_ms=PATIENT_MS)
    down, _ = await run_test(processor, frames_to_send=[asking("What is my dog called?"), SleepFrame(0.3)])
    assert "Rocky" not in str(contexts(list(down))[0].context.get_messages())
