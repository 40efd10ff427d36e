"""Times in words, counted from Wednesday, 18 November 2026."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem.analysis import find_interval
from hotmem.analysis.time import find_times, written

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
    ("two days from now", "2026-11-20", "2026-11-21"),
]
NO_TIME = [
    "may I ask you something",
    "we march on",
    "every Monday",
    "on the first floor",
    "2000 people",
    "a second opinion",
    "what's my dog called",
    "",
]


@pytest.mark.parametrize(("text", "start", "end"), LOOKING_BACK)
def test_reads_times_of_the_past(text: str, start: str, end: str) -> None:
    interval = find_interval(f"what happened {text}?", AT)
    assert interval is not None
    assert (f"{interval.start:%Y-%m-%d}", f"{interval.end:%Y-%m-%d}") == (start, end)


@pytest.mark.parametrize(("text", "start", "end"), LOOKING_AHEAD)
def test_reads_times_to_come(text: str, start: str, end: str) -> None:
    interval = find_interval(f"what will happen {text}?", AT, ahead=True)
    assert interval is not None
    assert (f"{interval.start:%Y-%m-%d}", f"{interval.end:%Y-%m-%d}") == (start, end)


@pytest.mark.parametrize("text", NO_TIME)
def test_reads_no_time_where_there_is_none(text: str) -> None:
    assert find_interval(text, AT) is None


def test_the_day_is_that_of_utc() -> None:
    late = datetime(2026, 11, 18, 23, 30, tzinfo=timezone(timedelta(hours=-3)))
    interval = find_interval("today", late)
    assert interval is not None
    assert interval.start == datetime(2026, 11, 19, tzinfo=UTC)


def test_vague_counts_stay_vague() -> None:
    (mention,) = find_times("about five years ago", AT)
    assert written(mention) == "around 2021"


_WORDS = "last next this in on the 3rd 31st May February 2023 1999 Monday week two days ago from now and since to 0 99 summer"


@given(
    words=st.lists(
        st.sampled_from(_WORDS.split()),
        max_size=9,
    ),
    at=st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(9990, 1, 1), timezones=st.just(UTC)),
    ahead=st.booleans(),
)
def test_any_words_give_ordered_intervals_within_the_text(words: list[str], at: datetime, ahead: bool) -> None:
    text = " ".join(words)
    mentions = find_times(text, at, ahead=ahead)
    assert all(0 <= mention.start < mention.stop <= len(text) and mention.interval.start < mention.interval.end for mention in mentions)
    assert all(first.stop <= second.start for first, second in pairwise(mentions))
    interval = find_interval(text, at, ahead=ahead)
    assert interval is None or interval.start < interval.end


@given(text=st.text(max_size=200))
def test_any_text_is_read_without_failing(text: str) -> None:
    find_interval(text, AT)
