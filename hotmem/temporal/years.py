"""Years, decades, centuries, seasons, quarters and halves of a year."""

import re
from datetime import datetime, timedelta
from typing import Final

from hotmem.temporal.fragments import (
    COUNT,
    DIGITS,
    DIRECTION,
    MONTH,
    MONTH_CUES,
    THIS_WORDS,
    YEAR,
    Rule,
    parse_count,
    parse_direction,
    parse_month,
    parse_year,
    preceded_by,
    words_rule,
)
from hotmem.temporal.units import (
    SEASONS,
    Granularity,
    Reference,
    Span,
    add_units,
    month_span,
    quarter_span,
    season_span,
    year_span,
)

_FIRST_DECADE_OF_LAST_CENTURY: Final = 30
"""Two-digit decades from here on are in the 20th century."""


def _year(match: re.Match[str], reference: Reference) -> Span:
    return year_span(int(match["year"]))


def _years(match: re.Match[str], reference: Reference) -> Span | None:
    first, last = int(match["year"]), int(match["until"])
    return year_span(first, last - first + 1) if first < last else None


def _short_year(match: re.Match[str], reference: Reference) -> Span:
    return year_span(parse_year(match["year"]))


def _decade(match: re.Match[str], reference: Reference) -> Span:
    first = int(match["decade"].lstrip("'"))
    if first < 100:
        first += 1900 if first >= _FIRST_DECADE_OF_LAST_CENTURY else 2000
    return year_span(first, 10)


def _century(match: re.Match[str], reference: Reference) -> Span:
    return year_span(100 * int(match["number"]) - 100, 100)


def _season(match: re.Match[str], reference: Reference) -> Span:
    name, now, groups = match["season"], reference.now, match.groupdict()
    if year := groups.get("year"):
        return season_span(parse_year(year), name)
    which = groups.get("which") or ""
    seasons = [
        season_span(now.year + offset, name) for offset in (-2, -1, 0, 1) if now.year + offset > 0
    ]
    if which in THIS_WORDS:
        return next(season for season in seasons if season.end > now - timedelta(days=90))
    ahead = parse_direction(which) > 0 if which else reference.ahead
    if ahead:
        return next(
            season for season in seasons if season.start > now or (not which and season.end > now)
        )
    return next(
        season
        for season in reversed(seasons)
        if season.end <= now or (not which and season.start <= now)
    )


def _seasons_ago(match: re.Match[str], reference: Reference) -> Span | None:
    """Interpret "two summers ago"; the last one that is over is one ago."""
    count, name = int(parse_count(match["amount"])), match["season"]
    over = [
        season
        for back in range(count + 3)
        if (season := season_span(reference.now.year - back, name)).end <= reference.now
    ]
    return over[count - 1] if 0 < count <= len(over) else None


def _quarter(match: re.Match[str], reference: Reference) -> Span:
    number, year, groups = int(match["number"]), reference.now.year, match.groupdict()
    if groups.get("year"):
        return quarter_span(int(match["year"]), number)
    if groups.get("which"):
        return quarter_span(year + parse_direction(match["which"]), number)
    quarter = quarter_span(year, number)
    if reference.ahead:
        return quarter if quarter.end > reference.now else quarter_span(year + 1, number)
    return quarter if quarter.start <= reference.now else quarter_span(year - 1, number)


def _half_year(match: re.Match[str], reference: Reference) -> Span:
    start = datetime(int(match["year"]), 6 * int(match["number"]) - 5, 1)
    return Span(start, add_units(start, "month", 6), Granularity.SPAN)


_SEASON: Final = "|".join(SEASONS)
_SEASON_CUES: Final = tuple(SEASONS)
_NOUN_AFTER_COUNT: Final = (
    r"(?:dollars|euros|pounds|people|miles|metres|meters|words|steps|calories|times|years|more"
    r"|of\s+them)"
)
"""After a number, these make it a count instead of a year."""

