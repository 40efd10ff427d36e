"""Days: calendar dates in words and digits, weekdays, "yesterday", "the day after tomorrow"."""

import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from hotmem.temporal.clocks import PARTS
from hotmem.temporal.fragments import (
    AMOUNT_WORDS,
    DIGITS,
    MONTH,
    MONTH_CUES,
    ORDINAL,
    THIS,
    WEEKDAY,
    WHICH,
    YEAR,
    Fragment,
    Rule,
    full_year,
    month_of,
    number_of,
    pattern,
    preceded,
    step,
    weekday_of,
)
from hotmem.temporal.units import (
    WEEKDAYS,
    Granularity,
    Reference,
    Span,
    counted,
    midnight,
    one_day,
    one_month,
    one_week,
)


def nearest(days: Iterable[datetime], reference: Reference) -> datetime:
    """The first day from today on when looking ahead, else the last one up to today.

    Raises:
        ValueError: If none lies in that direction.
    """
    if reference.ahead:
        return min(day for day in days if day >= reference.today)
    return max(day for day in days if day <= reference.today)


def _date(year: str | None, month: int, day: int, reference: Reference) -> Span:
    if year:
        return one_day(datetime(full_year(year), month, day))
    around = [reference.now.year + distance for distance in range(-8, 9)]
    days = [
        datetime(number, month, day)
        for number in around
        if 0 < number < 9999 and day <= monthrange(number, month)[1]
    ]
    return replace(one_day(nearest(days, reference)), yearly=True)


def _iso(match: re.Match[str], reference: Reference) -> Span:
    return one_day(datetime(int(match["year"]), int(match["month"]), int(match["day"])))


def _numeric(match: re.Match[str], reference: Reference) -> Span:
    """Month before day, as in America, unless only the other order is a date."""
    month, day = int(match["first"]), int(match["second"])
    if month > 12:
        month, day = day, month
    if not 1 <= month <= 12:
        raise ValueError(match[0])
    return _date(match.groupdict().get("year"), month, day, reference)


def _month_day(match: re.Match[str], reference: Reference) -> Span:
    return _date(match["year"], month_of(match["month"]), int(match["day"]), reference)


def _days_of_month(match: re.Match[str], reference: Reference) -> Span | None:
    """Two days of one month, the second included."""
    if match.groupdict().get("which"):
        month = one_month(reference.now.year, reference.now.month + step(match["which"])).start
        first, last = month.replace(day=int(match["day"])), month.replace(day=int(match["until"]))
    else:
        number, year = month_of(match["month"]), match["year"]
        last = _date(year, number, int(match["until"]), reference).start
        first = last.replace(day=int(match["day"]))
    return Span(first, last + timedelta(days=1), Granularity.SPAN) if first < last else None


def _days_of_some_month(match: re.Match[str], reference: Reference) -> Span | None:
    first = _day_of_month(match, reference).start
    last = first.replace(day=int(match["until"]))
    return Span(first, last + timedelta(days=1), Granularity.SPAN) if first < last else None


def _day_of_month(match: re.Match[str], reference: Reference) -> Span:
    day, today = int(match["day"]), reference.today
    months = [one_month(today.year, today.month + distance).start for distance in range(-2, 3)]
    return one_day(
        nearest(
            [
                month.replace(day=day)
                for month in months
                if day <= monthrange(month.year, month.month)[1]
            ],
            reference,
        )
    )


_MOVES: Final = re.compile(
    r"\b(?:mov|postpon|reschedul|push|shift|delay|chang|switch|swap|put|bring|brought)\w*\b[^.!?]*$",
    re.IGNORECASE,
)
"""What stands before a day that something is moved to; "to the third" is said of floors and
places in a race as well."""


def _day_moved_to(match: re.Match[str], reference: Reference) -> Span | None:
    return _day_of_month(match, reference) if _MOVES.search(match.string[: match.start()]) else None


