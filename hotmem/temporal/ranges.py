"""Ranges of two times: "from March to May", "between now and Friday", "10 am until noon"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from hotmem.temporal.clocks import FULL_DAY, NOON
from hotmem.temporal.day_times import at_time
from hotmem.temporal.fragments import Clock, Fragment
from hotmem.temporal.rescheduling import RESCHEDULED
from hotmem.temporal.units import Granularity, Reference, Span, add_units, day_span, midnight

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
