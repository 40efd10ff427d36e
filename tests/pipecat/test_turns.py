"""Kinds of turns in a pipeline: the injected block, its timing and the stored turns."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pipecat.frames.frames import (
    EndFrame,
    InterimTranscriptionFrame,
    LLMContextFrame,
    LLMRunFrame,
    ProposedUserStartedSpeakingFrame,
    ProposedUserStoppedSpeakingFrame,
    TranscriptionFrame,
)
from pipecat.pipeline.parallel_pipeline import ParallelPipeline
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.tests.utils import SleepFrame
from pipecat.turns.user_turn_strategies import EagerUserTurnStrategies
from pipecat.workers.runner import WorkerRunner

from hotmem import Memory, Turn
from hotmem.models import Language
from hotmem.pipecat import HotMemProcessor
from hotmem.pipecat.turn_state import RecallTiming
from hotmem.storage.sqlite.database import SqliteDatabase
from hotmem.types import ContextBlock
from tests.conversation import models, remember
from tests.logs import captured_logs
from tests.pipecat.daniel import MONDAY, THURSDAY, TOLD, asking, blocks, daniels, events
from tests.pipecat.failing import Breaking, Raising, Slow
from tests.pipecat.scene import NOW, TOOL_CALL, ScriptedModel, scene, turns_in
from tests.pipeline_runs import run_test

QUESTION = "What is my dog called?"
GROWING = ("what", "what is", "what is my", "what is my dog", "what is my dog called")


class Recalls(list[tuple[ContextBlock, RecallTiming]]):
    """The recalls of a processor."""

    def __init__(self, processor: HotMemProcessor) -> None:
        super().__init__()
        processor.add_event_handler(
            "on_memory_recalled", lambda _, block, timing: self.append((block, timing))
        )


@pytest.mark.real_clock
async def test_a_prefetched_recall_delays_no_frame(
    told: Memory,
) -> None:
    processor = daniels(told)
    recalls = Recalls(processor)
    async with scene(processor) as bot:
        await bot.speak(*GROWING, final=QUESTION, pause_s=0.6)
        await bot.reply()
    (block, timing) = recalls[0]
    assert "Rocky" in blocks(bot.model.shown[0])[0]
    assert block.query == QUESTION
    assert timing.prefetch_ms > sum(timing.stages_ms.values()) > 0
    assert timing.waited_ms < 20


async def test_a_final_transcript_without_interims_is_prefetched_immediately(
    told: Memory,
) -> None:
    processor = daniels(told)
    recalls = Recalls(processor)
    async with scene(processor) as bot:
        await bot.speak(final=QUESTION)
        await bot.reply()
    assert "Rocky" in blocks(bot.model.shown[0])[0]
    assert recalls[0][1].prefetch_hit, "it began with the transcript, not with the context"


async def test_a_different_final_transcript_starts_another_recall(
    told: Memory, database: Path
) -> None:
    async with scene(daniels(told)) as bot:
        await bot.speak(*GROWING, final="Where does my sister live?", pause_s=0.4)
        await bot.reply()
    assert "Boston" in blocks(bot.model.shown[0])[0]
    assert turns_in(database)[len(TOLD)] == ("user", "Where does my sister live?")


async def test_several_final_transcripts_are_one_utterance(told: Memory) -> None:
    processor = daniels(told)
    recalls = Recalls(processor)
    async with scene(processor) as bot:
        await bot.worker.queue_frame(ProposedUserStartedSpeakingFrame())
        for text in ("Well, tell me,", "what is my dog called?"):
            await bot.worker.queue_frame(InterimTranscriptionFrame(text, "user", NOW))
            await bot.worker.queue_frame(TranscriptionFrame(text, "user", NOW))
        await asyncio.sleep(0.5)
        await bot.worker.queue_frame(ProposedUserStoppedSpeakingFrame())
        await bot.reply()
    assert [block.query for block, _ in recalls] == ["Well, tell me, what is my dog called?"]
    assert recalls[0][1].waited_ms < 50
    assert "Rocky" in blocks(bot.model.shown[0])[0]


async def test_interims_without_a_final_are_not_stored(told: Memory, database: Path) -> None:
    async with scene(daniels(told)) as bot:
        await bot.worker.queue_frame(InterimTranscriptionFrame("my bank code is", "user", NOW))
        await asyncio.sleep(0.3)
        await bot.exchange("Where does my sister live?")
    assert "Boston" in blocks(bot.model.shown[0])[0]
    assert [text for _, text in turns_in(database)] == [
        *TOLD,
        "Where does my sister live?",
        "All right.",
    ]


@pytest.mark.real_clock
async def test_transcripts_out_of_order(told: Memory) -> None:
    async with scene(daniels(told)) as bot:
        await bot.worker.queue_frame(ProposedUserStartedSpeakingFrame())
        await bot.worker.queue_frame(TranscriptionFrame(QUESTION, "user", NOW))
        await bot.worker.queue_frame(InterimTranscriptionFrame("what is my", "user", NOW))
        await bot.worker.queue_frame(ProposedUserStoppedSpeakingFrame())
        await bot.reply()
        await bot.exchange("Where does my sister live?")
    assert "Rocky" in blocks(bot.model.shown[0])[0]
    assert "Boston" in blocks(bot.model.shown[1])[0]


async def test_an_empty_turn_is_not_recalled_or_stored(told: Memory, database: Path) -> None:
    processor = daniels(told)
    recalls = Recalls(processor)
    async with scene(processor) as bot:
        await bot.speak("um", final="")
        await bot.worker.queue_frame(LLMRunFrame())
        await bot.reply()
    assert recalls == [] and processor.failures == 0
    assert [role for role, _ in turns_in(database)[len(TOLD) :]] == ["assistant"]


async def test_a_confirmed_eager_turn_has_memory_and_is_stored_once(
    told: Memory, database: Path
) -> None:
    async with scene(daniels(told), turns=EagerUserTurnStrategies()) as bot:
        await bot.guess("what is my dog called", wait_s=0.5)
        assert turns_in(database) == [("user", text) for text in TOLD], (
            "a speculative turn is not stored"
        )
        await bot.commit(QUESTION, guessed=True)
        await asyncio.sleep(0.5)
    assert [len(blocks(messages)) for messages in bot.model.shown] == [1], "no second context comes"
    assert "Rocky" in blocks(bot.model.shown[0])[0]
    assert turns_in(database)[len(TOLD) :] == [("user", QUESTION)]


async def test_a_cancelled_eager_turn_is_recalled_again_with_the_final_words(
    told: Memory, database: Path
) -> None:
    async with scene(daniels(told), turns=EagerUserTurnStrategies()) as bot:
        await bot.guess("what is my dog", wait_s=0.3)
        await bot.commit("What is my dog allergic to, and am I allergic?", guessed=False)
        await bot.reply()
    assert len(bot.model.shown) == 2
    assert "peanuts" in blocks(bot.model.shown[1])[0]
    assert [text for role, text in turns_in(database)[len(TOLD) :] if role == "user"] == [
        "What is my dog allergic to, and am I allergic?"
    ]


async def test_a_speculative_yes_deletes_nothing(told: Memory, database: Path) -> None:
    async with scene(daniels(told), turns=EagerUserTurnStrategies()) as bot:
        await bot.exchange("Forget everything about me.")
        await bot.guess("yes", wait_s=0.4)
        await bot.commit("Yes but keep the dog, what is my dog called?", guessed=False)
        await bot.reply()
    assert ("user", TOLD[0]) in turns_in(database)


async def test_a_confirmed_speculative_yes_deletes(told: Memory, database: Path) -> None:
    async with scene(daniels(told), turns=EagerUserTurnStrategies()) as bot:
        await bot.exchange("Forget everything about me.")
        await bot.guess("yes", wait_s=0.3)
        assert ("user", TOLD[0]) in turns_in(database)
        await bot.commit("Yes.", guessed=True)
        await asyncio.sleep(0.5)
        assert ("user", TOLD[0]) not in turns_in(database)
        await bot.exchange("Okay.")
    assert "deleted" in blocks(bot.model.shown[-1])[0], "the LLM gets the outcome on the next turn"


async def test_a_preamble_before_a_tool_call_is_not_the_answer_for_feedback(told: Memory) -> None:
    processor = daniels(told)
    usages = events(processor, "on_memory_used")
    async with scene(
        processor, [f"Let me check. {TOOL_CALL}", "It is six, and your dog is called Rocky."]
    ) as bot:
        await bot.say(QUESTION)
        while "Rocky" not in await bot.reply():
            pass
    assert [bool(usage.used) for usage in usages] == [True]


@pytest.mark.real_clock
async def test_a_late_block_does_not_answer_another_question(database: Path, told: Memory) -> None:
    slow = Slow(database, **models(told), seconds=0.4)
    async with slow, scene(daniels(slow, deadline_ms=100)) as bot:
        await bot.exchange(QUESTION)
        await asyncio.sleep(0.8)
        await bot.exchange("Where does my sister live?")
    assert [len(blocks(messages)) for messages in bot.model.shown] == [0, 0]


async def test_several_llm_runs_of_a_turn_share_one_recall(told: Memory) -> None:
    processor = daniels(told)
    recalls = Recalls(processor)
    async with scene(processor, ["Let me see.", "Rocky."]) as bot:
        await bot.exchange(QUESTION)
        await bot.worker.queue_frame(LLMRunFrame())
        await bot.reply()
    assert len(recalls) == 1
    assert blocks(bot.model.shown[0]) == blocks(bot.model.shown[1]) == [recalls[0][0].text]


async def test_a_tool_result_reaches_the_llm_with_the_block_of_its_turn(
    told: Memory,
) -> None:
    processor = daniels(told)
    recalls = Recalls(processor)
    async with scene(processor, [TOOL_CALL, "It is six, and your dog is called Rocky."]) as bot:
        await bot.exchange(QUESTION)
    assert len(recalls) == 1
    assert [len(blocks(messages)) for messages in bot.model.shown] == [1, 1]
    assert any(message["role"] == "tool" for message in bot.model.shown[1])
    assert "<memory>" not in str(bot.context.get_messages())


async def test_branches_of_a_parallel_pipeline_see_the_same_block(told: Memory) -> None:
    models = ScriptedModel(["Rocky."]), ScriptedModel(["Rocky."])
    processor = daniels(told)
    pipeline = Pipeline([processor, ParallelPipeline([models[0]], [models[1]])])  # type: ignore[no-untyped-call]
    worker = PipelineWorker(pipeline, enable_rtvi=False, cancel_on_idle_timeout=False)
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    run = asyncio.create_task(runner.run())
    await worker.queue_frame(
        LLMContextFrame(LLMContext(messages=[{"role": "user", "content": QUESTION}]))
    )
    await worker.queue_frame(EndFrame())
    await asyncio.wait_for(run, 30)
    assert len(blocks(models[0].shown[0])) == 1
    assert models[0].shown == models[1].shown


async def test_a_question_repeated_after_context_summarisation_is_a_new_turn(
    told: Memory,
) -> None:
    processor = daniels(told)
    recalls = Recalls(processor)
    async with scene(processor) as bot:
        await bot.speak("what is my", final=QUESTION)
        await bot.reply()
        bot.context.set_messages([])
        text, tuesday = "My dog is called Bruno these days.", MONDAY + timedelta(days=1)
        await remember(told, Turn("daniel", "tuesday", "user", text, tuesday, speaker="Daniel"))
        await bot.speak("what is my", final=QUESTION)
        await bot.reply()
    assert len(recalls) == 2
    assert "Bruno" not in blocks(bot.model.shown[0])[0]
    assert "Bruno" in blocks(bot.model.shown[1])[0]


async def test_memories_removed_by_context_summarisation_are_injected_again(memory: Memory) -> None:
    async with scene(daniels(memory), ["Nice name."]) as bot:
        await bot.exchange("My dog is called Rocky.")
        await asyncio.sleep(0.3)
        await memory.settle()
        await bot.exchange(QUESTION)
        seen = "Rocky" in str(blocks(bot.model.shown[-1]))
        bot.context.set_messages([])
        await bot.exchange("Tell me, what is my dog called?")
    assert not seen, "still visible to the LLM"
    assert "Rocky" in str(blocks(bot.model.shown[-1]))


async def test_a_context_sent_again_after_a_reconnect_has_the_same_block(told: Memory) -> None:
    processor = daniels(told)
    recalls = Recalls(processor)
    context = LLMContext(messages=[{"role": "user", "content": QUESTION}])
    down, _ = await run_test(
        processor,
        frames_to_send=[
            LLMContextFrame(context),
            SleepFrame(0.2),
            LLMContextFrame(context),
            SleepFrame(0.2),
        ],
    )
    first, second = (
        frame.context.get_messages() for frame in down if isinstance(frame, LLMContextFrame)
    )
    assert first == second and len(first) == 2
    assert len(recalls) == 1


async def test_two_bots_of_one_process_share_only_the_file(told: Memory) -> None:
    eve = HotMemProcessor(told, user_id="eve", session_id="eves")
    async with scene(daniels(told)) as daniels_bot, scene(eve) as eves_bot:
        await asyncio.gather(daniels_bot.exchange(QUESTION), eves_bot.exchange(QUESTION))
    assert "Rocky" in str(blocks(daniels_bot.model.shown[0]))
    assert "Rocky" not in str(eves_bot.model.shown)


async def test_two_speakers_are_stored_separately(memory: Memory) -> None:
    processor = daniels(memory, speakers={"p1": "Daniel", "p2": "Mia"})
    async with scene(processor) as bot:
        await bot.speak(final="My favourite fruit is mango.", speaker="p2")
        await bot.reply()
        await bot.worker.queue_frame(ProposedUserStartedSpeakingFrame())
        await bot.worker.queue_frame(TranscriptionFrame("I like pears.", "p1", NOW))
        await bot.worker.queue_frame(TranscriptionFrame("And I like plums.", "p2", NOW))
        await bot.worker.queue_frame(ProposedUserStoppedSpeakingFrame())
        await bot.reply()
    await memory.settle()
    block = await memory.recall("What fruit does Mia like?", user_id="daniel", at=THURSDAY)
    said = {item.text: item.speaker for item in block.items}
    assert any("mango" in text and speaker == "Mia" for text, speaker in said.items())
    assert any("plums" in text and speaker == "Mia" for text, speaker in said.items())
    assert not any("pears" in text and speaker == "Mia" for text, speaker in said.items())


@pytest.mark.real_clock
async def test_a_late_block_is_injected_on_a_turn_that_needs_no_memory(
    database: Path, told: Memory
) -> None:
    slow = Slow(database, **models(told), seconds=0.4)
    async with slow, scene(daniels(slow, deadline_ms=100)) as bot:
        await bot.exchange(QUESTION)
        await asyncio.sleep(0.8)
        slow.seconds = 0.0
        await bot.exchange("Okay.", "Thanks.")
    assert [len(blocks(messages)) for messages in bot.model.shown] == [0, 1, 0]
    assert "Rocky" in blocks(bot.model.shown[1])[0]


@pytest.mark.real_clock
async def test_a_late_block_is_injected_after_a_tool_call(database: Path, told: Memory) -> None:
    async with Slow(database, **models(told), seconds=0.4) as slow:
        down, _ = await run_test(
            daniels(slow, deadline_ms=100),
            frames_to_send=[asking(QUESTION), SleepFrame(3.0), asking(QUESTION), SleepFrame(0.2)],
        )
    assert [
        len(blocks(messages(frame))) for frame in down if isinstance(frame, LLMContextFrame)
    ] == [0, 1]


async def test_a_deadline_of_zero_takes_what_is_ready(told: Memory) -> None:
    async with scene(daniels(told, deadline_ms=0)) as bot:
        await bot.exchange("Where does my sister live?")
        await bot.speak(*GROWING, final=QUESTION, pause_s=0.6)
        await bot.reply()
    assert [len(blocks(messages)) for messages in bot.model.shown] == [0, 1]
    assert "Rocky" in blocks(bot.model.shown[1])[0]


async def test_every_turn_of_a_user_who_keeps_interrupting_is_stored(
    told: Memory, database: Path
) -> None:
    processor = daniels(told)
    said = [f"Wait, number {number} is mine." for number in range(12)]
    async with scene(processor, ["I think that " * 40] * 12, word_s=0.01) as bot:
        for text in said:
            await bot.speak(text[:10], final=text, pause_s=0.05)
            await asyncio.sleep(0.1)
    assert [text for role, text in turns_in(database)[len(TOLD) :] if role == "user"] == said
    assert processor.failures == 0


async def test_a_monologue_of_ten_minutes_is_prefetched_and_stored(
    told: Memory, database: Path
) -> None:
    words = ["the weather was fine and we walked along the river for a while" for _ in range(120)]
    words = " ".join((*words, QUESTION)).split()
    processor = daniels(told)
    recalls = Recalls(processor)
    async with scene(processor) as bot:
        await bot.worker.queue_frame(ProposedUserStartedSpeakingFrame())
        for end in (*range(3, len(words), 3), len(words)):
            await bot.worker.queue_frame(
                InterimTranscriptionFrame(" ".join(words[:end]), "user", NOW)
            )
        await asyncio.sleep(1.5)
        await bot.worker.queue_frame(
            TranscriptionFrame(" ".join(words), "user", NOW, finalized=True)
        )
        await bot.worker.queue_frame(ProposedUserStoppedSpeakingFrame())
        await bot.reply()
    assert "Rocky" in blocks(bot.model.shown[0])[0]
    assert recalls[0][1].waited_ms < 100
    assert turns_in(database)[len(TOLD)] == ("user", " ".join(words))


async def test_a_clock_that_jumps_back_loses_no_turn(memory: Memory, database: Path) -> None:
    times = iter([THURSDAY, datetime(1970, 1, 2, tzinfo=UTC), THURSDAY + timedelta(days=900)] * 20)
    processor = daniels(memory, clock=lambda: next(times))
    async with scene(processor) as bot:
        for number in range(4):
            await bot.speak(f"I have {number}", final=f"I have {number} cats.")
            await bot.reply()
    assert len(turns_in(database)) == 8
    assert processor.failures == 0


async def test_a_slow_prefetch_delays_no_frame(database: Path, told: Memory) -> None:
    async with Slow(database, **models(told), seconds=2.0) as slow:
        processor = daniels(slow, deadline_ms=100)
        await _spoken_in_time(processor)
    assert [text for role, text in turns_in(database)[len(TOLD) :] if role == "user"] == [
        QUESTION
    ] * 3
    assert processor.failures == 0


async def test_a_failed_prefetch_delays_no_frame(database: Path) -> None:
    processor = daniels(Raising(database), deadline_ms=100)
    await _spoken_in_time(processor)
    assert processor.failures > 0


@pytest.mark.real_clock
async def test_a_slow_disk_delays_no_frame(told: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    read = SqliteDatabase.read_here

    def slowly(*given: object, **named: object) -> object:
        time.sleep(2)
        return read(*given, **named)  # type: ignore[arg-type]

    processor = daniels(told, deadline_ms=100)
    with monkeypatch.context() as patch:
        patch.setattr(SqliteDatabase, "read_here", slowly)
        await _spoken_in_time(processor)
    assert processor.late


async def test_a_failing_encoder_delays_no_frame(database: Path, language: Language) -> None:
    async with Memory.open(database, encoder=Breaking(), language=language) as memory:
        processor = daniels(memory, deadline_ms=100)
        with captured_logs() as logs:
            await _spoken_in_time(processor)
        assert processor.failures > 0
        assert "dog" not in str(logs)
    assert [text for role, text in turns_in(database) if role == "user"] == [QUESTION] * 3


async def _spoken_in_time(processor: HotMemProcessor) -> None:
    async with scene(processor) as bot:
        for _ in range(3):
            began = time.perf_counter()
            await bot.speak(*GROWING, final=QUESTION, pause_s=0.05)
            await bot.reply()
            assert time.perf_counter() - began < 1.0


def messages(frame: LLMContextFrame) -> list[dict[str, str]]:
    return [dict(message) for message in frame.context.get_messages()]  # type: ignore[arg-type]
