"""Weeks, weekends and other periods around now: "last week", "the rest of the month"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from hotmem.temporal.clocks import FULL_DAY, NOON, at_time
from hotmem.temporal.dates import RESCHEDULED
from hotmem.temporal.fragments import (
    COUNT,
    DIRECTION,
    YEAR,
    Clock,
    Fragment,
    parse_count,
    parse_direction,
    preceded_by,
    words_rule,
)
from hotmem.temporal.units import (
    CLOCK_UNITS,
    Granularity,
    Reference,
    Span,
    add_units,
    day_span,
    midnight,
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
    "end of|half of|of the|in the|for the|middle of|start of|beginning of"
)
_PERIOD: Final = r"week|weekend|fortnight|month|quarter|year|decade"

RULES: Final = (
    words_rule(
        ("week ",),
        rf"week\s+(?P<number>\d\d?)(?!\w|:)(?:\s+(?:of\s+)?(?P<year>{YEAR}))?",
        _week_number,
    ),
    words_rule(
        ("week", "month", "quarter", "year", "decade", "fortnight", "hour", "minute", "second"),
        rf"(?P<which>{DIRECTION})\s+(?:(?:calendar|whole|very)\s+)?"
        rf"(?P<unit>{_PERIOD}|hour|minute|(?:working|work|business)\s*week)"
        r"(?!\s+before|'s\s+time)",
        _relative_unit,
    ),
    words_rule((" ago",), rf"(?P<amount>{COUNT})\s+weekends?\s+ago", _weekends_ago),
    words_rule(
        ("of ", "in the ", "for the "),
        rf"{_AFTER_OF}(?P<unit>day|week|month|quarter|year)",
        _current_after_the,
    ),
    words_rule(("weekend",), r"(?:the|at|on|over)\s+(?:the\s+)?weekend", _this_weekend),
    words_rule(("same ",), rf"same\s+(?P<unit>{_PERIOD})", _current),
    words_rule(
        ("next", "last"),
        r"(?P<unit>week|month|year)\s+(?P<side>after|before)\s+(?:the\s+)?(?:next|last)",
        _after_next,
    ),
    words_rule((" to date",), r"(?P<unit>year|month|week)\s+to\s+date", _to_date),
    words_rule(
        ("rest", "remain"),
        r"(?:rest|remaining|remainder)\s+of\s+(?:(?:the|my|our|this)\s+)?(?:current\s+)?"
        r"(?P<unit>day|week|month|quarter|year)",
        _rest,
    ),
    words_rule(("end of", "eod"), r"end\s+of\s+(?:the\s+|this\s+)?day|eod", _end_of_day),
)


_THROUGH: Final = re.compile(r"\s*(?:to|-|until|till|through|thru)\s*(?:the\s+)?$")
_AND: Final = re.compile(r"\s*and\s*(?:the\s+)?$")
_OPENING: Final = re.compile(r"(?<!\w)(?P<word>from|between)\s+(?:the\s+)?$")
_OF_EVENT: Final = re.compile(r"(?<!\w)(?:on|in)\s+(?:the\s+)?$")
"""Before the former time of an event: "moved the exam on 3 March to 10 March"."""

_FROM_NOW: Final = re.compile(
    r"(?<!\w)(?:between|from)\s+(?:now|today)\s+(?:and|to|until|till)\s+(?:the\s+)?$"
)
_FROM_TO: Final = re.compile(r"from\s.*\sto\s")
_TO_NOW: Final = re.compile(r"\s*(?P<link>and|to|until|till)\s+(?:now|the\s+present)(?!\w)")


def is_rescheduled(fragment: Fragment, text: str) -> bool:
    """Whether a range is in fact the former and the new time of an event.

    Args:
        fragment: What may be a range: "from June to July".
        text: The normalized text.
    """
    return bool(
        _FROM_TO.match(text, fragment.start, fragment.stop)
        and RESCHEDULED.search(text, 0, fragment.start)
    )


def join_ranges(times: Sequence[Fragment], text: str, reference: Reference) -> Iterator[Fragment]:
    """Join two times that are the ends of a range; the last day, month or year is included."""
    place = 0
    while place < len(times):
        time = times[place]
        opening = _OPENING.search(text, max(0, time.start - 20), time.start)
        start = opening.start() if opening else time.start
        if place + 1 < len(times):
            other = times[place + 1]
            gap = text[time.stop : other.start]
            between = opening and opening["word"] == "between"
            moved = (
                not between
                and (opening or _OF_EVENT.search(text, 0, time.start))
                and gap.strip().startswith("to")
                and RESCHEDULED.search(text, 0, start)
            )
            joined = _THROUGH.fullmatch(gap) or (between and _AND.fullmatch(gap))
            if joined and not moved and (span := _range(time, other, reference)):
                yield Fragment(start, other.stop, span, dated=True)
                place += 2
                continue
        yield _range_with_now(time, start, text, reference)
        place += 1


def next_weekday(moment: datetime, weekday: int) -> Span:
    """The first such weekday on or after a moment's day."""
    return day_span(moment + timedelta(days=(weekday - moment.weekday()) % 7))


