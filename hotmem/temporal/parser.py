"""Find time expressions in an utterance and resolve them to intervals."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from hotmem.temporal import clocks, dates, days, offsets, periods, years
from hotmem.temporal.composition import compose, select_longest
from hotmem.temporal.fragments import Clock, Fragment
from hotmem.temporal.normalization import NormalizedText, normalize
from hotmem.temporal.periods import is_rescheduled
from hotmem.temporal.units import (
    SEASONS,
    Bound,
    Granularity,
    Reference,
    Span,
    bound_after,
    bound_before,
    midnight,
)
from hotmem.types import Interval


@dataclass(frozen=True, slots=True)
class TimeMention:
    """A time and the words that express it.

    Attributes:
        start: Index of the first character, including a leading preposition.
        stop: Index after the last character.
        interval: The resolved interval, UTC.
        granularity: Its precision.
        yearly: Whether it is a month and a day without a year, as of a birthday.
        vague: Whether it is approximate: "about", "a few".
        bound: Whether something starts or ends there: "since March", "before 2020".
        exact_moment: The moment that "in two weeks" reaches, UTC; None if nothing was counted.
        clock_only: Whether it is a time of day without a day ("at 5 pm"), put on the nearest day.
        zone: Time zone of the speaker.
    """

    start: int
    stop: int
    interval: Interval
    granularity: Granularity
    yearly: bool = False
    vague: bool = False
    bound: Bound = Bound.AT
    exact_moment: datetime | None = None
    clock_only: bool = False
    zone: tzinfo = UTC

    @property
    def local(self) -> tuple[datetime, datetime]:
        """Start and end in the speaker's time zone."""
        return self.interval.start.astimezone(self.zone), self.interval.end.astimezone(self.zone)


_HINT: Final = re.compile(
    r"\d|eod\b|day|week|month|year|decade|centur|quarter|noon|night|tonite|morning|evening|hour"
    r"|minute|second|few|\bnow\b|clock|spring|summer|autumn|fall|winter|yesterday|tomorrow|tmr"
    r"|fortnight|ago\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat"
    r"|sun)"
)
"""One of these occurs in every time expression."""

_RECURRING: Final = re.compile(
    r"(?<!\w)(?:every|each|most|any|no)\s+(?:other\s+|\d\w*\s+)?(?:on\s+|at\s+)?$"
)
"""Before a time, these make it a habit: "every Monday" is no date."""

