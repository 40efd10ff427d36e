"""Counted times: "two weeks ago", "in an hour", "the last 7 days", "within 10 months", "3 weeks later"."""

import re
from datetime import timedelta
from typing import Final

from hotmem.temporal.fragments import AMOUNT, AMOUNT_WORDS, UNIT, Rule, amount, pattern, step
from hotmem.temporal.units import Granularity, Reference, Span, holding


def _reached(reference: Reference, text: str, sign: int) -> Span:
    """Where an amount of time before or after now leads, as exact as its smallest unit."""
    many = amount(text)
    moment = many.away(reference.now, sign)
    span = holding(moment, many.finest)
    return Span(span.start, span.end, span.granularity, moment)


def _ago(match: re.Match[str], reference: Reference) -> Span:
    return _reached(reference, match["amount"], -1)


def _between_ago(match: re.Match[str], reference: Reference) -> Span | None:
    first, last = (
        _reached(reference, f"{match[name]} {match['unit']}", -1) for name in ("last", "first")
    )
    return Span(first.start, last.end, Granularity.SPAN) if first.start < last.end else None


def _in(match: re.Match[str], reference: Reference) -> Span:
    return _reached(reference, match["amount"], 1)


def _within(match: re.Match[str], reference: Reference) -> Span:
    many = amount(match["amount"])
    start = reference.now if _fine(many.finest) else reference.today
    return Span(start, many.away(start), Granularity.SPAN)


def _fine(unit: str) -> bool:
    return unit in ("second", "minute", "hour")


def _row(match: re.Match[str], reference: Reference) -> Span:
    """Reads "the last 3 months", "the next two days", "the past 2 decades".

    Up to now, or from tomorrow; quarters and decades whole.
    """
    text = (
        match["amount"] if match.groupdict().get("amount") else f"{match['count']} {match['unit']}"
    )
    many, sign, now = amount(text), step(match["which"]), reference.now
    if many.finest in ("quarter", "decade"):
        edge = holding(now, many.finest)
        return (
            Span(many.away(edge.start, -1), edge.start, Granularity.SPAN)
            if sign < 0
            else Span(edge.end, many.away(edge.end), Granularity.SPAN)
        )
    if sign < 0:
        moment = many.away(now, -1)
        return Span(
            moment
            if _fine(many.finest)
            else moment.replace(hour=0, minute=0, second=0, microsecond=0),
            now,
            Granularity.SPAN,
        )
    start = now if _fine(many.finest) else reference.today + timedelta(days=1)
    return Span(start, many.away(start), Granularity.SPAN)


def _ahead(match: re.Match[str], reference: Reference) -> Span:
    start = reference.today + timedelta(days=1)
    return Span(start, amount(match["amount"]).away(start), Granularity.SPAN)


_CUES: Final = (
    "sec",
    "min",
    "hour",
    "hr",
    "day",
    "week",
    "month",
    "quarter",
    "year",
    "yr",
    "decade",
    "fortnight",
    "h",
)
_ROW: Final = r"last|past|previous|preceding|next|coming|following|upcoming"

RULES: Final = (
    Rule(
        ("ago", "back", "earlier"), pattern(rf"(?P<amount>{AMOUNT})\s+(?:ago|back|earlier)"), _ago
    ),
    Rule(
        ("ago",),
        pattern(
            rf"between\s+(?P<first>{AMOUNT_WORDS})\s+(?:and|to)\s+(?P<last>{AMOUNT_WORDS})\s+(?P<unit>{UNIT})\s+ago"
        ),
        _between_ago,
    ),
    Rule(("in ",), pattern(rf"in\s+(?:less\s+than|under)\s+(?P<amount>{AMOUNT})"), _within),
    Rule(
        ("in ",), pattern(rf"in\s+(?:about\s+|around\s+)?(?P<amount>{AMOUNT})(?:'s?\s+time)?"), _in
    ),
    Rule(
        ("from now", "later", "hence"),
        pattern(rf"(?P<amount>{AMOUNT})\s+(?:from\s+now|later|hence)"),
        _in,
    ),
    Rule(
        ("within",),
        pattern(rf"(?:with)?in(?<=within)\s+(?:the\s+)?(?:next\s+|coming\s+)?(?P<amount>{AMOUNT})"),
        _within,
    ),
    Rule(_CUES, pattern(rf"(?P<which>{_ROW})\s+(?P<amount>(?!an?\s){AMOUNT})(?!\s+of)"), _row),
    Rule(
        _CUES,
        pattern(
            r"(?P<count>\d+)\s+(?P<which>last|past|next|coming|upcoming)\s+(?P<unit>seconds|minutes|hours|days|weeks|months|years|decades)"
        ),
        _row,
    ),
    Rule(("future",), pattern(rf"(?P<amount>{AMOUNT})\s+in(?:to)?\s+the\s+future"), _ahead),
)
