"""Weeks, weekends, months, quarters, seasons, years, decades and centuries."""

import re
from datetime import datetime, timedelta
from typing import Final

from hotmem.temporal.fragments import (
    AMOUNT_WORDS,
    DIGITS,
    MONTH,
    MONTH_CUES,
    THIS,
    WHICH,
    YEAR,
    Fragment,
    Rule,
    full_year,
    month_of,
    number_of,
    pattern,
    preceded,
    step,
)
from hotmem.temporal.units import (
    SEASONS,
    Granularity,
    Reference,
    Span,
    counted,
    holding,
    one_day,
    one_month,
    one_quarter,
    one_season,
    one_week,
    years,
)


def _month_year(match: re.Match[str], reference: Reference) -> Span:
    return one_month(full_year(match["year"]), month_of(match["month"]))


def _months(match: re.Match[str], reference: Reference) -> Span:
    """Months in a row, the last included; a year said once is that of the last."""
    first, last = month_of(match["first"]), month_of(match["last"])
    year = next((match[name] for name in ("year", "before") if match[name]), None)
    if year:
        start = one_month(int(year) - (first > last and not match["before"]), first)
    else:
        end = _nearest_month(last, reference.now, ahead=reference.ahead).start
        start = one_month(end.year - (first > last), first)
    return Span(
        start.start, one_month(start.start.year + (last < first), last).end, Granularity.SPAN
    )


def _month_number(match: re.Match[str], reference: Reference) -> Span:
    if not 1 <= int(match["month"]) <= 12:
        raise ValueError(match[0])
    return one_month(int(match["year"]), int(match["month"]))


def _month_of_year(match: re.Match[str], reference: Reference) -> Span:
    return one_month(reference.now.year + step(match["which"]), month_of(match["month"]))


def _month_alone(match: re.Match[str], reference: Reference) -> Span:
    month, now = month_of(match["month"]), reference.now
    which = match.groupdict().get("which") or ""
    if which in THIS:
        return one_month(now.year, month)
    ahead = step(which) > 0 if which else reference.ahead
    if ahead:
        return one_month(
            now.year + (month < now.month or (bool(which) and month == now.month)), month
        )
    return one_month(now.year - (month > now.month or (bool(which) and month == now.month)), month)


def _months_if_said(match: re.Match[str], reference: Reference) -> Span | None:
    """Reads "June and July" are two times unless "between" makes them one."""
    apart = re.search(r"\sand\s", match[0]) and not match[0].startswith("between")
    return None if apart else _months(match, reference)


def _nearest_month(month: int, now: datetime, *, ahead: bool) -> Span:
    return one_month(now.year + (month < now.month if ahead else -(month > now.month)), month)


def _weak_month(match: re.Match[str], reference: Reference) -> Fragment:
    return Fragment(match.start(), match.end(), _month_alone(match, reference), weak=True)


def _year(match: re.Match[str], reference: Reference) -> Span:
    return years(int(match["year"]))


def _years(match: re.Match[str], reference: Reference) -> Span | None:
    first, last = int(match["year"]), int(match["until"])
    return years(first, last - first + 1) if first < last else None


def _short_year(match: re.Match[str], reference: Reference) -> Span:
    return years(full_year(match["year"]))


def _decade(match: re.Match[str], reference: Reference) -> Span:
    first = int(match["decade"].lstrip("'"))
    return years(first if first >= 100 else first + (1900 if first >= 30 else 2000), 10)


def _century(match: re.Match[str], reference: Reference) -> Span:
    return years(100 * int(match["number"]) - 100, 100)


def _season(match: re.Match[str], reference: Reference) -> Span:
    name, now = match["season"], reference.now
    if year := match.groupdict().get("year"):
        return one_season(full_year(year), name)
    which = match.groupdict().get("which") or ""
    seasons = [
        one_season(now.year + distance, name)
        for distance in (-2, -1, 0, 1)
        if now.year + distance > 0
    ]
    if which in THIS:
        return next(season for season in seasons if season.end > now - timedelta(days=90))
    ahead = step(which) > 0 if which else reference.ahead
    if ahead:
        return next(
            season for season in seasons if season.start > now or (not which and season.end > now)
        )
    return next(
        season
        for season in reversed(seasons)
        if season.end <= now or (not which and season.start <= now)
    )


