"""Times counted from now: "two weeks ago", "in an hour", "the last 7 days", "within 10 months"."""

import re
from datetime import timedelta
from typing import Final

from hotmem.temporal.fragments import (
    DURATION,
    parse_direction,
    parse_duration,
    words_rule,
)
from hotmem.temporal.units import CLOCK_UNITS, Granularity, Reference, Span, midnight, unit_span


def _offset(reference: Reference, text: str, sign: int) -> Span:
    """The smallest unit of a duration that contains the moment so long before or after now."""
    duration = parse_duration(text)
    moment = duration.add_to(reference.now, sign)
    span = unit_span(moment, duration.finest)
    return Span(span.start, span.end, span.granularity, moment)


def _ago(match: re.Match[str], reference: Reference) -> Span:
    return _offset(reference, match["amount"], -1)


def _days_ago(match: re.Match[str], reference: Reference) -> Span:
    """Interpret "a week ago today", "two months ago yesterday": a day."""
    day = reference.today - timedelta(days=match["day"] == "yesterday")
    return unit_span(parse_duration(match["amount"]).add_to(day, -1), "day")


def _in(match: re.Match[str], reference: Reference) -> Span:
    return _offset(reference, match["amount"], 1)


def _within(match: re.Match[str], reference: Reference) -> Span:
    duration = parse_duration(match["amount"])
    start = reference.now if duration.finest in CLOCK_UNITS else reference.today
    return Span(start, duration.add_to(start), Granularity.SPAN)


def _last_or_next(match: re.Match[str], reference: Reference) -> Span:
    """Interpret "the last 3 months", "the next two days", "the past 2 decades".

    Up to now or from tomorrow; quarters and decades are whole ones.
    """
    text = (
        match["amount"] if match.groupdict().get("amount") else f"{match['count']} {match['unit']}"
    )
    duration, sign, now = parse_duration(text), parse_direction(match["which"]), reference.now
    if duration.finest in ("quarter", "decade"):
        current = unit_span(now, duration.finest)
        if sign < 0:
            return Span(duration.add_to(current.start, -1), current.start, Granularity.SPAN)
        return Span(current.end, duration.add_to(current.end), Granularity.SPAN)
    by_clock = duration.finest in CLOCK_UNITS
    if sign < 0:
        start = duration.add_to(now, -1)
        return Span(start if by_clock else midnight(start), now, Granularity.SPAN)
    start = now if by_clock else reference.today + timedelta(days=1)
    return Span(start, duration.add_to(start), Granularity.SPAN)


def _future(match: re.Match[str], reference: Reference) -> Span:
    start = reference.today + timedelta(days=1)
    return Span(start, parse_duration(match["amount"]).add_to(start), Granularity.SPAN)


_UNIT_CUES: Final = (
    "sec", "min", "hour", "hr", "day", "week", "month", "quarter", "year", "yr", "decade",
    "fortnight", "h",
)  # fmt: skip
_LAST_OR_NEXT: Final = r"last|past|previous|preceding|next|coming|following|upcoming"

RULES: Final = (
    words_rule(
        ("ago", "back", "earlier"),
        rf"(?P<amount>{DURATION})\s+(?:ago|back|earlier)",
        _ago,
    ),
    words_rule(
        ("ago",),
        rf"(?P<amount>{DURATION})\s+ago\s+(?P<day>today|yesterday)",
        _days_ago,
    ),
    words_rule(("in ",), rf"in\s+(?:less\s+than|under)\s+(?P<amount>{DURATION})", _within),
    words_rule(
        ("in ",),
        rf"in\s+(?:about\s+|around\s+)?(?P<amount>{DURATION})(?:'s?\s+time)?",
        _in,
    ),
    words_rule(
        ("from now", "later", "hence"),
        rf"(?P<amount>{DURATION})\s+(?:from\s+now|later|hence)",
        _in,
    ),
    words_rule(
        ("within",),
        rf"within\s+(?:the\s+)?(?:next\s+|coming\s+)?(?P<amount>{DURATION})",
        _within,
    ),
    words_rule(
        _UNIT_CUES,
        rf"(?P<which>{_LAST_OR_NEXT})\s+(?P<amount>(?!an?\s){DURATION})(?!\s+of)",
        _last_or_next,
    ),
    words_rule(
        _UNIT_CUES,
        r"(?P<count>\d+)\s+(?P<which>last|past|next|coming|upcoming)\s+"
        r"(?P<unit>seconds|minutes|hours|days|weeks|months|years|decades)",
        _last_or_next,
    ),
    words_rule(("future",), rf"(?P<amount>{DURATION})\s+in(?:to)?\s+the\s+future", _future),
)
