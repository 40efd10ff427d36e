"""Feedback through `Memory`: freezing, reset, concurrency, clock jumps and invalid weights."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from hotmem import ContextBlock, Memory, Options
from hotmem.feedback.learning import MAX_STEP, learn_from_reply
from hotmem.options import LearningOptions
from hotmem.storage import queries
from hotmem.storage.sqlite.connection import connect
from hotmem.types import MAX_WEIGHT, MIN_WEIGHT, START_WEIGHTS, Intent, Layer, LearningState
from tests.conversation import START, OpenMemory, said, user_of

LATER = START + timedelta(days=3)
ASKED = "What's my dog called?"


async def remembered(memory: Memory) -> ContextBlock:
    for text in (
        "My dog is called Potola.",
        "My dog hates the postman.",
        "The garage code is 4711.",
        "My sister lives in Braga with two dogs.",
    ):
        await memory.remember(said(text))
    await memory.end_session(user_id="ana", session_id="monday")
    await memory.settle()
    return await memory.recall(ASKED, user_id="ana", session_id="thursday", at=LATER)


LEARNING = Options()
FROZEN = Options(learning=LearningOptions(adaptive=False))


@pytest.fixture
async def memory(database: Path, open_memory: OpenMemory) -> AsyncIterator[Memory]:
    """An open, empty memory that learns."""
    async with open_memory(database, LEARNING) as opened:
        yield opened


def again(block: ContextBlock) -> ContextBlock:
    """A copy of a block as of another recall; usage of a block counts once."""
    return replace(block, id=uuid4().hex)


async def test_recall_is_identical_after_feedback_without_learning(
    database: Path, open_memory: OpenMemory
) -> None:
    async with open_memory(database, FROZEN) as memory:
        before = await remembered(memory)
        for _ in range(1000):
            await memory.feedback(again(before), reply="She's called Potola!")
        after = await memory.recall(ASKED, user_id="ana", session_id="thursday", at=LATER)
        assert (after.text, after.items) == (before.text, before.items)
        assert (
            await memory.learning.weights("ana") == START_WEIGHTS
            and await memory.learning.history("ana") == []
        )


async def test_weights_can_be_listed_frozen_and_reset(
    database: Path, open_memory: OpenMemory
) -> None:
    async with open_memory(database, LEARNING) as memory:
        block = await remembered(memory)
        for _ in range(3):
            usage = await memory.feedback(again(block), reply="She's called Potola!")
        steps = await memory.learning.history("ana")
        assert [step.version for step in steps] == [3, 2, 1]
        assert (
            steps[0].weights
            == usage.weights
            == await memory.learning.weights("ana")
            != START_WEIGHTS
        )
    async with open_memory(database, FROZEN) as memory:
        assert (
            await memory.feedback(again(block), reply="She's called Potola!")
        ).weights == usage.weights, "frozen is not forgotten"
        begin = await memory.learning.reset("ana")
        assert await memory.learning.weights("ana") == begin
        assert (await memory.learning.history("ana"))[0].reason == "reset"
        assert await memory.learning.history("nobody") == []


async def test_concurrent_updates_lose_no_step(database: Path, open_memory: OpenMemory) -> None:
    async with (
        open_memory(database, LEARNING) as one,
        open_memory(database, LEARNING) as other,
    ):
        block = await remembered(one)
        await asyncio.gather(
            *(
                memory.feedback(again(block), reply="She's called Potola!")
                for memory in (one, other)
                for _ in range(10)
            )
        )
        assert sorted(step.version for step in await one.learning.history("ana")) == list(
            range(1, 21)
        )


async def test_clock_jumps_do_not_change_learning(memory: Memory) -> None:
    block = await remembered(memory)
    models, count = memory.runtime.recall, memory.runtime.recall.tokens.count
    for now in (
        datetime(2031, 1, 1, tzinfo=UTC),
        datetime(1999, 1, 1, tzinfo=UTC),
        datetime(2026, 1, 1, tzinfo=UTC),
    ):
        given = (again(block), "She's called Potola!", LEARNING.learning, count, now, lambda: True)
        await learn_from_reply(memory.runtime.storage, models.encoder, *given, interrupted=False)
    assert [step.version for step in await memory.learning.history("ana")] == [3, 2, 1]


@pytest.mark.parametrize("nonsense", ["1e300", "-5", "'heavy'", "9e999"])
async def test_manually_written_weights_are_validated(
    memory: Memory, database: Path, nonsense: str
) -> None:
    block = await remembered(memory)
    await memory.feedback(again(block), reply="She's called Potola!")
    with closing(connect(database)) as conn:
        conn.execute(f"UPDATE weights SET weight = {nonsense}")
        conn.execute('UPDATE learning_state SET state = \'{"seen": [1, null], "good": 3\'')
        conn.execute("UPDATE intent_weights SET moved = 'far'")
    after = (await memory.feedback(again(block), reply="She's called Potola!")).weights
    assert all(MIN_WEIGHT <= after[layer] <= MAX_WEIGHT for layer in Layer)
    assert (await memory.recall(ASKED, user_id="ana", at=LATER)).items


@pytest.mark.parametrize(
    "state",
    [
        {"seen": [1e300] * 25},
        {"seen": [-1.0] * 25},
        {"seen": [float(place) for place in range(25)]},
        {"place": 1e300, "lead": 1e300},
        {"place": 10**400, "lead": "far", "seen": [10**400] * 25},
        {"good": {"facts": 1e300, "sessions": 10**400, "semantic": None, "verbatim": -3}},
        [1, 2],
    ],
    ids=["singular", "negative", "lopsided", "far off", "no float", "no weights", "no object"],
)
async def test_manually_written_state_is_validated(
    memory: Memory, database: Path, state: object
) -> None:
    block = await remembered(memory)
    for _ in range(3):
        before = (await memory.feedback(again(block), reply="She's called Potola!")).weights
    with closing(connect(database)) as conn:
        conn.execute("UPDATE learning_state SET state = ?", (json.dumps(state),))
        conn.execute("UPDATE intent_weights SET moved = '[1e300, -1e300, 5, 0]'")
    for _ in range(3):
        after = (await memory.feedback(again(block), reply="She's called Potola!")).weights
        for layer in Layer:
            assert MIN_WEIGHT <= after[layer] <= MAX_WEIGHT
            assert (
                abs(after[layer] - before[layer]) <= MAX_STEP * START_WEIGHTS[layer] + 1e-9
                or after == START_WEIGHTS
            )
        before = after
    with closing(connect(database)) as conn:
        (moved,) = (
            json.loads(text) for (text,) in conn.execute("SELECT moved FROM intent_weights")
        )
    assert np.abs(moved).max() < MAX_WEIGHT / min(START_WEIGHTS.as_dict().values()), (
        "what was moved without bound is within them again"
    )


async def test_rollback_resets_intent_offsets(memory: Memory) -> None:
    await remembered(memory)
    user = await user_of(memory.runtime.database)
    moved = LearningState(intent=(0.1, 0.0, 0.0, 0.0), precision=(1.0,) * 25, version=1)
    await memory.runtime.database.write(
        queries.layer_weights.learn, user, Intent.FACT, lambda _: moved, LATER
    )
    assert (await memory.runtime.database.read(queries.users.profile, user, ())).moved == {
        Intent.FACT: (0.1, 0.0, 0.0, 0.0)
    }
    await memory.runtime.database.write(
        queries.layer_weights.learn,
        user,
        Intent.FACT,
        lambda before: replace(before, precision=(), version=2),
        LATER,
    )
    assert (await memory.runtime.database.read(queries.users.profile, user, ())).moved == {}
    assert (await memory.learning.history("ana"))[0].reason == "back to the last good ones"
