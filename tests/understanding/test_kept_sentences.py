"""Sentences that are kept have their dates, and are whole."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hotmem import Memory, Role, Turn
from hotmem.models import CachedEncoder, Language
from hotmem.types import Kind

FRIDAY = datetime(2026, 11, 20, 9, tzinfo=UTC)


@pytest.fixture
async def memory(tmp_path: Path, encoder: CachedEncoder, language: Language) -> Memory:
    return Memory.open(tmp_path / "memory.db", encoder=encoder, language=language)


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
    async with memory:
        assert any(date in text for text in await kept(memory, (Role.USER, said)))


@pytest.mark.parametrize(
    ("said", "memory_text"),
    [
        ("I was born on the first of April.", "The user was born on the first of April."),
        ("I was born in September.", "The user was born in September."),
        ("I was born in early May.", "The user was born in early May."),
        ("My niece was born last September.", "The user's niece was born in September 2026."),
        (
            "Tom's birthday is the 6th of September, same day as my old maths teacher.",
            "Tom's birthday is the 6th of September, same day as the user's old maths teacher.",
        ),
    ],
)
async def test_the_year_of_a_birth_is_not_guessed(
    memory: Memory, said: str, memory_text: str
) -> None:
    async with memory:
        assert await kept(memory, (Role.USER, said)) == [memory_text]


@pytest.mark.parametrize(
    ("said", "memory_text"),
    [
        (
            "We moved the party from Saturday to Sunday because of the rain.",
            "The party is on 2026-11-22 (Sunday).",
        ),
        (
            "My dentist appointment moved to the 9th of December.",
            "The user's dentist appointment moved to 2026-12-09 (Wednesday).",
        ),
    ],
)
async def test_what_is_moved_has_its_new_date(memory: Memory, said: str, memory_text: str) -> None:
    async with memory:
        assert await kept(memory, (Role.USER, said)) == [memory_text]


async def test_habits_have_no_date(memory: Memory) -> None:
    async with memory:
        assert "Aunt Jo swims on Mondays." in await kept(
            memory, (Role.USER, "Aunt Jo swims on Mondays.")
        )


async def test_words_after_a_remark_of_the_bot_are_no_answer(memory: Memory) -> None:
    async with memory:
        texts = await kept(
            memory, (Role.ASSISTANT, "Toast never fails."), (Role.USER, "Granny. After ten.")
        )
        assert texts == []


@pytest.mark.parametrize(
    ("said", "memory_text"),
    [
        (
            "My mum's having her hip done on the fourteenth of December at St James's.",
            "hip done on 2026-12-14 (Monday) at St James's.",
        ),
        ("We're getting the boiler serviced on the third of May.", "2027-05-03"),
        ("The wifi password is kestrel42 with a capital K.", "kestrel42 with a capital K."),
        ("The gate code is 4711 on keypad B.", "4711 on keypad B."),
        ("My phone unlocks with 1984.", "The user's phone unlocks with 1984."),
    ],
)
async def test_appointments_and_codes_are_kept_whole(
    memory: Memory, said: str, memory_text: str
) -> None:
    async with memory:
        assert any(memory_text in text for text in await kept(memory, (Role.USER, said)))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How do you like it?", "It's alright, the flat's tiny but close to work."),
        ("How do you like it?", "My landlord is a bit odd, his name is Mr Pruitt."),
        ("How was it?", "The soup was a bit cold, the rest was fine."),
    ],
)
async def test_words_without_content_answer_no_question(
    memory: Memory, question: str, said: str
) -> None:
    async with memory:
        stated = await kept(memory, (Role.ASSISTANT, question), (Role.USER, said))
        assert not [text for text in stated if text.removesuffix(".").endswith((": the", ": a"))]


async def test_a_noun_that_is_parsed_as_a_verb_is_no_request(memory: Memory) -> None:
    async with memory:
        stated = await kept(memory, (Role.USER, "I'm coeliac by the way, so no gluten for me."))
        assert "The user is coeliac." in stated
        assert not any("wants the bot" in text for text in stated)


async def test_a_clause_stays_with_the_one_that_says_who_he_is(memory: Memory) -> None:
    said = "Tomasz can't come in March any more, he's coming in April instead."
    async with memory:
        stated = await kept(memory, (Role.USER, "Guess what, they found it!"), (Role.USER, said))
        assert "Tomasz cannot come in March 2027 any more, he's coming in April 2027 instead." in (
            stated
        )
        assert not [text for text in stated if text.startswith("He")]


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("My dentist is Dr. Weber, no, sorry, Dr. Wegner.", "The user's dentist is."),
        (
            "You know my friend who lives in Rome? She's pregnant.",
            "You know the user's friend who lives in Rome?",
        ),
    ],
)
async def test_questions_and_unfinished_clauses_are_not_kept(
    memory: Memory, said: str, wrong: str
) -> None:
    async with memory:
        stated = await kept(memory, (Role.USER, said))
        assert stated
        assert wrong not in stated


@pytest.mark.parametrize(
    ("before", "said", "reminders"),
    [
        (
            "Congratulations!",
            "I'm terribly nervous. Our conductor, Mr. Achterberg, wants to rehearse it with me on "
            "Wednesday.",
            ["Achterberg, wants to rehearse it with the user on 2026-11-25"],
        ),
        (
            "Good. And the car?",
            "The left back door doesn't shut. I bring it on Monday",
            ["The user brings it on 2026-11-23 (Monday)."],
        ),
        ("Shall I remind you?", "the little one was up all night", []),
        (
            "What's on on Sunday?",
            "babs is bringing the new fella",
            ["Babs is bringing the new"],
        ),
        ("I see.", "We need to book the hotel in Split.", ["needs to book the hotel"]),
        ("I see.", "I have to be careful.", []),
        ("I see.", "She ordered one.", []),
    ],
)
async def test_reminders_are_whole_and_are_to_do(
    memory: Memory, before: str, said: str, reminders: list[str]
) -> None:
    async with memory:
        await kept(memory, (Role.ASSISTANT, before), (Role.USER, said))
        found = [one.text for one in await memory.memories("ana") if one.kind is Kind.REMINDER]
    assert len(found) == len(reminders), found
    assert all(part in text for part, text in zip(reminders, found, strict=True)), found


@pytest.mark.parametrize(
    ("said", "time"),
    [
        (
            "The boys have a tournament in Reading on Sunday, we have to leave at six.",
            "on 2026-11-22 (Sunday) at ",
        ),
        (
            "I've got an early start tomorrow, the flight to Oslo leaves at 6:40.",
            "on 2026-11-21 (Saturday) at ",
        ),
        (
            "The boiler man is coming between eight and noon on Thursday.",
            "on 2026-11-26 (Thursday) between 08:00 and 12:00",
        ),
    ],
)
async def test_a_time_of_day_is_on_the_day_of_its_sentence(
    memory: Memory, said: str, time: str
) -> None:
    async with memory:
        stated = await kept(memory, (Role.USER, said))
        assert any(time in text for text in stated)
        assert not any("2026-11-20" in text for text in stated)


@pytest.mark.parametrize(
    "said",
    [
        "The train goes at 23:50 on Thursday and arrives at 6:10.",
        "The film on Saturday starts at eight, dinner is at six.",
        "We have to leave at six, the ferry goes on Saturday at eight.",
    ],
)
async def test_a_time_of_day_is_not_put_on_the_day_it_was_said(memory: Memory, said: str) -> None:
    async with memory:
        stated = await kept(memory, (Role.USER, said))
        assert not any(f"{FRIDAY:%Y-%m-%d}" in text for text in stated)


@pytest.mark.parametrize(
    ("said", "time"),
    [
        ("Dinner with the Hubers is next Thursday at seven.", "at 19:00"),
        ("I'm having dinner with Priya on Monday at eight.", "at 20:00"),
        ("The film on Saturday starts at half past eight.", "at 20:30"),
        ("My doctor's appointment is on Monday at eight.", "at 08:00"),
        ("Breakfast with my boss is on Monday at eight.", "at 08:00"),
        ("The party on Saturday starts at 8 am.", "at 08:00"),
    ],
)
async def test_the_event_tells_the_half_of_the_day(memory: Memory, said: str, time: str) -> None:
    async with memory:
        assert any(time in text for text in await kept(memory, (Role.USER, said)))


async def test_a_time_that_begins_a_clause_stays_with_it(memory: Memory) -> None:
    said = "I wake up at night at three, and on Thursday I see the doctor."
    async with memory:
        stated = await kept(memory, (Role.USER, said))
        assert "On 2026-11-26 (Thursday) the user sees the doctor." in stated
