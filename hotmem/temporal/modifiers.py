"""Words before a time that modify it: "the end of", "the second week of", "two months after"."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from hotmem.temporal.clocks import PART
from hotmem.temporal.days import nth_weekday
from hotmem.temporal.fragments import (
    DURATION,
    UNIT,
    WEEKDAY,
    Fragment,
    parse_direction,
    parse_duration,
    parse_unit,
    parse_weekday,
)
from hotmem.temporal.units import (
    Bound,
    Granularity,
    Reference,
    Span,
    add_units,
    midnight,
    quarter_span,
    unit_span,
    week_span,
)

_Change: TypeAlias = Callable[[re.Match[str], Span, Reference], Span]

_EARLY: Final = ("early", "earlier", "start", "beginning")
_LATE: Final = ("late", "later", "end")
_BACKWARD: Final = ("before", "prior to")
_CONTEXT: Final = 60
"""Characters before a time that are searched for modifiers."""
_LONGEST_ENDING: Final = 12


def _middle_of(period: Span) -> datetime:
    """The end of a period's first half, as Microsoft's Recognizers divide it."""
    start = period.start
    match period.granularity:
        case Granularity.WEEK:
            return start + timedelta(days=3)
        case Granularity.MONTH:
            return start + timedelta(days=15)
        case Granularity.YEAR:
            return datetime(start.year, 7, 1)
        case _:
            return start + (period.end - start) / 2


def _middle_part(period: Span) -> Span:
    """The middle part of a period, as Microsoft's Recognizers divide it."""
    start = period.start
    match period.granularity:
        case Granularity.WEEK:
            return Span(start + timedelta(days=1), start + timedelta(days=5), Granularity.SPAN)
        case Granularity.MONTH:
            return Span(start + timedelta(days=9), start + timedelta(days=20), Granularity.SPAN)
        case Granularity.YEAR:
            return Span(datetime(start.year, 4, 1), datetime(start.year, 10, 1), Granularity.SPAN)
        case _:
            quarter = (period.end - start) / 4
            return Span(midnight(start + quarter), midnight(period.end - quarter), Granularity.SPAN)


def _third_of_year(word: str, year: int) -> Span:
    """The start, middle or end of a year: four months each."""
    first_month = {"start": 1, "beginning": 1, "middle": 5}.get(word, 9)
    start = datetime(year, first_month, 1)
    return Span(start, add_units(start, "month", 4), Granularity.SPAN)


def _part(match: re.Match[str], span: Span, reference: Reference) -> Span:
    word = match["part"].split()[0]
    middle = _middle_of(span)
    is_day = span.granularity is Granularity.DAY
    is_week = span.granularity is Granularity.WEEK
    if match["part"].endswith(" of") and word != "mid" and span.granularity is Granularity.YEAR:
        return _third_of_year(word, span.start.year)
    if word == "later" and span.start <= reference.now < span.end:
        return Span(middle if is_day else reference.today, span.end, Granularity.SPAN)
    if word in _EARLY:
        end = middle + timedelta(days=is_week and word != "earlier")
        return Span(span.start, end, Granularity.SPAN)
    if word in _LATE:
        return Span(middle, span.end, Granularity.SPAN)
    return _middle_part(span)


def _nth(match: re.Match[str], span: Span, reference: Reference) -> Span:
    number, unit = match["number"], match["unit"]
    if unit not in ("week", "quarter", "day"):
        return nth_weekday(span, number, parse_weekday(unit))
    last = number == "last"
    count = 0 if last else int(re.sub(r"\D", "", number))
    if unit == "day":
        day = span.end - timedelta(days=1) if last else span.start + timedelta(days=count - 1)
        return unit_span(day, "day")
    if unit == "quarter":
        return quarter_span(span.start.year, 4 if last else count)
    if last or not count:
        return _last_week(span)
    first = week_span(
        span.start if _starts_with_thursday(span) else span.start + timedelta(weeks=1)
    )
    return week_span(first.start + timedelta(weeks=count - 1))


def _starts_with_thursday(span: Span) -> bool:
    """Whether a period contains the Thursday of its first week, as ISO 8601 counts weeks."""
    return week_span(span.start).start + timedelta(days=3) >= span.start


def _last_week(span: Span) -> Span:
    final = week_span(span.end - timedelta(days=1))
    has_thursday = final.start + timedelta(days=3) < span.end
    return final if has_thursday else week_span(final.start - timedelta(days=1))


def _first_or_last_units(match: re.Match[str], span: Span, reference: Reference) -> Span:
    """Interpret "the last 3 weeks of", "the first 3 months of"."""
    count, unit = int(match["count"]), parse_unit(match["unit"])
    if match["side"] != "last":
        return Span(span.start, add_units(span.start, unit, count), Granularity.SPAN)
    end = _last_week(span).end if unit == "week" else span.end
    return Span(add_units(end, unit, -count), end, Granularity.SPAN)


def _half_of(match: re.Match[str], span: Span, reference: Reference) -> Span:
    middle = _middle_of(span)
    if match["side"].startswith("1"):
        return Span(span.start, middle, Granularity.SPAN)
    return Span(middle, span.end, Granularity.SPAN)


def _week_of(match: re.Match[str], span: Span, reference: Reference) -> Span:
    week = week_span(span.start)
    if match["end"]:
        return Span(week.start + timedelta(days=5), week.end, Granularity.SPAN)
    if match["word"] == "ending":
        return Span(span.end - timedelta(days=7), span.end, Granularity.SPAN)
    return week


