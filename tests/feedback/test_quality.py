"""The quality record: records of a reply, sums, bounds and consistency."""

import asyncio
import json
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem import Memory
from hotmem.errors import InvalidInput
from hotmem.feedback.usage import quality_records
from hotmem.options import LearningOptions, Options
from hotmem.ranking.relevance import Answerability
from hotmem.storage.queries import quality
from hotmem.storage.sqlite.connection import connect
from hotmem.tools.registry import tool
from hotmem.types import (
    ContextBlock,
    Intent,
    Latencies,
    Layer,
    Quality,
    QualityRecord,
    Tally,
    Trace,
)
from tests.conversation import START, OpenMemory, file_of, said, user_of

LATER = START + timedelta(days=3)
TIMES = st.lists(st.floats(0.3, 60_000), min_size=1, max_size=50)
COUNTS = st.integers(0, 10_000)
TALLIES = st.builds(
    Tally, *[COUNTS] * 8, TIMES.map(lambda times: sum(map(Latencies.of, times), Latencies()))
)
ONE = Tally(1, 4, 1, 100, 60, 1, 0, 0, Latencies.of(20.0))


async def remembered(memory: Memory) -> ContextBlock:
    """The block of a question after two statements."""
    for number, text in enumerate(
        ("My dog is called Potola.", "My dog sleeps in the old laundry basket.")
    ):
        await memory.remember(said(text, minutes=number))
    await memory.settle()
    return await memory.recall(
        "What is my dog called?", user_id="ana", session_id="thursday", at=LATER
    )


