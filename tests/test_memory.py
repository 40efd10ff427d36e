"""The public API, used as a bot uses it."""

import inspect
import json
from datetime import timedelta
from pathlib import Path

import pytest

import hotmem
from hotmem import HotMemError, InvalidInput, Layer, Memory, MemoryClosed, Options, Weights
from hotmem.models import CachedEncoder
from hotmem.options import BackgroundOptions, LearningOptions, ModelOptions, RecallOptions
from hotmem.types import START_WEIGHTS, EvidenceKind, ForgetResult, LayerOutcome
from tests.conversation import START, OpenMemory, file_of, remember, said, turns_told

LEARNING = Options()
LATER = START + timedelta(days=3)


async def test_a_turn_of_one_session_is_recalled_in_the_next(memory: Memory) -> None:
    assert await memory.remember(said("My dog is called Potola.", name="first"))
    assert await memory.end_session(user_id="ana", session_id="monday")
    await memory.settle()

    block = await memory.recall(
        "What's my dog called?", user_id="ana", session_id="thursday", at=LATER, max_tokens=1000
    )

    assert 0 < block.tokens <= 1000
    assert any("Potola" in item.text for item in block.items)
    for item in block.items:
        assert item.text in block.text
        assert item.turn_ids == ("first",)
        assert item.mark in ("high", "medium", "low")
        assert item.layer in item.layers
        assert 0 <= item.relevance <= 1 and 0 <= item.confidence <= 1
    assert (block.user_id, block.session_id, block.query, block.at) == (
        "ana",
        "thursday",
        "What's my dog called?",
        LATER,
    )


async def test_the_trace_describes_the_stages_of_a_recall(memory: Memory) -> None:
    await remember(memory, "My dog is called Potola.")
    trace = (await memory.recall("What's my dog called?", user_id="ana", at=LATER)).trace
    assert trace.analysis is not None and trace.analysis.needs_memory
    assert [report.layer for report in trace.layers] == list(Layer)
    assert {
        report.layer for report in trace.layers if report.outcome is LayerOutcome.ANSWERED
    } == set(trace.analysis.layers)
    assert list(trace.stages) == ["query", "layers", "evidence", "context"]
    assert all(ms >= 0 for ms in trace.stages.values())
    assert trace.candidates > 0 and trace.weights == START_WEIGHTS and trace.reason


async def test_a_turn_is_found_by_its_words_before_background_jobs_run(memory: Memory) -> None:
    await memory.remember(said("The code of the garage door is 4711."))
    block = await memory.recall("What is the code of the garage door?", user_id="ana", at=LATER)
    assert "4711" in block.text


async def test_the_same_turn_is_remembered_once(memory: Memory) -> None:
    turn = said("I bought an aubergine.", name="one")
    assert await memory.remember(turn)
    assert not await memory.remember(turn)
    assert len(await turns_told(memory)) == 1
    with pytest.raises(InvalidInput, match="id of its own"):
        await memory.remember(said("I bought a pumpkin.", name="one"))
    assert await memory.remember(said("I bought a pumpkin.", name="one", user="ben")), (
        "another user's ids are another matter"
    )


async def test_the_latest_fact_holds_in_whatever_order_turns_arrive(memory: Memory) -> None:
    day = 24 * 60
    await remember(
        memory,
        said("I live in Lisbon.", minutes=20 * day, session="third"),
        said("I live in Porto.", minutes=0, session="first"),
        said("I live in Braga.", minutes=10 * day, session="second"),
    )

    held = await memory.memories("ana", past=True)
    over = {one.text.split()[-1]: one.valid_until or one.doubted_at for one in held}
    assert over == {
        "Lisbon.": None,
        "Braga.": START + timedelta(days=20),
        "Porto.": START + timedelta(days=10),
    }
    ordered = await turns_told(memory)
    assert ordered == ["I live in Lisbon.", "I live in Porto.", "I live in Braga."], (
        "an export keeps the order of remembering"
    )


async def test_an_ended_session_is_summarised_again_when_it_grows(memory: Memory) -> None:
    await remember(memory, "We decided to take oak for the kitchen because Rui works with oak.")
    assert await memory.lookup.summary(user_id="ana", session_id="monday") is None
    assert await memory.end_session(user_id="ana", session_id="monday")
    await memory.settle()
    first = await memory.lookup.summary(user_id="ana", session_id="monday")
    assert first is not None and "oak" in " ".join(
        sentence.text for sentence in (*first.narrative, *first.decisions)
    )

    await remember(
        memory,
        said("We decided to paint the bathroom green because Marta likes green.", minutes=1),
        end="monday",
    )
    second = await memory.lookup.summary(user_id="ana", session_id="monday")
    assert second is not None and "green" in " ".join(
        sentence.text for sentence in (*second.narrative, *second.decisions)
    )


