"""The processor in a pipeline: injected blocks, stored turns, feedback and failures."""

import time
from pathlib import Path

import pytest
from pipecat.frames.frames import (
    CancelFrame,
    Frame,
    InterruptionFrame,
    LLMContextAssistantTurnFrame,
    LLMContextFrame,
    LLMContextUserTurnFrame,
    TextFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext, LLMSpecificMessage
from pipecat.tests.utils import SleepFrame

from hotmem import Memory
from hotmem.pipecat import shutdown
from tests.logs import captured_logs
from tests.pipecat.daniel import asking, contexts, daniels, events
from tests.pipecat.failing import Hanging, Raising
from tests.pipecat.scene import turns_in
from tests.pipeline_runs import run_test


async def test_unusual_contexts_pass(told: Memory) -> None:
    odd = [
        LLMContext(),
        LLMContext(messages=[{"role": "user", "content": "  "}]),
        LLMContext(messages=[LLMSpecificMessage("google", {"parts": []})]),
        LLMContext(
            messages=[
                {"role": "user", "content": [{"type": "text", "text": "What is my dog called?"}]}
            ]
        ),
    ]
    sent = [LLMContextFrame(context=context) for context in odd]
    processor = daniels(told)
    down, _ = await run_test(processor, frames_to_send=sent)
    assert [
        frame.context is context for frame, context in zip(contexts(down), odd, strict=True)
    ] == [True, True, True, False]
    assert processor.failures == 0


@pytest.mark.parametrize(("kind", "failures", "late"), [(Raising, 2, 0), (Hanging, 1, 2)])
async def test_a_failing_memory_lets_every_frame_through_in_time(
    kind: type[Memory], failures: int, late: int, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutdown, "STEP_TIMEOUT_S", 0.3)
    processor = daniels(kind(database), deadline_ms=100)
    turn = LLMContextUserTurnFrame(
        text="I am allergic to peanuts.", timestamp="2026-03-05T08:00:00Z"
    )
    sent = [
        turn,
        asking("Am I allergic?"),
        TextFrame("on"),
        asking("To what?"),
        TextFrame("and on"),
    ]
    started = time.perf_counter()
    with captured_logs() as logs:
        down, _ = await run_test(processor, frames_to_send=sent)
    assert [type(frame) for frame in down] == [type(frame) for frame in sent]
    assert time.perf_counter() - started < 3
    assert processor.failures >= failures
    assert processor.late == late
    assert "peanuts" not in str(logs)


@pytest.mark.real_clock
async def test_a_memory_given_by_path_is_opened_and_closed(database: Path) -> None:
    processor = daniels(database)
    turn = LLMContextUserTurnFrame(text="My dog is called Rocky.", timestamp="2026-03-05T08:00:00Z")
    await run_test(processor, frames_to_send=[turn])
    assert turns_in(database) == [("user", "My dog is called Rocky.")]
    assert processor.failures == 0


async def test_a_file_that_is_not_a_database_leaves_the_bot_without_memory(
    shopping_list: Path,
) -> None:
    processor = daniels(shopping_list)
    frame = asking("What is my dog called?")
    down, _ = await run_test(processor, frames_to_send=[frame])
    assert contexts(down) == [frame]
    assert processor.failures == 1


async def test_interruptions_between_turns_do_no_harm(told: Memory, database: Path) -> None:
    reply = LLMContextAssistantTurnFrame(text="She is called Rocky.", timestamp="")
    processor = daniels(told)
    usages = events(processor, "on_memory_used")
    frames = [
        InterruptionFrame(),
        asking("What is my dog called?"),
        SleepFrame(0.5),
        reply,
        SleepFrame(0.3),
        InterruptionFrame(),
        SleepFrame(0.1),
    ]
    await run_test(processor, frames_to_send=frames)
    assert [usage.interrupted for usage in usages] == [False]
    assert turns_in(database)[-1] == ("assistant", "She is called Rocky.")


async def test_turns_are_stored_when_the_pipeline_is_cancelled(
    memory: Memory, database: Path
) -> None:
    turn = LLMContextUserTurnFrame(text="My dog is called Rocky.", timestamp="2026-03-05T08:00:00Z")
    await run_test(
        daniels(memory), frames_to_send=[turn, SleepFrame(0.1), CancelFrame()], send_end_frame=False
    )
    assert turns_in(database) == [("user", "My dog is called Rocky.")]


async def test_recall_log_has_no_speech(told: Memory) -> None:
    with captured_logs() as logs:
        await run_test(
            daniels(told), frames_to_send=[asking("What is my dog called?"), SleepFrame(0.3)]
        )
    (line,) = [entry for entry in logs if entry["event"] == "recall finished"]
    assert line["items"] >= 1
    assert line["top_source"] in ("facts", "sessions", "semantic", "verbatim")
    assert {"hits", "merged", "tokens", "recall_ms"} <= line.keys()
    assert "Rocky" not in str(logs)


async def test_quality_counts_recalls_without_results(memory: Memory) -> None:
    processor = daniels(memory)
    usages = events(processor, "on_memory_used")
    frames: list[Frame | SleepFrame] = []
    for question in ("What is the name of Gwendolyn's accountant?", "Good morning!"):
        frames += [
            asking(question),
            SleepFrame(0.4),
            LLMContextAssistantTurnFrame(text="I do not know.", timestamp=""),
            SleepFrame(0.3),
        ]
    await run_test(processor, frames_to_send=frames)
    total = (await memory.learning.quality("daniel")).total()
    assert (total.turns, total.empty) == (1, 1) and usages == []
