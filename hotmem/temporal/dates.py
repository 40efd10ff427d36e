"""Calendar dates in words and figures: "8 May, 2023", "5/8", "from the 4th to the 9th"."""

import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from hotmem.temporal.fragments import (
    DIGITS,
    DIRECTION,
    MONTH,
    MONTH_CUES,
    ORDINAL,
    YEAR,
    Fragment,
    Rule,
    parse_direction,
    parse_month,
    parse_year,
    preceded_by,
    words_rule,
)
from hotmem.temporal.units import Granularity, Reference, Span, day_span, month_span

_REGULAR: Final = {
    "shift": "shift",
    "push": "push",
    "postpone": "postpon",
    "reschedule": "reschedul",
    "delay": "delay",
    "change": "chang",
    "switch": "switch",
    "swap": "swapp",
    "slip": "slipp",
}
"""Verbs, each with what comes before "-ed" and "-ing"."""

RESCHEDULING_VERBS: Final = frozenset({"move", "bring", "put", *_REGULAR})

RESCHEDULED: Final = re.compile(
    rf"\b(?:mov(?:ed?|es|ing)|(?:{'|'.join(_REGULAR.values())})(?:ed|ing)"
    rf"|(?:{'|'.join(_REGULAR)})(?=\s+(?:the|my|our|it|that|this)\b)"
    r"|br(?:ing|ought)|put)\b(?:(?!\band\b)[^.?!;])*$",
    re.IGNORECASE,
)
"""The end of a text with such a verb. "My shift" is none."""


def nearest_day(days: Iterable[datetime], reference: Reference) -> datetime:
    """The first day from today on when looking ahead, else the last one up to today.

    Raises:
        ValueError: If there is none in that direction.
    """
    if reference.ahead:
        return min(day for day in days if day >= reference.today)
    return max(day for day in days if day <= reference.today)


def same_day_of_months(day: int, reference: Reference, distance: int) -> list[datetime]:
    """A day of the month in the months around now that have it.

    Args:
        day: 1 to 31.
        reference: Its month is the middle one.
        distance: Number of months before and after it.
    """
    months = (
        month_span(reference.now.year, reference.now.month + offset).start
        for offset in range(-distance, distance + 1)
    )
    return [
        month.replace(day=day) for month in months if day <= monthrange(month.year, month.month)[1]
    ]


def _date(year: str | None, month: int, day: int, reference: Reference) -> Span:
    if year:
        return day_span(datetime(parse_year(year), month, day))
    around = [reference.now.year + offset for offset in range(-8, 9)]
    days = [
        datetime(number, month, day)
        for number in around
        if 0 < number < 9999 and day <= monthrange(number, month)[1]
    ]
    return replace(day_span(nearest_day(days, reference)), yearly=True)


def _iso(match: re.Match[str], reference: Reference) -> Span:
    return day_span(datetime(int(match["year"]), int(match["month"]), int(match["day"])))


def _numeric(match: re.Match[str], reference: Reference) -> Span:
    """Interpret "5/8/2023": month first, unless only day first is a date."""
    month, day = int(match["first"]), int(match["second"])
    if month > 12:
        month, day = day, month
    if not 1 <= month <= 12:
        raise ValueError(match[0])
    return _date(match["year"], month, day, reference)


def _month_day(match: re.Match[str], reference: Reference) -> Span:
    return _date(match["year"], parse_month(match["month"]), int(match["day"]), reference)


def _days_of_month(match: re.Match[str], reference: Reference) -> Span | None:
    """Interpret "from the 3rd to the 5th of May", the last day included."""
    last = _date(match["year"], parse_month(match["month"]), int(match["until"]), reference).start
    return _days_between(last.replace(day=int(match["day"])), last)


def _days_of_relative_month(match: re.Match[str], reference: Reference) -> Span | None:
    """Interpret "the 3rd to the 5th of next month"."""
    number = reference.now.month + parse_direction(match["which"])
    month = month_span(reference.now.year, number).start
    first, last = int(match["day"]), int(match["until"])
    return _days_between(month.replace(day=first), month.replace(day=last))


