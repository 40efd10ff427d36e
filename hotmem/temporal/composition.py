"""Composition of fragments to whole times.

"tomorrow" and "at 5 pm" are one time, "from March" and "to May" too.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from hotmem.temporal.clocks import attach_times_of_day
from hotmem.temporal.fragments import Fragment
from hotmem.temporal.modifiers import apply_modifiers
from hotmem.temporal.periods import join_ranges, next_weekday
from hotmem.temporal.units import Granularity, Reference, Span, day_span, week_span

_IN_WEEK: Final = re.compile(r"(?:'s)?[\s,]*(?:(?:on|of|from|the)\s+)?$")
_SAME_DAY: Final = re.compile(r"[\s,(]*(?:the\s+)?\(?$")
_OPENING_PARENTHESIS: Final = re.compile(r"[\s,]*\(")
_ON: Final = re.compile(r"\s+on\s+")
_EDITING_TERM: Final = re.compile(
    r"[\s,.;:-]*(?:(?:or\s+)?i\s+meant?(?:\s+to\s+say)?|no|nope|nah|sorry|or\s+rather|wait|rather"
    r"|make\s+(?:that|it)|scratch\s+that|correction|actually)"
    r"(?:[\s,.;:-]+(?:no|nope|sorry|wait|actually|rather|i\s+meant?|make\s+(?:that|it)|it['’]?s))*"
    r"[\s,.;:-]+(?:(?:on|in|at|the|for|it['’]?s)\s+)*"
)
"""Words between two times of which the second one corrects the first: "Monday, no, Tuesday"."""


def select_longest(candidates: Iterable[Fragment]) -> list[Fragment]:
    """Select fragments that do not overlap, in order.

    A strong fragment is preferred to a weak one, then the longer one to the shorter one.
    """
    selected: list[Fragment] = []
    for fragment in sorted(candidates, key=lambda one: (one.weak, one.start - one.stop, one.start)):
        if all(fragment.stop <= other.start or fragment.start >= other.stop for other in selected):
            selected.append(fragment)
    return sorted(selected, key=lambda fragment: fragment.start)


def compose(fragments: Sequence[Fragment], text: str, reference: Reference) -> list[Fragment]:
    """Compose neighbouring fragments to whole times, in order.

    Weak fragments that remain alone are dropped.
    """
    times = attach_times_of_day(_merge_days(fragments, text, reference), text)
    times = [time for time in times if not time.weak or time.span is not None]
    whole = [time for time in join_ranges(times, text, reference) if not time.weak]
    return list(_without_repaired(whole, text))


def _without_repaired(times: Sequence[Fragment], text: str) -> Iterator[Fragment]:
    """The times without those that the next one corrects, whose words it takes over."""
    start: int | None = None
    for place, time in enumerate(times):
        begun = time.start if start is None else start
        following = times[place + 1] if place + 1 < len(times) else None
        if following and _EDITING_TERM.fullmatch(text, time.stop, following.start):
            start = begun
            continue
        start = None
        yield replace(time, start=begun)


def _merge_days(fragments: Sequence[Fragment], text: str, reference: Reference) -> list[Fragment]:
    """Apply modifiers, and merge weekdays with their dates and weeks."""
    merged: list[Fragment] = []
    for fragment in fragments:
        if merged and (pair := _merge(merged[-1], fragment, text)):
            merged[-1] = pair
            continue
        modified = apply_modifiers(fragment, text, reference)
        while merged and merged[-1].stop > modified.start:
            merged.pop()
        if merged and (pair := _merge_counted(merged[-1], modified, text)):
            merged[-1] = pair
        else:
            merged.append(modified)
    return merged


def _merge(first: Fragment, second: Fragment, text: str) -> Fragment | None:
    """Two fragments that name one day; None if they do not."""
    if first.span is None or second.span is None:
        return None
    gap, granularity = text[first.stop : second.start], first.span.granularity
    is_relative_day = granularity is Granularity.DAY and not first.dated
    if is_relative_day and second.dated and _SAME_DAY.fullmatch(gap):
        return replace(second, start=first.start)
    if second.weekday is not None:
        is_closed = text[second.stop : second.stop + 1] == ")"
        if first.dated and is_closed and _OPENING_PARENTHESIS.fullmatch(gap):
            return replace(first, stop=second.stop + 1)
        if granularity is Granularity.WEEK and _IN_WEEK.fullmatch(gap):
            return replace(first, stop=second.stop, span=_in_week(first.span, second.weekday))
    is_week = second.span.granularity is Granularity.WEEK
    if first.weekday is not None and is_week and _IN_WEEK.fullmatch(gap):
        day = _in_week(second.span, first.weekday)
        return replace(first, stop=second.stop, span=day, weekday=None, weak=False)
    return None


def _merge_counted(first: Fragment, second: Fragment, text: str) -> Fragment | None:
    """A weekday and a counted time: "Friday two weeks ago", "in two weeks on Friday"."""
    if first.span is None or second.span is None:
        return None
    gap = text[first.stop : second.start]
    if first.weekday is not None and second.span.exact_moment and _IN_WEEK.fullmatch(gap):
        day = _in_week(week_span(second.span.exact_moment), first.weekday)
        return replace(second, start=first.start, span=day)
    if first.span.exact_moment and second.weekday is not None and _ON.fullmatch(gap):
        day = next_weekday(first.span.exact_moment, second.weekday)
        return replace(first, stop=second.stop, span=day)
    return None


def _in_week(week: Span, weekday: int) -> Span:
    return day_span(week.start + timedelta(days=weekday))
