"""Relative times of a quote ("tomorrow", "next Friday") as the days they meant, and those days in plain English."""

import re
from datetime import date, datetime, timedelta
from typing import Final

from hotmem.text.timezones import to_named_zone
from hotmem.types import Evidence

MAX_DATES: Final = 2
"""Dates beside one line."""

HALF: Final = timedelta(hours=12)
"""From the midnight of another zone to within the same day of this one."""

_ABSOLUTE: Final = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b|\d{4}|\d+[/.-]\d|^\W*(?:since|from|before|after|until|till|by)\b",
    re.IGNORECASE,
)
"""A date that says itself, or the edge of a time."""

_VAGUE: Final = re.compile(
    r"\b(?:about|around|almost|over|few|several|couple|circa|or so|sometime)\b", re.IGNORECASE
)


def resolve_dates(found: Evidence, text: str, zone: str | None) -> tuple[tuple[date, date], ...]:
    """First and last day of the times that a text names relatively, in order, once each.

    None for the day it was said on, which stands above it, nor for what is vague, names a date
    itself, or is no run of whole days, weeks, months or years.

    Args:
        found: The statement the text was cut from.
        text: What is shown of it.
        zone: Name of the zone of who asks.
    """
    said = to_named_zone(found.said_at, zone).date()
    days = (
        _days(to_named_zone(time.start, zone), to_named_zone(time.end, zone))
        for words, time in found.times
        if words in text and not _ABSOLUTE.search(words) and not _VAGUE.search(words)
    )
    return tuple(dict.fromkeys(day for day in days if day != (said, said)))[:MAX_DATES]


def _days(start: datetime, end: datetime) -> tuple[date, date]:
    """The days of a time that may have begun at midnight in another zone."""
    if end - start < 2 * HALF:
        middle = start + (end - start) / 2
        return middle.date(), middle.date()
    return (start + HALF).date(), (end - HALF).date()


def format_dates(first: date, last: date, year: int) -> str:
    """The days in plain English.

    "on 10 March", "14 to 15 March", "in the week of 9 March", "in March", "in 2025"; "" for other
    spans.

    Args:
        first: First day.
        last: Last day.
        year: The year that need not be named.
    """
    if first == last:
        return f"on {_day(first, year)}"
    after = last + timedelta(days=1)
    if (last - first).days == 6 and first.weekday() == 0:
        return f"in the week of {_day(first, year)}"
    if (last - first).days < 4:
        return (
            f"on {first.day} to {_day(last, year)}"
            if first.month == last.month
            else f"on {_day(first, year)} to {_day(last, year)}"
        )
    if first.day == after.day == 1 and (after - first).days <= 31:
        return f"in {first:%B}" if first.year == year else f"in {first:%B %Y}"
    if (first.month, first.day) == (after.month, after.day) == (
        1,
        1,
    ) and after.year - first.year == 1:
        return f"in {first.year}"
    return ""


def _day(day: date, year: int) -> str:
    return f"{day.day} {day:%B}" if day.year == year else f"{day.day} {day:%B} {day.year}"