_HABIT: Final = re.compile(r"\s*(?:every|each|daily|weekly)(?!\w)")
_LEAD: Final = re.compile(
    r"(?:(?<!\w)(?:on|in|at|during|over|for|around|about|almost|circa|from|back|sometime|the|of|my)"
    r"\s+)+$"
)
_NUMBER_BEFORE: Final = re.compile(r"\d[\s,-]+$")
_NUMBER_AFTER: Final = re.compile(r"[\s-]+\d")
_VAGUE: Final = re.compile(r"\b(?:about|around|almost|over|few|several|couple|circa)\b")
_RULES: Final = (
    *dates.RULES,
    *days.RULES,
    *years.MONTH_RULES,
    *years.RULES,
    *periods.RULES,
    *offsets.RULES,
    *clocks.RULES,
)
_CONTEXT: Final = 40
"""Characters before a time that are searched for its prepositions."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def find_times(
    text: str, at: datetime, *, ahead: bool = False, include_clock_times: bool = False
) -> tuple[TimeMention, ...]:
    """Find every time expression in an utterance, in order, without overlap.

    Of overlapping readings the longest one is taken.

    Args:
        text: The utterance, spoken or typed.
        at: When it was said, in the speaker's time zone: relative times count from here, days
            start at midnight there.
        ahead: Whether it is about the future, which decides "on Tuesday", "in May" and "at 5".
        include_clock_times: Whether to include times of day without a day ("at 5 pm"), put on the
            nearest day.
    """
    normalized = normalize(text)
    if not _HINT.search(normalized.text):
        return ()
    try:
        reference = Reference(at.replace(tzinfo=None), ahead)
        fragments = select_longest(
            fragment
            for rule in _RULES
            for fragment in rule.find(normalized.text, reference)
            if not is_rescheduled(fragment, normalized.text)
        )
        times = compose(fragments, normalized.text, reference)
        mentions = _mentions(times, normalized, reference, at.tzinfo or UTC)
        return tuple(one for one in mentions if include_clock_times or not one.clock_only)
    except OverflowError:
        return ()


def find_interval(text: str, at: datetime, *, ahead: bool = False) -> Interval | None:
    """Find the days that an utterance is about.

    The interval is in whole days, because an event is often mentioned at another hour than its
    own. "Since" and "after" end at `at`, "before" starts in 1970, or on the day of `at` if it is
    about the future; times of day without a day are ignored.

    Args:
        text: The utterance.
        at: When it was said, in the speaker's time zone: relative times count from here, days
            start at midnight there.
        ahead: Whether it is about the future, which decides "on Tuesday" and "in May".

    Returns:
        The half-open interval in UTC, or None if no time is found.
    """
    mention = next(iter(find_times(text, at, ahead=ahead)), None)
    if mention is None:
        return None
    found, now = mention.interval, at.astimezone(UTC)
    first = midnight(found.start.astimezone(at.tzinfo))
    last = found.end.astimezone(at.tzinfo)
    start = first.astimezone(UTC)
    end = (last if last == midnight(last) else midnight(last) + timedelta(days=1)).astimezone(UTC)
    match mention.bound:
        case Bound.SINCE if start < now:
            return Interval(start, max(now, end))
        case Bound.AFTER if end < now:
            return Interval(end, now)
        case Bound.BEFORE if ahead and start > now:
            return Interval(midnight(at).astimezone(UTC), start)
        case Bound.BEFORE if start > _EPOCH:
            return Interval(_EPOCH, start)
        case _:
            return Interval(start, end)


def _mentions(
    times: Sequence[Fragment], normalized: NormalizedText, reference: Reference, zone: tzinfo
) -> Iterator[TimeMention]:
    text, floor = normalized.text, 0
    for time in times:
        left = text[max(floor, time.start - _CONTEXT) : time.start]
        floor = time.stop
        lead = _LEAD.search(left)
        if _is_habit(left, text, time.stop) or (lead is None and _is_in_number_run(text, time)):
            continue
        bound, start = _bound(left, time)
        stop = time.stop
        if bound is Bound.AT and (later := bound_after(text, time.stop)):
            bound, stop = later
        span = time.span or (_on_nearest_day(time.clock, reference) if time.clock else None)
        if span is None or span.end <= span.start:
            continue
        interval = Interval(_utc(span.start, zone), _utc(span.end, zone))
        if interval.end <= interval.start:
            continue
        yield TimeMention(
            start=normalized.original_start(start),
            stop=normalized.original_stop(stop),
            interval=interval,
            granularity=span.granularity,
            yearly=span.yearly,
            vague=bool(_VAGUE.search(text[start:stop])),
            bound=bound,
            exact_moment=_utc(span.exact_moment, zone) if span.exact_moment else None,
            clock_only=time.span is None,
            zone=zone,
        )


def _is_habit(left: str, text: str, stop: int) -> bool:
    """Whether the words around a time make it a habit, with or without its prepositions."""
    return bool(
        _RECURRING.search(_LEAD.sub("", left))
        or _RECURRING.search(left)
        or _HABIT.match(text, stop)
    )


def _is_in_number_run(text: str, time: Fragment) -> bool:
    """Whether a bare number is one of several in a row.

    The "2020" of "one twenty twenty", or of a telephone number, is not a year.
    """
    if not text[time.start : time.stop].isdigit():
        return False
    return bool(_NUMBER_BEFORE.search(text[: time.start]) or _NUMBER_AFTER.match(text, time.stop))


def _bound(left: str, time: Fragment) -> tuple[Bound, int]:
    """The bound in the words before a time, and where these words start."""
    lead = _LEAD.search(left)
    for words in (left, left[: lead.start()] if lead else ""):
        if found := bound_before(words):
            return found[0], time.start - len(left) + found[1]
    start = time.start - (len(left) - lead.start()) if lead else time.start
    return time.bound, start


def _on_nearest_day(clock: Clock, reference: Reference) -> Span:
    """A time of day on the nearest day in the direction of the tense."""
    length = timedelta(minutes=max(clock.end - clock.start, 1))
    moment = reference.today + timedelta(minutes=clock.start)
    if reference.ahead and moment + length <= reference.now:
        moment += timedelta(days=1)
    elif not reference.ahead and moment > reference.now:
        moment -= timedelta(days=1)
    if clock.is_part:
        granularity = Granularity.PART
    else:
        granularity = Granularity.MINUTE if clock.start == clock.end else Granularity.SPAN
    return Span(moment, moment + length, granularity)


def _utc(moment: datetime, zone: tzinfo) -> datetime:
    return moment.replace(tzinfo=zone).astimezone(UTC)


_PREPOSITION: Final = re.compile(r"^(?:on|in) ")


def format_time(mention: TimeMention) -> str:
    """Format a time as an absolute phrase, in the speaker's time zone.

    "on 2026-11-24 (Tuesday)", "in November 2026", "around 2020". A span with a bound gives the
    edge that is meant: "since early 2015" becomes "on 2015-01-01".
    """
    exact = _format_exact(mention)
    return _PREPOSITION.sub("around ", exact) if mention.vague else exact


def format_time_bare(mention: TimeMention) -> str:
    """As `format_time`, without "on" or "in": "2026-11-24 (Tuesday)", "November 2026"."""
    return _PREPOSITION.sub("", format_time(mention))


def _format_exact(mention: TimeMention) -> str:
    start, end = mention.local
    first, last = start.date(), (end - timedelta(microseconds=1)).date()
    match mention.granularity:
        case Granularity.MINUTE:
            return f"on {first} ({first:%A}) at {start:%H:%M}"
        case Granularity.PART:
            return f"on {first} ({first:%A}) {_part_of_day(start)}"
        case Granularity.DAY:
            return f"on {first} ({first:%A})"
        case Granularity.WEEK:
            return f"in the week of {first}"
        case Granularity.MONTH:
            return f"in {first:%B %Y}"
        case Granularity.SEASON:
            return f"in {_season(start)} {first.year}"
        case Granularity.YEAR:
            return f"in {first.year}"
        case Granularity.SPAN:
            match mention.bound:
                case Bound.SINCE | Bound.BEFORE:
                    return f"on {first}"
                case Bound.UNTIL | Bound.AFTER:
                    return f"on {last}"
                case _ if first == last:
                    return f"on {first} ({first:%A}) between {start:%H:%M} and {_closing(end)}"
                case _:
                    return f"between {first} and {last}"


def _closing(end: datetime) -> str:
    return f"{end:%H:%M}" if end.hour or end.minute else "24:00"


def _part_of_day(start: datetime) -> str:
    if start.hour >= 20:
        return "at night"
    part = "morning" if start.hour < 12 else "afternoon" if start.hour < 16 else "evening"
    return f"in the {part}"


def _season(start: datetime) -> str:
    return next(name for name, month in SEASONS.items() if month == start.month)
