"""Turns are read with what was said directly before them."""

import pytest

from hotmem import Memory
from hotmem.types import Role
from tests.conversation import remember, said


async def kept(memory: Memory) -> list[str]:
    await memory.settle()
    return [one.text for one in await memory.memories(user_id="ana")]


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("Do you have any pets?", "Two cats.", "Ana has two cats."),
        ("Are you married?", "Yes.", "Ana is married."),
        ("And do you still live in Leeds?", "No.", "Ana does not live in Leeds any more."),
        ("How many grandchildren have you now?", "Eleven.", "Ana has eleven grandchildren now."),
        ("Where do you live?", "In Leeds.", "Ana lives in Leeds."),
    ],
)
async def test_an_answer_is_read_with_the_question(
    memory: Memory, question: str, answer: str, expected: str
) -> None:
    await memory.remember(said(question, role=Role.ASSISTANT))
    await memory.remember(said(answer, minutes=1, speaker="Ana"))

    assert expected in await kept(memory)


@pytest.mark.parametrize(
    ("turn", "minutes"),
    [("Are you married?", 10), ("You are married.", 1), ("Would you like a coffee?", 1)],
)
async def test_what_answers_no_question_about_the_user_states_nothing(
    memory: Memory, turn: str, minutes: int
) -> None:
    await memory.remember(said(turn, role=Role.ASSISTANT))
    await memory.remember(said("Yes.", minutes=minutes, speaker="Ana"))

    assert await kept(memory) == []


async def test_a_pronoun_is_read_with_the_turn_before(memory: Memory) -> None:
    await memory.remember(said("My sister Beth is a vet.", speaker="Ana"))
    await memory.remember(said("She lives in Denver now.", minutes=1, speaker="Ana"))

    assert "Ana's sister Beth lives in Denver now." in await kept(memory)


async def test_an_answer_is_a_source_by_its_own_words(memory: Memory) -> None:
    await remember(
        memory,
        said("Are you married?", role=Role.ASSISTANT),
        said("Yes.", minutes=1, speaker="Ana"),
    )

    block = await memory.recall("Am I married?", user_id="ana", session_id="thursday")

    assert 'Ana: "Yes." (' in block.text and "Ana is married" in block.text
    block = await memory.recall("Am I married?", user_id="ana", visible=["Yes. It is raining."])
    assert "Ana is married" in block.text


async def test_doubt_is_kept_until_it_is_said_with_certainty(memory: Memory) -> None:
    await memory.remember(said("I think my sister works for Bosch."))
    assert await kept(memory) == ["Ana thinks Ana's sister works for Bosch."]

    await memory.remember(said("My sister works for Bosch.", minutes=5))
    assert await kept(memory) == ["Ana's sister works for Bosch."]