def _away(match: re.Match[str], span: Span, reference: Reference) -> Span:
    duration = parse_duration(match["amount"] or f"a {match['unit']}")
    back = match["side"] in _BACKWARD
    is_day = span.granularity is Granularity.DAY
    anchor = span.exact_moment or (span.start if back or is_day else span.end)
    moment = duration.add_to(anchor, -1 if back else 1)
    if match["within"] or match["more"] == "less than ":
        return Span(min(anchor, moment), max(anchor, moment), Granularity.SPAN)
    found = unit_span(moment, "day" if is_day and duration.finest == "week" else duration.finest)
    return Span(found.start, found.end, found.granularity, moment)


def _lasting(match: re.Match[str], span: Span, reference: Reference) -> Span:
    start = span.exact_moment or span.start
    return Span(start, parse_duration(match["amount"]).add_to(start), Granularity.SPAN)


def _which_year(match: re.Match[str], span: Span, reference: Reference) -> Span:
    """Interpret "next 5 December": a day without a year in the year that "next" names."""
    if not span.yearly:
        raise ValueError(match[0])
    day, direction = span.start, parse_direction(match["which"])
    if direction == 0:
        return unit_span(day.replace(year=reference.now.year), "day")
    while (day <= reference.today) if direction > 0 else (day >= reference.today):
        day = add_units(day, "year", direction)
    return unit_span(day, "day")


@dataclass(frozen=True, slots=True)
class _Modifier:
    """Words before a time and the change they make.

    Attributes:
        endings: Last words that the pattern can match, to skip most patterns quickly.
        pattern: The words, at the end of the text before the time.
        change: Computes the modified span.
    """

    endings: frozenset[str]
    pattern: re.Pattern[str]
    change: _Change


def _modifier(endings: str, body: str, change: _Change) -> _Modifier:
    return _Modifier(frozenset(endings.split()), re.compile(rf"(?<!\w)(?:{body})\s*$"), change)


_MODIFIERS: Final = (
    _modifier(
        "early late later earlier mid middle of in - the",
        r"(?P<part>early|earlier|late|later|mid(?: of)?|(?:start|beginning|middle|end) of)"
        r"(?:[\s-]+in)?(?:[\s-]+(?:the|my))?[\s-]*",
        _part,
    ),
    _modifier(
        "of in the quarter",
        rf"(?:the\s+)?(?P<number>\d+(?:st|nd|rd|th)|last)\s+(?P<unit>week|quarter|day|{WEEKDAY})"
        r"(?:\s+(?:of|in|on))?(?:\s+the)?",
        _nth,
    ),
    _modifier(
        "of the",
        rf"(?:the\s+)?(?P<side>last|1th|first)\s+(?P<count>\d+)\s+(?P<unit>{UNIT})\s+of(?:\s+the)?",
        _first_or_last_units,
    ),
    _modifier(
        "of the",
        r"(?:the\s+)?(?P<side>last|1th|2th|1st|2nd)\s+half\s+of(?:\s+the)?",
        _half_of,
    ),
    _modifier(
        "of starting beginning commencing ending on the",
        r"(?:the\s+)?week(?P<end>end)?\s+(?P<word>of|starting|beginning|commencing|ending)"
        r"(?:\s+on)?(?:\s+the)?",
        _week_of,
    ),
    _modifier(
        "after before from to following the",
        r"(?P<within>within\s+(?:the\s+)?(?:next\s+)?)?"
        r"(?P<more>more\s+than\s+|less\s+than\s+)?(?<!for )"
        rf"(?:(?P<amount>{DURATION})|(?:the\s+)?(?P<unit>day|week|month|year))\s+"
        r"(?P<side>after|before|from|prior to|following)(?:\s+the)?",
        _away,
    ),
    _modifier(
        "last previous past next coming upcoming this",
        r"(?P<which>last|previous|past|next|coming|upcoming|this)",
        _which_year,
    ),
    _modifier(
        "starting beginning from on the",
        rf"(?:for\s+(?P<amount>{DURATION}),?\s+(?:from|starting|beginning)(?:\s+on)?(?:\s+the)?)",
        _lasting,
    ),
    _modifier(
        "starting beginning from on the",
        rf"(?:(?P<amount>{DURATION}),?\s+(?:starting|beginning)(?:\s+(?:on|from))?(?:\s+the)?)",
        _lasting,
    ),
)
_PART_OF_DAY: Final = re.compile(rf"\s+(?:{PART})")
_ENDING: Final = re.compile(r"(\w+|-)\s*$")


def apply_modifiers(time: Fragment, text: str, reference: Reference) -> Fragment:
    """Extend a time by the words before it that change its meaning, as long as there are any.

    Args:
        time: A time with a day.
        text: The normalized text.
        reference: What relative times count from.
    """
    while (modified := _modify(time, text, reference)) is not None:
        time = modified
    return time


def _modify(time: Fragment, text: str, reference: Reference) -> Fragment | None:
    """Apply the first modifier that stands before a time; None if there is none."""
    ending = _ENDING.search(text, max(0, time.start - _LONGEST_ENDING), time.start)
    if time.span is None or ending is None:
        return None
    has_part = time.span.granularity is Granularity.DAY and _PART_OF_DAY.match(text, time.stop)
    for modifier in _MODIFIERS:
        if ending[1] not in modifier.endings or (modifier.change is _part and has_part):
            continue
        match = modifier.pattern.search(text[max(0, time.start - _CONTEXT) : time.start])
        if match is None:
            continue
        try:
            span = modifier.change(match, time.span, reference)
        except (ValueError, OverflowError):
            continue
        bound = time.bound
        if modifier.change is _away and match["more"] == "more than ":
            bound = Bound.BEFORE if match["side"] in _BACKWARD else Bound.AFTER
        start = time.start - len(match[0])
        return replace(time, start=start, span=span, weekday=None, weak=False, bound=bound)
    return None
