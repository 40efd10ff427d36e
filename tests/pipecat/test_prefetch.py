"""When a prefetch starts, and which utterance it answers."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from hotmem import Memory
from hotmem.pipecat.recall_session import RecallSession
from hotmem.pipecat.session_settings import Conversation, MemoryHandle, SessionSettings
from hotmem.pipecat.session_start import SessionStart
from hotmem.pipecat.turn_state import FIRST_SETTLE_S, Prefetch, RecallTask, Utterance
from hotmem.pipecat.voice_commands import VoiceCommands
from hotmem.types import ContextBlock
from hotmem.understanding.turn_retention import TurnRetention
from tests.clock import VirtualClock
from tests.pipecat.daniel import PATIENT_MS, SMALL_TALK, THURSDAY, asking

T = TypeVar("T")


class Recalls:
    """Recalls that run until they are cancelled."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.tasks: list[RecallTask] = []

    def schedule(
        self, prefetch: Prefetch, text: str, *, immediately: bool = False, turn: int = 0
    ) -> None:
        prefetch.schedule(
            Utterance(text, turn=turn), lambda: self._start(text), immediately=immediately
        )

    def _start(self, text: str) -> RecallTask:
        self.started.append(text)
        self.tasks.append(asyncio.create_task(self._run()))
        return self.tasks[-1]

    async def _run(self) -> ContextBlock | None:
        await asyncio.Event().wait()
        return None


async def test_prefetch_starts_once_no_more_words_come(clock: VirtualClock) -> None:
    recalls, prefetch = Recalls(), Prefetch()
    for text in ("what", "what is", "What is, um,", "What is my dog"):
        recalls.schedule(prefetch, text)
    assert recalls.started == []
    await asyncio.sleep(FIRST_SETTLE_S)
    assert recalls.started == ["What is my dog"]
    recalls.schedule(prefetch, "what is my dog?")
    await asyncio.sleep(FIRST_SETTLE_S)
    assert recalls.started == ["What is my dog"], "the same words"
    prefetch.stop()


async def test_immediate_prefetch_cancels_the_earlier_one() -> None:
    recalls, prefetch = Recalls(), Prefetch()
    for text in ("What is my dog", "What is my dog called?", "what is my dog called"):
        recalls.schedule(prefetch, text, immediately=True)
    await asyncio.sleep(0)
    assert recalls.started == ["What is my dog", "What is my dog called?"]
    assert [task.cancelled() for task in recalls.tasks] == [True, False]
    taken = prefetch.take(Utterance("What is my dog called"))
    assert taken is not None and taken.task is recalls.tasks[1]
    prefetch.stop()


@pytest.mark.parametrize(
    "asked",
    [
        Utterance("What is my dog"),
        Utterance("What is my dog called?", ("new message",)),
        Utterance("What is my dog called?", turn=1),
    ],
)
async def test_other_words_context_or_turn_cancel_the_prefetch(
    asked: Utterance,
) -> None:
    recalls, prefetch = Recalls(), Prefetch()
    recalls.schedule(prefetch, "What is my dog called?", immediately=True)
    assert prefetch.take(asked) is None
    await asyncio.sleep(0)
    assert recalls.tasks[0].cancelled()


async def test_a_taken_prefetch_continues_whatever_is_heard_next(clock: VirtualClock) -> None:
    recalls, prefetch = Recalls(), Prefetch()
    recalls.schedule(prefetch, "What is my dog called?", immediately=True)
    assert prefetch.take(Utterance("What is my dog called?")) is not None
    assert prefetch.take(Utterance("What is my dog called?")) is None, "taken only once"
    recalls.schedule(prefetch, "And my cat?", turn=1)
    await asyncio.sleep(FIRST_SETTLE_S)
    assert recalls.started == ["What is my dog called?", "And my cat?"]
    assert not recalls.tasks[0].done()
    recalls.tasks[0].cancel()
    prefetch.stop()


async def test_silence_is_not_prefetched(clock: VirtualClock) -> None:
    recalls, prefetch = Recalls(), Prefetch()
    recalls.schedule(prefetch, "", immediately=True)
    recalls.schedule(prefetch, "um …", immediately=True)
    recalls.schedule(prefetch, " ")
    await asyncio.sleep(FIRST_SETTLE_S)
    assert recalls.started == []


async def test_a_stopped_prefetch_starts_nothing(clock: VirtualClock) -> None:
    recalls, prefetch = Recalls(), Prefetch()
    recalls.schedule(prefetch, "What is my dog")
    prefetch.stop()
    await asyncio.sleep(FIRST_SETTLE_S)
    assert recalls.started == []


async def test_steady_speech_is_prefetched_once_at_its_end(clock: VirtualClock) -> None:
    recalls, prefetch = Recalls(), Prefetch()
    words = ["what", "is", "my", "dog", "called", "these", "days"]
    for end in range(1, len(words) + 1):
        recalls.schedule(prefetch, " ".join(words[:end]))
        await asyncio.sleep(0.15)
    assert recalls.started == []
    await asyncio.sleep(0.3)
    assert recalls.started == ["what is my dog called these days"]
    prefetch.stop()


async def test_interim_transcripts_at_the_usual_pace_start_one_prefetch(
    clock: VirtualClock,
) -> None:
    recalls, prefetch = Recalls(), Prefetch()
    for text in ("What is", "What is my dog", "What is my dog called"):
        recalls.schedule(prefetch, text)
        await asyncio.sleep(0.45)
    recalls.schedule(prefetch, "What is my dog called?", immediately=True)
    assert recalls.started == ["What is my dog called?"]
    prefetch.stop()


def recall_session(memory: Memory) -> RecallSession:
    """A session whose writes are all done, and whose failures fail the test."""

    def create_task(coroutine: Coroutine[Any, Any, T], name: str, /) -> asyncio.Task[T]:
        return asyncio.create_task(coroutine, name=name)

    async def report_failure(stage: str, error: Exception) -> None:
        raise AssertionError(stage) from error

    async def drain_writes() -> None:
        pass

    handle = MemoryHandle(memory)
    settings = SessionSettings("daniel", "thursday", PATIENT_MS, None, lambda: THURSDAY)
    retention = TurnRetention()
    shared = Conversation(handle, settings, retention, create_task, report_failure)
    commands = VoiceCommands("daniel", "thursday", retention)
    return RecallSession(shared, commands, SessionStart(shared), drain_writes)


async def test_a_late_block_is_not_used_after_a_deletion(told: Memory) -> None:
    recalls = recall_session(told)
    for text in ("What is my dog called?", SMALL_TALK):
        await recalls.end_turn(text)
        turn = await recalls.turn_of(asking(text).context, speculative=False)
        assert turn is not None
        await turn.recall
    assert turn is not None and turn.block is not None and not turn.block.text
    late = await recalls.wait(turn)
    assert late is not None and "Rocky" in late.block.text
    await told.forget(user_id="daniel", entity="Rocky")
    late = await recalls.wait(turn)
    assert late is not None and late.block is turn.block
    await recalls.close()
