"""Days, weeks, months and the other units that time is told in, and counting with them, on the speaker's own clock.

Weeks start on Monday; seasons are the meteorological ones of the northern hemisphere. All datetimes
here are local and carry no zone.
"""

from calendar import monthrange
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

MONTHS: Final = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
CALENDAR: Final = frozenset((*WEEKDAYS, *MONTHS)) - {"march", "may"}
"""Weekdays and months, without those that are words of their own too."""

SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""Month in which each season begins."""


class Granularity(StrEnum):
    """How exact a time is."""

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
    """What relative times are counted from.

    The moment on the speaker's clock, and whether the speaker looks ahead.
    """

    now: datetime
    ahead: bool

    @property
    def today(self) -> datetime:
        """Midnight at which the day began."""
        return midnight(self.now)


@dataclass(frozen=True, slots=True)
class Span:
    """A time on the speaker's clock.

    Attributes:
        start: Its first moment.
        end: The first moment after it.
        grain: How exact it is.
        counted: The very moment that counting reaches: "two weeks ago" means a week, but counts to
            a day.
        yearly: Names a month and a day only.
    """

    start: datetime
    end: datetime
    granularity: Granularity
    counted: datetime | None = None
    yearly: bool = False


def midnight(moment: datetime) -> datetime:
    """The start of the moment's day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def one_minute(moment: datetime) -> Span:
    """The moment, a minute long."""
    return Span(moment, moment + timedelta(minutes=1), Granularity.MINUTE, moment)


def one_day(moment: datetime) -> Span:
    """The day of a moment."""
    start = midnight(moment)
    return Span(start, start + timedelta(days=1), Granularity.DAY)


def one_week(moment: datetime) -> Span:
    """The week of a moment, from Monday."""
    start = midnight(moment) - timedelta(days=moment.weekday())
    return Span(start, start + timedelta(days=7), Granularity.WEEK)


def one_month(year: int, month: int) -> Span:
    """A month; a number below 1 or above 12 lies in another year."""
    start = datetime(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)
    return Span(start, counted(start, "month", 1), Granularity.MONTH)


def one_quarter(year: int, quarter: int) -> Span:
    """A quarter of a year, counted from 1."""
    start = one_month(year, 3 * quarter - 2).start
    return Span(start, counted(start, "month", 3), Granularity.SPAN)


def one_season(year: int, name: str) -> Span:
    """The season that begins in a year."""
    start = datetime(year, SEASONS[name], 1)
    return Span(start, counted(start, "month", 3), Granularity.SEASON)


def years(first: int, count: int = 1) -> Span:
    """One year, or several in a row."""
    return Span(
        datetime(first, 1, 1),
        datetime(first + count, 1, 1),
        Granularity.YEAR if count == 1 else Granularity.SPAN,
    )


def counted(moment: datetime, unit: str, count: float) -> datetime:
    """The moment so many units away; the day of the month is kept where the month is long enough.

    Args:
        moment: Where counting begins.
        unit: "second" to "decade", in the singular.
        count: Negative looks back; halves are for units up to the week, whole numbers above.
    """
    if unit in _DAYS:
        days = count * _DAYS[unit]
        return moment + (
            timedelta(days=days) if unit in _CLOCK_UNITS else timedelta(days=int(days))
        )
    months = int(count * _MONTHS[unit])
    year, month = (
        moment.year + (moment.month - 1 + months) // 12,
        (moment.month - 1 + months) % 12 + 1,
    )
    return moment.replace(year=year, month=month, day=min(moment.day, monthrange(year, month)[1]))


def holding(moment: datetime, unit: str) -> Span:
    """The unit that holds a moment, as exact as people mean it who count in that unit."""
    match unit:
        case "second" | "minute" | "hour":
            return one_minute(moment)
        case "day":
            return one_day(moment)
        case "week" | "fortnight":
            return one_week(moment)
        case "month":
            return one_month(moment.year, moment.month)
        case "quarter":
            return one_quarter(moment.year, (moment.month + 2) // 3)
        case "year":
            return years(moment.year)
        case _:
            return years(moment.year // 10 * 10, 10)


_DAYS: Final = {
    "second": 1 / 86400,
    "minute": 1 / 1440,
    "hour": 1 / 24,
    "day": 1,
    "week": 7,
    "fortnight": 14,
}
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_CLOCK_UNITS: Final = frozenset({"second", "minute", "hour"})
UNITS: Final = (*_DAYS, *_MONTHS)
"""All units that can be counted in, from the smallest."""