def _day_of_named_month(match: re.Match[str], reference: Reference) -> Span:
    which = match["which"] or "this"
    return one_day(
        one_month(reference.now.year, reference.now.month + step(which)).start.replace(
            day=int(match["day"])
        )
    )


_NEAR: Final = {
    "today": 0,
    "yesterday": -1,
    "tomorrow": 1,
    "tmr": 1,
    "tmrw": 1,
    "day before yesterday": -2,
    "day after tomorrow": 2,
}


def _near_day(match: re.Match[str], reference: Reference) -> Span:
    name = re.sub(r"\s+", " ", match["name"])
    if name.startswith("other "):
        return Span(reference.today - timedelta(days=7), reference.today, Granularity.SPAN)
    return one_day(reference.today + timedelta(days=_NEAR[name]))


def _night(match: re.Match[str], reference: Reference) -> Fragment:
    """Reads "tonight", "last night", "this morning", "next evening"."""
    which, part = (
        (match.groupdict().get("which") or "this"),
        (match.groupdict().get("part") or "night"),
    )
    first, last = PARTS[part]
    half = match["half"] or match.groupdict().get("side")
    if half == "early":
        last = first + 2
    elif half == "late":
        first = last - 2
    day = reference.today + timedelta(days=step(which))
    return Fragment(
        match.start(),
        match.end(),
        Span(day + timedelta(hours=first), day + timedelta(hours=last), Granularity.PART),
    )


def _relative_day(match: re.Match[str], reference: Reference) -> Span:
    return one_day(reference.today + timedelta(days=step(match["which"])))


def _weekday(match: re.Match[str], reference: Reference) -> Fragment:
    today, weekday = reference.today, weekday_of(match["weekday"])
    which = (match["which"] or "").rpartition(" ")[2]
    monday = one_week(today).start
    short = match["weekday"] in ("mon", "wed", "sat", "sun", "th")
    if which in THIS:
        day = monday + timedelta(days=weekday)
    elif which in ("next", "following"):
        day = monday + timedelta(days=7 + weekday)
    elif which in ("previous", "preceding"):
        day = monday + timedelta(days=weekday - 7)
    else:
        ahead = which in ("coming", "upcoming") or (not which and reference.ahead)
        distance = (weekday - today.weekday()) % 7 if ahead else -((today.weekday() - weekday) % 7)
        day = today + timedelta(days=distance or (7 if ahead else -7))
    return Fragment(
        match.start(),
        match.end(),
        one_day(day),
        weekday=None if which else weekday,
        weak=short and not which,
    )


def _weekday_dated(match: re.Match[str], reference: Reference) -> Span:
    """Reads "Thursday the 21st".

    Of this month if it is one, else the nearest in the direction of the tense.
    """
    weekday, day, today = weekday_of(match["weekday"]), int(match["day"]), reference.today
    months = [one_month(today.year, today.month + distance).start for distance in range(-24, 25)]
    days = [
        month.replace(day=day) for month in months if day <= monthrange(month.year, month.month)[1]
    ]
    fitting = [one for one in days if one.weekday() == weekday]
    if match["the"]:
        fitting = [
            one for one in fitting if (one.year, one.month) == (today.year, today.month)
        ] or fitting
        return one_day(min(fitting, key=lambda one: abs(one - today)))
    return one_day(nearest(fitting, reference))


def _weekday_after_next(match: re.Match[str], reference: Reference) -> Span:
    return one_day(
        one_week(reference.today).start + timedelta(days=14 + weekday_of(match["weekday"]))
    )


def _weeks_on(match: re.Match[str], reference: Reference) -> Span | None:
    """Reads "a week on Friday", "Friday week", "a fortnight today".

    So many weeks after the day to come. "Twice a week on Friday" is a habit.
    """
    if _RATE.search(match.string[: match.start()]):
        return None
    day = match["day"]
    distance = (
        _NEAR[day] if day in _NEAR else (weekday_of(day) - reference.today.weekday()) % 7 or 7
    )
    weeks = (2 if match["unit"] == "fortnight" else 1) * (
        1 if match["amount"] is None else int(number_of(match["amount"]))
    )
    return one_day(reference.today + timedelta(days=distance, weeks=weeks))


