"""Dates of relative time expressions in quotes ("tomorrow", "next Friday"), in plain English."""

import re
from calendar import month_name
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Final

from hotmem.text.timezones import to_named_zone
from hotmem.types import Evidence

MAX_DATES: Final = 2
"""Limit of dates of one line."""

_WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_CERTAIN: Final = re.compile(
    rf"\b(?:yesterday|tomorrow|ago|week today|in (?:an?|two|three|\d+) (?:day|week|month)s?"
    rf"|on {_WEEKDAY}|{_WEEKDAY},? (?:the )?\w+(?:st|nd|rd|th)|last night"
    rf"|(?:this|last|next)(?: coming)? (?:week(?:end)?|month|year|{_WEEKDAY}))\b",
    re.IGNORECASE,
)
"""Relative expressions of which nine in ten are resolved rightly (`python -m eval truth`)."""

_UNCERTAIN: Final = re.compile(
    rf"\b(?:about|around|almost|over|few|several|couple|circa|or so|{'|'.join(month_name[1:])})\b"
    r"|\d{4}|\d[/.-]\d|^\W*(?:since|from|before|after|until|till|by)\b",
    re.IGNORECASE,
)
"""Vague and absolute ones, and only the start or end of a time."""

_RHYTHM: Final = re.compile(
    r"\W*(?:(?:morning|afternoon|evening|night)s\b|of\s|(?:and|or) (?:on )?\w+day\b)", re.IGNORECASE
)
"""What follows a day that is a rhythm, or a part of a date or a list."""

_RESOLVED: Final = re.compile(r"(\d{4}-\d\d-\d\d) \((\w+day)\)")


def resolve_dates(found: Evidence, text: str, zone: str | None) -> tuple[tuple[date, date], ...]:
    """First and last day of each relative time expression in a text.

    Without the day of the statement itself, which the line has, absolute dates, and expressions
    that may mean several days: a wrong day is worse than none.

    Args:
        found: The statement that the text was trimmed from.
        text: The text as shown.
        zone: Name of the user's time zone.
    """
    said = to_named_zone(found.said_at, zone).date()
    days = (
        _days(to_named_zone(time.start, zone), to_named_zone(time.end, zone))
        for words, time in found.times
        if words in text and _CERTAIN.search(words) and not _UNCERTAIN.search(words)
        if not _RHYTHM.match(text, text.index(words) + len(words))
    )
    return tuple(dict.fromkeys(day for day in days if day != (said, said)))[:MAX_DATES]


def _days(start: datetime, end: datetime) -> tuple[date, date]:
    """First and last day of an interval that may start at midnight in another time zone.

    Half a day after that midnight it is the same day in both.
    """
    half = min(timedelta(hours=12), (end - start) / 2)
    return (start + half).date(), (end - half).date()


def without_days(reading: str, shown: Sequence[tuple[date, date]]) -> str:
    """What a fact says, with weekdays in place of resolved days; "" if one of them is uncertain.

    Args:
        reading: The fact: "Kira is coming on 2026-03-10 (Tuesday)".
        shown: The days beside the quote that it was read from.
    """
    days = {match[1] for match in _RESOLVED.finditer(reading)}
    certain = days <= {first.isoformat() for first, last in shown if first == last}
    return _RESOLVED.sub(r"\2", reading) if certain else ""


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
        return f"on {format_day(first, year)}"
    after = last + timedelta(days=1)
    if (last - first).days == 6 and first.weekday() == 0:
        return f"in the week of {format_day(first, year)}"
    if (last - first).days < 4:
        return f"on {format_day(first, year)} to {format_day(last, year)}"
    if first.day == after.day == 1 and (after - first).days <= 31:
        return f"in {first:%B}" if first.year == year else f"in {first:%B %Y}"
    if first.day == first.month == after.day == after.month == 1 == after.year - first.year:
        return f"in {first.year}"
    return ""


def format_day(day: date, year: int) -> str:
    """Format a day, without its year if that is `year`."""
    return f"{day.day} {day:%B}" if day.year == year else f"{day.day} {day:%B} {day.year}"