async def test_summaries_are_given_for_overview_questions_only(memory: Memory) -> None:
    await remember(
        memory, "We decided to take oak for the kitchen because Rui works with oak.", end="monday"
    )

    async def shown(question: str) -> set[EvidenceKind]:
        return {item.kind for item in (await memory.recall(question, user_id="ana")).items}

    assert EvidenceKind.SUMMARY in await shown("Can you summarise what we said about the kitchen?")
    assert EvidenceKind.SUMMARY not in await shown("What wood is the kitchen made of?")


async def test_an_unknown_session_cannot_be_ended(memory: Memory) -> None:
    assert not await memory.end_session(user_id="nobody", session_id="monday")
    await memory.remember(said("Hello there."))
    assert not await memory.end_session(user_id="ana", session_id="tuesday")
    assert await memory.lookup.summary(user_id="nobody", session_id="monday") is None


async def test_idle_sessions_and_sessions_left_open_by_a_crash_are_summarised(
    database: Path, open_memory: OpenMemory
) -> None:
    async with open_memory(database) as memory:
        await remember(memory, "We decided to take oak for the kitchen because Rui works with oak.")
        assert await memory.lookup.summary(user_id="ana", session_id="monday") is None
    idle = Options(background=BackgroundOptions(idle_s=0.0))
    async with open_memory(database, idle) as memory:
        await memory.settle()
        assert await memory.lookup.summary(user_id="ana", session_id="monday") is not None


async def test_usage_changes_the_weights_and_they_persist(
    database: Path, open_memory: OpenMemory
) -> None:
    async with open_memory(database, LEARNING) as memory:
        assert await memory.learning.weights("ana") == START_WEIGHTS
        await remember(
            memory,
            said("The code of the garage door is 4711.", name="code"),
            said("My sister lives in Braga.", name="sister", minutes=1),
            "The garage door is red, and its code is on a note in the kitchen.",
        )
        block = await memory.recall("What is the code of the garage door?", user_id="ana", at=LATER)
        usage = await memory.feedback(block, reply="It is 4711!", interrupted=False)
        assert usage.block_id == block.id and len(usage.uses) == len(block.items)
        assert [use.item for use in usage.uses] == list(block.items)
        assert usage.used and 0 < usage.precision <= 1 and not usage.interrupted
        assert usage.weights != START_WEIGHTS
        asked = {
            report.layer for report in block.trace.layers if report.outcome is LayerOutcome.ANSWERED
        }
        assert all(
            usage.weights[layer] == START_WEIGHTS[layer] for layer in Layer if layer not in asked
        )
        again = await memory.feedback(block, reply="It is 4711!")
        assert again.weights == usage.weights, "the same reply teaches once"
    async with open_memory(database, LEARNING) as memory:
        assert await memory.learning.weights("ana") == usage.weights
        assert await memory.learning.weights("ben") == START_WEIGHTS
        assert (
            await memory.recall("What's my dog called?", user_id="ana", at=LATER)
        ).trace.weights != START_WEIGHTS


async def test_a_reply_that_was_not_heard_does_not_change_weights(memory: Memory) -> None:
    await remember(memory, "My dog is called Potola.")
    block = await memory.recall("What's my dog called?", user_id="ana", at=LATER)
    usage = await memory.feedback(block, reply="", interrupted=True)
    assert not usage.used and usage.interrupted and usage.precision == 0
    assert usage.weights == START_WEIGHTS


@pytest.mark.parametrize(
    "learning", [LearningOptions(adaptive=False), LearningOptions(analytics=False)]
)
async def test_learning_and_recording_can_be_disabled_separately(
    learning: LearningOptions, database: Path, open_memory: OpenMemory
) -> None:
    async with open_memory(database, Options(learning=learning)) as memory:
        await remember(
            memory,
            "The code of the garage door is 4711.",
            "The garage door is red, and its code is on a note in the kitchen.",
        )
        block = await memory.recall("What is the code of the garage door?", user_id="ana", at=LATER)
        usage = await memory.feedback(block, reply="It is 4711!")
        assert (usage.weights == START_WEIGHTS) is not learning.adaptive
        questions = [
            line async for line in memory.export("ana") if json.loads(line)["type"] == "question"
        ]
        assert bool(questions) is learning.analytics
        assert (await memory.feedback(block, reply="It is 4711!")).weights == usage.weights, (
            "a block counts once"
        )


