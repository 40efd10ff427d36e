"""Standing instructions over several turns: given, replaced and withdrawn."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from hotmem import Memory, Turn
from hotmem.understanding.facts.instructions.extraction import revoked_instructions
from tests.conversation import OpenMemory
from tests.tables import tables

TABLES = tables(__file__)

AT = datetime(2026, 11, 23, 10, tzinfo=UTC)
CASES: Final[list[dict[str, Any]]] = tables(__file__, "instructions")

RIGHT: Final = 0.775
"""Share of conversations after which instructions and name are right."""


@pytest.fixture(scope="module")
def opened(
    tmp_path_factory: pytest.TempPathFactory, open_memory: OpenMemory
) -> list[tuple[list[str], str]]:
    """Return instructions and name of the session-start block after a conversation."""

    async def load() -> list[tuple[list[str], str]]:
        async with open_memory(tmp_path_factory.mktemp("instructions") / "memory.db") as memory:
            for number, case in enumerate(CASES):
                for minute, text in enumerate(case["turns"]):
                    await memory.remember(
                        Turn(f"user {number}", "s", "user", text, AT + timedelta(minutes=minute))
                    )
            await memory.settle()
            blocks = [
                await memory.opening(
                    user_id=f"user {number}",
                    session_id="later",
                    at=AT + timedelta(days=1),
                    max_tokens=600,
                )
                for number in range(len(CASES))
            ]
        names = [
            re.search(r"^Call them (.*?)\.(?: Their|$)", block.text, re.MULTILINE)
            for block in blocks
        ]
        return [
            (re.findall(r"^- “(.*)”$", block.text, re.MULTILINE), name[1] if name else "")
            for block, name in zip(blocks, names, strict=True)
        ]

    return asyncio.run(load())


def test_the_instructions_that_hold_at_the_end(opened: list[tuple[list[str], str]]) -> None:
    right = sum(
        found == (case["instructions"], case["name"])
        for found, case in zip(opened, CASES, strict=True)
    )
    assert right >= RIGHT * len(CASES)


@pytest.mark.parametrize(("turns", "instructions", "name"), TABLES["a_withdrawn_instruction"])
def test_a_withdrawn_instruction_is_not_given(
    opened: list[tuple[list[str], str]], turns: list[str], instructions: list[str], name: str
) -> None:
    place = next(place for place, case in enumerate(CASES) if case["turns"] == turns)
    assert opened[place] == (instructions, name)


async def test_the_given_name_is_kept_with_the_preferred_one(memory: Memory) -> None:
    for text in ("My name is Rebecca Jones but please call me Annie.", "Call me Ann."):
        await memory.remember(Turn("ana", "s", "user", text, AT))
    await memory.settle()
    held = [one.text for one in await memory.memories(user_id="ana") if one.relation == "is called"]
    assert sorted(held) == ["The user is called Ann.", "The user is called Rebecca Jones."]
    block = await memory.opening(user_id="ana", session_id="later", at=AT + timedelta(days=1))
    assert "Call them Ann. Their name is Rebecca Jones." in block.text


@pytest.mark.parametrize(
    "said", ["Always call me Annie", "Keep your answers short, please.", "use celsius"]
)
async def test_an_instruction_needs_no_memory(memory: Memory, said: str) -> None:
    for text in (
        "I've got a dentist appointment on Thursday.",
        "Call me Annie.",
        "I like short answers.",
    ):
        await memory.remember(Turn("ana", "s", "user", text, AT))
    await memory.settle()
    block = await memory.recall(said, user_id="ana", session_id="later", at=AT + timedelta(days=1))
    assert (block.text, block.trace.reason) == ("", "The utterance needs no memory.")
    assert (
        "Annie"
        in (
            await memory.recall(
                "What do I want to be called?",
                user_id="ana",
                session_id="later",
                at=AT + timedelta(days=1),
            )
        ).text
    )


@pytest.mark.parametrize(("words", "earlier", "gone"), TABLES["only_the_same_topic_is_withdrawn"])
def test_only_instructions_on_the_same_topic_are_withdrawn(
    words: str, earlier: list[str], gone: list[int]
) -> None:
    assert revoked_instructions(words, earlier) == set(gone)


@pytest.mark.parametrize(
    "said", ["Forget the short answers rule.", "Ignore my short answers instruction."]
)
async def test_an_instruction_can_be_withdrawn_in_words_that_resemble_an_injection(
    memory: Memory, said: str
) -> None:
    for minute, text in enumerate(("Keep your answers short.", "Call me Annie.", said)):
        await memory.remember(Turn("ana", "s", "user", text, AT + timedelta(minutes=minute)))
    await memory.settle()
    block = await memory.opening(user_id="ana", session_id="later", at=AT + timedelta(days=1))
    assert re.findall(r"^- “(.*)”$", block.text, re.MULTILINE) == ["call me Annie"]
