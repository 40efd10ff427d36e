"""Whether times are past or future; the perfect and the past tense may refer to plans."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hotmem.models import Language
from hotmem.types import Role
from hotmem.understanding.facts import extract_facts
from hotmem.understanding.facts.time_direction import resolve_times

PLANS = json.loads(Path(__file__).with_name("plans.json").read_text("utf-8"))


def read(text: str, said_at: datetime, language: Language) -> list[str]:
    """The days of events, from the day of the statement on."""
    doc = language.parse([text])[0]
    found = extract_facts(doc, lambda words: language.parse([words])[0], "Ana", Role.USER, said_at)
    return sorted(
        {
            day
            for one in found.event_times
            if (day := f"{one.interval.start:%Y-%m-%d}") >= f"{said_at:%Y-%m-%d}"
        }
    )


@pytest.mark.parametrize("case", PLANS, ids=lambda case: case["text"])
def test_future_events(case: dict[str, str | None], language: Language) -> None:
    said_at = datetime.fromisoformat(str(case["said_at"])).replace(tzinfo=UTC)
    assert read(str(case["text"]), said_at, language) == (
        [case["starts"]] if case["starts"] else []
    )


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I've booked a table for Friday.", "Ana has booked a table for 2026-11-27 (Friday)."),
        ("I saw the dentist on Friday.", "Ana saw the dentist on 2026-11-20 (Friday)."),
        ("They put the exam off until Friday.", "The exam is on 2026-11-27 (Friday)."),
    ],
)
def test_facts_have_the_date_of_the_event(text: str, fact: str, language: Language) -> None:
    doc = language.parse([text])[0]
    found = extract_facts(
        doc,
        lambda words: language.parse([words])[0],
        "Ana",
        Role.USER,
        datetime(2026, 11, 23, 10, tzinfo=UTC),
    )
    assert [one.text for one in found.statements] == [fact]


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("My cousin April lives in Boston.", []),
        ("My boss, June, is strict.", []),
        ("My uncle August is eighty.", []),
        ("June is my aunt.", []),
        ("April moved to Boston in May.", ["in May"]),
        ("My daughter is called April.", []),
        ("Her name is June.", []),
        ("I went to the cinema with April.", []),
        ("My wife June and I married in May.", ["in May"]),
        ("We see my mother June 5th.", ["June 5th"]),
        ("Last April we moved.", ["Last April"]),
        ("I start the job April.", ["April"]),
        ("Dad visits us in June.", ["in June"]),
        ("The trip is April 12.", ["April 12"]),
    ],
)
def test_a_month_in_the_place_of_a_name_is_no_time(
    text: str, times: list[str], language: Language
) -> None:
    doc = language.parse([text])[0]
    found = resolve_times(doc, datetime(2026, 11, 20, 9, tzinfo=UTC))
    assert [text[one.start : one.stop].rstrip(".") for one in found] == times


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("We moved the party from Saturday to Sunday because of the rain.", ["Sunday"]),
        ("They changed the meeting from Monday at ten to Tuesday at three.", ["Tuesday at three"]),
        ("We shifted dinner from tonight to tomorrow night.", ["tomorrow night"]),
        ("The wedding was brought forward from June to May.", ["May"]),
        ("The exam was moved from 12 December to 9 January.", ["9 January"]),
        ("They postponed my surgery from the 12th to the 19th.", ["to the 19th"]),
        ("I work from Monday to Friday.", ["from Monday to Friday"]),
        ("The course runs from May to July.", ["from May to July"]),
        ("My night shift goes from Monday to Friday.", ["from Monday to Friday"]),
        ("I watched the movie from Monday to Friday.", ["from Monday to Friday"]),
        ("Please shift the call from Friday to Monday.", ["Monday"]),
        (
            "We moved house on Friday and work from Monday to Wednesday.",
            ["on Friday", "from Monday to Wednesday"],
        ),
    ],
)
def test_what_is_moved_has_its_new_time_only(
    text: str, times: list[str], language: Language
) -> None:
    found = resolve_times(language.parse([text])[0], datetime(2026, 11, 20, 9, tzinfo=UTC))
    assert [text[one.start : one.stop].rstrip(".") for one in found] == times
