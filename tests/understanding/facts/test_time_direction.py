"""Whether times are past or future; the perfect and the past tense may refer to plans."""

from datetime import UTC, datetime

from hotmem.models import Language
from hotmem.types import Role
from hotmem.understanding.facts import extract_facts
from hotmem.understanding.facts.time_direction import resolve_times
from tests.scored import scored
from tests.tables import tables

PLANS = tables(__file__, "plans")


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


@scored("case", PLANS)
def test_future_events(case: dict[str, str | None], language: Language) -> None:
    said_at = datetime.fromisoformat(str(case["said_at"])).replace(tzinfo=UTC)
    assert read(str(case["text"]), said_at, language) == (
        [case["starts"]] if case["starts"] else []
    )


@scored(
    ("text", "fact"),
    [
        ("I've booked a table for Friday.", "Ana has booked a table for 2026-11-27 (Friday)."),
        ("I saw the dentist on Friday.", "Ana saw the dentist on 2026-11-20 (Friday)."),
        ("They put the exam off until Friday.", "The exam is on 2026-11-27 (Friday)."),
        ("The recital was postponed to May.", "The recital is in May 2027."),
        ("The exam was pushed back to next week.", "The exam is in the week of 2026-11-30."),
        (
            "They moved the exam to the end of March.",
            "The exam is between 2027-03-16 and 2027-03-31.",
        ),
        ("They moved the exam on 3 March to 10 March.", "The exam is on 2027-03-10 (Wednesday)."),
    ],
    floor=0.85,
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


@scored(
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
    floor=0.85,
)
def test_a_month_in_the_place_of_a_name_is_no_time(
    text: str, times: list[str], language: Language
) -> None:
    doc = language.parse([text])[0]
    found = resolve_times(doc, datetime(2026, 11, 20, 9, tzinfo=UTC))
    assert [text[one.start : one.stop].rstrip(".") for one in found] == times


@scored(
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
        ("The meeting on 3 March was postponed to 10 March.", ["10 March"]),
        ("The meeting planned for 3 March has been moved to 10 March.", ["10 March"]),
        ("Friday's dinner was moved to Saturday.", ["Saturday"]),
        ("The hearing test that was on Wednesday is now on Thursday.", ["on Thursday"]),
        ("It was meant to be this Friday but they brought it forward to Thursday.", ["Thursday"]),
        ("He was supposed to come today, he's coming on Friday instead.", ["on Friday"]),
        ("The barbecue isn't this Saturday, it's Saturday week.", ["Saturday week"]),
        ("The tour has slipped from June to September.", ["September"]),
        ("The concert's been put back from today to Monday.", ["Monday"]),
        ("We met on Friday and moved the party to Saturday.", ["on Friday", "Saturday"]),
        ("They moved me in December to the airline.", ["in December"]),
        ("I called on Monday about postponing to Friday.", ["on Monday", "Friday"]),
        ("The meeting on 3 March was cancelled. It's on Friday.", ["on 3 March", "on Friday"]),
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


@scored(
    ("text", "day"),
    [
        ("The meeting on 3 March was postponed.", "2026-03-03"),
        ("The meeting on 3 December was cancelled.", "2025-12-03"),
        ("The meeting was cancelled on 3 December.", "2025-12-03"),
        ("We met on 3 March.", "2025-03-03"),
    ],
    floor=1.0,
)
def test_a_cancelled_event_was_ahead(text: str, day: str, language: Language) -> None:
    (found,) = resolve_times(language.parse([text])[0], datetime(2026, 2, 10, 9, tzinfo=UTC))
    assert f"{found.interval.start:%Y-%m-%d}" == day


@scored(
    ("said", "months"),
    [
        ("I helped my brother move in March.", ["2026-03"]),
        ("They let me go in May.", ["2026-05"]),
        ("I saw him leave in May.", ["2026-05"]),
        ("I heard her sing in October.", ["2026-10"]),
        ("The council made us move in June.", ["2026-06"]),
        ("We bet on the wrong horse in June.", ["2026-06"]),
        ("I quit smoking in May.", ["2026-05"]),
        ("They'll let me go in May.", ["2027-05"]),
        ("I'll help my brother move in March.", ["2027-03"]),
        ("I have to quit in May.", ["2027-05"]),
    ],
    floor=0.85,
)
def test_an_infinitive_takes_the_tense_of_the_verb_that_governs_it(
    said: str, months: list[str], language: Language
) -> None:
    (doc,) = language.parse([said])
    found = resolve_times(doc, datetime(2026, 11, 2, 10, tzinfo=UTC))
    assert [f"{one.interval.start:%Y-%m}" for one in found] == months
