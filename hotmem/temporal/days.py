"""Relative days and weekdays: "yesterday", "tonight", "last Friday", "a week on Monday"."""

import re
from datetime import timedelta
from typing import Final

from hotmem.temporal.clocks import part_hours
from hotmem.temporal.dates import nearest_day, same_day_of_months
from hotmem.temporal.fragments import (
    COUNT,
    DIRECTION,
    MONTH,
    ORDINAL,
    THIS_WORDS,
    WEEKDAY,
    Fragment,
    Rule,
    parse_count,
    parse_direction,
    parse_weekday,
    words_rule,
)
from hotmem.temporal.units import (
    WEEKDAYS,
    Granularity,
    Reference,
    Span,
    add_units,
    day_span,
    midnight,
    month_span,
    week_span,
)

_RELATIVE_DAYS: Final = {
    "today": 0,
    "yesterday": -1,
    "tomorrow": 1,
    "tmr": 1,
    "tmrw": 1,
    "day before yesterday": -2,
    "day after tomorrow": 2,
}


def _relative_day(match: re.Match[str], reference: Reference) -> Span:
    name = re.sub(r"\s+", " ", match["name"])
    if name.startswith("other "):
        return Span(reference.today - timedelta(days=7), reference.today, Granularity.SPAN)
    return day_span(reference.today + timedelta(days=_RELATIVE_DAYS[name]))


def _part_of_day(match: re.Match[str], reference: Reference) -> Fragment:
    """Interpret "tonight", "last night", "this morning", "next evening"."""
    groups = match.groupdict()
    half = groups["half"] or groups.get("side")
    first, last = part_hours(groups.get("part") or "night", half)
    day = reference.today + timedelta(days=parse_direction(groups.get("which") or "this"))
    span = Span(day + timedelta(hours=first), day + timedelta(hours=last), Granularity.PART)
    return Fragment(match.start(), match.end(), span)


def _next_or_last_day(match: re.Match[str], reference: Reference) -> Span:
    return day_span(reference.today + timedelta(days=parse_direction(match["which"])))


def _weekday(match: re.Match[str], reference: Reference) -> Fragment:
    today, weekday = reference.today, parse_weekday(match["weekday"])
    which = (match["which"] or "").rpartition(" ")[2]
    monday = week_span(today).start
    if which in THIS_WORDS:
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
        day_span(day),
        weekday=None if which else weekday,
        weak=match["weekday"] in ("mon", "wed", "sat", "sun") and not which,
    )


def _weekday_date(match: re.Match[str], reference: Reference) -> Span:
    """Interpret "Thursday 21": the nearest such day in the direction of the tense.

    "Thursday the 21st" is in this month, if this month has one, else the nearest.
    """
    weekday, today = parse_weekday(match["weekday"]), reference.today
    days = [
        day
        for day in same_day_of_months(int(match["day"]), reference, 24)
        if day.weekday() == weekday
    ]
    if match["the"]:
        in_month = [day for day in days if (day.year, day.month) == (today.year, today.month)]
        return day_span(min(in_month or days, key=lambda day: abs(day - today)))
    return day_span(nearest_day(days, reference))


def _weekday_after_next(match: re.Match[str], reference: Reference) -> Span:
    monday = week_span(reference.today).start
    return day_span(monday + timedelta(days=14 + parse_weekday(match["weekday"])))


_RATE: Final = re.compile(
    r"(?:\b(?:once|twice|\d+(?:\.\d+)?(?:\s+\w+)?|times|hours|days|pounds|euros|dollars|quid|pence)"
    r"|[$€£%])\s*$"
)
"""Words before "a week" that make it a rate."""


def _weeks_after(match: re.Match[str], reference: Reference) -> Span | None:
    """Interpret "a week on Friday", "Friday week", "a fortnight today".

    It is that many weeks after the next such day. "Twice a week on Friday" is a habit.
    """
    if _RATE.search(match.string[: match.start()]):
        return None
    day = match["day"]
    if day in _RELATIVE_DAYS:
        distance = _RELATIVE_DAYS[day]
    else:
        distance = (parse_weekday(day) - reference.today.weekday()) % 7 or 7
    count = 1 if match["amount"] is None else int(parse_count(match["amount"]))
    weeks = count * (2 if match["unit"] == "fortnight" else 1)
    return day_span(reference.today + timedelta(days=distance, weeks=weeks))


def _weekdays_ago(match: re.Match[str], reference: Reference) -> Span:
    """Interpret "two Fridays ago"; today does not count."""
    distance = (reference.today.weekday() - parse_weekday(match["weekday"])) % 7 or 7
    weeks = int(parse_count(match["amount"])) - 1
    return day_span(reference.today - timedelta(days=distance) - timedelta(weeks=weeks))


