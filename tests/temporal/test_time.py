"""Time expressions, relative to Wednesday, 18 November 2026."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from hotmem.temporal import Bound, Granularity, find_times, format_time
from hotmem.understanding.query import find_interval
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

AT = datetime(2026, 11, 18, 15, 0, tzinfo=UTC)


@scored(("text", "start", "end"), CASES["looking_back"], floor=1.0)
def test_finds_past_times(text: str, start: str, end: str) -> None:
    interval = find_interval(f"what happened {text}?", AT)
    assert interval is not None
    assert (f"{interval.start:%Y-%m-%d}", f"{interval.end:%Y-%m-%d}") == (start, end)


@scored(("text", "start", "end"), CASES["looking_ahead"], floor=1.0)
def test_finds_future_times(text: str, start: str, end: str) -> None:
    interval = find_interval(f"what will happen {text}?", AT, ahead=True)
    assert interval is not None
    assert (f"{interval.start:%Y-%m-%d}", f"{interval.end:%Y-%m-%d}") == (start, end)


@scored("text", CASES["no_time"], floor=1.0)
def test_finds_no_time_in_other_words(text: str) -> None:
    assert find_interval(text, AT) is None


@scored("text", CASES["finds_the_day_an_event_is_moved"], floor=1.0)
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


@scored(("text", "start", "end"), CASES["exact"], floor=1.0)
def test_finds_times_to_the_minute(text: str, start: str, end: str) -> None:
    (mention,) = find_times(f"we are going {text}", AT, ahead=True)
    assert (
        f"{mention.interval.start:%Y-%m-%d %H:%M}",
        f"{mention.interval.end:%Y-%m-%d %H:%M}",
    ) == (start, end)


@scored(("text", "words", "start"), CASES["hesitations_and_corrections_are_part"], floor=1.0)
def test_hesitations_and_corrections_are_part_of_a_time(
    text: str, words: str | None, start: str
) -> None:
    (found,) = find_times(text, AT, ahead=True)
    assert f"{found.interval.start:%Y-%m-%d}" == start
    assert text[found.start : found.stop] == (words or text)


@scored(("text", "bound"), CASES["bounds"], floor=1.0)
def test_bounds(text: str, bound: str) -> None:
    (mention,) = find_times(f"we are going {text}", AT, ahead=True)
    assert mention.bound is Bound(bound)


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


@scored("text", CASES["a_mention_covers_its_words"], floor=1.0)
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


@scored(("text", "phrase"), CASES["times_are_formatted_as_absolute_phrases"], floor=1.0)
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


@scored(("text", "phrase"), CASES["minutes_to_an_hour_are_no_range_of_hours"], floor=1.0)
def test_minutes_to_an_hour_are_no_range_of_hours(text: str, phrase: str) -> None:
    (mention,) = find_times(text, AT, ahead=True)
    assert format_time(mention) == phrase
