"""Composition of a day with a time of day: "tomorrow" and "at 5 pm"."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from hotmem.temporal.bounds import Bound, bound_before
from hotmem.temporal.clocks import FULL_DAY, NOON
from hotmem.temporal.fragments import DURATION, Clock, Fragment, parse_duration
from hotmem.temporal.units import Granularity, Span, midnight

_ADJACENT: Final = re.compile(
    r"t|[\s,.(-]*(?:(?:on|at|in|of|for|from|the|around|about|sometime|circa)\s+)*[\s(]*$"
)
_FOR: Final = re.compile(rf"\s+for\s+(?P<amount>{DURATION})(?!\w)")
_FOR_FROM: Final = re.compile(rf"(?<!\w)for\s+(?P<amount>{DURATION})\s+from\s+$")
_EARLY_OR_LATE: Final = re.compile(r"(?<!\w)(?P<half>early|late)\s+$")
_DAYS: Final = (Granularity.DAY, Granularity.PART)
_CONTEXT: Final = 40
"""Characters before a time that are searched for a duration."""


def attach_times_of_day(fragments: Sequence[Fragment], text: str) -> list[Fragment]:
    """Merge each time of day with the day next to it, then apply "early" and "for 3 hours".

    Parts of the day are merged first, because they belong closer to a day than hours do.
    """
    times = _merge_adjacent(fragments, text, parts_only=True)
    times = _merge_adjacent(times, text, parts_only=False)
    return [_with_duration(_early_or_late(time, text), text) for time in times]


def at_time(day: Span, clock: Clock) -> Span | None:
    """A time of day on a day, or inside a part of the day; None for two parts of the day."""
    start, end = clock.start, clock.end
    if day.granularity is Granularity.PART:
        if clock.is_part:
            return None
        part_start = day.start.hour * 60
        if clock.twelve_hour:
            start, end = (start - NOON, end - NOON) if part_start < NOON <= start else (start, end)
            start, end = (start + NOON, end + NOON) if part_start >= NOON > start else (start, end)
    base = midnight(day.start)
    if start == end:
        moment = base + timedelta(minutes=start)
        return Span(moment, moment + timedelta(minutes=1), Granularity.MINUTE)
    return Span(
        base + timedelta(minutes=start),
        base + timedelta(minutes=end),
        Granularity.PART if clock.is_part else Granularity.SPAN,
    )


def _merge_adjacent(
    fragments: Sequence[Fragment], text: str, *, parts_only: bool
) -> list[Fragment]:
    merged: list[Fragment] = []
    for fragment in fragments:
        eligible = not parts_only or (fragment.clock is not None and fragment.clock.is_part)
        if eligible and merged:
            gap = text[merged[-1].stop : fragment.start]
            if (pair := _merge(merged[-1], fragment, gap)) is not None:
                merged[-1] = pair
                continue
        merged.append(fragment)
    return merged


def _merge(first: Fragment, second: Fragment, gap: str) -> Fragment | None:
    """A day and a time of day as one, or None if they do not belong together."""
    bound = Bound.AT
    if not _ADJACENT.fullmatch(gap):
        is_day_then_clock = first.span and second.clock and not second.span
        found = bound_before(gap) if is_day_then_clock else None
        if found is None or gap[: found[1]].strip(" ,"):
            return None
        bound = found[0]
    if first.span and second.clock and not second.span and first.span.granularity in _DAYS:
        merged = _on_day(first, second.clock, first.start, second.stop)
        return replace(merged, bound=bound) if merged else None
    if first.clock is None or first.span is not None:
        return None
    if second.span is not None and second.span.granularity in _DAYS:
        is_time = not first.weak or first.clock.start != first.clock.end
        if is_time or second.span.granularity is Granularity.PART:
            return _on_day(second, first.clock, first.start, second.stop)
    if second.clock is None or second.span is not None or first.weak:
        return None
    if first.clock.is_part == second.clock.is_part:
        return None
    return replace(first, stop=second.stop, clock=_hour_in_part(first.clock, second.clock))


def _on_day(day: Fragment, clock: Clock, start: int, stop: int) -> Fragment | None:
    span = at_time(day.span, clock) if day.span else None
    if span is None:
        return None
    return replace(day, start=start, stop=stop, span=span, clock=clock, weekday=None, weak=False)


def _hour_in_part(first: Clock, second: Clock) -> Clock:
    """An hour in a part of the day: "in the morning at 7"."""
    part, hour = (first, second) if first.is_part else (second, first)
    start, shift = hour.start, 0
    if part.start >= NOON > start and not part.start <= start % FULL_DAY < part.end:
        shift = NOON
    if hour.twelve_hour and part.start < NOON <= start:
        shift = -NOON
    return Clock(start + shift, hour.end + shift)


def _early_or_late(time: Fragment, text: str) -> Fragment:
    """The first or last two hours of a part of a day: "early tomorrow morning"."""
    match = _EARLY_OR_LATE.search(text, max(0, time.start - 8), time.start)
    if match is None or time.span is None or time.span.granularity is not Granularity.PART:
        return time
    start, end = time.span.start, time.span.end
    if match["half"] == "early":
        end = start + timedelta(hours=2)
    else:
        start = end - timedelta(hours=2)
    return replace(time, start=match.start(), span=Span(start, end, Granularity.PART))


def _with_duration(time: Fragment, text: str) -> Fragment:
    """A moment with its duration: "from 10 am for 3 hours", "for 2 hours from 2 pm"."""
    is_day = time.span is not None and time.span.granularity is Granularity.DAY
    if not is_day and (time.clock is None or time.clock.start != time.clock.end):
        return time
    if after := _FOR.match(text, time.stop):
        start, stop, words = time.start, after.end(), after["amount"]
    elif before := _FOR_FROM.search(text, max(0, time.start - _CONTEXT), time.start):
        start, stop, words = before.start(), time.stop, before["amount"]
    else:
        return time
    length = parse_duration(words).add_to(datetime.min) - datetime.min
    if time.span is not None:
        span = Span(time.span.start, time.span.start + length, Granularity.SPAN)
        return replace(time, start=start, stop=stop, weekday=None, weak=False, span=span)
    clock = time.clock or Clock(0, 0)
    end = clock.start + int(length.total_seconds() // 60)
    return replace(time, start=start, stop=stop, clock=replace(clock, end=end), weak=False)
