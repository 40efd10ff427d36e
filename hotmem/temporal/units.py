"""Calendar units and arithmetic with them, on the speaker's own clock.

Weeks start on Monday (ISO 8601); seasons are the meteorological ones of the northern hemisphere.
All datetimes here are local and naive.
"""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
CALENDAR: Final = frozenset((*WEEKDAYS, *MONTHS)) - {"march", "may"}
"""Names of weekdays and months that have no other meaning."""

SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""First month of each season."""

_DAYS: Final = {
    "second": 1 / 86400,
    "minute": 1 / 1440,
    "hour": 1 / 24,
    "day": 1,
    "week": 7,
    "fortnight": 14,
}
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
CLOCK_UNITS: Final = frozenset({"second", "minute", "hour"})
UNITS: Final = (*_DAYS, *_MONTHS)
"""Units of durations, from the smallest."""


class Granularity(StrEnum):
    """Precision of a time."""

    MINUTE = "minute"
    PART = "part"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    SEASON = "season"
    YEAR = "year"
    SPAN = "span"


@dataclass(frozen=True, slots=True)
class Reference:
    """The point that relative times are resolved against.

    Attributes:
        now: Local time of the utterance.
        ahead: Whether the utterance is about the future.
    """

    now: datetime
    ahead: bool

    @property
    def today(self) -> datetime:
        """Midnight at the start of the day."""
        return midnight(self.now)


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open interval of local time.

    Attributes:
        start: First moment.
        end: First moment after the interval.
        granularity: Its precision.
        exact_moment: For a counted time, the moment that counting reaches: "two weeks ago" means a
            week, but reaches a day of it.
        yearly: Whether it was given as a month and a day without a year.
    """

    start: datetime
    end: datetime
    granularity: Granularity
    exact_moment: datetime | None = None
    yearly: bool = False


def midnight(moment: datetime) -> datetime:
    """The start of a moment's day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def minute_span(moment: datetime) -> Span:
    """The minute that starts at a moment."""
    return Span(moment, moment + timedelta(minutes=1), Granularity.MINUTE, moment)


def day_span(moment: datetime) -> Span:
    """The day that contains a moment."""
    start = midnight(moment)
    return Span(start, start + timedelta(days=1), Granularity.DAY)


def week_span(moment: datetime) -> Span:
    """The week that contains a moment, from Monday."""
    start = midnight(moment) - timedelta(days=moment.weekday())
    return Span(start, start + timedelta(days=7), Granularity.WEEK)


def month_span(year: int, month: int) -> Span:
    """A month; a number below 1 or above 12 is in another year."""
    start = datetime(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)
    return Span(start, add_units(start, "month", 1), Granularity.MONTH)


def quarter_span(year: int, quarter: int) -> Span:
    """A quarter of a year, 1 to 4."""
    start = month_span(year, 3 * quarter - 2).start
    return Span(start, add_units(start, "month", 3), Granularity.SPAN)


def season_span(year: int, name: str) -> Span:
    """The season that starts in a year."""
    start = datetime(year, SEASONS[name], 1)
    return Span(start, add_units(start, "month", 3), Granularity.SEASON)


def year_span(first: int, count: int = 1) -> Span:
    """One year, or several in a row."""
    granularity = Granularity.YEAR if count == 1 else Granularity.SPAN
    return Span(datetime(first, 1, 1), datetime(first + count, 1, 1), granularity)


def unit_span(moment: datetime, unit: str) -> Span:
    """The unit that contains a moment; for hours and below, its minute."""
    match unit:
        case "second" | "minute" | "hour":
            return minute_span(moment)
        case "day":
            return day_span(moment)
        case "week" | "fortnight":
            return week_span(moment)
        case "month":
            return month_span(moment.year, moment.month)
        case "quarter":
            return quarter_span(moment.year, (moment.month + 2) // 3)
        case "year":
            return year_span(moment.year)
        case _:
            return year_span(moment.year // 10 * 10, 10)


def add_units(moment: datetime, unit: str, count: float) -> datetime:
    """Add a number of units; the day of the month is clipped to the length of the month.

    Args:
        moment: Start.
        unit: "second" to "decade", in the singular.
        count: Negative to subtract. Units up to the week may be fractional; larger ones are
            rounded towards zero to whole months.
    """
    if unit in CLOCK_UNITS:
        return moment + timedelta(days=count * _DAYS[unit])
    if unit in _DAYS:
        return moment + timedelta(days=int(count * _DAYS[unit]))
    months = int(count * _MONTHS[unit])
    year = moment.year + (moment.month - 1 + months) // 12
    month = (moment.month - 1 + months) % 12 + 1
    return moment.replace(year=year, month=month, day=min(moment.day, monthrange(year, month)[1]))


class Bound(StrEnum):
    """Role of a time in an utterance: the time itself, or one side of an interval."""

    AT = "at"
    SINCE = "since"
    AFTER = "after"
    UNTIL = "until"
    BEFORE = "before"


_WORDS: Final = (
    (
        Bound.SINCE,
        r"since|starting(?:\s+on)?|beginning(?:\s+on)?|(?:at|on)\s+or\s+after|not\s+before|>="
        r"|no\s+earlier\s+than",
    ),
    (Bound.AFTER, r"after|later\s+than"),
    (
        Bound.UNTIL,
        r"until|till|til|by|not?\s+later\s+than|(?:at|on)\s+or\s+before|<=|up\s+to",
    ),
    (Bound.BEFORE, r"before|prior\s+to|earlier\s+than|sooner\s+than"),
)
_BEFORE: Final = re.compile(
    rf"(?:{'|'.join(f'(?P<{bound}>(?<![a-z<]){words})' for bound, words in _WORDS)})"
    r"\s*(?:(?:around|about|the|on|in|at)\s+)*$"
)
_AFTER: Final = re.compile(
    r"\s+(?:(?:and|or)\s+(?:(?P<since>later|after|onwards?)|(?P<until>earlier|before))(?!\s*\w)"
    r"|(?P<on>onwards?|on(?=\s*(?:[.,!?]|$))))"
)


def bound_before(left: str) -> tuple[Bound, int] | None:
    """The bound at the end of the text left of a time, and where it starts."""
    match = _BEFORE.search(left)
    return (Bound(str(match.lastgroup)), match.start()) if match else None


def bound_after(text: str, place: int) -> tuple[Bound, int] | None:
    """The bound that follows a time ("and later"), and where it ends."""
    match = _AFTER.match(text, place)
    if match is None:
        return None
    return Bound.UNTIL if match["until"] else Bound.SINCE, match.end()
