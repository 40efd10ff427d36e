"""Dates of relative time expressions in quotes ("tomorrow", "next Friday"), in plain English."""

import re
from datetime import date, datetime, timedelta
from typing import Final

from hotmem.text.timezones import to_named_zone
from hotmem.types import Evidence

MAX_DATES: Final = 2
"""Limit of dates of one line."""

HALF: Final = timedelta(hours=12)
"""Added to midnight in another time zone to get into the same day of this one."""

_ABSOLUTE: Final = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
    r"|\d{4}|\d+[/.-]\d|^\W*(?:since|from|before|after|until|till|by)\b",
    re.IGNORECASE,
)
"""An absolute date, or only the start or end of a time."""

_VAGUE: Final = re.compile(
    r"\b(?:about|around|almost|over|few|several|couple|circa|or so|sometime)\b", re.IGNORECASE
)


def resolve_dates(found: Evidence, text: str, zone: str | None) -> tuple[tuple[date, date], ...]:
    """First and last day of each relative time expression in a text.

    Without the day of the statement itself, which is in the heading, absolute dates, and vague
    expressions.

    Args:
        found: The statement that the text was trimmed from.
        text: The text as shown.
        zone: Name of the user's time zone.
    """
    said = to_named_zone(found.said_at, zone).date()
    days = (
        _days(to_named_zone(time.start, zone), to_named_zone(time.end, zone))
        for words, time in found.times
        if words in text and not _ABSOLUTE.search(words) and not _VAGUE.search(words)
    )
    return tuple(dict.fromkeys(day for day in days if day != (said, said)))[:MAX_DATES]


def _days(start: datetime, end: datetime) -> tuple[date, date]:
    """First and last day of an interval that may start at midnight in another time zone."""
    if end - start < 2 * HALF:
        middle = start + (end - start) / 2
        return middle.date(), middle.date()
    return (start + HALF).date(), (end - HALF).date()


def format_dates(first: date, last: date, year: int) -> str:
    """Format a span of days: "on 10 March", "in the week of 9 March", "in March", "in 2025".

    Args:
        first: First day.
        last: Last day.
        year: The year to omit.

    Returns:
        The text; "" for a span that is neither short nor a week, month or year.
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
    new_years = first.day == first.month == after.day == after.month == 1
    if new_years and after.year - first.year == 1:
        return f"in {first.year}"
    return ""


def _day(day: date, year: int) -> str:
    return f"{day.day} {day:%B}" if day.year == year else f"{day.day} {day:%B} {day.year}"
