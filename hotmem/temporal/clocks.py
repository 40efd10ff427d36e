"""Times of day: "at 5 pm", "half past three", "from 10 to 11:30", "in the late afternoon"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from hotmem.temporal.fragments import DIGITS, DURATION, Clock, Fragment, Rule, parse_duration
from hotmem.temporal.units import Bound, Granularity, Reference, Span, bound_before, midnight

PARTS: Final = {
    "morning": (8, 12),
    "afternoon": (12, 16),
    "evening": (16, 20),
    "night": (20, 24),
    "daytime": (8, 18),
    "lunchtime": (11, 13),
}
"""Hours of the parts of a day, as in Microsoft's Recognizers."""

NOON: Final = 720
FULL_DAY: Final = 1440
"""Minutes of a day."""
FIRST_MORNING_HOUR: Final = 7
"""An hour before this one without am or pm is taken for the afternoon."""

PART: Final = r"morning|afternoon|evening|night|daytime|lunchtime"
_AM_PM: Final = r"(?:a\.?m\.?|p\.?m\.?|a|p)(?!\w)"
_O_CLOCK: Final = r"(?:\s*(?:o'?clock|oclock))"
_SIDE: Final = (
    r"\s+(?:in\s+the\s+(?:early\s+)?(?:morning|afternoon|evening)|at\s+night|this\s+morning(?!\w))"
    rf"|\s*(?:{_AM_PM})"
)
_PAST: Final = (
    r"(?:half|(?:a\s+)?quarter|\d\d?(?:\s*min(?:ute)?s?)?)\s+(?:past|after|to|before)\s+\d\d?"
)
_HOUR: Final = (
    rf"(?:noon(?:ish)?|mid[\s-]?day|mid[\s-]?night|{_PAST}"
    rf"|(?:[01]?\d|2[0-4])(?:[:.]?[0-5]\d(?::[0-5]\d)?|\s[1-5]\d)?){_O_CLOCK}?"
)
_LEAD: Final = r"(?:at|for|by|until|till|since|before|after|around|about|circa)"
_EDGE: Final = r"(?:(?<![\w$€£.:/-])|(?<=\dt))"
_END: Final = (
    r"(?![\w%:/]|[.,-]\d|\s+(?:seconds?|minutes?|mins?|hours?|days?|weeks?|months?|years?|people"
    r"|times)\b)"
)


def _hour_group(name: str) -> str:
    """The pattern of a time of day; its groups are the hour `name` and its side `name_side`."""
    return rf"(?P<{name}>{_HOUR})(?P<{name}_side>{_SIDE})?"


_MINUTES_TO: Final = r"(?<=\bat )(?:5|10|20|25)\s+to\s+\d"
"""Minutes before an hour, which are no range after "at": "at ten to nine"."""

_RANGE: Final = re.compile(
    rf"{_EDGE}(?!{_MINUTES_TO})(?:(?P<lead>from|between)\s+)?{_hour_group('first')}"
    rf"\s*(?:to|-|until|till|through|and)\s*{_hour_group('last')}{_END}"
)
_SINGLE: Final = re.compile(rf"{_EDGE}(?P<lead>(?:{_LEAD}\s+)*){_hour_group('first')}{_END}")
_PART_OF_DAY: Final = re.compile(
    r"(?<!\w)(?:(?:in|at|during)\s+)?(?:the\s+)?(?P<half>early|late|mid(?!\s*night))?"
    rf"(?:[\s-]+in)?[\s-]*(?:the\s+)?(?P<part>{PART})"
    r"(?:\s+at\s+(?P<hour>(?:[01]?\d|2[0-4])(?:[:.][0-5]\d)?))?(?![\w-])"
)
_AT: Final = re.compile(r"\b(?:at|after|before|until|till|by)\b")
_DIGITS: Final = re.compile(r"^(\d{1,2}?)(?:[:. ]?([0-5]\d))?(?::[0-5]\d)?$")
_CLEARLY_A_TIME: Final = re.compile(r":|clock|noon|night|midday|past|quarter|half|min")


@dataclass(frozen=True, slots=True)
class _Hour:
    """Minutes from midnight; on the 12-hour clock if it has no am or pm."""

    minutes: int
    twelve_hour: bool


