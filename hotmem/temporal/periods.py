"""Weeks, weekends and other periods around now: "last week", "the rest of the month"."""

import re
from datetime import datetime, timedelta
from typing import Final

from hotmem.temporal.fragments import (
    COUNT,
    DIRECTION,
    YEAR,
    Fragment,
    Rule,
    parse_count,
    parse_direction,
    preceded_by,
    whole_words,
)
from hotmem.temporal.units import (
    CLOCK_UNITS,
    Granularity,
    Reference,
    Span,
    add_units,
    day_span,
    unit_span,
    week_span,
)


def _week_number(match: re.Match[str], reference: Reference) -> Span:
    """Interpret "week 12 of 2023", an ISO 8601 week."""
    year = int(match["year"] or reference.now.year)
    return week_span(datetime.fromisocalendar(year, int(match["number"]), 1))


def _relative_unit(match: re.Match[str], reference: Reference) -> Span:
    """Interpret "last week", "this month", "next year", "the coming weekend"."""
    direction, unit, now = parse_direction(match["which"]), match["unit"], reference.now
    if unit in CLOCK_UNITS:
        first, last = sorted((now, add_units(now, unit, direction)))
        return Span(first, last, Granularity.SPAN)
    if unit == "weekend":
        return _weekend(direction, reference)
    if "work" in unit or "business" in unit:
        monday = week_span(add_units(now, "week", direction)).start
        return Span(monday, monday + timedelta(days=5), Granularity.SPAN)
    if unit == "fortnight":
        weeks = 1 if direction > 0 else 2 * direction
        monday = week_span(add_units(now, "week", weeks)).start
        return Span(monday, monday + timedelta(days=14), Granularity.SPAN)
    return unit_span(add_units(now, unit, direction), unit)


def _weekend(direction: int, reference: Reference) -> Span:
    saturday = week_span(reference.now).start + timedelta(days=5)
    if direction > 0 or (direction < 0 and reference.now.weekday() < 5):
        saturday += timedelta(weeks=direction)
    elif direction < 0:
        saturday -= timedelta(weeks=1)
    return Span(saturday, saturday + timedelta(days=2), Granularity.SPAN)


def _this_weekend(match: re.Match[str], reference: Reference) -> Span:
    return _weekend(0, reference)


def _weekends_ago(match: re.Match[str], reference: Reference) -> Span:
    last = _weekend(-1, reference)
    weeks = timedelta(weeks=int(parse_count(match["amount"])) - 1)
    return Span(last.start - weeks, last.end - weeks, Granularity.SPAN)


def _current(match: re.Match[str], reference: Reference) -> Span:
    return unit_span(reference.now, match["unit"])


def _current_after_the(match: re.Match[str], reference: Reference) -> Fragment:
    """Interpret "the year" of "the end of the year" and "for the year"."""
    alone = match.string.endswith("for the ", 0, match.start())
    return Fragment(match.start(), match.end(), _current(match, reference), weak=not alone)


def _after_next(match: re.Match[str], reference: Reference) -> Span:
    count = 2 if match["side"] == "after" else -2
    return unit_span(add_units(reference.now, match["unit"], count), match["unit"])


def _to_date(match: re.Match[str], reference: Reference) -> Span:
    start = _current(match, reference).start
    return Span(start, max(reference.today, day_span(start).end), Granularity.SPAN)


def _rest(match: re.Match[str], reference: Reference) -> Span:
    start = reference.now if match["unit"] == "day" else reference.today
    return Span(start, _current(match, reference).end, Granularity.SPAN)


def _end_of_day(match: re.Match[str], reference: Reference) -> Span:
    end = reference.today + timedelta(days=1)
    return Span(end - timedelta(minutes=1), end, Granularity.MINUTE)


_AFTER_OF: Final = preceded_by(
    "end of", "half of", "of the", "in the", "for the", "middle of", "start of", "beginning of"
)
_PERIOD: Final = r"week|weekend|fortnight|month|quarter|year|decade"

RULES: Final = (
    Rule(
        ("week ",),
        whole_words(rf"week\s+(?P<number>\d\d?)(?!\w|:)(?:\s+(?:of\s+)?(?P<year>{YEAR}))?"),
        _week_number,
    ),
    Rule(
        ("week", "month", "quarter", "year", "decade", "fortnight", "hour", "minute", "second"),
        whole_words(
            rf"(?P<which>{DIRECTION})\s+(?:(?:calendar|whole|very)\s+)?"
            rf"(?P<unit>{_PERIOD}|hour|minute|(?:working|work|business)\s*week)"
            r"(?!\s+before|'s\s+time)"
        ),
        _relative_unit,
    ),
    Rule((" ago",), whole_words(rf"(?P<amount>{COUNT})\s+weekends?\s+ago"), _weekends_ago),
    Rule(
        ("of ", "in the ", "for the "),
        whole_words(rf"{_AFTER_OF}(?P<unit>day|week|month|quarter|year)"),
        _current_after_the,
    ),
    Rule(("weekend",), whole_words(r"(?:the|at|on|over)\s+(?:the\s+)?weekend"), _this_weekend),
    Rule(("same ",), whole_words(rf"same\s+(?P<unit>{_PERIOD})"), _current),
    Rule(
        ("next", "last"),
        whole_words(
            r"(?P<unit>week|month|year)\s+(?P<side>after|before)\s+(?:the\s+)?(?:next|last)"
        ),
        _after_next,
    ),
    Rule((" to date",), whole_words(r"(?P<unit>year|month|week)\s+to\s+date"), _to_date),
    Rule(
        ("rest", "remain"),
        whole_words(
            r"(?:rest|remaining|remainder)\s+of\s+(?:(?:the|my|our|this)\s+)?(?:current\s+)?"
            r"(?P<unit>day|week|month|quarter|year)"
        ),
        _rest,
    ),
    Rule(("end of", "eod"), whole_words(r"end\s+of\s+(?:the\s+|this\s+)?day|eod"), _end_of_day),
)
