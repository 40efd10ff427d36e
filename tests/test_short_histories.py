"""Short histories: a few statements, spoken or stored, asked for in other words.

No threshold may hide what is known.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from hotmem import ContextBlock, Mark, Memory, Options, Turn
from hotmem.block.rendering import OPENING
from hotmem.options import RecallOptions
from tests.conversation import START, OpenMemory
from tests.tables import tables

CASES = tables(__file__)

NOTHING = f"{OPENING}Nothing is known"

TOLD = CASES["told"]


UNKNOWN = tables(__file__, "block/unknown")
"""Memories and questions about names and things that nothing in them holds."""

REMARKS = ["Good morning!", "Turn the light off.", "I bought new shoes today.", "okay thanks"]
REMARKS += ["It's raining again.", "I had a lovely walk."]

NEVER_TOLD = CASES["never_told"]


@pytest.fixture(scope="module", params=["told", "stored"])
def file(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    open_memory: OpenMemory,
) -> Path:
    """A file with the statements above, spoken over two sessions or stored directly."""
    path = tmp_path_factory.mktemp("first-hour") / "memory.db"

    async def written() -> None:
        async with open_memory(path) as memory:
            for number, text in enumerate(TOLD):
                if request.param == "stored":
                    await memory.store_memory(text, user_id="ana")
                else:
                    session, at = f"s{number // 5}", START + timedelta(minutes=number)
                    await memory.remember(Turn("ana", session, "user", text, at, speaker="Ana"))
            await memory.settle()

    asyncio.run(written())
    return path


@pytest.fixture
async def memory(file: Path, open_memory: OpenMemory) -> AsyncIterator[Memory]:
    """An open memory of that file."""
    async with open_memory(file) as memory:
        yield memory


async def later(memory: Memory, asked: str, user: str = "ana", budget: int = 600) -> ContextBlock:
    """The block of a question in another session."""
    at = START + timedelta(days=20)
    return await memory.recall(asked, user_id=user, session_id="later", at=at, max_tokens=budget)


@pytest.mark.parametrize(("asked", "wanted"), CASES["asked"])
async def test_a_memory_is_found_in_any_wording_of_the_question(
    memory: Memory, asked: str, wanted: str
) -> None:
    block = await later(memory, asked)
    assert wanted in block.text
    found = await memory.search_memory(asked, user_id="ana")
    assert any(wanted in result.content for result in found.results)


@pytest.mark.parametrize("said", REMARKS)
async def test_nothing_is_known_is_said_for_questions_only(memory: Memory, said: str) -> None:
    assert not (await later(memory, said)).text.startswith(NOTHING)
    assert (await later(memory, said, "nobody")).text == ""


async def test_unknown_answers_are_not_presented_as_known(memory: Memory) -> None:
    blocks = [await later(memory, asked) for asked in NEVER_TOLD]
    low = [all(item.mark is Mark.LOW for item in block.items) for block in blocks]
    assert sum(low) >= 0.7 * len(blocks)
    assert [block.trace.known != "known" for block in blocks] == low


async def test_that_nothing_is_known_is_said_of_what_nothing_holds(
    tmp_path: Path, open_memory: OpenMemory
) -> None:
    said = 0
    async with open_memory(tmp_path / "m.db") as memory:
        for case in UNKNOWN:
            await _told(memory, *(("user", text) for text in case["said"]), user=case["name"])
            block = await later(memory, case["question"], case["name"])
            said += "Nothing is known about" in block.text
    assert said >= 0.8 * len(UNKNOWN)


async def test_the_line_that_nothing_is_known_can_be_disabled(
    tmp_path: Path, open_memory: OpenMemory
) -> None:
    for says in (True, False):
        options = Options(recall=RecallOptions(say_unknown=says))
        path = tmp_path / f"{says}.db"
        async with open_memory(path, options) as memory:
            block = await memory.recall("What's my dog called?", user_id="ana")
            assert block.text.startswith(NOTHING) is says and bool(block.text) is says


@pytest.mark.parametrize("budget", [20, 40, 50, 60])
async def test_a_small_budget_never_claims_that_nothing_is_known(
    memory: Memory, budget: int
) -> None:
    block = await later(memory, "What am I allergic to?", budget=budget)
    assert block.tokens <= budget and not block.text.startswith(NOTHING)


async def _told(memory: Memory, *turns: tuple[str, str], user: str = "ana") -> None:
    for number, (role, text) in enumerate(turns):
        await memory.remember(Turn(user, "s", role, text, START + timedelta(minutes=number)))
    await memory.settle()


async def test_unusual_memories_neither_fail_nor_claim_that_nothing_is_known(
    tmp_path: Path, open_memory: OpenMemory
) -> None:
    odd = {
        "one line": [("user", "My locker at the gym is number 88.")],
        "only questions": [
            ("user", "Which is my locker at the gym?"),
            ("user", "Where is my locker key?"),
        ],
        "only the bot": [("assistant", "Your locker at the gym is number 88.")],
        "identical": [("user", "My locker at the gym is number 88.")] * 12,
    }
    queries = {
        "plain": "Which locker is mine at the gym?",
        "long": "so " * 1990 + "which locker is mine at the gym?",
        "another language": "Welches Schließfach habe ich im Fitnessstudio?",
        "no word": "???",
    }
    for name, turns in odd.items():
        path = tmp_path / f"{name}.db"
        async with open_memory(path) as memory:
            await _told(memory, *turns)
            for query in queries.values():
                block = await memory.recall(query, user_id="ana", session_id="later")
                await memory.search_memory(query, user_id="ana")
                assert block.tokens <= 1000
            plain = await memory.recall(queries["plain"], user_id="ana", session_id="later")
            assert not plain.text.startswith(NOTHING), name
            if name in ("one line", "only the bot", "identical"):
                assert plain.text.count("number 88") == 1, name
                long = await memory.recall(queries["long"], user_id="ana", session_id="later")
                assert "number 88" in long.text, name