@given(TIMES, st.floats(0.01, 1))
def test_histogram_quantile_error_is_bounded(times: list[float], share: float) -> None:
    counted = sum(map(Latencies.of, times), Latencies())
    exact = sorted(times)[max(0, -(-round(share * len(times) * 1e9) // 10**9) - 1)]
    found = counted.quantile(share)
    assert found is not None and exact / 1.1 <= found <= exact * 1.1
    assert len(counted.counts) <= 73 and sum(count for _, count in counted.counts) == len(times)


@pytest.mark.parametrize("ms", [0.0, -5.0, 1e-9, 1e12, float("inf"), float("nan")])
def test_any_duration_has_a_bin(ms: float) -> None:
    found = Latencies.of(ms).quantile(0.5)
    assert found is not None and 0.2 < found < 70_000


@given(TALLIES, TALLIES, TALLIES)
def test_tallies_add_up_in_any_order(one: Tally, other: Tally, third: Tally) -> None:
    assert one + other == other + one
    assert (one + other) + third == one + (other + third)
    assert one + Tally() == one


def test_ratios_of_empty_tallies_are_none() -> None:
    nothing = Tally()
    assert (
        nothing.precision,
        nothing.coverage,
        nothing.nothing_known,
        nothing.p50_ms,
    ) == (None,) * 4
    assert (ONE.precision, ONE.coverage, ONE.nothing_known) == (0.25, 1.0, 0.0)


async def test_a_reply_adds_to_its_day_intent_and_layers(memory: Memory) -> None:
    block = await remembered(memory)
    usage = await memory.feedback(block, reply="She's called Potola!")
    found = await memory.learning.quality("ana")
    whole = found.total()
    assert list(found.by_day()) == [LATER.date()] and list(found.by_intent()) == [Intent.FACT]
    assert (whole.turns, whole.given, whole.used, whole.helped) == (
        1,
        len(block.items),
        len(usage.used),
        1,
    )
    assert whole.tokens == block.tokens and 0 < whole.wasted < whole.tokens
    assert whole.p50_ms == pytest.approx(sum(block.trace.stages.values()), rel=0.1)
    for layer, tally in found.by_layer().items():
        assert tally.given == sum(layer in item.layers for item in block.items)
        assert tally.used == sum(layer in use.item.layers for use in usage.used)
        assert tally.tokens <= whole.tokens


@pytest.mark.parametrize(
    ("known", "counts"),
    [
        (Answerability.SOMETHING, 0),
        (Answerability.DOUBTFUL, 1),
        (Answerability.NOTHING, 1),
        (None, 0),
    ],
)
async def test_possibly_related_counts_as_unknown(
    memory: Memory, known: Answerability | None, counts: int
) -> None:
    block = await remembered(memory)
    await memory.feedback(
        replace(block, trace=replace(block.trace, known=known)), reply="I am not sure."
    )
    found = await memory.learning.quality("ana")
    assert found.total().given and found.total().empty == counts
    assert found.total(block.items[0].layer).empty == 0, "the layer found something"


async def test_visible_memories_do_not_count_as_unknown(memory: Memory) -> None:
    block = await remembered(memory)
    await memory.feedback(replace(block, items=(), text=""), reply="Potola.")
    assert (await memory.learning.quality("ana")).total().empty == 0


async def test_a_block_counts_once_and_an_unheard_reply_not_at_all(memory: Memory) -> None:
    block = await remembered(memory)
    await memory.feedback(block, reply="She's called Potola!")
    before = await memory.learning.quality("ana")
    await memory.feedback(block, reply="She's called Potola!")
    await memory.feedback(replace(block, id="unheard"), reply="", interrupted=True)
    assert await memory.learning.quality("ana") == before


async def test_unknown_answers_count_and_small_talk_does_not(memory: Memory) -> None:
    await remembered(memory)
    for question in ("What is the name of Gwendolyn's accountant?", "Hello there!"):
        block = await memory.recall(question, user_id="ana", at=LATER)
        assert not block.items
        await memory.feedback(block, reply="I do not know.")
    total = (await memory.learning.quality("ana")).total()
    assert (total.turns, total.empty, total.nothing_known, total.precision) == (1, 1, 1.0, None)


async def test_a_late_block_counts_as_late(memory: Memory) -> None:
    await remembered(memory)
    late = await memory.recall("What is my dog called?", user_id="ana", at=LATER, deadline_ms=0)
    await memory.feedback(late, reply="I do not know.")
    found = await memory.learning.quality("ana")
    assert found.total().late == 1 and list(found.by_intent()) == [None]


@pytest.mark.parametrize(
    "reply",
    ["Potola.", "Potola " * 5_000, "Elle s'appelle Potola, bien sûr.", "いいえ", "\x00 \ud800 …"],
)
async def test_any_reply_is_counted(memory: Memory, reply: str) -> None:
    usage = await memory.feedback(await remembered(memory), reply=reply)
    total = (await memory.learning.quality("ana")).total()
    assert total.turns == 1 and total.used == len(usage.used)


async def test_recording_can_be_disabled(database: Path, open_memory: OpenMemory) -> None:
    options = Options(learning=LearningOptions(analytics=False))
    async with open_memory(database, options) as memory:
        await memory.feedback(await remembered(memory), reply="She's called Potola!")
        assert await memory.learning.quality("ana") == Quality()


async def test_export_includes_it_and_forgetting_removes_it(
    memory: Memory, tmp_path: Path, open_memory: OpenMemory
) -> None:
    await memory.feedback(await remembered(memory), reply="She's called Potola!")
    before, file = await memory.learning.quality("ana"), tmp_path / "export.jsonl"
    lines = [line async for line in memory.export("ana")]
    await asyncio.to_thread(file.write_text, "\n".join(lines), "utf-8")
    async with open_memory(tmp_path / "second.db") as second:
        for _ in range(2):
            await second.import_records(file)
            assert await second.learning.quality("ana") == before
        spoilt = next(line for line in lines if '"quality"' in line).replace(
            '"turns": 1', '"turns": -1'
        )
        await asyncio.to_thread(file.write_text, spoilt, "utf-8")
        with pytest.raises(InvalidInput, match=r"tally\.turns"):
            await second.import_records(file)
    await memory.forget(user_id="ana", everything=True)
    assert await memory.learning.quality("ana") == Quality()
    with closing(connect(file_of(memory), read_only=True)) as conn:
        assert conn.scalar("SELECT count(*) FROM quality") == 0


async def test_a_question_is_forgotten_with_its_turn(memory: Memory) -> None:
    await remembered(memory)
    question = "My pin is 9911, what is my dog called?"
    await memory.remember(said(question, session="thursday", minutes=4000))
    await memory.feedback(await memory.recall(question, user_id="ana", at=LATER), reply="Potola!")
    await memory.forget(user_id="ana", session_id="thursday")
    with closing(connect(file_of(memory), read_only=True)) as conn:
        assert conn.scalar("SELECT count(*) FROM recalls") == 0


async def test_number_of_days_is_bounded(memory: Memory) -> None:
    await remembered(memory)
    user = await user_of(memory.runtime.database)
    days = [
        date(2020, 1, 1) + timedelta(days=number) for number in range(0, 2 * quality.MOST_DAYS, 2)
    ]
    with closing(connect(file_of(memory))) as conn:
        conn.execute("BEGIN")
        for day in (*days, date.max, date.min):
            quality.add(
                conn,
                user,
                [
                    QualityRecord(day, intent, layer, ONE)
                    for intent in (None, *Intent)
                    for layer in (None, *Layer)
                ],
            )
        conn.execute("COMMIT")
    found = await memory.learning.quality("ana")
    kept = list(found.by_day())
    assert kept == [*days[1:], date.max]
    assert found.total().turns == len(kept) * (len(Intent) + 1)
    part = await memory.learning.quality("ana", since=days[3], until=days[5])
    assert list(part.by_day(Layer.FACTS)) == days[3:6]


async def test_tool(memory: Memory) -> None:
    block = await remembered(memory)
    await memory.feedback(replace(block, at=datetime.now(UTC)), reply="She's called Potola!")
    answer = await tool("memory_quality").call(memory, "ana", {"days": 2})
    assert answer["total"]["turns"] == 1 and answer["total"]["coverage"] == 1.0
    assert set(answer["by_layer"]) == set(Layer) and list(answer["by_intent"]) == ["fact"]
    assert json.dumps(answer)
    assert (await tool("memory_quality").call(memory, "nobody", {}))["total"]["precision"] is None


def test_a_block_of_the_memory_itself_is_no_recall() -> None:
    trace = Trace(reason="the utterance is a voice command")
    block = ContextBlock("Done.", 2, (), trace, "ana", None, "Forget that.", LATER)
    assert quality_records(block, (), len) == []
