"""False positives that must not come back: terminations, dates, instructions and facts."""

from datetime import UTC, datetime, timedelta

import pytest

from hotmem import Memory
from hotmem.models import Language
from hotmem.types import Turn, Understanding
from hotmem.understanding.facts.instructions.safety import preferred_name
from tests.conversation import read_facts
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

MONDAY = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


def read(language: Language, text: str) -> Understanding:
    return read_facts(language, text, "Jo", MONDAY)


@pytest.mark.parametrize(("held", "said"), CASES["unrelated_statements_end_nothing"])
async def test_unrelated_statements_end_nothing(memory: Memory, held: str, said: str) -> None:
    for number, text in enumerate((held, said)):
        await memory.remember(
            Turn("jo", "one", "user", text, MONDAY + timedelta(minutes=number), speaker="Jo")
        )
    await memory.settle()
    assert f"Jo {held.removeprefix('I ').replace('work', 'works').replace('live', 'lives')}" in [
        known.text for known in await memory.memories("jo")
    ]


async def test_a_home_ends_with_a_move_and_a_job_with_another(memory: Memory) -> None:
    texts = (
        "I live in Leeds.",
        "I work at Nokia.",
        "We moved from Leeds to York.",
        "I switched jobs to Siemens.",
    )
    for number, text in enumerate(texts):
        await memory.remember(
            Turn("jo", "one", "user", text, MONDAY + timedelta(minutes=number), speaker="Jo")
        )
    await memory.settle()
    certain = {known.text for known in await memory.memories("jo") if not known.doubted_at}
    assert certain == {"Jo and others moved from Leeds to York.", "Jo switched jobs to Siemens."}


@scored(("words", "name"), CASES["a_name_ends_before_a_function_word"], floor=1.0)
def test_a_name_ends_before_a_function_word(words: str, name: str) -> None:
    assert preferred_name(words) == name


@scored(("said", "day"), CASES["the_direction_of_a_date"], floor=0.85)
def test_the_direction_of_a_date(language: Language, said: str, day: str) -> None:
    (event,) = read(language, said).event_times
    assert str(event.interval.start.date()) == day


@scored("said", CASES["a_duration_is_no_event_time"], floor=1.0)
def test_a_duration_is_no_event_time(language: Language, said: str) -> None:
    assert not read(language, said).event_times


@scored("said", CASES["a_secret_is_no_standing_instruction"], floor=0.75)
def test_a_secret_is_no_standing_instruction(language: Language, said: str) -> None:
    assert not [fact for fact in read(language, said).statements if fact.relation == "asks"]


def test_an_instruction_about_other_people_stays(language: Language) -> None:
    assert [
        fact.relation for fact in read(language, "Never tell anyone my address.").statements
    ] == ["asks"]


def test_the_continuation_of_a_joke_is_no_fact(language: Language) -> None:
    assert not read(language, "Ha, just kidding, I'm the CEO of the universe.").statements


@scored("said", ["my blood pressure was one twenty twenty", "my code is 12 2020 33"], floor=1.0)
def test_a_number_in_a_sequence_is_no_time(language: Language, said: str) -> None:
    assert not read(language, said).event_times
