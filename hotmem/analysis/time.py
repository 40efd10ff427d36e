"""Times in an utterance: "last week", "on the 3rd", "two years ago", "8 May, 2023" → intervals in UTC.

Weeks start on Monday, seasons are those of the northern hemisphere. A weekday, month or day without a year is the nearest one in the direction the
speaker's tense gives: "I flew on Tuesday" looks back, "I fly on Tuesday" looks ahead.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock
from enum import StrEnum
from typing import Final, TypeAlias

from hotmem.types import Interval


class Grain(StrEnum):
    """How exact a time is."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    SEASON = "season"
    YEAR = "year"
    SPAN = "span"


@dataclass(frozen=True, slots=True)
class TimeMention:
    """A time and the words that name it.

    Attributes:
        start: First character of its words, a leading preposition among them.
        stop: One past the last character.
        interval: What it means, in UTC.
        grain: How exact it is.
        yearly: Names a month and a day only, so that a birthday can be told from an appointment.
        vague: Said with "about", "a few" and the like.
    """

    start: int
    stop: int
    interval: Interval
    grain: Grain
    yearly: bool = False
    vague: bool = False


MONTHS: Final = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""Month in which each meteorological season begins, northern hemisphere."""

_NUMBERS: Final = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
    "a": 1, "an": 1, "a couple of": 2, "couple of": 2, "a few": 3, "few": 3, "several": 3, "fifteen": 15, "twenty": 20, "thirty": 30,
}  # fmt: skip
_ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
    "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17,
    "eighteenth": 18, "nineteenth": 19, "twentieth": 20,
    "twenty-first": 21, "twenty-second": 22, "twenty-third": 23, "twenty-fourth": 24, "twenty-fifth": 25, "twenty-sixth": 26,
    "twenty-seventh": 27, "twenty-eighth": 28, "twenty-ninth": 29, "thirtieth": 30, "thirty-first": 31,
}  # fmt: skip
_ABBREVIATED: Final = {month[:3]: index for index, month in enumerate(MONTHS, 1)} | {"sept": 9}

_MONTH = rf"(?:{'|'.join(MONTHS)}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
_ORDINAL = "|".join(sorted(_ORDINALS, key=len, reverse=True))
_DAY = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|{_ORDINAL})"
_YEAR = r"(?:19|20)\d\d"
_COUNT = rf"(?:\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_WHICH = r"(?:last|past|previous|this|current|next|coming|following)"
_UNIT = r"(?:day|week|month|year|decade)"
_IN = r"(?:(?:on|in|at|during|over|by|for|since|around|until|till|from|early|late|mid|back)\s+)*(?:the\s+)?"
_COUNTABLES = r"(?:dollars|euros|pounds|people|miles|metres|meters|words|steps|calories)"
_NAMED_PARTS = r"(?:morning|afternoon|evening|night)"


@dataclass(frozen=True, slots=True)
class _Reference:
    """What relative times are counted from: the day, and whether the speaker looks ahead."""

    today: date
    ahead: bool


_Meaning: TypeAlias = tuple[date, date, Grain]
_Reading: TypeAlias = Callable[[re.Match[str], _Reference], _Meaning | None]


def find_interval(text: str, at: datetime, *, ahead: bool = False) -> Interval | None:
    """The time an utterance speaks of.

    Two times joined by "between … and" or "from … to" give their hull; "since", "before" and "after" open the interval towards `at`, 1970 and `at`.

    Args:
        text: The utterance.
        at: When it was said; relative times count from here.
        ahead: Whether it looks to the future, which decides "on Tuesday" and "in May".

    Returns:
        The half-open interval in UTC, or None if no time is named.
    """
    mentions = find_times(text, at, ahead=ahead)
    if not mentions:
        return None
    first = mentions[0]
    words = text[: first.stop].lower()
    if len(mentions) > 1 and re.search(r"\b(between|from)\b", words) and mentions[1].interval.end > first.interval.start:
        return Interval(first.interval.start, mentions[1].interval.end)
    now = at.astimezone(UTC)
    if re.search(r"\bsince\s+(the\s+)?[^,.]*$", words) and first.interval.start < now:
        return Interval(first.interval.start, max(now, first.interval.end))
    if re.search(r"\bbefore\s+(the\s+)?$", text[: first.start].lower()):
        return Interval(datetime(1970, 1, 1, tzinfo=UTC), first.interval.start)
    if re.search(r"\bafter\s+(the\s+)?$", text[: first.start].lower()) and first.interval.end < now:
        return Interval(first.interval.end, now)
    return first.interval


def find_times(text: str, at: datetime, *, ahead: bool = False) -> tuple[TimeMention, ...]:
    """Every time an utterance names, in order, without overlap; where two readings compete the longer one wins."""
    reference = _Reference(at.astimezone(UTC).date(), ahead)
    found = sorted(_read(text, reference), key=lambda mention: (mention.start - mention.stop, mention.start))
    kept: list[TimeMention] = []
    for mention in found:
        if all(mention.stop <= other.start or mention.start >= other.stop for other in kept):
            kept.append(mention)
    return tuple(sorted(kept, key=lambda mention: mention.start))


def written(mention: TimeMention) -> str:
    """The time as an absolute phrase: "on 2026-11-24 (Tuesday)", "in November 2026", "around 2020"."""
    exact = _written(mention)
    return re.sub(r"^(?:on|in) ", "around ", exact) if mention.vague else exact


def _written(mention: TimeMention) -> str:
    first, last = mention.interval.start.date(), mention.interval.end.date() - timedelta(days=1)
    match mention.grain:
        case Grain.DAY:
            return f"on {first} ({first:%A})"
        case Grain.WEEK:
            return f"in the week of {first}"
        case Grain.MONTH:
            return f"in {first:%B %Y}"
        case Grain.SEASON:
            return f"in {_season(first)} {first.year}"
        case Grain.YEAR:
            return f"in {first.year}"
        case Grain.SPAN:
            return f"between {first} and {last}"


def _read(text: str, reference: _Reference) -> Iterator[TimeMention]:
    for pattern, reading in _READINGS:
        for match in pattern.finditer(text):
            try:
                meaning = reading(match, reference)
            except (ValueError, OverflowError):
                continue
            if meaning is None or _RECURRING.search(text, 0, match.start()):
                continue
            first, end, grain = meaning
            interval = Interval(datetime.combine(first, clock(), UTC), datetime.combine(end, clock(), UTC))
            yearly = grain is Grain.DAY and reading is _month_day and not match["year"]
            yield TimeMention(match.start(), match.end(), interval, grain, yearly, bool(_VAGUE.search(match[0])))


def _one_day(day: date) -> _Meaning:
    return day, day + timedelta(days=1), Grain.DAY


def _one_month(year: int, month: int) -> _Meaning:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return date(year, month, 1), date(year, month, monthrange(year, month)[1]) + timedelta(days=1), Grain.MONTH


def _one_year(year: int) -> _Meaning:
    return date(year, 1, 1), date(year + 1, 1, 1), Grain.YEAR


def _one_season(year: int, name: str) -> _Meaning:
    first = date(year, SEASONS[name], 1)
    return first, _one_month(year, SEASONS[name] + 3)[0], Grain.SEASON


def _season(first: date) -> str:
    return next(name for name, month in SEASONS.items() if month == first.month)


def _week_of(day: date) -> _Meaning:
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=7), Grain.WEEK


def _which(match: re.Match[str]) -> str:
    """The word before a unit or day ("last", "this", "next"), or "" where none was said."""
    return (match.groupdict().get("which") or "").lower()


def _step(which: str) -> int:
    return {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0}.get(which, 1)


def _month_number(word: str) -> int:
    return _ABBREVIATED[word.lower().rstrip(".")[:3]]


def _day_number(word: str) -> int:
    return _ORDINALS.get(word.lower()) or int(re.sub(r"\D", "", word))


def _count(word: str) -> int:
    return _NUMBERS[word.lower()] if word.lower() in _NUMBERS else int(word)


def _shifted(day: date, unit: str, count: int) -> _Meaning:
    """The day, week, month or year `count` units away from a day."""
    match unit:
        case "day":
            return _one_day(day + timedelta(days=count))
        case "week":
            return _week_of(day + timedelta(weeks=count))
        case "month":
            return _one_month(day.year, day.month + count)
        case "year":
            return _one_year(day.year + count)
        case _:
            start = (day.year // 10 + count) * 10
            return date(start, 1, 1), date(start + 10, 1, 1), Grain.SPAN


def _iso(match: re.Match[str], reference: _Reference) -> _Meaning:
    return _one_day(date(int(match["year"]), int(match["month"]), int(match["day"])))


def _month_day(match: re.Match[str], reference: _Reference) -> _Meaning:
    month, day = _month_number(match["month"]), _day_number(match["day"])
    if match["year"]:
        return _one_day(date(int(match["year"]), month, day))
    years = [reference.today.year + step for step in (-1, 0, 1)]
    return _one_day(_nearest([date(year, month, day) for year in years if day <= monthrange(year, month)[1]], reference))


def _nearest(days: list[date], reference: _Reference) -> date:
    """The first day from today on when looking ahead, else the last one up to today."""
    if reference.ahead:
        return min(day for day in days if day >= reference.today)
    return max(day for day in days if day <= reference.today)


def _month_year(match: re.Match[str], reference: _Reference) -> _Meaning:
    return _one_month(int(match["year"]), _month_number(match["month"]))


def _month_alone(match: re.Match[str], reference: _Reference) -> _Meaning:
    month, today = _month_number(match["month"]), reference.today
    which = _which(match)
    if which in ("this", "current"):
        return _one_month(today.year, month)
    ahead = _step(which) > 0 if which else reference.ahead
    if ahead:
        return _one_month(today.year + (month < today.month or (bool(which) and month == today.month)), month)
    return _one_month(today.year - (month > today.month or (bool(which) and month == today.month)), month)


def _year(match: re.Match[str], reference: _Reference) -> _Meaning:
    return _one_year(int(match["year"]))


def _season_read(match: re.Match[str], reference: _Reference) -> _Meaning:
    name, today = match["season"].lower(), reference.today
    if year := match.groupdict().get("year"):
        return _one_season(int(year), name)
    which = _which(match)
    seasons = [_one_season(today.year + step, name) for step in (-2, -1, 0, 1)]
    if which in ("this", "current"):
        return next(season for season in seasons if season[1] > today - timedelta(days=90))
    ahead = _step(which) > 0 if which else reference.ahead
    if ahead:
        return next(season for season in seasons if season[0] > today or (not which and season[1] > today))
    return next(season for season in reversed(seasons) if season[1] <= today or (not which and season[0] <= today))


_NEAR_DAYS: Final = {
    "today": 0, "tonight": 0, "yesterday": -1, "last night": -1, "tomorrow": 1, "day before yesterday": -2,
    "day after tomorrow": 2, "other day": None,
}  # fmt: skip


def _near_day(match: re.Match[str], reference: _Reference) -> _Meaning | None:
    name = re.sub(r"\s+", " ", match["name"].lower())
    if name == "other day":
        return reference.today - timedelta(days=7), reference.today, Grain.SPAN
    return _one_day(reference.today + timedelta(days=_NEAR_DAYS.get(name) or 0))


def _relative_unit(match: re.Match[str], reference: _Reference) -> _Meaning:
    step, unit, today = _step(match["which"].lower()), match["unit"].lower(), reference.today
    if unit == "weekend":
        saturday = _week_of(today)[0] + timedelta(days=5)
        if (step < 0 and today.weekday() < 5) or step > 0:
            saturday += timedelta(weeks=step)
        elif step < 0:
            saturday -= timedelta(weeks=1)
        return saturday, saturday + timedelta(days=2), Grain.SPAN
    return _shifted(today, unit, step)


def _weekday(match: re.Match[str], reference: _Reference) -> _Meaning:
    today, weekday = reference.today, WEEKDAYS.index(match["weekday"].lower())
    which = _which(match)
    monday = _week_of(today)[0]
    if which and _step(which) == 0:
        return _one_day(monday + timedelta(days=weekday))
    if which in ("next", "following"):
        return _one_day(monday + timedelta(days=7 + weekday))
    ahead = which == "coming" or (not which and reference.ahead)
    distance = (weekday - today.weekday()) % 7 if ahead else -((today.weekday() - weekday) % 7)
    return _one_day(today + timedelta(days=distance or (7 if ahead else -7)))


def _ago(match: re.Match[str], reference: _Reference) -> _Meaning:
    return _shifted(reference.today, match["unit"].lower(), -_count(match["count"]))


def _from_now(match: re.Match[str], reference: _Reference) -> _Meaning:
    return _shifted(reference.today, match["unit"].lower(), _count(match["count"]))


def _last_units(match: re.Match[str], reference: _Reference) -> _Meaning:
    count, unit, today = _count(match["count"]), match["unit"].lower(), reference.today
    days = count * {"day": 1, "week": 7, "month": 30, "year": 365, "decade": 3650}[unit]
    if _step(match["which"].lower()) > 0:
        return today, today + timedelta(days=days + 1), Grain.SPAN
    return today - timedelta(days=days), today + timedelta(days=1), Grain.SPAN


def _day_of_month(match: re.Match[str], reference: _Reference) -> _Meaning:
    day, today = _day_number(match["day"]), reference.today
    months = [_one_month(today.year, today.month + step)[0] for step in range(-2, 3)]
    return _one_day(_nearest([month.replace(day=day) for month in months if day <= monthrange(month.year, month.month)[1]], reference))


def _pattern(body: str) -> re.Pattern[str]:
    return re.compile(rf"\b{body}(?!\w)", re.IGNORECASE)


_RECURRING: Final = re.compile(r"\b(?:every|each|most|any|no)\s+(?:other\s+)?$", re.IGNORECASE)
"""Before a time, these make it a habit: "every Monday" is no date."""

_VAGUE: Final = re.compile(r"\b(?:about|around|almost|over|few|several|couple)\b", re.IGNORECASE)

_READINGS: Final[tuple[tuple[re.Pattern[str], _Reading], ...]] = (
    (_pattern(rf"{_IN}(?P<year>{_YEAR})-(?P<month>\d\d?)-(?P<day>\d\d?)"), _iso),
    (_pattern(rf"{_IN}(?P<day>{_DAY})\s+(?:of\s+)?(?P<month>{_MONTH})(?:(?:,\s*|\s+)(?:of\s+)?(?P<year>{_YEAR}))?"), _month_day),
    (_pattern(rf"{_IN}(?P<month>{_MONTH})\s+(?:the\s+)?(?P<day>{_DAY})(?:(?:,\s*|\s+)(?P<year>{_YEAR}))?"), _month_day),
    (_pattern(rf"{_IN}(?P<month>{_MONTH})(?:,\s*|\s+)(?:of\s+)?(?P<year>{_YEAR})"), _month_year),
    (_pattern(rf"{_IN}(?:(?P<which>{_WHICH})\s+)?(?P<month>(?!may\b|march\b|mar\b|dec\b|sep\b){_MONTH})"), _month_alone),
    (_pattern(r"(?:(?:in|during|by|since|until|early|late|mid|of|from|between)\s+)+(?P<month>may|march)"), _month_alone),
    (_pattern(rf"(?:(?:in|during|by|since|until)\s+)?(?P<which>{_WHICH})\s+(?P<month>may|march)"), _month_alone),
    (_pattern(rf"{_IN}(?:year\s+)?(?P<year>{_YEAR})(?!\s*(?:{_COUNTABLES}|[-/:]))"), _year),
    (_pattern(rf"{_IN}(?:(?P<which>{_WHICH})\s+)(?P<season>{'|'.join(SEASONS)})"), _season_read),
    (_pattern(rf"(?:in|during|over|since)\s+(?:the\s+)?(?P<season>{'|'.join(SEASONS)})(?:\s+(?:of\s+)?(?P<year>{_YEAR}))?"), _season_read),
    (
        _pattern(
            rf"{_IN}(?P<name>day\s+before\s+yesterday|day\s+after\s+tomorrow|other\s+day|last\s+night|today|tonight|yesterday|tomorrow)"
            rf"(?:\s+{_NAMED_PARTS})?"
        ),
        _near_day,
    ),
    (_pattern(rf"(?:earlier\s+)?(?P<name>this)\s+{_NAMED_PARTS}"), _near_day),
    (_pattern(rf"{_IN}(?:(?:end|start|beginning|middle)\s+of\s+)?(?P<which>{_WHICH})\s+(?P<unit>{_UNIT}|weekend)"), _relative_unit),
    (_pattern(rf"{_IN}(?:(?P<which>{_WHICH})\s+)?(?P<weekday>{'|'.join(WEEKDAYS)})(?:\s+{_NAMED_PARTS})?"), _weekday),
    (_pattern(rf"(?:about\s+|around\s+|almost\s+|over\s+)?(?P<count>{_COUNT})\s+(?P<unit>{_UNIT})s?\s+(?:ago|back|earlier)"), _ago),
    (_pattern(rf"in\s+(?:about\s+)?(?P<count>{_COUNT})\s+(?P<unit>{_UNIT})s?(?:'\s+time)?"), _from_now),
    (_pattern(rf"(?P<count>{_COUNT})\s+(?P<unit>{_UNIT})s?\s+from\s+now"), _from_now),
    (_pattern(rf"{_IN}(?P<which>{_WHICH})\s+(?P<count>{_COUNT})\s+(?P<unit>{_UNIT})s?"), _last_units),
    (
        _pattern(rf"(?:on|by|until|since)\s+the\s+(?P<day>\d{{1,2}}(?:st|nd|rd|th)|{_ORDINAL})(?!\s+(?:of|floor|day|time|one|page|{_UNIT}))"),
        _day_of_month,
    ),
)