def _range_with_now(time: Fragment, start: int, text: str, reference: Reference) -> Fragment:
    """The time, or the range between it and now: "from now until 5", "from May to now".

    Args:
        time: The time.
        start: Where "from" or "between" before it starts.
        text: The normalized text.
        reference: Now.
    """
    now = reference.now
    from_now = _FROM_NOW.search(text, max(0, time.start - 30), time.start)
    if from_now and RESCHEDULED.search(text, 0, from_now.start()):
        return time
    if from_now and time.span and time.span.end > now:
        return replace(
            time, start=from_now.start(), span=Span(now, time.span.end, Granularity.SPAN)
        )
    if from_now and time.clock and not time.span:
        span = Span(now, _next_occurrence(time.clock, reference), Granularity.SPAN)
        return replace(time, start=from_now.start(), span=span)
    to_now = _TO_NOW.match(text, time.stop)
    between = text.startswith("between", start)
    if to_now and time.span and (between or to_now["link"] != "and"):
        past = time.span.start
        if time.span.yearly and past > now:
            past = add_units(past, "year", -1)
        if past < now:
            return replace(
                time, start=start, stop=to_now.end(), span=Span(past, now, Granularity.SPAN)
            )
    return time


def _next_occurrence(clock: Clock, reference: Reference) -> datetime:
    """The next time that a clock shows this time of day."""
    first, step = (clock.start % NOON, NOON) if clock.twelve_hour else (clock.start, FULL_DAY)
    moments = (reference.today + timedelta(minutes=first + step * count) for count in range(4))
    return next(moment for moment in moments if moment > reference.now)


def _range(first: Fragment, last: Fragment, reference: Reference) -> Span | None:
    """The span from one time to another; None if they are not the ends of a range."""
    if first.span is not None and last.span is not None:
        return _range_of_days(first, last, first.span, last.span)
    if first.span is not None and last.clock is not None:
        moment = at_time(first.span, last.clock)
        if moment is None:
            return None
        end = moment.start
        while end <= first.span.start:
            end += timedelta(hours=12)
        return Span(first.span.start, end, Granularity.SPAN)
    if first.clock is not None and last.span is not None and last.clock is not None:
        start = midnight(last.span.start) + timedelta(minutes=first.clock.start)
        return Span(start, last.span.start, Granularity.SPAN) if start < last.span.start else None
    return None


def _range_of_days(
    first: Fragment, last: Fragment, first_span: Span, last_span: Span
) -> Span | None:
    start, end = first_span.start, last_span.end
    if last_span.granularity is Granularity.MINUTE:
        end = last_span.start
    is_full_date = last.dated and not last_span.yearly
    if first_span.yearly and is_full_date and last_span.granularity is Granularity.DAY:
        start = _in_year(start, end.year)
    if last.weekday is not None:
        end = next_weekday(start, last.weekday).end
    elif first.weekday is not None and start >= end:
        last_day = midnight(end - timedelta(minutes=1))
        start = last_day - timedelta(days=(last_day.weekday() - first.weekday) % 7)
    elif start >= end and last_span.yearly:
        end = add_units(end, "year", 1)
    if start >= end:
        start = _years_earlier(start, end)
    return Span(start, end, Granularity.SPAN) if start < end else None


def _years_earlier(start: datetime, end: datetime) -> datetime:
    """The start, up to two years earlier so that it is before the end.

    In "from November to February 2017" the year belongs to the end.
    """
    while start >= end and start.year > end.year - 2 and start.year > 1:
        start = _in_year(start, start.year - 1)
    return start


def _in_year(moment: datetime, year: int) -> datetime:
    """The moment in another year, at most on 28 February, as 29 February may not exist."""
    day = min(moment.day, 28) if moment.month == 2 else moment.day
    return moment.replace(year=year, day=day)