def _quarter(match: re.Match[str], reference: Reference) -> Span:
    number = int(match["number"])
    year = match.groupdict().get("year")
    if year:
        return one_quarter(int(year), number)
    if which := match.groupdict().get("which"):
        return one_quarter(reference.now.year + step(which), number)
    ahead = one_quarter(reference.now.year, number)
    if reference.ahead:
        return ahead if ahead.end > reference.now else one_quarter(reference.now.year + 1, number)
    return ahead if ahead.start <= reference.now else one_quarter(reference.now.year - 1, number)


def _half(match: re.Match[str], reference: Reference) -> Span:
    start = datetime(int(match["year"]), 6 * int(match["number"]) - 5, 1)
    return Span(start, counted(start, "month", 6), Granularity.SPAN)


def week_of_year(year: int, number: int) -> Span:
    """A week by its ISO 8601 number.

    Raises:
        ValueError: If the year has no such week.
    """
    return one_week(datetime.fromisocalendar(year, number, 1))


def _week_number(match: re.Match[str], reference: Reference) -> Span:
    return week_of_year(int(match["year"] or reference.now.year), int(match["number"]))


def _unit(match: re.Match[str], reference: Reference) -> Span:
    """Reads "last week", "this month", "next year", "the coming weekend"."""
    distance, unit, now = step(match["which"]), match["unit"], reference.now
    if unit in ("hour", "minute", "second"):
        first, last = sorted((now, counted(now, unit, distance)))
        return Span(first, last, Granularity.SPAN)
    if unit == "weekend":
        return _weekend(distance, reference)
    if "work" in unit or "business" in unit:
        monday = one_week(counted(now, "week", distance)).start
        return Span(monday, monday + timedelta(days=5), Granularity.SPAN)
    if unit == "fortnight":
        monday = one_week(counted(now, "week", 1 if distance > 0 else 2 * distance)).start
        return Span(monday, monday + timedelta(days=14), Granularity.SPAN)
    return holding(counted(now, unit, distance), unit)


def _weekend(distance: int, reference: Reference) -> Span:
    saturday = one_week(reference.now).start + timedelta(days=5)
    if distance > 0 or (distance < 0 and reference.now.weekday() < 5):
        saturday += timedelta(weeks=distance)
    elif distance < 0:
        saturday -= timedelta(weeks=1)
    return Span(saturday, saturday + timedelta(days=2), Granularity.SPAN)


def _this_weekend(match: re.Match[str], reference: Reference) -> Span:
    return _weekend(0, reference)


def _same(match: re.Match[str], reference: Reference) -> Span:
    return holding(reference.now, match["unit"])


def _after_next(match: re.Match[str], reference: Reference) -> Span:
    sign = 1 if match["side"] == "after" else -1
    return holding(counted(reference.now, match["unit"], 2 * sign), match["unit"])


def _to_date(match: re.Match[str], reference: Reference) -> Span:
    start = holding(reference.now, match["unit"]).start
    return Span(start, max(reference.today, one_day(start).end), Granularity.SPAN)


def _rest(match: re.Match[str], reference: Reference) -> Span:
    return Span(
        reference.now if match["unit"] == "day" else reference.today,
        holding(reference.now, match["unit"]).end,
        Granularity.SPAN,
    )


def _this_unit(match: re.Match[str], reference: Reference) -> Fragment:
    """Reads "the year" in "the end of the year" and "for the year".

    After other words it is no time.
    """
    return Fragment(
        match.start(),
        match.end(),
        holding(reference.now, match["unit"]),
        weak=not match.string.endswith("for the ", 0, match.start()),
    )


def _seasons_ago(match: re.Match[str], reference: Reference) -> Span | None:
    """Reads "two summers ago": the last one that is over is one ago."""
    count, name = int(number_of(match["amount"])), match["season"]
    over = [
        season
        for back in range(count + 3)
        if (season := one_season(reference.now.year - back, name)).end <= reference.now
    ]
    return over[count - 1] if 0 < count <= len(over) else None


def _weekends_ago(match: re.Match[str], reference: Reference) -> Span:
    last, weeks = _weekend(-1, reference), timedelta(weeks=int(number_of(match["amount"])) - 1)
    return Span(last.start - weeks, last.end - weeks, Granularity.SPAN)


def _end_of_day(match: re.Match[str], reference: Reference) -> Span:
    midnight = reference.today + timedelta(days=1)
    return Span(midnight - timedelta(minutes=1), midnight, Granularity.MINUTE)