def _weekdays_ago(match: re.Match[str], reference: Reference) -> Span:
    """Reads "two Fridays ago", today not counted."""
    last = reference.today - timedelta(
        days=(reference.today.weekday() - weekday_of(match["weekday"])) % 7 or 7
    )
    return one_day(last - timedelta(weeks=int(number_of(match["amount"])) - 1))


def nth_weekday(period: Span, number: str, weekday: int) -> Span:
    """The first, second … or last of a weekday in a period.

    Raises:
        ValueError: If the period has not that many.
    """
    first = period.start + timedelta(days=(weekday - period.start.weekday()) % 7)
    if number == "last":
        final = counted(midnight(period.end), "day", -1)
        return one_day(final - timedelta(days=(final.weekday() - weekday) % 7))
    day = first + timedelta(weeks=int(re.sub(r"\D", "", number)) - 1)
    if day >= period.end:
        raise ValueError(number)
    return one_day(day)


def _first_weekday(match: re.Match[str], reference: Reference) -> Span:
    return nth_weekday(
        one_month(reference.now.year, reference.now.month),
        match["number"],
        weekday_of(match["weekday"]),
    )


_RATE: Final = re.compile(
    r"(?:\b(?:once|twice|\d+(?:\.\d+)?(?:\s+\w+)?|times|hours|days|pounds|euros|dollars|quid|pence)|[$€£%])\s*$"
)
"""What comes so often, or so much of it, in a week."""

_WEEKDAY_CUES: Final = tuple(weekday[:3] for weekday in WEEKDAYS)
_YEAR_AFTER: Final = rf"(?:(?:\s*[,.]\s*|[\s/-]+)(?:(?:of|in)\s+)?(?P<year>{YEAR}|'\d\d|(?<!-)\d\d(?=\s*(?:[.!?]|$))))?"
_TO: Final = r"\s*(?:to|-|until|till|through|and)\s*(?:the\s+)?"
_NO_CLOCK: Final = r"(?!\d|[:/]\d|\s*(?:days|weeks|months|to|-|:|am\b|pm\b|a\.m|p\.m|o'?clock|until|and\s+\d|\.\d))"

_AFTER_DAY: Final = (
    "at|from|in|on|for|to|and|or|but|because|so|when|if|until|till|by|around|about|before|after|with|as|then|too|again|please|i|i'm|i'll|we|we're|he|"
    r"she|they|it|you|my|our|her|his|there|is|was|will|would|can|could|the|a|an|this|that|morning|afternoon|evening|night|between|now|instead|any\s*more"
)
"""What may follow "the 3rd" if it is a day; a noun makes it the third of something."""
_BEFORE_DAY: Final = preceded(
    "on",
    "by",
    "for",
    "until",
    "til",
    "till",
    "since",
    "before",
    "after",
    "from",
    "around",
    "week of",
    "morning of",
    "afternoon of",
    "evening of",
    "night of",
    "starting",
    "beginning",
)

