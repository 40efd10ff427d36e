"""Pieces → whole times: "tomorrow" and "at 5 pm" are one, "from March" and "to May" too."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from hotmem.temporal.bounds import Bound, bound_before
from hotmem.temporal.fragments import AMOUNT, Clock, Fragment, amount
from hotmem.temporal.modifiers import extended
from hotmem.temporal.units import (
    Granularity,
    Reference,
    Span,
    counted,
    midnight,
    one_month,
    one_week,
)

_BESIDE: Final = re.compile(
    r"t|[\s,.(-]*(?:(?:on|at|in|of|for|from|the|around|about|sometime|circa)\s+)*[\s(]*$"
)
_INSIDE: Final = re.compile(r"(?:'s)?[\s,]*(?:(?:on|of|from|the)\s+)?$")
_IN_YEAR: Final = re.compile(r"\s*(?:,|in)?\s*$")
_SAME: Final = re.compile(r"[\s,(]*(?:the\s+)?\(?$")
_THROUGH: Final = re.compile(r"\s*(?:to|-|until|till|through|thru)\s*(?:the\s+)?$")
_AND: Final = re.compile(r"\s*and\s*(?:the\s+)?$")
_OPENING: Final = re.compile(r"(?<!\w)(?P<word>from|between)\s+(?:the\s+)?$")
_NOW: Final = re.compile(
    r"(?<!\w)(?:between|from)\s+(?:now|today)\s+(?:and|to|until|till)\s+(?:the\s+)?$"
)
_FOR: Final = re.compile(rf"\s+for\s+(?P<amount>{AMOUNT})(?!\w)")
_FOR_FROM: Final = re.compile(rf"(?<!\w)for\s+(?P<amount>{AMOUNT})\s+from\s+$")
_EARLY: Final = re.compile(r"(?<!\w)(?P<half>early|late)\s+$")
_DAYS: Final = (Granularity.DAY, Granularity.PART)
_LEFT: Final = 40
"""Characters before a time in which what goes with it is sought."""

_TO_NOW: Final = re.compile(r"\s*(?:and|to|until|till)\s+(?:now|the\s+present)(?!\w)")


def longest(found: Iterable[Fragment]) -> list[Fragment]:
    """The pieces in order without overlap.

    Where two readings compete the stronger one wins, then the longer.
    """
    kept: list[Fragment] = []
    for piece in sorted(
        found, key=lambda piece: (piece.weak, piece.start - piece.stop, piece.start)
    ):
        if all(piece.stop <= other.start or piece.start >= other.stop for other in kept):
            kept.append(piece)
    return sorted(kept, key=lambda piece: piece.start)


def composed(pieces: Sequence[Fragment], text: str, reference: Reference) -> list[Fragment]:
    """The whole times that neighbouring pieces make, in order.

    Weak ones that stand alone fall away.
    """
    whole = list(_days(pieces, text, reference))
    whole = [
        _lasting(_halved(piece, text), text)
        for piece in _clocked(_clocked(whole, text, named=True), text)
    ]
    whole = [piece for piece in whole if not piece.weak or piece.span is not None]
    return [piece for piece in _spanned(whole, text, reference) if not piece.weak]


def _days(pieces: Sequence[Fragment], text: str, reference: Reference) -> Iterator[Fragment]:
    """A weekday and its date made one, a weekday put into its week, and the words before a period applied."""
    done: list[Fragment] = []
    for piece in pieces:
        last = done[-1] if done else None
        if last is not None and last.span is not None and piece.span is not None:
            gap = text[last.stop : piece.start]
            if (
                last.span.granularity is Granularity.DAY
                and not last.dated
                and piece.dated
                and _SAME.fullmatch(gap)
            ):
                done[-1] = replace(piece, start=last.start)
                continue
            if (
                last.dated
                and piece.weekday is not None
                and re.fullmatch(r"[\s,]*\(", gap)
                and text[piece.stop : piece.stop + 1] == ")"
            ):
                done[-1] = replace(last, stop=piece.stop + 1)
                continue
            if (
                piece.weekday is not None
                and last.span.granularity is Granularity.WEEK
                and _INSIDE.fullmatch(gap)
            ):
                done[-1] = replace(last, stop=piece.stop, span=_in_week(last.span, piece.weekday))
                continue
            if (
                last.span.granularity is Granularity.YEAR
                and piece.span.granularity is Granularity.MONTH
                and _IN_YEAR.fullmatch(gap)
            ):
                done[-1] = replace(
                    last,
                    stop=piece.stop,
                    span=one_month(last.span.start.year, piece.span.start.month),
                )
                continue
            if (
                last.weekday is not None
                and piece.span.granularity is Granularity.WEEK
                and _INSIDE.fullmatch(gap)
            ):
                done[-1] = replace(
                    last,
                    stop=piece.stop,
                    span=_in_week(piece.span, last.weekday),
                    weekday=None,
                    weak=False,
                )
                continue
        wider = extended(piece, text, reference)
        while done and done[-1].stop > wider.start:
            done.pop()
        last = done[-1] if done else None
        if (
            last is not None
            and last.weekday is not None
            and wider.span is not None
            and wider.span.counted is not None
            and _INSIDE.fullmatch(text[last.stop : wider.start])
        ):
            done[-1] = replace(
                wider, start=last.start, span=_in_week(one_week(wider.span.counted), last.weekday)
            )
            continue
        if (
            last is not None
            and last.span is not None
            and last.span.counted is not None
            and wider.weekday is not None
            and re.fullmatch(r"\s+on\s+", text[last.stop : wider.start])
        ):
            done[-1] = replace(
                last, stop=wider.stop, span=_next_weekday(last.span.counted, wider.weekday)
            )
            continue
        done.append(wider)
    yield from done


def _in_week(week: Span, weekday: int) -> Span:
    day = week.start + timedelta(days=weekday)
    return Span(day, day + timedelta(days=1), Granularity.DAY)


def _next_weekday(moment: datetime, weekday: int) -> Span:
    day = midnight(moment) + timedelta(days=(weekday - moment.weekday()) % 7)
    return Span(day, day + timedelta(days=1), Granularity.DAY)


def _clocked(pieces: Sequence[Fragment], text: str, *, named: bool = False) -> list[Fragment]:
    """Times of day put on the day beside them.

    Only parts of the day if `named`, which bind closer than hours.
    """
    done: list[Fragment] = []
    for piece in pieces:
        wanted = not named or (piece.clock is not None and piece.clock.named)
        if (
            wanted
            and done
            and (joined := _dated(done[-1], piece, text[done[-1].stop : piece.start]))
        ):
            done[-1] = joined
        else:
            done.append(piece)
    return done


def _halved(piece: Fragment, text: str) -> Fragment:
    """A part of a day without its beginning or end: "early tomorrow morning"."""
    match = _EARLY.search(text, max(0, piece.start - 8), piece.start)
    if match is None or piece.span is None or piece.span.granularity is not Granularity.PART:
        return piece
    start, end = piece.span.start, piece.span.end
    start, end = (
        (start, start + timedelta(hours=2))
        if match["half"] == "early"
        else (end - timedelta(hours=2), end)
    )
    return replace(piece, start=match.start(), span=Span(start, end, Granularity.PART))


def _dated(first: Fragment, second: Fragment, gap: str) -> Fragment | None:
    """A day and a time of day as one, or None if they are not."""
    bound = Bound.AT
    if not _BESIDE.fullmatch(gap):
        found = (
            bound_before(gap)
            if first.span is not None and second.clock is not None and second.span is None
            else None
        )
        if found is None or gap[: found[1]].strip(" ,"):
            return None
        bound = found[0]
    if (
        first.span is not None
        and second.span is None
        and second.clock is not None
        and first.span.granularity in _DAYS
    ):
        span = _at(first.span, second.clock)
        return (
            replace(
                first,
                stop=second.stop,
                span=span,
                clock=second.clock,
                weekday=None,
                weak=False,
                bound=bound,
            )
            if span
            else None
        )
    if first.clock is None or first.span is not None:
        return None
    if (
        second.span is not None
        and second.span.granularity in _DAYS
        and (
            not first.weak
            or first.clock.start != first.clock.end
            or second.span.granularity is Granularity.PART
        )
    ):
        span = _at(second.span, first.clock)
        return (
            replace(
                second, start=first.start, span=span, clock=first.clock, weekday=None, weak=False
            )
            if span
            else None
        )
    if (
        second.clock is not None
        and second.span is None
        and first.clock.named != second.clock.named
        and not first.weak
    ):
        return replace(
            first, stop=second.stop, clock=_within(first.clock, second.clock), weak=False
        )
    return None


def _lasting(piece: Fragment, text: str) -> Fragment:
    """A moment that goes on: "from 10 am for 3 hours", "for 2 hours from 2 pm"."""
    dated = piece.span is not None and piece.span.granularity is Granularity.DAY
    if not dated and (piece.clock is None or piece.clock.start != piece.clock.end):
        return piece
    if after := _FOR.match(text, piece.stop):
        start, stop, words = piece.start, after.end(), after["amount"]
    elif before := _FOR_FROM.search(text, max(0, piece.start - _LEFT), piece.start):
        start, stop, words = before.start(), piece.stop, before["amount"]
    else:
        return piece
    length = amount(words).away(datetime.min) - datetime.min
    if piece.span is not None:
        return replace(
            piece,
            start=start,
            stop=stop,
            weekday=None,
            weak=False,
            span=Span(piece.span.start, piece.span.start + length, Granularity.SPAN),
        )
    clock = piece.clock or Clock(0, 0)
    return replace(
        piece,
        start=start,
        stop=stop,
        clock=replace(clock, end=clock.start + int(length.total_seconds() // 60)),
        weak=False,
    )


def _within(first: Clock, second: Clock) -> Clock | None:
    """An hour in a part of the day: "in the morning at 7"."""
    part, hour = (first, second) if first.named else (second, first)
    shift = (
        0
        if part.start <= hour.start % 1440 < part.end or hour.start >= 720 or part.start < 720
        else 720
    )
    start = hour.start
    if hour.halved and part.start < 720 and start >= 720:
        shift = -720
    return Clock(start + shift, hour.end + shift)


def _at(day: Span, clock: Clock) -> Span | None:
    """A time of day on a day; within a part of the day already named, in its half."""
    start, end = clock.start, clock.end
    if day.granularity is Granularity.PART:
        if clock.named:
            return None
        first = day.start.hour * 60
        if clock.halved:
            start, end = (start - 720, end - 720) if first < 720 <= start else (start, end)
            start, end = (start + 720, end + 720) if first >= 720 > start else (start, end)
    base = midnight(day.start)
    if start == end:
        moment = base + timedelta(minutes=start)
        return Span(moment, moment + timedelta(minutes=1), Granularity.MINUTE)
    return Span(
        base + timedelta(minutes=start),
        base + timedelta(minutes=end),
        Granularity.PART if clock.named else Granularity.SPAN,
    )


def _spanned(pieces: Sequence[Fragment], text: str, reference: Reference) -> Iterator[Fragment]:
    """Two times joined by "from … to" or "between … and" as one, with its last day, month or year in full."""
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        opening = _OPENING.search(text, max(0, piece.start - 20), piece.start)
        if place + 1 < len(pieces):
            other = pieces[place + 1]
            gap = text[piece.stop : other.start]
            if (
                _THROUGH.fullmatch(gap)
                or (opening and opening["word"] == "between" and _AND.fullmatch(gap))
            ) and (joined := _joined(piece, other, reference)):
                start = opening.start() if opening else piece.start
                yield Fragment(start, other.stop, joined, dated=True)
                place += 2
                continue
        if (
            piece.span is not None
            and (now := _NOW.search(text, max(0, piece.start - 30), piece.start))
            and piece.span.end > reference.now
        ):
            yield replace(
                piece, start=now.start(), span=Span(reference.now, piece.span.end, Granularity.SPAN)
            )
        elif (
            piece.clock is not None
            and (now := _NOW.search(text, max(0, piece.start - 30), piece.start))
            and piece.span is None
        ):
            end = _later(piece.clock, reference)
            yield replace(piece, start=now.start(), span=Span(reference.now, end, Granularity.SPAN))
        elif piece.span is not None and (now := _TO_NOW.match(text, piece.stop)):
            begun = (
                counted(piece.span.start, "year", -1)
                if piece.span.yearly and piece.span.start > reference.now
                else piece.span.start
            )
            start = opening.start() if opening else piece.start
            yield (
                replace(
                    piece,
                    start=start,
                    stop=now.end(),
                    span=Span(begun, reference.now, Granularity.SPAN),
                )
                if begun < reference.now
                else piece
            )
        else:
            yield piece
        place += 1


def _later(clock: Clock, reference: Reference) -> datetime:
    """The next time the clock shows it."""
    moments = [
        reference.today
        + timedelta(minutes=clock.start % 720 + shift if clock.halved else clock.start + shift)
        for shift in (0, 720, 1440, 2160)
    ]
    if not clock.halved:
        moments = moments[::2]
    return next(moment for moment in moments if moment > reference.now)


def _joined(first: Fragment, last: Fragment, reference: Reference) -> Span | None:
    if first.span is not None and last.span is not None:
        start, end = first.span.start, last.span.end
        if last.span.granularity is Granularity.MINUTE:
            end = last.span.start
        if (
            first.span.yearly
            and last.dated
            and last.span.granularity is Granularity.DAY
            and not last.span.yearly
        ):
            start = start.replace(
                year=end.year, day=min(start.day, 28) if start.month == 2 else start.day
            )
        if last.weekday is not None:
            end = _next_weekday(start, last.weekday).end
        elif first.weekday is not None and start >= end:
            last_day = midnight(end - timedelta(minutes=1))
            start = last_day - timedelta(days=(last_day.weekday() - first.weekday) % 7)
        elif start >= end and last.span.yearly:
            end = counted(end, "year", 1)
        if start >= end:
            start = _year_earlier(start, end)
        return Span(start, end, Granularity.SPAN) if start < end else None
    if first.span is not None and last.clock is not None:
        joined = _at(first.span, last.clock)
        if joined is None:
            return None
        end = joined.start
        while end <= first.span.start:
            end += timedelta(hours=12)
        return Span(first.span.start, end, Granularity.SPAN)
    if first.clock is not None and last.span is not None and last.clock is not None:
        start = midnight(last.span.start) + timedelta(minutes=first.clock.start)
        return Span(start, last.span.start, Granularity.SPAN) if start < last.span.start else None
    return None


def _year_earlier(start: datetime, end: datetime) -> datetime:
    """The start moved back a year where the end came out before it.

    "from November to February 2017".
    """
    while start >= end and start.year > end.year - 2 and start.year > 1:
        start = start.replace(
            year=start.year - 1, day=min(start.day, 28) if start.month == 2 else start.day
        )
    return start
