"""Utterance → times: pieces read, put together, placed on the calendar."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from hotmem.temporal import clocks, counts, days, periods
from hotmem.temporal.bounds import Bound, bound_after, bound_before
from hotmem.temporal.composition import composed, longest
from hotmem.temporal.fragments import Clock, Fragment
from hotmem.temporal.mention import TimeMention
from hotmem.temporal.normalization import NormalizedText, respelt
from hotmem.temporal.units import Granularity, Reference, Span, midnight
from hotmem.types import Interval

_HINT: Final = re.compile(
    r"\d|eod\b|day|week|month|year|decade|centur|quarter|noon|night|tonite|morning|evening|hour|minute|second|few|\bnow\b|clock|spring|summer|autumn|fall"
    r"|winter|yesterday|tomorrow|tmr|fortnight|ago\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)"
)
_RECURRING: Final = re.compile(
    r"(?<!\w)(?:every|each|most|any|no)\s+(?:other\s+|\d\w*\s+)?(?:on\s+|at\s+)?$"
)
"""Before a time, these make it a habit: "every Monday" is no date."""

_HABIT: Final = re.compile(r"\s*(?:every|each|daily|weekly)(?!\w)")
_LEAD: Final = re.compile(
    r"(?:(?<!\w)(?:on|in|at|during|over|for|around|about|almost|circa|from|back|sometime|the|of|my)\s+)+$"
)
_NUMBER_BEFORE: Final = re.compile(r"\d[\s,-]+$")
_NUMBER_AFTER: Final = re.compile(r"[\s-]+\d")
_VAGUE: Final = re.compile(r"\b(?:about|around|almost|over|few|several|couple|circa)\b")
_RULES: Final = (*days.RULES, *periods.RULES, *counts.RULES, *clocks.RULES)
_LEFT: Final = 40
"""Characters before a time in which its prepositions are sought."""


def find_times(
    text: str, at: datetime, *, ahead: bool = False, daily: bool = False
) -> tuple[TimeMention, ...]:
    """Every time an utterance names, in order, without overlap.

    Where two readings compete the longer one wins.

    Args:
        text: The utterance, spoken or typed.
        at: When it was said, in the speaker's zone: relative times count from here, days begin at
            midnight there.
        ahead: Whether it looks to the future, which decides "on Tuesday", "in May" and "at 5".
        daily: Whether times of day without a day are wanted too ("at 5 pm"); they are taken on the
            nearest one.
    """
    wording = respelt(text)
    if not _HINT.search(wording.text):
        return ()
    try:
        reference = Reference(at.replace(tzinfo=None), ahead)
        pieces = longest(piece for rule in _RULES for piece in rule.pieces(wording.text, reference))
        mentions = _mentions(
            composed(pieces, wording.text, reference), wording, reference, at.tzinfo or UTC
        )
        return tuple(mention for mention in mentions if daily or not mention.daily)
    except OverflowError:
        return ()


def find_interval(text: str, at: datetime, *, ahead: bool = False) -> Interval | None:
    """The days an utterance speaks of, whole ones because what happened at an hour is mostly told at another.

    "Since" and "after" run up to `at`, "before" begins in 1970; times of day without a day name
    none.

    Args:
        text: The utterance.
        at: When it was said, in the speaker's zone: relative times count from here, days begin at
            midnight there.
        ahead: Whether it looks to the future, which decides "on Tuesday" and "in May".

    Returns:
        The half-open interval in UTC, or None if no time is named.
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
        case Bound.BEFORE if start > _EPOCH:
            return Interval(_EPOCH, start)
        case _:
            return Interval(start, end)


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _mentions(
    pieces: list[Fragment], wording: NormalizedText, reference: Reference, zone: tzinfo
) -> Iterator[TimeMention]:
    floor = 0
    for piece in pieces:
        left = wording.text[max(floor, piece.start - _LEFT) : piece.start]
        floor = piece.stop
        words = left
        lead = _LEAD.search(words)
        if (
            _RECURRING.search(words[: lead.start()] if lead else words)
            or _RECURRING.search(words)
            or _HABIT.match(wording.text, piece.stop)
        ):
            continue
        if lead is None and _counted_on(wording.text, piece):
            continue
        bound, start = _bound(left, piece)
        stop = piece.stop
        if bound is Bound.AT and (later := bound_after(wording.text, piece.stop)):
            bound, stop = later
        span = piece.span or (_nearest(piece.clock, reference) if piece.clock else None)
        if span is None or span.end <= span.start:
            continue
        interval = Interval(_utc(span.start, zone), _utc(span.end, zone))
        if interval.end <= interval.start:
            continue
        yield TimeMention(
            wording.start(start),
            wording.stop(stop),
            interval,
            span.granularity,
            span.yearly,
            bool(_VAGUE.search(wording.text[start:stop])),
            bound,
            _utc(span.counted, zone) if span.counted else None,
            piece.span is None,
            zone,
        )


def _counted_on(text: str, piece: Fragment) -> bool:
    """Whether a bare number is one of several in a row.

    The "2020" of "one twenty twenty" and of a telephone number is no year.
    """
    if not text[piece.start : piece.stop].isdigit():
        return False
    return bool(_NUMBER_BEFORE.search(text[: piece.start]) or _NUMBER_AFTER.match(text, piece.stop))


def _bound(left: str, piece: Fragment) -> tuple[Bound, int]:
    """How the words before a piece use it, and where they begin."""
    lead = _LEAD.search(left)
    for words in (left, left[: lead.start()] if lead else ""):
        if found := bound_before(words):
            return found[0], piece.start - len(left) + found[1]
    start = piece.start - (len(left) - lead.start()) if lead else piece.start
    return piece.bound, start


def _nearest(clock: Clock, reference: Reference) -> Span:
    """A time of day on the nearest day in the direction of the tense."""
    length = timedelta(minutes=max(clock.end - clock.start, 1))
    moment = reference.today + timedelta(minutes=clock.start)
    if reference.ahead and moment + length <= reference.now:
        moment += timedelta(days=1)
    elif not reference.ahead and moment > reference.now:
        moment -= timedelta(days=1)
    return Span(
        moment,
        moment + length,
        Granularity.PART
        if clock.named
        else Granularity.MINUTE
        if clock.start == clock.end
        else Granularity.SPAN,
    )


def _utc(moment: datetime, zone: tzinfo) -> datetime:
    return moment.replace(tzinfo=zone).astimezone(UTC)
