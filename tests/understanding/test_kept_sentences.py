"""Sentences that are kept have their dates, and are whole."""

from datetime import UTC, datetime, timedelta

import pytest

from hotmem import Memory, Role, Turn
from hotmem.types import Kind
from tests.tables import tables

CASES = tables(__file__)

FRIDAY = datetime(2026, 11, 20, 9, tzinfo=UTC)


async def kept(memory: Memory, *said: tuple[Role, str]) -> list[str]:
    """Say turns and return the memories."""
    for place, (role, text) in enumerate(said):
        await memory.remember(Turn("ana", "s", role, text, FRIDAY + timedelta(minutes=place)))
    await memory.settle()
    return [one.text for one in await memory.memories("ana")]


@pytest.mark.parametrize(
    ("said", "date"),
    [
        ("The kitchen ceiling came down last Tuesday.", "on 2026-11-17 (Tuesday)"),
        ("the council dug up our street three days ago", "on 2026-11-17 (Tuesday)"),
    ],
)
async def test_relative_times_become_dates(memory: Memory, said: str, date: str) -> None:
    assert any(date in text for text in await kept(memory, (Role.USER, said)))


@pytest.mark.parametrize(("said", "memory_text"), CASES["the_year_of_a_birth_is_not_guessed"])
async def test_the_year_of_a_birth_is_not_guessed(
    memory: Memory, said: str, memory_text: str
) -> None:
    assert await kept(memory, (Role.USER, said)) == [memory_text]


@pytest.mark.parametrize(("said", "memory_text"), CASES["what_is_moved_has_its_new_date"])
async def test_what_is_moved_has_its_new_date(memory: Memory, said: str, memory_text: str) -> None:
    assert await kept(memory, (Role.USER, said)) == [memory_text]


async def test_habits_have_no_date(memory: Memory) -> None:
    assert "The user's bins go out on Mondays." in await kept(
        memory, (Role.USER, "Our bins go out on Mondays.")
    )


async def test_words_after_a_remark_of_the_bot_are_no_answer(memory: Memory) -> None:
    texts = await kept(
        memory, (Role.ASSISTANT, "Toast never fails."), (Role.USER, "Granny. After ten.")
    )
    assert texts == []


@pytest.mark.parametrize(("said", "memory_text"), CASES["appointments_and_codes_are_kept_whole"])
async def test_appointments_and_codes_are_kept_whole(
    memory: Memory, said: str, memory_text: str
) -> None:
    assert any(memory_text in text for text in await kept(memory, (Role.USER, said)))


@pytest.mark.parametrize(("question", "said"), CASES["words_without_content_answer_no_question"])
async def test_words_without_content_answer_no_question(
    memory: Memory, question: str, said: str
) -> None:
    stated = await kept(memory, (Role.ASSISTANT, question), (Role.USER, said))
    assert not [text for text in stated if text.removesuffix(".").endswith((": the", ": a"))]


async def test_a_noun_that_is_parsed_as_a_verb_is_no_request(memory: Memory) -> None:
    stated = await kept(memory, (Role.USER, "I'm coeliac by the way, so no gluten for me."))
    assert any(text.startswith("The user is coeliac") for text in stated)
    assert not any("wants the bot" in text for text in stated)


async def test_a_clause_stays_with_the_one_that_says_who_he_is(memory: Memory) -> None:
    said = "Tomasz can't come in March any more, he's coming in April instead."
    stated = await kept(memory, (Role.USER, "Guess what, they found it!"), (Role.USER, said))
    assert "Tomasz cannot come in March 2027 any more, he's coming in April 2027 instead." in (
        stated
    )
    assert not [text for text in stated if text.startswith("He")]


@pytest.mark.parametrize(("said", "wrong"), CASES["questions_and_unfinished_clauses_are_not_kept"])
async def test_questions_and_unfinished_clauses_are_not_kept(
    memory: Memory, said: str, wrong: str
) -> None:
    stated = await kept(memory, (Role.USER, said))
    assert stated
    assert wrong not in stated


@pytest.mark.parametrize(("before", "said", "reminders"), CASES["reminders_are_whole"])
async def test_reminders_are_whole_and_are_to_do(
    memory: Memory, before: str, said: str, reminders: list[str]
) -> None:
    await kept(memory, (Role.ASSISTANT, before), (Role.USER, said))
    found = [one.text for one in await memory.memories("ana") if one.kind is Kind.REMINDER]
    assert len(found) == len(reminders), found
    assert all(part in text for part, text in zip(reminders, found, strict=True)), found


@pytest.mark.parametrize(("said", "time"), CASES["a_time_of_day_is_on_the_day_of_its_sentence"])
async def test_a_time_of_day_is_on_the_day_of_its_sentence(
    memory: Memory, said: str, time: str
) -> None:
    stated = await kept(memory, (Role.USER, said))
    assert any(time in text for text in stated)
    assert not any("2026-11-20" in text for text in stated)


@pytest.mark.parametrize("said", CASES["a_time_of_day_is_not_put_on_the_day_it_was_said"])
async def test_a_time_of_day_is_not_put_on_the_day_it_was_said(memory: Memory, said: str) -> None:
    stated = await kept(memory, (Role.USER, said))
    assert not any(f"{FRIDAY:%Y-%m-%d}" in text for text in stated)


@pytest.mark.parametrize(("said", "time"), CASES["the_event_tells_the_half_of_the_day"])
async def test_the_event_tells_the_half_of_the_day(memory: Memory, said: str, time: str) -> None:
    assert any(time in text for text in await kept(memory, (Role.USER, said)))


async def test_a_time_that_begins_a_clause_stays_with_it(memory: Memory) -> None:
    said = "I wake up at night at three, and on Thursday I see the doctor."
    stated = await kept(memory, (Role.USER, said))
    assert "On 2026-11-26 (Thursday) the user sees the doctor." in stated