def _days_of_nearest_month(match: re.Match[str], reference: Reference) -> Span | None:
    """Interpret "from the 3rd to the 5th"."""
    first = _day_of_month(match, reference).start
    return _days_between(first, first.replace(day=int(match["until"])))


def _days_between(first: datetime, last: datetime) -> Span | None:
    return Span(first, last + timedelta(days=1), Granularity.SPAN) if first < last else None


def _day_of_month(match: re.Match[str], reference: Reference) -> Span:
    return day_span(nearest_day(same_day_of_months(int(match["day"]), reference, 2), reference))


def _day_moved_to(match: re.Match[str], reference: Reference) -> Span | None:
    """Interpret "moved it to the third"; without such a verb it may be a floor or a place."""
    moved = RESCHEDULED.search(match.string, 0, match.start())
    return _day_of_month(match, reference) if moved else None


def _day_of_relative_month(match: re.Match[str], reference: Reference) -> Span:
    number = reference.now.month + parse_direction(match["which"] or "this")
    return day_span(month_span(reference.now.year, number).start.replace(day=int(match["day"])))


def _possible_day_of_month(match: re.Match[str], reference: Reference) -> Fragment:
    """Interpret "the 3rd", which is a day only next to a time of day: "the 3rd at six"."""
    span = _day_of_month(match, reference)
    return Fragment(match.start(), match.end(), span, dated=True, weak=True)


_YEAR_AFTER: Final = (
    rf"(?:(?:\s*[,.]\s*|[\s/-]+)(?:(?:of|in)\s+)?"
    rf"(?P<year>{YEAR}|'\d\d|(?<!-)\d\d(?=\s*(?:[.!?]|$))))?"
)
_TO: Final = r"\s*(?:to|-|until|till|through|and)\s*(?:the\s+)?"
_FROM_DAY: Final = (
    rf"(?:(?:from|between)\s+)?(?:the\s+)?(?P<day>\d\d?){ORDINAL}?{_TO}(?P<until>\d\d?){ORDINAL}?"
)

_AFTER_DAY: Final = (
    r"(?:at|from|in|on|for|to|and|or|but|because|so|when|if|until|till|by|around|about|before"
    r"|after|with|as|then|too|again|please|i|i'm|i'll|we|we're|he|she|they|it|you|my|our|her|his"
    r"|there|is|was|will|would|can|could|the|a|an|this|that|morning|afternoon|evening|night"
    r"|between|now|instead|any\s*more)\b"
)
"""Words that may follow "the 3rd" if it is a day; before a noun it is the third of something."""
_DAY_ENDS: Final = rf"(?=\s*(?:[^\w\s]|$)|\s+{_AFTER_DAY})"
_BEFORE_DAY: Final = preceded_by(
    "on|by|for|until|til|till|since|before|after|from|around|is|'s|due|starting|beginning|week of"
    "|morning of|afternoon of|evening of|night of"
)