def _weekday_before_last(match: re.Match[str], reference: Reference) -> Span:
    distance = (reference.today.weekday() - parse_weekday(match["weekday"])) % 7 or 7
    return day_span(reference.today - timedelta(days=distance + 7))


def nth_weekday(period: Span, number: str, weekday: int) -> Span:
    """The first, second … or last occurrence of a weekday in a period.

    Raises:
        ValueError: If the period does not have that many.
    """
    if number == "last":
        final = add_units(midnight(period.end), "day", -1)
        return day_span(final - timedelta(days=(final.weekday() - weekday) % 7))
    first = period.start + timedelta(days=(weekday - period.start.weekday()) % 7)
    day = first + timedelta(weeks=int(re.sub(r"\D", "", number)) - 1)
    if day >= period.end:
        raise ValueError(number)
    return day_span(day)


def _nth_weekday_of_month(match: re.Match[str], reference: Reference) -> Span:
    month = month_span(reference.now.year, reference.now.month)
    return nth_weekday(month, match["number"], parse_weekday(match["weekday"]))


_WEEKDAY_CUES: Final = tuple(weekday[:3] for weekday in WEEKDAYS)
_FULL_WEEKDAY: Final = "|".join(WEEKDAYS)
_NOT_A_CLOCK: Final = (
    r"(?!\d|[:/]\d|\s*(?:days|weeks|months|to|past|-|:|am\b|pm\b|a\.m|p\.m|o'?clock|until|and\s+\d"
    r"|\.\d))"
)

RULES: Final = (
    words_rule(
        ("day", "tmr", "tomorrow"),
        r"(?P<name>day\s+before\s+yesterday|day\s+after\s+tomorrow"
        r"|other\s+(?:day|night|evening|morning)|today|yesterday|tomorrow|tmrw?)",
        _relative_day,
    ),
    words_rule(
        ("tonight", "tonite"),
        r"(?:(?P<half>early|late|later)\s+)?(?:tonight|tonite)",
        _part_of_day,
    ),
    words_rule(
        ("this ", "last ", "next "),
        r"(?:(?P<half>early|late|earlier|later)\s+)?(?P<which>this|last|next)\s+"
        r"(?:(?P<side>early|late)\s+)?(?P<part>morning|afternoon|evening|night)",
        _part_of_day,
    ),
    words_rule(
        ("day",),
        r"(?P<which>this|current|next|following|previous|last)\s+day",
        _next_or_last_day,
    ),
    words_rule(
        _WEEKDAY_CUES,
        rf"(?<!\ba )(?:(?P<which>{DIRECTION})\s+)?(?P<weekday>{WEEKDAY})\.?",
        _weekday,
    ),
    Rule(
        _WEEKDAY_CUES,
        re.compile(
            rf"(?<!\w)(?P<weekday>{WEEKDAY})\.?,?\s+(?:(?P<the>the)\s+)?(?P<day>\d\d?)"
            rf"(?:{ORDINAL}|{_NOT_A_CLOCK})(?!\w|\s*(?:of\s+)?{MONTH}\b)"
        ),
        _weekday_date,
        dated=True,
    ),
    words_rule(
        ("after next",),
        rf"(?P<weekday>{WEEKDAY})\s+after\s+next",
        _weekday_after_next,
    ),
    words_rule(
        ("before last",),
        rf"(?P<weekday>{WEEKDAY})\s+before\s+last",
        _weekday_before_last,
    ),
    words_rule(
        ("week", "fortnight"),
        r"(?P<amount>an?|\d+|(?:a )?couple(?: of)?)\s+(?P<unit>week|fortnight)s?,?\s+"
        rf"(?:on\s+|this\s+|come\s+)*(?P<day>{WEEKDAY}|today|tomorrow)",
        _weeks_after,
    ),
    words_rule(
        ("week", "fortnight"),
        rf"(?P<day>{_FULL_WEEKDAY}|today|tomorrow)\s+(?:(?P<amount>\d+)\s+)?"
        r"(?P<unit>week|fortnight)(?!\s+(?:of\b|\d))",
        _weeks_after,
    ),
    words_rule(
        (" ago",),
        rf"(?P<amount>{COUNT})\s+(?P<weekday>{_FULL_WEEKDAY})s?\s+ago",
        _weekdays_ago,
    ),
    words_rule(
        _WEEKDAY_CUES,
        rf"(?P<number>\d{ORDINAL})\s+(?P<weekday>{WEEKDAY})(?!\s+(?:of|in)\s)",
        _nth_weekday_of_month,
    ),
)
