"""Months: "May 2023", "last March", "from November to February", "2023/05"."""

import re
from datetime import datetime
from typing import Final

from hotmem.temporal.fragments import (
    DIGITS,
    DIRECTION,
    MONTH,
    MONTH_CUES,
    THIS_WORDS,
    YEAR,
    Rule,
    parse_direction,
    parse_month,
    parse_year,
    preceded_by,
    whole_words,
)
from hotmem.temporal.units import Granularity, Reference, Span, month_span


def _month_of_year(match: re.Match[str], reference: Reference) -> Span:
    return month_span(parse_year(match["year"]), parse_month(match["month"]))


def _month_number(match: re.Match[str], reference: Reference) -> Span:
    return month_span(int(match["year"]), int(match["month"]))


def _months(match: re.Match[str], reference: Reference) -> Span | None:
    """Interpret "from November to February 2017"; the year is that of the last month.

    "June and July" without "between" are two times.
    """
    if re.search(r"\sand\s", match[0]) and not match[0].startswith("between"):
        return None
    first, last = parse_month(match["first"]), parse_month(match["last"])
    wraps = first > last
    if match["before"]:
        year = int(match["before"])
    elif match["year"]:
        year = int(match["year"]) - wraps
    else:
        year = _nearest_month(last, reference.now, ahead=reference.ahead).start.year - wraps
    return Span(month_span(year, first).start, month_span(year + wraps, last).end, Granularity.SPAN)


def _month_of_relative_year(match: re.Match[str], reference: Reference) -> Span:
    year = reference.now.year + parse_direction(match["which"])
    return month_span(year, parse_month(match["month"]))


def _month(match: re.Match[str], reference: Reference) -> Span:
    """Interpret "May", "next May"; the current month is neither the last nor the next one."""
    month, now = parse_month(match["month"]), reference.now
    which = match.groupdict().get("which") or ""
    if which in THIS_WORDS:
        return month_span(now.year, month)
    if not which:
        return _nearest_month(month, now, ahead=reference.ahead)
    if parse_direction(which) > 0:
        return month_span(now.year + (month <= now.month), month)
    return month_span(now.year - (month >= now.month), month)


def _nearest_month(month: int, now: datetime, *, ahead: bool) -> Span:
    return month_span(now.year + (month < now.month if ahead else -(month > now.month)), month)


_WORDLIKE_MONTH: Final = "may|march|mar|dec|sep"
"""Months that are words, or abbreviations of words, as well."""
_WORDLIKE_CUES: Final = ("may", "mar", "dec", "sep")
_AFTER_PREPOSITION: Final = preceded_by(
    "in",
    "by",
    "of",
    "from",
    "to",
    "during",
    "since",
    "until",
    "till",
    "early",
    "late",
    "mid",
    "between",
    "before",
    "after",
)
_MONTH_NUMBER: Final = r"(?P<month>1[0-2]|0?[1-9])"

RULES: Final = (
    Rule(
        MONTH_CUES,
        whole_words(
            rf"(?P<month>{MONTH})\.?(?:\s*,\s*|\s*-\s*|\s+)(?:of\s+|in\s+)?(?P<year>{YEAR}|'\d\d)"
        ),
        _month_of_year,
    ),
    Rule(
        MONTH_CUES,
        whole_words(rf"(?P<year>{YEAR})\s*[,/-]?\s*(?P<month>{MONTH})"),
        _month_of_year,
    ),
    Rule(
        DIGITS,
        re.compile(
            rf"(?<![\w/.:-])(?<!- )(?P<year>{YEAR})\s*[/-]\s*{_MONTH_NUMBER}(?![\w:/.-])(?!\s*-)"
        ),
        _month_number,
    ),
    Rule(
        DIGITS,
        re.compile(rf"(?<![\w/.:-])(?<!- ){_MONTH_NUMBER}\s*[/-]\s*(?P<year>{YEAR})(?![\w/-])"),
        _month_number,
    ),
    Rule(
        MONTH_CUES,
        whole_words(
            r"(?<!this )(?<!last )(?<!next )(?:(?:from|between)\s+)?"
            rf"(?:(?P<before>{YEAR})\s+)?(?P<first>{MONTH})\.?\s*(?:to|-|until|till|through|(?<=\s)and)\s*"
            rf"(?P<last>{MONTH})(?!\.?,?\s*\d\d?(?!\d))"
            rf"(?:[\s,]+(?:of\s+|in\s+)?(?P<year>{YEAR}))?"
        ),
        _months,
    ),
    Rule(
        MONTH_CUES,
        whole_words(rf"(?P<month>{MONTH})\s+(?:of\s+)?(?P<which>{DIRECTION})\s+year"),
        _month_of_relative_year,
    ),
    Rule(
        MONTH_CUES,
        whole_words(
            rf"(?:(?P<which>{DIRECTION})\s+)?(?P<month>(?!(?:{_WORDLIKE_MONTH})\b){MONTH})\.?"
        ),
        _month,
    ),
    Rule(
        _WORDLIKE_CUES,
        whole_words(rf"{_AFTER_PREPOSITION}(?P<month>{_WORDLIKE_MONTH})"),
        _month,
    ),
    Rule(
        _WORDLIKE_CUES,
        whole_words(rf"(?P<which>{DIRECTION})\s+(?P<month>{_WORDLIKE_MONTH})"),
        _month,
    ),
)