_DATES: Final = (
    Rule(
        DIGITS,
        re.compile(
            r"(?<![\w/.:])(?<!\d-)(?P<year>(?:1[5-9]|20)\d\d)(?P<sep>[-/.])(?P<month>\d\d?)(?P=sep)"
            r"(?P<day>\d\d?)(?!\d)"
        ),
        _iso,
    ),
    Rule(
        DIGITS,
        re.compile(
            r"(?<![\w/.:])(?:(?<!\d-)|(?<=/\d{4}-))(?P<first>\d\d?)"
            r"(?P<sep>[-/.])(?P<second>\d\d?)(?P=sep)"
            r"(?P<year>\d{4}|\d\d)(?![\w/:]|\.\d|-\d{3}|-\d\d?(?![\d/]))"
        ),
        _numeric,
    ),
    Rule(
        DIGITS,
        re.compile(
            r"(?<![\w/.:$-])(?P<first>\d\d?)/(?P<second>\d\d?)(?:,(?P<year>\d\d))?"
            r"(?![\w/:%]|,\d|-\d{3})"
        ),
        _numeric,
    ),
    Rule(
        MONTH_CUES,
        re.compile(
            rf"(?<!\w)(?P<month>{MONTH})(?:[\s,.]+|[/-]?)(?:the\s+)?(?P<day>\d\d?){ORDINAL}?"
            rf"(?!\w|:\d|\.\d|\s*(?:am|pm|a\.m|p\.m)\b){_YEAR_AFTER}(?!\w)"
        ),
        _month_day,
    ),
    Rule(
        MONTH_CUES,
        re.compile(
            rf"(?<![\w:.$€£])(?P<day>\d\d?){ORDINAL}?(?:\s+day)?(?:\s+(?:of\s+)?|[/.-]?)"
            rf"(?P<month>{MONTH})(?!\w){_YEAR_AFTER}(?!\w)"
        ),
        _month_day,
    ),
    words_rule(
        MONTH_CUES,
        rf"(?P<year>{YEAR})[\s,/-]+(?:(?P<month>{MONTH})[\s,/-]+(?P<day>\d\d?){ORDINAL}?)",
        _month_day,
    ),
    words_rule(
        MONTH_CUES,
        rf"(?P<year>{YEAR})[/-](?P<day>\d\d?)[/-](?P<month>{MONTH})",
        _month_day,
    ),
    Rule(
        MONTH_CUES,
        re.compile(rf"(?<![\w:.]){_FROM_DAY}\s+(?:of\s+)?(?P<month>{MONTH})(?!\w){_YEAR_AFTER}"),
        _days_of_month,
    ),
    words_rule(
        MONTH_CUES,
        rf"(?:(?:from|between)\s+)?(?P<month>{MONTH})\.?\s+(?:the\s+)?(?P<day>\d\d?){ORDINAL}?"
        rf"{_TO}(?P<until>\d\d?){ORDINAL}?(?!:\d|\s*(?:am|pm)){_YEAR_AFTER}",
        _days_of_month,
    ),
    words_rule(
        MONTH_CUES,
        rf"(?:from|between)\s+(?:the\s+)?(?P<day>\d\d?){ORDINAL}?{_TO}(?P<month>{MONTH})\s+"
        rf"(?P<until>\d\d?){ORDINAL}?{_YEAR_AFTER}",
        _days_of_month,
    ),
    words_rule(
        ("month",),
        rf"{_FROM_DAY}\s+(?:of\s+)?(?P<which>{DIRECTION})\s+month",
        _days_of_relative_month,
    ),
    words_rule(
        ("from ", "between "),
        rf"(?:from|between)\s+(?:the\s+)?(?P<day>\d\d?){ORDINAL}{_TO}(?P<until>\d\d?){ORDINAL}"
        rf"(?!\s+(?:of|{MONTH}))",
        _days_of_nearest_month,
    ),
    words_rule(
        ("month",),
        rf"(?P<day>\d\d?){ORDINAL}(?:\s+day)?\s+of\s+(?:(?:the|(?P<which>{DIRECTION}))\s+)month",
        _day_of_relative_month,
    ),
    Rule(
        ("the ",),
        re.compile(
            rf"{_BEFORE_DAY}the\s+(?P<day>\d\d?)"
            rf"(?:{ORDINAL}{_DAY_ENDS}|(?=\s*(?:[.,!?]\s*$|$|from\b|at\b)))(?!\w)"
        ),
        _day_of_month,
    ),
    words_rule(
        ("the ",),
        rf"to\s+the\s+(?P<day>\d\d?){ORDINAL}{_DAY_ENDS}",
        _day_moved_to,
    ),
)

RULES: Final = (
    *(replace(rule, dated=True) for rule in _DATES),
    words_rule(("the ",), rf"the\s+(?P<day>\d\d?){ORDINAL}", _possible_day_of_month),
)
