"""Words before a time that make another time of it.

"the end of", "the second week of", "two months after".
"""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from hotmem.temporal.bounds import Bound
from hotmem.temporal.clocks import PART
from hotmem.temporal.days import nth_weekday
from hotmem.temporal.fragments import (
    AMOUNT,
    UNIT,
    WEEKDAY,
    Fragment,
    amount,
    step,
    unit_of,
    weekday_of,
)
from hotmem.temporal.units import (
    Granularity,
    Reference,
    Span,
    counted,
    holding,
    midnight,
    one_quarter,
    one_week,
)

_Change: TypeAlias = Callable[[re.Match[str], Span, Reference], Span]

_EARLY: Final = ("early", "earlier", "start", "beginning")
_BACK: Final = ("before", "prior to")
_LATE: Final = ("late", "later", "end")


def _halves(period: Span) -> datetime:
    """Where the first half of a period ends and the second begins, as Microsoft's Recognizers cut weeks, months and years."""
    start = period.start
    match period.granularity:
        case Granularity.WEEK:
            return start + timedelta(days=3)
        case Granularity.MONTH:
            return start + timedelta(days=15)
        case Granularity.YEAR:
            return datetime(start.year, 7, 1)
        case _:
            return start + (period.end - start) / 2


def _middle(period: Span) -> Span:
    """The middle of a period, cut the same way."""
    start = period.start
    match period.granularity:
        case Granularity.WEEK:
            return Span(start + timedelta(days=1), start + timedelta(days=5), Granularity.SPAN)
        case Granularity.MONTH:
            return Span(start + timedelta(days=9), start + timedelta(days=20), Granularity.SPAN)
        case Granularity.YEAR:
            return Span(datetime(start.year, 4, 1), datetime(start.year, 10, 1), Granularity.SPAN)
        case _:
            quarter = (period.end - start) / 4
            return Span(midnight(start + quarter), midnight(period.end - quarter), Granularity.SPAN)


def _third(word: str, year: int) -> Span:
    """The start, middle or end of a year: four months each."""
    first = {"start": 1, "beginning": 1, "middle": 5}.get(word, 9)
    start = datetime(year, first, 1)
    return Span(start, counted(start, "month", 4), Granularity.SPAN)


def _part(match: re.Match[str], span: Span, reference: Reference) -> Span:
    word = match["part"].split()[0]
    half = _halves(span)
    if match["part"].endswith(" of") and word != "mid" and span.granularity is Granularity.YEAR:
        return _third(word, span.start.year)
    if word == "later" and span.start <= reference.now < span.end:
        return Span(
            half if span.granularity is Granularity.DAY else reference.today,
            span.end,
            Granularity.SPAN,
        )
    if word in _EARLY:
        return Span(
            span.start,
            half + timedelta(days=span.granularity is Granularity.WEEK and word != "earlier"),
            Granularity.SPAN,
        )
    if word in _LATE:
        return Span(half, span.end, Granularity.SPAN)
    return _middle(span)


def _nth(match: re.Match[str], span: Span, reference: Reference) -> Span:
    number, unit = match["number"], match["unit"]
    if unit not in ("week", "quarter", "day"):
        return nth_weekday(span, number, weekday_of(unit))
    count = -1 if number == "last" else int(re.sub(r"\D", "", number))
    if unit == "day":
        day = span.end - timedelta(days=1) if count < 0 else span.start + timedelta(days=count - 1)
        return holding(day, "day")
    if unit == "quarter":
        return one_quarter(span.start.year, 4 if count < 0 else count)
    first = one_week(span.start if _thursday_in(span) else span.start + timedelta(weeks=1)).start
    if count > 0:
        return one_week(first + timedelta(weeks=count - 1))
    return _last_week(span)


def _thursday_in(span: Span) -> bool:
    """Whether the week that a period begins in has its Thursday in it, which makes it the first (ISO 8601)."""
    return one_week(span.start).start + timedelta(days=3) >= span.start


def _last_week(span: Span) -> Span:
    final = one_week(span.end - timedelta(days=1))
    return (
        final
        if final.start + timedelta(days=3) < span.end
        else one_week(final.start - timedelta(days=1))
    )


def _some_of(match: re.Match[str], span: Span, reference: Reference) -> Span:
    """Reads "the last 3 weeks of", "the first 3 months of"."""
    count, unit = int(match["count"]), unit_of(match["unit"])
    if match["side"] != "last":
        return Span(span.start, counted(span.start, unit, count), Granularity.SPAN)
    end = _last_week(span).end if unit == "week" else span.end
    return Span(counted(end, unit, -count), end, Granularity.SPAN)


def _half_of(match: re.Match[str], span: Span, reference: Reference) -> Span:
    half = _halves(span)
    return (
        Span(span.start, half, Granularity.SPAN)
        if match["side"].startswith("1")
        else Span(half, span.end, Granularity.SPAN)
    )


def _week_of(match: re.Match[str], span: Span, reference: Reference) -> Span:
    week = one_week(span.start)
    if match["end"]:
        return Span(week.start + timedelta(days=5), week.end, Granularity.SPAN)
    return (
        Span(span.end - timedelta(days=7), span.end, Granularity.SPAN)
        if match["word"] == "ending"
        else week
    )