_AFTER_PREPOSITION: Final = preceded(
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
"""What must stand before a month that is a word of its own as well ("may", "march")."""
_OF: Final = preceded(
    "end of", "half of", "of the", "in the", "for the", "middle of", "start of", "beginning of"
)
_SEASON: Final = "|".join(SEASONS)
_PERIOD: Final = r"week|weekend|fortnight|month|quarter|year|decade"
_COUNTABLES: Final = r"(?:dollars|euros|pounds|people|miles|metres|meters|words|steps|calories|times|years|more|of\s+them)"

RULES: Final = (
    Rule(
        MONTH_CUES,
        pattern(
            rf"(?P<month>{MONTH})\.?(?:\s*,\s*|\s*-\s*|\s+)(?:of\s+|in\s+)?(?P<year>{YEAR}|'\d\d)"
        ),
        _month_year,
    ),
    Rule(MONTH_CUES, pattern(rf"(?P<year>{YEAR})\s*[,/-]?\s*(?P<month>{MONTH})"), _month_year),
    Rule(
        DIGITS,
        re.compile(
            rf"(?<![\w/.:-])(?<!- )(?P<year>{YEAR})\s*[/-]\s*(?P<month>1[0-2]|0?[1-9])(?![\w:/.-])(?!\s*-)"
        ),
        _month_number,
    ),
    Rule(
        DIGITS,
        re.compile(
            rf"(?<![\w/.:-])(?<!- )(?P<month>1[0-2]|0?[1-9])\s*[/-]\s*(?P<year>{YEAR})(?![\w/-])"
        ),
        _month_number,
    ),
    Rule(
        MONTH_CUES,
        pattern(
            r"(?<!this )(?<!last )(?<!next )(?:(?:from|between)\s+)?"
            rf"(?:(?P<before>{YEAR})\s+)?(?P<first>{MONTH})\.?\s*(?:to|-|until|till|through|(?<=\s)and)\s*"
            rf"(?P<last>{MONTH})(?!\.?,?\s*\d\d?(?!\d))(?:[\s,]+(?:of\s+|in\s+)?(?P<year>{YEAR}))?"
        ),
        _months_if_said,
    ),
    Rule(
        MONTH_CUES,
        pattern(rf"(?P<month>{MONTH})\s+(?:of\s+)?(?P<which>{WHICH})\s+year"),
        _month_of_year,
    ),
    Rule(
        MONTH_CUES,
        pattern(
            rf"(?:(?P<which>{WHICH})\s+)?(?P<month>(?!may\b|march\b|mar\b|dec\b|sep\b){MONTH})\.?"
        ),
        _month_alone,
    ),
    Rule(
        ("may", "mar", "dec", "sep"),
        pattern(rf"{_AFTER_PREPOSITION}(?P<month>may|march|mar|dec|sep)"),
        _month_alone,
    ),
    Rule((" and ",), pattern(r"(?<=\band )(?P<month>may|march|mar|dec|sep)"), _weak_month),
    Rule(
        ("may", "mar", "dec", "sep"),
        pattern(rf"(?P<which>{WHICH})\s+(?P<month>may|march|mar|dec|sep)"),
        _month_alone,
    ),
    Rule(
        DIGITS,
        re.compile(
            rf"(?:(?<![\w$€£.,:/#+-])(?<!- )|(?<=mid-)|(?<=early-)|(?<=late-))"
            rf"(?:(?:calendar\s+)?year\s+(?:of\s+)?)?(?P<year>(?:19|20)\d\d)(?![\w:/%]|[.,-]\d|\s*{_COUNTABLES})"
        ),
        _year,
    ),
    Rule(
        DIGITS,
        re.compile(
            rf"(?<![\w/.:-])(?:(?:from|between|in)\s+)?(?P<year>{YEAR})\s*(?:-|to|till|until|through)\s*(?P<until>{YEAR})(?![\w/:-]|[.,]\d|\s+{MONTH})"
        ),
        _years,
    ),
    Rule(("year ",), pattern(r"year\s+(?:of\s+)?(?P<year>\d{3,4})"), _year),
    Rule(("'",), re.compile(r"(?<=[nfe] )(?P<year>'\d\d)(?![\w'])"), _short_year),
    Rule(
        ("cy", "calendar"), pattern(r"(?:cy|calendar\s+year)\s*(?P<year>\d{4}|\d\d)"), _short_year
    ),
    Rule(
        ("0",),
        pattern(
            rf"(?P<decade>(?:1[5-9]|20)\d0|{preceded('the', 'the early', 'the mid', 'the late')}'?\d0|'\d0)\s?'?s"
        ),
        _decade,
    ),
    Rule(("century",), pattern(r"(?P<number>[1-9]|1\d|2[01])(?:st|nd|rd|th)\s+century"), _century),
    Rule(tuple(SEASONS), pattern(rf"(?P<which>{WHICH})\s+(?P<season>{_SEASON})"), _season),
    Rule(
        tuple(SEASONS),
        pattern(
            rf"(?:in|during|over|since|until)\s+(?:the\s+)?(?P<season>{_SEASON})(?:\s+(?:of\s+)?(?P<year>{YEAR}))?"
        ),
        _season,
    ),
    Rule(
        tuple(SEASONS),
        pattern(rf"{preceded('early', 'late', 'mid')}(?P<season>{_SEASON})"),
        _season,
    ),
    Rule(
        tuple(SEASONS),
        pattern(rf"(?P<season>{_SEASON})\s+(?:of\s+)?(?P<year>{YEAR}|'\d\d)"),
        _season,
    ),
    Rule(("q",), pattern(rf"q(?P<number>[1-4])(?:(?:\s+of)?\s+|[-/])?(?P<year>{YEAR})?"), _quarter),
    Rule(("q",), pattern(rf"q(?P<number>[1-4])\s+(?:of\s+)?(?P<which>{WHICH})\s+year"), _quarter),
    Rule(("q",), pattern(rf"(?P<year>{YEAR})[\s/-]*q(?P<number>[1-4])"), _quarter),
    Rule(
        ("quarter",),
        pattern(
            rf"(?P<number>[1-4])(?:st|nd|rd|th)\s+quarter(?:\s+(?:of\s+|in\s+)?(?:(?:the\s+year\s+)?(?P<year>{YEAR})|(?:the|(?P<which>{WHICH}))\s+year))?"
        ),
        _quarter,
    ),
    Rule(
        ("year",),
        pattern(rf"(?P<which>{WHICH})\s+year(?:'s)?\s+(?P<number>[1-4])(?:st|nd|rd|th)\s+quarter"),
        _quarter,
    ),
    Rule(("h1", "h2"), pattern(rf"h(?P<number>[12])(?:\s+of)?\s+(?P<year>{YEAR})"), _half),
    Rule(("h1", "h2"), pattern(rf"(?P<year>{YEAR})\s*h(?P<number>[12])"), _half),
    Rule(
        ("week ",),
        pattern(rf"week\s+(?P<number>\d\d?)(?!\w|:)(?:\s+(?:of\s+)?(?P<year>{YEAR}))?"),
        _week_number,
    ),
    Rule(
        ("week", "month", "quarter", "year", "decade", "fortnight", "hour", "minute", "second"),
        pattern(
            rf"(?P<which>{WHICH})\s+(?:(?:calendar|whole|very)\s+)?(?P<unit>{_PERIOD}|hour|minute|(?:working|work|business)\s*week)(?!\s+before|'s\s+time)"
        ),
        _unit,
    ),
    Rule(
        (" ago",),
        pattern(rf"(?P<amount>{AMOUNT_WORDS})\s+(?P<season>{_SEASON})s?\s+ago"),
        _seasons_ago,
    ),
    Rule((" ago",), pattern(rf"(?P<amount>{AMOUNT_WORDS})\s+weekends?\s+ago"), _weekends_ago),
    Rule(
        ("quarter",),
        pattern(rf"quarter\s+(?P<number>[1-4])(?:\s+(?:of\s+)?(?P<year>{YEAR}))?"),
        _quarter,
    ),
    Rule(
        ("of ", "in the ", "for the "),
        pattern(rf"{_OF}(?P<unit>day|week|month|quarter|year)"),
        _this_unit,
    ),
    Rule(("weekend",), pattern(r"(?:the|at|on|over)\s+(?:the\s+)?weekend"), _this_weekend),
    Rule(("same ",), pattern(rf"(?:same|entire|whole)\s+(?P<unit>{_PERIOD})"), _same),
    Rule(
        ("next", "last"),
        pattern(r"(?P<unit>week|month|year)\s+(?P<side>after|before)\s+(?:the\s+)?(?:next|last)"),
        _after_next,
    ),
    Rule((" to date",), pattern(r"(?P<unit>year|month|week)\s+to\s+date"), _to_date),
    Rule(
        ("rest", "remain"),
        pattern(
            r"(?:rest|remaining|remainder)\s+of\s+(?:(?:the|my|our|this)\s+)?(?:current\s+)?(?P<unit>day|week|month|quarter|year)"
        ),
        _rest,
    ),
    Rule(("end of", "eod"), pattern(r"end\s+of\s+(?:the\s+|this\s+)?day|eod"), _end_of_day),
)