RULES: Final = (
    Rule(
        DIGITS,
        re.compile(
            r"(?:(?<![\w$€£.,:/#+-])(?<!- )|(?<=mid-)|(?<=early-)|(?<=late-))"
            r"(?:(?:calendar\s+)?year\s+(?:of\s+)?)?(?P<year>(?:19|20)\d\d)"
            rf"(?![\w:/%]|[.,-]\d|\s*{_NOUN_AFTER_COUNT})"
        ),
        _year,
    ),
    Rule(
        DIGITS,
        re.compile(
            rf"(?<![\w/.:-])(?:(?:from|between|in)\s+)?(?P<year>{YEAR})"
            rf"\s*(?:-|to|till|until|through)\s*(?P<until>{YEAR})(?![\w/:-]|[.,]\d|\s+{MONTH})"
        ),
        _years,
    ),
    words_rule(("year ",), r"year\s+(?:of\s+)?(?P<year>\d{3,4})", _year),
    Rule(("'",), re.compile(r"(?<=[nfe] )(?P<year>'\d\d)(?![\w'])"), _short_year),
    words_rule(
        ("cy", "calendar"),
        r"(?:cy|calendar\s+year)\s*(?P<year>\d{4}|\d\d)",
        _short_year,
    ),
    words_rule(
        ("0",),
        r"(?P<decade>(?:1[5-9]|20)\d0"
        rf"|{preceded_by('the|the early|the mid|the late')}'?\d0|'\d0)\s?'?s",
        _decade,
    ),
    words_rule(
        ("century",),
        r"(?P<number>[1-9]|1\d|2[01])(?:st|nd|rd|th)\s+century",
        _century,
    ),
    words_rule(_SEASON_CUES, rf"(?P<which>{DIRECTION})\s+(?P<season>{_SEASON})", _season),
    words_rule(
        _SEASON_CUES,
        rf"(?:in|during|over|since|until)\s+(?:the\s+)?(?P<season>{_SEASON})"
        rf"(?:\s+(?:of\s+)?(?P<year>{YEAR}))?",
        _season,
    ),
    words_rule(
        _SEASON_CUES,
        rf"{preceded_by('early|late|mid')}(?P<season>{_SEASON})",
        _season,
    ),
    words_rule(
        _SEASON_CUES,
        rf"(?P<season>{_SEASON})\s+(?:of\s+)?(?P<year>{YEAR}|'\d\d)",
        _season,
    ),
    words_rule(
        (" ago",),
        rf"(?P<amount>{COUNT})\s+(?P<season>{_SEASON})s?\s+ago",
        _seasons_ago,
    ),
    words_rule(
        ("q",),
        rf"q(?P<number>[1-4])(?:(?:\s+of)?\s+|[-/])?(?P<year>{YEAR})?",
        _quarter,
    ),
    words_rule(
        ("q",),
        rf"q(?P<number>[1-4])\s+(?:of\s+)?(?P<which>{DIRECTION})\s+year",
        _quarter,
    ),
    words_rule(("q",), rf"(?P<year>{YEAR})[\s/-]*q(?P<number>[1-4])", _quarter),
    words_rule(
        ("quarter",),
        r"(?P<number>[1-4])(?:st|nd|rd|th)\s+quarter(?:\s+(?:of\s+|in\s+)?"
        rf"(?:(?:the\s+year\s+)?(?P<year>{YEAR})|(?:the|(?P<which>{DIRECTION}))\s+year))?",
        _quarter,
    ),
    words_rule(
        ("year",),
        rf"(?P<which>{DIRECTION})\s+year(?:'s)?\s+(?P<number>[1-4])(?:st|nd|rd|th)\s+quarter",
        _quarter,
    ),
    words_rule(("h1", "h2"), rf"h(?P<number>[12])(?:\s+of)?\s+(?P<year>{YEAR})", _half_year),
    words_rule(("h1", "h2"), rf"(?P<year>{YEAR})\s*h(?P<number>[12])", _half_year),
)


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
    "in|by|of|from|to|during|since|until|till|early|late|mid|between|before|after"
)
_MONTH_NUMBER: Final = r"(?P<month>1[0-2]|0?[1-9])"

MONTH_RULES: Final = (
    words_rule(
        MONTH_CUES,
        rf"(?P<month>{MONTH})\.?(?:\s*,\s*|\s*-\s*|\s+)(?:of\s+|in\s+)?(?P<year>{YEAR}|'\d\d)",
        _month_of_year,
    ),
    words_rule(
        MONTH_CUES,
        rf"(?P<year>{YEAR})\s*[,/-]?\s*(?P<month>{MONTH})",
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
    words_rule(
        MONTH_CUES,
        r"(?<!this )(?<!last )(?<!next )(?:(?:from|between)\s+)?"
        rf"(?:(?P<before>{YEAR})\s+)?(?P<first>{MONTH})\.?\s*(?:to|-|until|till|through|(?<=\s)and)\s*"
        rf"(?P<last>{MONTH})(?!\.?,?\s*\d\d?(?!\d))"
        rf"(?:[\s,]+(?:of\s+|in\s+)?(?P<year>{YEAR}))?",
        _months,
    ),
    words_rule(
        MONTH_CUES,
        rf"(?P<month>{MONTH})\s+(?:of\s+)?(?P<which>{DIRECTION})\s+year",
        _month_of_relative_year,
    ),
    words_rule(
        MONTH_CUES,
        rf"(?:(?P<which>{DIRECTION})\s+)?(?P<month>(?!(?:{_WORDLIKE_MONTH})\b){MONTH})\.?",
        _month,
    ),
    words_rule(
        _WORDLIKE_CUES,
        rf"{_AFTER_PREPOSITION}(?P<month>{_WORDLIKE_MONTH})",
        _month,
    ),
    words_rule(
        _WORDLIKE_CUES,
        rf"(?P<which>{DIRECTION})\s+(?P<month>{_WORDLIKE_MONTH})",
        _month,
    ),
)