RULES: Final = (
    Rule(
        DIGITS,
        re.compile(
            r"(?<![\w/.:])(?<!\d-)(?P<year>(?:1[5-9]|20)\d\d)(?P<sep>[-/.])(?P<month>\d\d?)(?P=sep)(?P<day>\d\d?)(?!\d)"
        ),
        _iso,
        dated=True,
    ),
    Rule(
        DIGITS,
        re.compile(
            r"(?<![\w/.:])(?:(?<!\d-)|(?<=/\d{4}-))(?P<first>\d\d?)(?:(?P<sep>[-/.])(?P<second>\d\d?)(?P=sep)|/(\d\d?)(?=,\d\d(?!\d)))(?P<year>\d{4}|\d\d)(?![\w/:]|\.\d|-\d{3}|-\d\d?(?![\d/]))"
        ),
        _numeric,
        dated=True,
    ),
    Rule(
        DIGITS,
        re.compile(
            r"(?<![\w/.:$-])(?P<first>\d\d?)/(?P<second>\d\d?)(?:,(?P<year>\d\d))?(?![\w/:%]|,\d|-\d{3})"
        ),
        _numeric,
        dated=True,
    ),
    Rule(
        MONTH_CUES,
        re.compile(
            rf"(?<!\w)(?P<month>{MONTH})(?:[\s,.]+|[/-]?)(?:the\s+)?(?P<day>\d\d?){ORDINAL}?(?!\w|:\d|\.\d|\s*(?:am|pm|a\.m|p\.m)\b){_YEAR_AFTER}(?!\w)"
        ),
        _month_day,
        dated=True,
    ),
    Rule(
        MONTH_CUES,
        re.compile(
            rf"(?<![\w:.$€£])(?P<day>\d\d?){ORDINAL}?(?:\s+day)?(?:\s+(?:of\s+)?|[/.-]?)(?P<month>{MONTH})(?!\w){_YEAR_AFTER}(?!\w)"
        ),
        _month_day,
        dated=True,
    ),
    Rule(
        MONTH_CUES,
        pattern(rf"(?P<year>{YEAR})[\s,/-]+(?:(?P<month>{MONTH})[\s,/-]+(?P<day>\d\d?){ORDINAL}?)"),
        _month_day,
        dated=True,
    ),
    Rule(
        MONTH_CUES,
        pattern(rf"(?P<year>{YEAR})[/-](?P<day>\d\d?)[/-](?P<month>{MONTH})"),
        _month_day,
        dated=True,
    ),
    Rule(
        MONTH_CUES,
        re.compile(
            rf"(?<![\w:.])(?:(?:from|between)\s+)?(?:the\s+)?(?P<day>\d\d?){ORDINAL}?{_TO}(?P<until>\d\d?){ORDINAL}?\s+(?:of\s+)?"
            rf"(?P<month>{MONTH})(?!\w){_YEAR_AFTER}"
        ),
        _days_of_month,
        dated=True,
    ),
    Rule(
        MONTH_CUES,
        pattern(
            rf"(?:(?:from|between)\s+)?(?P<month>{MONTH})\.?\s+(?:the\s+)?(?P<day>\d\d?){ORDINAL}?{_TO}(?P<until>\d\d?){ORDINAL}?(?!:\d|\s*(?:am|pm)){_YEAR_AFTER}"
        ),
        _days_of_month,
        dated=True,
    ),
    Rule(
        MONTH_CUES,
        pattern(
            rf"(?:from|between)\s+(?:the\s+)?(?P<day>\d\d?){ORDINAL}?{_TO}(?P<month>{MONTH})\s+(?P<until>\d\d?){ORDINAL}?{_YEAR_AFTER}"
        ),
        _days_of_month,
        dated=True,
    ),
    Rule(
        ("month",),
        pattern(
            rf"(?:(?:from|between)\s+)?(?:the\s+)?(?P<day>\d\d?){ORDINAL}?{_TO}(?P<until>\d\d?){ORDINAL}?\s+(?:of\s+)?(?P<which>{WHICH})\s+month"
        ),
        _days_of_month,
        dated=True,
    ),
    Rule(
        ("month",),
        pattern(
            rf"(?P<which>{WHICH})\s+month,?\s+(?:(?:from|between)\s+)?(?P<day>\d\d?){ORDINAL}?{_TO}(?P<until>\d\d?){ORDINAL}?(?!\s*(?:am|pm|:))"
        ),
        _days_of_month,
        dated=True,
    ),
    Rule(
        ("from ", "between "),
        pattern(
            rf"(?:from|between)\s+(?:the\s+)?(?P<day>\d\d?){ORDINAL}{_TO}(?P<until>\d\d?){ORDINAL}(?!\s+(?:of|{MONTH}))"
        ),
        _days_of_some_month,
        dated=True,
    ),
    Rule(
        ("month",),
        pattern(
            rf"(?P<day>\d\d?){ORDINAL}(?:\s+day)?\s+of\s+(?:(?:the|(?P<which>{WHICH}))\s+)month"
        ),
        _day_of_named_month,
        dated=True,
    ),
    Rule(
        ("the ",),
        re.compile(
            rf"{_BEFORE_DAY}the\s+(?P<day>\d\d?)(?:{ORDINAL}(?=\s*(?:[^\w\s]|$)|\s+(?:{_AFTER_DAY})\b)|(?=\s*(?:[.,!?]\s*$|$|from\b|at\b)))(?!\w)"
        ),
        _day_of_month,
        dated=True,
    ),
    Rule(
        ("the ",),
        pattern(rf"to\s+the\s+(?P<day>\d\d?){ORDINAL}(?=\s*(?:[^\w\s]|$)|\s+(?:{_AFTER_DAY})\b)"),
        _day_moved_to,
        dated=True,
    ),
    Rule(
        ("day", "tmr"),
        pattern(
            r"(?P<name>day\s+before\s+yesterday|day\s+after\s+tomorrow|other\s+(?:day|night|evening|morning)|today|yesterday|tomorrow|tmrw?)"
        ),
        _near_day,
    ),
    Rule(("tomorrow",), pattern(r"(?P<name>tomorrow)"), _near_day),
    Rule(
        ("tonight", "tonite"),
        pattern(r"(?:(?P<half>early|late|later)\s+)?(?:tonight|tonite)"),
        _night,
    ),
    Rule(
        ("this ", "last ", "next "),
        pattern(
            r"(?:(?P<half>early|late|earlier|later)\s+)?(?P<which>this|last|next)\s+(?:(?P<side>early|late)\s+)?(?P<part>morning|afternoon|evening|night)"
        ),
        _night,
    ),
    Rule(
        ("day",),
        pattern(r"(?P<which>this|current|next|following|previous|last)\s+day"),
        _relative_day,
    ),
    Rule(
        _WEEKDAY_CUES,
        pattern(rf"(?:(?P<which>{WHICH})\s+)?(?P<weekday>{WEEKDAY})\.?"),
        _weekday,
    ),
    Rule(
        _WEEKDAY_CUES,
        re.compile(
            rf"(?<!\w)(?P<weekday>{WEEKDAY})\.?,?\s+(?:(?P<the>the)\s+)?(?P<day>\d\d?)(?:{ORDINAL}(?!\w)|{_NO_CLOCK}(?!\w|\s*{MONTH}))"
        ),
        _weekday_dated,
        dated=True,
    ),
    Rule(("after next",), pattern(rf"(?P<weekday>{WEEKDAY})\s+after\s+next"), _weekday_after_next),
    Rule(
        ("week", "fortnight"),
        pattern(
            rf"(?P<amount>an?|\d+|(?:a )?couple(?: of)?)\s+(?P<unit>week|fortnight)s?,?\s+(?:on\s+|this\s+|come\s+)*(?P<day>{WEEKDAY}|today|tomorrow)"
        ),
        _weeks_on,
    ),
    Rule(
        ("week", "fortnight"),
        pattern(
            rf"(?P<day>{'|'.join(WEEKDAYS)}|today|tomorrow)\s+(?:(?P<amount>\d+)\s+)?(?P<unit>week|fortnight)(?!\s+(?:of\b|\d))"
        ),
        _weeks_on,
    ),
    Rule(
        (" ago",),
        pattern(rf"(?P<amount>{AMOUNT_WORDS})\s+(?P<weekday>{'|'.join(WEEKDAYS)})s?\s+ago"),
        _weekdays_ago,
    ),
    Rule(
        _WEEKDAY_CUES,
        pattern(rf"(?P<number>\d{ORDINAL})\s+(?P<weekday>{WEEKDAY})(?!\s+(?:of|in)\s)"),
        _first_weekday,
    ),
)