def _parse_hour(hour: str) -> _Hour:
    plain = re.sub(r"\s*o'?clock", "", hour).strip()
    if re.fullmatch(r"(?:19|20)\d\d", plain):
        raise ValueError(hour)
    if plain.startswith("noon") or plain.endswith("day"):
        return _Hour(NOON, False)
    if plain.startswith("mid"):
        return _Hour(0, False)
    if past := re.match(
        r"(?:(half)|(?:a\s+)?(quarter)|(\d+)).*?(past|after|to|before)\s+(\d+)$", plain
    ):
        minutes = 30 if past[1] else 15 if past[2] else int(past[3])
        full = int(past[5]) * 60
        if full > FULL_DAY or minutes > 59:
            raise ValueError(hour)
        return _Hour(full + (minutes if past[4] in ("past", "after") else -minutes), full <= NOON)
    digits = _DIGITS.match(plain)
    if digits is None or int(digits[1]) > 24:
        raise ValueError(hour)
    value, leading_zero = int(digits[1]), len(digits[1]) == 2 and digits[1][0] == "0"
    return _Hour(value * 60 + int(digits[2] or 0), 0 < value <= 12 and not leading_zero)


def _on_side(minutes: int, side: str) -> int:
    """The minutes in the half of the day that "pm" or "in the evening" names."""
    hour, rest = divmod(minutes, 60)
    if hour > 12:
        return minutes
    afternoon = (
        side.startswith("p")
        or "afternoon" in side
        or "evening" in side
        or ("night" in side and hour >= 6)
    )
    return (hour % 12 + (12 if afternoon else 0)) * 60 + rest


def _likelier_half(minutes: int) -> int:
    return minutes + NOON if 60 <= minutes < FIRST_MORNING_HOUR * 60 else minutes


def _matched_hour(match: re.Match[str], name: str) -> _Hour:
    hour, side = _parse_hour(match[name]), (match[f"{name}_side"] or "").strip()
    return _Hour(_on_side(hour.minutes, side), False) if side else hour


def _is_clearly_a_time(match: re.Match[str], name: str) -> bool:
    """Whether the words are a time by themselves, not just a number."""
    return bool(match[f"{name}_side"]) or bool(_CLEARLY_A_TIME.search(match[name]))


def _range(match: re.Match[str], reference: Reference) -> Fragment:
    first, last = _matched_hour(match, "first"), _matched_hour(match, "last")
    start, end = first.minutes, last.minutes
    twelve_hour = first.twelve_hour and last.twelve_hour
    side = (match["last_side"] or "").strip()
    if first.twelve_hour and not last.twelve_hour and side:
        on_side = _on_side(start, side)
        start = on_side if on_side < end else start
    elif twelve_hour and not match["first"].startswith("0"):
        start = _likelier_half(start)
        end = end if end > start else end + NOON
    elif last.twelve_hour and end <= start and not side:
        end += NOON
    if end <= start:
        end += NOON if last.twelve_hour and end + NOON > start else FULL_DAY
    weak = not (
        _is_clearly_a_time(match, "first")
        or _is_clearly_a_time(match, "last")
        or (match["lead"] and re.fullmatch(r"\d \d\d|\d{4}|\d\d?", match["last"].strip()))
    )
    clock = Clock(start, end, twelve_hour=twelve_hour)
    return Fragment(match.start(), match.end(), clock=clock, weak=weak)


def _single(match: re.Match[str], reference: Reference) -> Fragment:
    hour, words = _matched_hour(match, "first"), match["first"].strip()
    minutes = _likelier_half(hour.minutes) if hour.twelve_hour else hour.minutes
    weak = not _is_clearly_a_time(match, "first") and not (
        _AT.search(match["lead"]) and re.fullmatch(r"\d\d?(?:[. ]\d\d|\s+to\s+\d\d?)?", words)
    )
    if weak and len(words) > 2 and words.isdigit():
        raise ValueError(words)
    clock = Clock(minutes, minutes, twelve_hour=hour.twelve_hour)
    return Fragment(match.start("first"), match.end(), clock=clock, weak=weak)


def _part_of_day(match: re.Match[str], reference: Reference) -> Fragment:
    if match["hour"]:
        minutes = _on_side(_parse_hour(match["hour"]).minutes, match["part"])
        return Fragment(match.start(), match.end(), clock=Clock(minutes, minutes))
    first, last = part_hours(match["part"], match["half"])
    clock = Clock(first * 60, last * 60, is_part=True)
    weak = not re.search(r"\b(?:in|at|during)\b", match[0])
    return Fragment(match.start(), match.end(), clock=clock, weak=weak)


def part_hours(part: str, half: str | None) -> tuple[int, int]:
    """First and last hour of a part of the day, or of its "early" or "late" two hours."""
    first, last = PARTS[part]
    if half == "early":
        return first, first + 2
    return (last - 2, last) if half == "late" else (first, last)


RULES: Final = (
    Rule((*DIGITS, "noon", "mid"), _RANGE, _range),
    Rule((*DIGITS, "noon", "mid"), _SINGLE, _single),
    Rule(
        ("morning", "noon", "evening", "night", "daytime", "lunchtime"), _PART_OF_DAY, _part_of_day
    ),
)


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
