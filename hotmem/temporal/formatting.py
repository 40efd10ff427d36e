"""A time as an absolute phrase."""

import re
from datetime import datetime, timedelta
from typing import Final

from hotmem.temporal.bounds import Bound
from hotmem.temporal.mention import TimeMention
from hotmem.temporal.units import SEASONS, Granularity

_PREPOSITION: Final = re.compile(r"^(?:on|in) ")


def format_time(mention: TimeMention) -> str:
    """The time as an absolute phrase, by the clock of where it was said.

    "on 2026-11-24 (Tuesday)", "in November 2026", "around 2020".

    Of a span with a bound it is the edge that is meant: "since early 2015" becomes "on 2015-01-01".
    """
    exact = _written(mention)
    return _PREPOSITION.sub("around ", exact) if mention.vague else exact


def format_time_bare(mention: TimeMention) -> str:
    """The same without "on" or "in": "2026-11-24 (Tuesday)", "November 2026"."""
    return _PREPOSITION.sub("", format_time(mention))


def _written(mention: TimeMention) -> str:
    start, end = mention.local
    first, last = start.date(), (end - timedelta(microseconds=1)).date()
    match mention.granularity:
        case Granularity.MINUTE:
            return f"on {first} ({first:%A}) at {start:%H:%M}"
        case Granularity.PART:
            return f"on {first} ({first:%A}) {_part(start)}"
        case Granularity.DAY:
            return f"on {first} ({first:%A})"
        case Granularity.WEEK:
            return f"in the week of {first}"
        case Granularity.MONTH:
            return f"in {first:%B %Y}"
        case Granularity.SEASON:
            return f"in {_season(start)} {first.year}"
        case Granularity.YEAR:
            return f"in {first.year}"
        case Granularity.SPAN:
            edge = {
                Bound.SINCE: first,
                Bound.BEFORE: first,
                Bound.UNTIL: last,
                Bound.AFTER: last,
            }.get(mention.bound)
            return f"on {edge}" if edge else f"between {first} and {last}"


def _part(start: datetime) -> str:
    if start.hour >= 20:
        return "at night"
    return (
        f"in the {'morning' if start.hour < 12 else 'afternoon' if start.hour < 16 else 'evening'}"
    )


def _season(start: datetime) -> str:
    return next(name for name, month in SEASONS.items() if month == start.month)
