"""Time expressions, relative to Wednesday, 18 November 2026."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from hotmem.temporal import Bound, Granularity, find_times, format_time
from hotmem.understanding.query import find_interval
from tests.scored import scored

AT = datetime(2026, 11, 18, 15, 0, tzinfo=UTC)

LOOKING_BACK = [
    ("today", "2026-11-18", "2026-11-19"),
    ("yesterday morning", "2026-11-17", "2026-11-18"),
    ("last night", "2026-11-17", "2026-11-18"),
    ("the day before yesterday", "2026-11-16", "2026-11-17"),
    ("tomorrow", "2026-11-19", "2026-11-20"),
    ("last week", "2026-11-09", "2026-11-16"),
    ("this week", "2026-11-16", "2026-11-23"),
    ("next week", "2026-11-23", "2026-11-30"),
    ("last weekend", "2026-11-14", "2026-11-16"),
    ("last month", "2026-10-01", "2026-11-01"),
    ("this year", "2026-01-01", "2027-01-01"),
    ("last year", "2025-01-01", "2026-01-01"),
    ("3 days ago", "2026-11-15", "2026-11-16"),
    ("two weeks ago", "2026-11-02", "2026-11-09"),
    ("two weeks ago today", "2026-11-04", "2026-11-05"),
    ("a month ago yesterday", "2026-10-17", "2026-10-18"),
    ("the Sunday before last", "2026-11-08", "2026-11-09"),
    ("the Wednesday before last", "2026-11-04", "2026-11-05"),
    ("on Friday and now", "2026-11-13", "2026-11-14"),
    ("between last Friday and now", "2026-11-13", "2026-11-19"),
    ("a year ago", "2025-01-01", "2026-01-01"),
    ("eleven months ago", "2025-12-01", "2026-01-01"),
    ("on Tuesday", "2026-11-17", "2026-11-18"),
    ("on Wednesday", "2026-11-11", "2026-11-12"),
    ("last Friday", "2026-11-13", "2026-11-14"),
    ("next Friday", "2026-11-27", "2026-11-28"),
    ("this Friday", "2026-11-20", "2026-11-21"),
    ("on the 3rd", "2026-11-03", "2026-11-04"),
    ("on the thirtieth", "2026-10-30", "2026-10-31"),
    ("in May", "2026-05-01", "2026-06-01"),
    ("in December", "2025-12-01", "2026-01-01"),
    ("in May 2023", "2023-05-01", "2023-06-01"),
    ("8 May, 2023", "2023-05-08", "2023-05-09"),
    ("May 8th, 2023", "2023-05-08", "2023-05-09"),
    ("the 8th of May", "2026-05-08", "2026-05-09"),
    ("2023-05-08", "2023-05-08", "2023-05-09"),
    ("back in 2019", "2019-01-01", "2020-01-01"),
    ("last summer", "2026-06-01", "2026-09-01"),
    ("the last 7 days", "2026-11-11", "2026-11-19"),
    ("since January", "2026-01-01", "2026-11-18"),
    ("before 2020", "1970-01-01", "2020-01-01"),
    ("between March and May 2026", "2026-03-01", "2026-06-01"),
]
LOOKING_AHEAD = [
    ("on Tuesday", "2026-11-24", "2026-11-25"),
    ("on Wednesday", "2026-11-25", "2026-11-26"),
    ("on the 3rd", "2026-12-03", "2026-12-04"),
    ("in May", "2027-05-01", "2027-06-01"),
    ("24 November", "2026-11-24", "2026-11-25"),
    ("in three weeks", "2026-12-07", "2026-12-14"),
    ("a week on Friday", "2026-11-27", "2026-11-28"),
    ("to a week this Friday", "2026-11-27", "2026-11-28"),
    ("Friday week", "2026-11-27", "2026-11-28"),
    ("a fortnight on Tuesday", "2026-12-08", "2026-12-09"),
    ("Tuesday fortnight", "2026-12-08", "2026-12-09"),
    ("two weeks tomorrow", "2026-12-03", "2026-12-04"),
    ("three weeks today", "2026-12-09", "2026-12-10"),
    ("a week on Wednesday", "2026-12-02", "2026-12-03"),
    ("twice a week on Friday", "2026-11-20", "2026-11-21"),
    ("for 400 euros a week on Friday", "2026-11-20", "2026-11-21"),
    ("two days from now", "2026-11-20", "2026-11-21"),
]
EXACT = [
    ("tomorrow at 5 pm", "2026-11-19 17:00", "2026-11-19 17:01"),
    ("at half past three on Friday", "2026-11-20 15:30", "2026-11-20 15:31"),
    ("tomorrow morning", "2026-11-19 08:00", "2026-11-19 12:00"),
    ("early tomorrow morning", "2026-11-19 08:00", "2026-11-19 10:00"),
    ("tonight", "2026-11-18 20:00", "2026-11-19 00:00"),
    ("tonight at eight", "2026-11-18 20:00", "2026-11-18 20:01"),
    ("on Friday from 2 to 4 pm", "2026-11-20 14:00", "2026-11-20 16:00"),
    ("at 7 on Friday evening", "2026-11-20 19:00", "2026-11-20 19:01"),
    ("on the 3rd at 5 pm for two hours", "2026-12-03 17:00", "2026-12-03 19:00"),
    ("from Friday 8pm to Sunday 9pm", "2026-11-20 20:00", "2026-11-22 21:00"),
    ("in an hour", "2026-11-18 16:00", "2026-11-18 16:01"),
    ("in an hour and a half", "2026-11-18 16:30", "2026-11-18 16:31"),
    ("in the next 30 minutes", "2026-11-18 15:00", "2026-11-18 15:30"),
    ("ten minutes ago", "2026-11-18 14:50", "2026-11-18 14:51"),
    ("from Monday to Wednesday", "2026-11-23 00:00", "2026-11-26 00:00"),
    ("from the 4th to the 22nd of January", "2027-01-04 00:00", "2027-01-23 00:00"),
    ("between now and Friday", "2026-11-18 15:00", "2026-11-21 00:00"),
    ("Friday next week", "2026-11-27 00:00", "2026-11-28 00:00"),
    ("the second Monday of next month", "2026-12-14 00:00", "2026-12-15 00:00"),
    ("Tuesday the twenty-fourth", "2026-11-24 00:00", "2026-11-25 00:00"),
    ("three days after next Friday", "2026-11-30 00:00", "2026-12-01 00:00"),
    ("two summers ago", "2025-06-01 00:00", "2025-09-01 00:00"),
    ("two Fridays ago", "2026-11-06 00:00", "2026-11-07 00:00"),
    ("late last week", "2026-11-12 00:00", "2026-11-16 00:00"),
    ("later in the week", "2026-11-18 00:00", "2026-11-23 00:00"),
    ("next 5 May", "2027-05-05 00:00", "2027-05-06 00:00"),
    ("early next year", "2027-01-01 00:00", "2027-07-01 00:00"),
    ("the rest of the week", "2026-11-18 00:00", "2026-11-23 00:00"),
    ("the third quarter of two thousand and twenty", "2020-07-01 00:00", "2020-10-01 00:00"),
    ("in nineteen ninety nine", "1999-01-01 00:00", "2000-01-01 00:00"),
    ("in the '70s", "1970-01-01 00:00", "1980-01-01 00:00"),
    ("in the nineteen seventies", "1970-01-01 00:00", "1980-01-01 00:00"),
    ("the first week of October 2025", "2025-09-29 00:00", "2025-10-06 00:00"),
    ("for three days from tomorrow", "2026-11-19 00:00", "2026-11-22 00:00"),
    ("the last three months", "2026-08-18 00:00", "2026-11-18 15:00"),
]
BOUNDS = [
    ("since last March", Bound.SINCE),
    ("after the 3rd", Bound.AFTER),
    ("before noon tomorrow", Bound.BEFORE),
    ("on Friday before 6 pm", Bound.BEFORE),
    ("no later than Friday", Bound.UNTIL),
    ("2012 onwards", Bound.SINCE),
    ("on Friday", Bound.AT),
]
NO_TIME = [
    "may I ask you something",
    "we march on",
    "every Monday",
    "each Monday at 5 pm",
    "I run for three hours",
    "for 3 people",
    "the sun sat on the second hill",
    "the second one is better",
    "he forgot the first one",
    "my number is 138-2010-2015",
    "on February 30",
    "the 31st of this month",
    "at 5 pm",
    "one second please",
    "in my twenties",
    "on the first floor",
    "2000 people",
    "a second opinion",
    "what's my dog called",
    "",
]


@scored(("text", "start", "end"), LOOKING_BACK, floor=1.0)
def test_finds_past_times(text: str, start: str, end: str) -> None:
    interval = find_interval(f"what happened {text}?", AT)
    assert interval is not None
    assert (f"{interval.start:%Y-%m-%d}", f"{interval.end:%Y-%m-%d}") == (start, end)


@scored(("text", "start", "end"), LOOKING_AHEAD, floor=1.0)
def test_finds_future_times(text: str, start: str, end: str) -> None:
    interval = find_interval(f"what will happen {text}?", AT, ahead=True)
    assert interval is not None
    assert (f"{interval.start:%Y-%m-%d}", f"{interval.end:%Y-%m-%d}") == (start, end)


@scored("text", NO_TIME, floor=1.0)
def test_finds_no_time_in_other_words(text: str) -> None:
    assert find_interval(text, AT) is None


@scored(
    "text",
    [
        "it was moved to the twelfth",
        "she isn't coming on the twelfth anymore",
        "they put it back to the 12th",
    ],
    floor=1.0,
)
def test_finds_the_day_an_event_is_moved_to(text: str) -> None:
    (mention,) = find_times(text, AT, ahead=True)
    assert mention.interval.start.day == 12


@scored("text", ["we have roast on a Sunday", "it was a Tuesday"], floor=1.0)
def test_a_weekday_with_a_is_no_certain_day(text: str) -> None:
    assert find_times(text, AT, ahead=True) == ()


def test_after_a_change_of_something_else_an_ordinal_is_no_day() -> None:
    assert find_times("change of shift, then the lift to the third", AT, ahead=True) == ()


def test_an_ordinal_of_a_floor_is_no_day() -> None:
    assert find_times("the lift to the third", AT, ahead=True) == ()


@scored(("text", "start", "end"), EXACT, floor=1.0)
def test_finds_times_to_the_minute(text: str, start: str, end: str) -> None:
    (mention,) = find_times(f"we are going {text}", AT, ahead=True)
    assert (
        f"{mention.interval.start:%Y-%m-%d %H:%M}",
        f"{mention.interval.end:%Y-%m-%d %H:%M}",
    ) == (start, end)


@scored(
    ("text", "words", "start"),
    [
        ("we move in um september i mean october", "in um september i mean october", "2027-10-01"),
        ("on Monday, no, Tuesday at the latest", "on Monday, no, Tuesday", "2026-11-24"),
        ("on monday no wait on friday no saturday", None, "2026-11-21"),
        ("in uh three days", None, "2026-11-21"),
        ("ummm tomorrow", "tomorrow", "2026-11-19"),
    ],
    floor=1.0,
)
def test_hesitations_and_corrections_are_part_of_a_time(
    text: str, words: str | None, start: str
) -> None:
    (found,) = find_times(text, AT, ahead=True)
    assert f"{found.interval.start:%Y-%m-%d}" == start
    assert text[found.start : found.stop] == (words or text)


@scored(("text", "bound"), BOUNDS, floor=1.0)
def test_bounds(text: str, bound: Bound) -> None:
    (mention,) = find_times(f"we are going {text}", AT, ahead=True)
    assert mention.bound is bound


def test_counted_weeks_have_an_exact_moment() -> None:
    (mention,) = find_times("two weeks ago", AT)
    assert mention.granularity is Granularity.WEEK
    assert mention.exact_moment == datetime(2026, 11, 4, 15, 0, tzinfo=UTC)


@scored(("ahead", "day"), [(True, 19), (False, 18)], floor=1.0)
def test_a_bare_time_of_day_is_on_the_nearest_day(ahead: bool, day: int) -> None:
    (mention,) = find_times("at 10 am", AT, ahead=ahead, include_clock_times=True)
    assert mention.clock_only
    assert mention.interval.start == datetime(2026, 11, day, 10, 0, tzinfo=UTC)


def test_days_start_at_midnight_of_the_speaker() -> None:
    at = datetime(2026, 11, 17, 22, 30, tzinfo=ZoneInfo("America/New_York"))
    interval = find_interval("yesterday", at)
    assert interval is not None
    assert interval.start == datetime(2026, 11, 16, 5, tzinfo=UTC)
    (mention,) = find_times("tomorrow at 5 pm", at, ahead=True)
    assert mention.interval.start == datetime(2026, 11, 18, 22, tzinfo=UTC)
    assert format_time(mention) == "on 2026-11-18 (Wednesday) at 17:00"


def test_a_day_with_a_clock_change_is_shorter() -> None:
    at = datetime(2026, 3, 28, 13, tzinfo=ZoneInfo("Europe/Berlin"))
    interval = find_interval("tomorrow", at, ahead=True)
    assert interval is not None
    assert interval.end - interval.start == timedelta(hours=23)


@scored(
    "text",
    [
        "I met her the twenty second of June at half past three",
        "İ came on MAY 3rd",
        "dinner  with Ana—tomorrow at\nseven!",
    ],
    floor=1.0,
)
def test_a_mention_covers_its_words(text: str) -> None:
    (mention,) = find_times(text, AT)
    assert text[mention.start : mention.stop].strip() == text[mention.start : mention.stop]
    assert text[mention.start :].lower().startswith(("the twenty", "on may", "tomorrow"))


def test_today_is_the_day_of_the_speaker() -> None:
    late = datetime(2026, 11, 18, 23, 30, tzinfo=timezone(timedelta(hours=-3)))
    interval = find_interval("today", late)
    assert interval is not None
    assert interval.start == datetime(2026, 11, 18, 3, tzinfo=UTC)


def test_vague_times() -> None:
    (mention,) = find_times("about five years ago", AT)
    assert format_time(mention) == "around 2021"


@scored(
    ("text", "phrase"),
    [
        ("from March to May", "between 2026-03-01 and 2026-05-31"),
        ("since early 2015", "on 2015-01-01"),
        ("until late 2019", "on 2019-12-31"),
        ("last night", "on 2026-11-17 (Tuesday) at night"),
        ("yesterday morning", "on 2026-11-17 (Tuesday) in the morning"),
        ("yesterday at noon", "on 2026-11-17 (Tuesday) at 12:00"),
    ],
    floor=1.0,
)
def test_times_are_formatted_as_absolute_phrases(text: str, phrase: str) -> None:
    (mention,) = find_times(f"I lived there {text}", AT)
    assert format_time(mention) == phrase


_WORDS = (
    "half past 5 pm at morning early end of before until quarter every for hours "
    "last next this in on the 3rd 31st May February 2023 1999 Monday week two days ago from now "
    "and since to 0 99 summer"
)


@given(
    words=st.lists(
        st.sampled_from(_WORDS.split()),
        max_size=9,
    ),
    at=st.datetimes(
        min_value=datetime(1900, 1, 1), max_value=datetime(9990, 1, 1), timezones=st.just(UTC)
    ),
    ahead=st.booleans(),
)
def test_mentions_are_ordered_and_inside_the_text(
    words: list[str], at: datetime, ahead: bool
) -> None:
    text = " ".join(words)
    mentions = find_times(text, at, ahead=ahead)
    assert all(
        0 <= mention.start < mention.stop <= len(text)
        and mention.interval.start < mention.interval.end
        for mention in mentions
    )
    assert all(first.stop <= second.start for first, second in pairwise(mentions))
    interval = find_interval(text, at, ahead=ahead)
    assert interval is None or interval.start < interval.end


@given(text=st.text(max_size=200))
def test_any_text_is_accepted(text: str) -> None:
    find_interval(text, AT)


@scored(
    ("text", "phrase"),
    [
        ("I have a call at ten to nine on Friday", "on 2026-11-20 (Friday) at 08:50"),
        ("The call is at ten to six pm tomorrow", "on 2026-11-19 (Thursday) at 17:50"),
        (
            "The shop is open ten to six on Saturday",
            "on 2026-11-21 (Saturday) between 10:00 and 18:00",
        ),
    ],
    floor=1.0,
)
def test_minutes_to_an_hour_are_no_range_of_hours(text: str, phrase: str) -> None:
    (mention,) = find_times(text, AT, ahead=True)
    assert format_time(mention) == phrase
