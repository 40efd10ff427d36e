"""Pipelines leave no tasks and threads behind."""

import asyncio
import threading
from pathlib import Path

import pytest
from pipecat.frames.frames import (
    CancelFrame,
    InterimTranscriptionFrame,
    InterruptionFrame,
    LLMContextUserTurnFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.tests.utils import SleepFrame

from hotmem import Memory
from hotmem.pipecat import HotMemProcessor
from tests.conversation import models
from tests.pipecat.daniel import asking, blocks, contexts, daniels, events
from tests.pipecat.failing import Slow
from tests.pipecat.scene import NOW, turns_in
from tests.pipeline_runs import run_test
from tests.thoroughness import examples

pytestmark = pytest.mark.real_clock

QUESTION = "What is my dog called?"


def whole(processor: HotMemProcessor) -> Pipeline:
    """HotMem's processors of a pipeline."""
    return Pipeline([processor.listener, processor, processor.after_model])


def running() -> list[str]:
    """Names of HotMem's live tasks and threads, except those of an open memory."""
    own = ("hotmem-reader_", "hotmem-writer_", "hotmem-worker", "hotmem-loop", "hotmem-spool")
    names = [task.get_name() for task in asyncio.all_tasks()] + [
        thread.name for thread in threading.enumerate()
    ]
    return [name for name in names if "hotmem" in name and not name.startswith(own)]


@pytest.mark.timeout(900)  # 20 s on an idle machine
async def test_many_pipelines_leave_no_task_or_thread(told: Memory) -> None:
    tasks, threads = len(asyncio.all_tasks()), 0
    for number in range(examples(1000)):
        heard = [InterimTranscriptionFrame(QUESTION, "user", NOW)]
        await run_test(
            whole(daniels(told)),
            frames_to_send=[*heard, asking(QUESTION)] if number % 10 == 0 else heard,
        )
        if number == 100:
            threads = own_threads()
    await told.settle()
    await asyncio.sleep(0.1)
    assert len(asyncio.all_tasks()) == tasks
    assert own_threads() < threads + 20, (
        "pools still grow to their limits; the pipelines since the hundredth leave none"
    )
    assert running() == []


def own_threads() -> int:
    """Number of threads beside the event loop's pool, which grows to its limit as it is needed."""
    return sum(not thread.name.startswith("asyncio_") for thread in threading.enumerate())


async def test_opening_and_closing_a_file_leaves_no_thread(database: Path) -> None:
    turn = LLMContextUserTurnFrame(text="I have a cat.", timestamp=NOW)
    for _ in range(3):
        await run_test(whole(daniels(database)), frames_to_send=[turn])
    assert not [thread.name for thread in threading.enumerate() if "hotmem" in thread.name]
    assert turns_in(database) == [("user", "I have a cat.")] * 3


async def test_a_pipeline_cancelled_during_a_recall_ends(told: Memory, database: Path) -> None:
    async with Slow(database, **models(told), seconds=5) as slow:
        processor = daniels(slow)
        await run_test(
            whole(processor),
            frames_to_send=[asking(QUESTION), SleepFrame(0.1), CancelFrame()],
            send_end_frame=False,
        )
        assert running() == []
    assert processor.failures == 0


async def test_a_prefetch_ends_with_the_pipeline(memory: Memory, database: Path) -> None:
    async with Slow(database, **models(memory), seconds=5) as slow:
        processor = daniels(slow)
        await run_test(
            whole(processor),
            frames_to_send=[InterimTranscriptionFrame(QUESTION, "user", NOW), SleepFrame(0.3)],
        )
        assert running() == []
    assert processor.failures == 0


async def test_the_interruption_at_the_start_of_a_turn_does_not_cancel_its_prefetch(
    told: Memory,
) -> None:
    processor = daniels(told)
    timings = events(processor, "on_memory_recalled", 1)
    heard = InterimTranscriptionFrame(QUESTION, "user", NOW)
    turn = LLMContextUserTurnFrame(text=QUESTION, timestamp=NOW)
    frames = [
        heard,
        SleepFrame(0.2),
        InterruptionFrame(),
        SleepFrame(0.8),
        turn,
        asking(QUESTION),
        SleepFrame(0.2),
    ]
    down, _ = await run_test(whole(processor), frames_to_send=frames)
    assert timings[0].prefetch_ms > sum(timings[0].stages_ms.values()) > 0
    (shown,) = contexts(down)
    assert len(blocks([dict(message) for message in shown.context.get_messages()])) == 1  # type: ignore[arg-type]