async def test_fixed_weights_replace_learned_ones(database: Path, open_memory: OpenMemory) -> None:
    fixed = Weights(1.1, 0.9, 0.7, 0.5)
    options = Options(learning=LearningOptions(weights=fixed))
    async with open_memory(database, options) as memory:
        await remember(
            memory,
            "The code of the garage door is 4711.",
            "The garage door is red, and its code is on a note in the kitchen.",
        )
        block = await memory.recall("What is the code of the garage door?", user_id="ana", at=LATER)
        assert block.trace.weights.as_dict() == pytest.approx(fixed.as_dict())
        usage = await memory.feedback(block, reply="It is 4711!")
        assert usage.used and usage.weights == fixed == await memory.learning.weights("ana")
        assert await memory.learning.history("ana") == []
        found = await memory.search_memory(
            "garage door", user_id="ana", options={"return_debug": True}
        )
        assert found.debug is not None and found.debug.weights == pytest.approx(fixed.as_dict())
    with pytest.raises(InvalidInput, match="facts is 9"):
        LearningOptions(weights=Weights(facts=9))


async def test_only_the_layers_of_the_options_search(
    database: Path, open_memory: OpenMemory
) -> None:
    options = Options(recall=RecallOptions(layers=(Layer.FACTS,)))
    async with open_memory(database, options) as memory:
        await remember(memory, "My dog is called Potola.")
        block = await memory.recall("What's my dog called?", user_id="ana", at=LATER)
    assert [report.layer for report in block.trace.layers] == [Layer.FACTS]
    assert "Potola" in block.text


async def test_an_unknown_user_has_no_memory(memory: Memory) -> None:
    assert [line async for line in memory.export("nobody")] == []
    assert await memory.memories("nobody") == []
    assert await memory.learning.weights("nobody") == START_WEIGHTS
    assert await memory.forget(user_id="nobody", everything=True) == ForgetResult(0, 0, 0)


async def test_a_recall_past_its_deadline_gives_an_empty_block(memory: Memory) -> None:
    await remember(memory, "My dog is called Potola.")
    block = await memory.recall("What's my dog called?", user_id="ana", at=LATER, deadline_ms=0)
    assert (block.text, block.tokens, block.items) == ("", 0, ())
    assert "deadline" in block.trace.reason


async def test_a_closed_memory_raises(database: Path, open_memory: OpenMemory) -> None:
    memory = open_memory(database)
    with pytest.raises(MemoryClosed, match="async with Memory"):
        await memory.remember(said("Too early."))
    async with memory:
        await memory.start()
        assert await memory.remember(said("Just right."))
    await memory.close()
    with pytest.raises(MemoryClosed):
        await memory.recall("Too late?", user_id="ana")
    async with memory:
        assert not (await memory.recall("Too late?", user_id="ben")).items


async def test_two_memories_share_one_file(memory: Memory, open_memory: OpenMemory) -> None:
    async with open_memory(file_of(memory)) as other:
        await remember(memory, "My dog is called Potola.")
        assert (
            "Potola" in (await other.recall("What's my dog called?", user_id="ana", at=LATER)).text
        )


def test_a_memory_has_few_public_names() -> None:
    names = {*dir(Memory), *vars(Memory("memory.db", LEARNING))}
    assert len([name for name in names if not name.startswith("_")]) <= 24
    assert Memory.__bases__ == (object,)


def test_every_public_name_exists_and_is_documented() -> None:
    for name in hotmem.__all__:
        value = getattr(hotmem, name)
        assert name == "__version__" or inspect.getdoc(value), name
    public = [
        value
        for name, value in vars(Memory).items()
        if not name.startswith("_") and callable(value)
    ]
    assert all(inspect.getdoc(value) for value in public)
    errors = [
        value
        for value in vars(hotmem).values()
        if isinstance(value, type) and issubclass(value, Exception)
    ]
    assert len(errors) >= 11 and all(issubclass(error, HotMemError) for error in errors)


def test_weights_are_made_from_a_dict_of_layers() -> None:
    weights = Weights.from_dict({Layer.VERBATIM: 0.7})
    assert weights.as_dict() == {
        Layer.FACTS: 1.0,
        Layer.SESSIONS: 0.8,
        Layer.SEMANTIC: 0.6,
        Layer.VERBATIM: 0.7,
    }


async def test_the_vocabulary_lists_speakers_and_the_most_frequent_names(memory: Memory) -> None:
    for number, text in enumerate(
        ("Tom lives in Lisbon.", "Tom has a boat.", "I met Petra in Lisbon with Tom.")
    ):
        await memory.remember(said(text, name=f"turn-{number}"))
    await remember(memory, said("Zelda is my sister.", user="ben"))
    assert await memory.lookup.vocabulary("ana") == ["Ana", "Tom", "Lisbon", "Petra"]
    assert await memory.lookup.vocabulary("ana", limit=2) == ["Ana", "Tom"]
    assert await memory.lookup.vocabulary("nobody") == []


async def test_loaded_models_are_frozen_if_the_options_say_so(
    database: Path, encoder: CachedEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    froze: list[bool] = []
    monkeypatch.setattr("hotmem.models.language._freeze", lambda: froze.append(True))
    for wanted in (False, True):
        options = Options(models=ModelOptions(gc_freeze=wanted))
        async with Memory.open(database, options, encoder=encoder):
            assert froze == [True] * wanted
