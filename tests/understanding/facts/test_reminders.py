"""Requests to be reminded, and the kind and times of plans. Said on Wednesday, 7 October 2026."""

from datetime import UTC, datetime

from hotmem.models import Language
from hotmem.types import Kind, Understanding
from hotmem.understanding.facts.events import plan_statement
from tests.conversation import read_facts
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

SAID_AT = datetime(2026, 10, 7, 9, 30, tzinfo=UTC)


def read(language: Language, said: str) -> Understanding:
    return read_facts(language, said, at=SAID_AT)


def reminders(language: Language, said: str) -> list[str]:
    return [one.text for one in read(language, said).statements if one.kind is Kind.REMINDER]


@scored(("said", "text"), CASES["a_request_is_a_reminder"], floor=0.85)
def test_a_request_is_a_reminder(language: Language, said: str, text: str) -> None:
    assert [one.casefold() for one in reminders(language, said)] == [text.casefold()]


@scored("said", CASES["other_words_are_no_reminder"], floor=0.85)
def test_other_words_are_no_reminder(language: Language, said: str) -> None:
    asked = [one for one in read(language, said).statements if "remind" in one.relation]
    assert asked == []


@scored(("said", "part", "text", "day"), CASES["words_known_to_be_a_plan_make_one"], floor=1.0)
def test_words_known_to_be_a_plan_make_one(
    language: Language, said: str, part: str, text: str, day: str
) -> None:
    """The model says which words are a plan, with or without a time."""
    doc = language.parse([said])[0]
    start = said.index(part)
    plan = plan_statement(doc, start, start + len(part), "Ana", SAID_AT)
    assert plan.statement.text == text
    assert plan.statement.kind is Kind.REMINDER
    assert [f"{time.interval.start:%Y-%m-%d}" for time in plan.times] == ([day] if day else [])
    assert all(time.start < plan.statement.stop for time in plan.times)
    assert all(time.stop > plan.statement.start for time in plan.times)