def _away(match: re.Match[str], span: Span, reference: Reference) -> Span:
    many = amount(match["amount"] or f"a {match['unit']}")
    back = match["side"] in _BACK
    anchor = span.counted or (
        span.start if back or span.granularity is Granularity.DAY else span.end
    )
    moment = many.away(anchor, -1 if back else 1)
    if (match["more"] or "") == "less than ":
        return Span(min(anchor, moment), max(anchor, moment), Granularity.SPAN)
    if match["within"]:
        return Span(min(anchor, moment), max(anchor, moment), Granularity.SPAN)
    found = holding(
        moment,
        "day" if span.granularity is Granularity.DAY and many.finest == "week" else many.finest,
    )
    return Span(found.start, found.end, found.granularity, moment)


def _lasting(match: re.Match[str], span: Span, reference: Reference) -> Span:
    start = span.counted or span.start
    return Span(start, amount(match["amount"]).away(start), Granularity.SPAN)


def _which_year(match: re.Match[str], span: Span, reference: Reference) -> Span:
    """Reads "next 5 December".

    The year that "last", "this" or "next" names, for a day told without one.
    """
    if not span.yearly:
        raise ValueError(match[0])
    day, distance = span.start, step(match["which"])
    if distance == 0:
        return holding(day.replace(year=reference.now.year), "day")
    while (day <= reference.today) if distance > 0 else (day >= reference.today):
        day = counted(day, "year", distance)
    return holding(day, "day")


_OPERATORS: Final[tuple[tuple[frozenset[str], re.Pattern[str], _Change], ...]] = tuple(
    (frozenset(endings.split()), re.compile(rf"(?<!\w)(?:{body})\s*$"), change)
    for endings, body, change in (
        (
            "early late later earlier mid middle of in - the",
            r"(?P<part>early|earlier|late|later|mid(?: of)?|(?:start|beginning|middle|end) of)(?:[\s-]+in)?(?:[\s-]+(?:the|my))?[\s-]*",
            _part,
        ),
        (
            "of in the quarter",
            rf"(?:the\s+)?(?P<number>\d+(?:st|nd|rd|th)|last)\s+(?P<unit>week|quarter|day|{WEEKDAY})(?:\s+(?:of|in|on))?(?:\s+the)?",
            _nth,
        ),
        (
            "of the",
            rf"(?:the\s+)?(?P<side>last|1th|first)\s+(?P<count>\d+)\s+(?P<unit>{UNIT})\s+of(?:\s+the)?",
            _some_of,
        ),
        ("of the", r"(?:the\s+)?(?P<side>last|1th|2th|1st|2nd)\s+half\s+of(?:\s+the)?", _half_of),
        (
            "of starting beginning commencing ending on the",
            r"(?:the\s+)?week(?P<end>end)?\s+(?P<word>of|starting|beginning|commencing|ending)(?:\s+on)?(?:\s+the)?",
            _week_of,
        ),
        (
            "after before from to following the",
            rf"(?P<within>within\s+(?:the\s+)?(?:next\s+)?)?(?P<more>more\s+than\s+|less\s+than\s+)?(?<!for )"
            rf"(?:(?P<amount>{AMOUNT})|(?:the\s+)?(?P<unit>day|week|month|year))\s+"
            r"(?P<side>after|before|from|prior to|following)(?:\s+the)?",
            _away,
        ),
        (
            "last previous past next coming upcoming this",
            r"(?P<which>last|previous|past|next|coming|upcoming|this)",
            _which_year,
        ),
        (
            "starting beginning from on the",
            rf"(?:for\s+(?P<amount>{AMOUNT}),?\s+(?:from|starting|beginning)(?:\s+on)?(?:\s+the)?)",
            _lasting,
        ),
        (
            "starting beginning from on the",
            rf"(?:(?P<amount>{AMOUNT}),?\s+(?:starting|beginning)(?:\s+(?:on|from))?(?:\s+the)?)",
            _lasting,
        ),
    )
)
_DAY_PART: Final = re.compile(rf"\s+(?:{PART})")
_ENDING: Final = re.compile(r"(\w+|-)\s*$")


def extended(piece: Fragment, text: str, reference: Reference) -> Fragment:
    """The piece with the words before it that change its meaning.

    Args:
        piece: A time with a day.
        text: The respelt words.
        reference: What relative times are counted from.
    """
    changed = True
    while changed and piece.span is not None:
        changed = False
        ending = _ENDING.search(text, max(0, piece.start - 12), piece.start)
        if ending is None:
            break
        parted = piece.span.granularity is Granularity.DAY and _DAY_PART.match(text, piece.stop)
        for endings, pattern, change in _OPERATORS:
            if ending[1] not in endings or (change is _part and parted):
                continue
            match = pattern.search(text[max(0, piece.start - 60) : piece.start])
            if match is None:
                continue
            try:
                span = change(match, piece.span, reference)
            except (ValueError, OverflowError):
                continue
            bound = piece.bound
            if change is _away and match["more"] == "more than ":
                bound = Bound.BEFORE if match["side"] in _BACK else Bound.AFTER
            piece = replace(
                piece,
                start=piece.start - len(match[0]),
                span=span,
                weekday=None,
                weak=False,
                bound=bound,
            )
            changed = True
            break
    return piece
