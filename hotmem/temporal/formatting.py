"""Times as absolute phrases."""

import re
from datetime import datetime, timedelta
from typing import Final

from hotmem.temporal.parser import TimeMention
from hotmem.temporal.units import SEASONS, Bound, Granularity

_PREPOSITION: Final = re.compile(r"^(?:on|in) ")


def format_time(mention: TimeMention) -> str:
    """Format a time as an absolute phrase, in the speaker's time zone.

    "on 2026-11-24 (Tuesday)", "in November 2026", "around 2020". A span with a bound gives the
    edge that is meant: "since early 2015" becomes "on 2015-01-01".
    """
    exact = _format_exact(mention)
    return _PREPOSITION.sub("around ", exact) if mention.vague else exact


def format_time_bare(mention: TimeMention) -> str:
    """As `format_time`, without "on" or "in": "2026-11-24 (Tuesday)", "November 2026"."""
    return _PREPOSITION.sub("", format_time(mention))


def _format_exact(mention: TimeMention) -> str:
    start, end = mention.local
    first, last = start.date(), (end - timedelta(microseconds=1)).date()
    match mention.granularity:
        case Granularity.MINUTE:
            return f"on {first} ({first:%A}) at {start:%H:%M}"
        case Granularity.PART:
            return f"on {first} ({first:%A}) {_part_of_day(start)}"
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
            match mention.bound:
                case Bound.SINCE | Bound.BEFORE:
                    return f"on {first}"
                case Bound.UNTIL | Bound.AFTER:
                    return f"on {last}"
                case _ if first == last:
                    return f"on {first} ({first:%A}) between {start:%H:%M} and {_closing(end)}"
                case _:
                    return f"between {first} and {last}"


def _closing(end: datetime) -> str:
    return f"{end:%H:%M}" if end.hour or end.minute else "24:00"


def _part_of_day(start: datetime) -> str:
    if start.hour >= 20:
        return "at night"
    part = "morning" if start.hour < 12 else "afternoon" if start.hour < 16 else "evening"
    return f"in the {part}"


def _season(start: datetime) -> str:
    return next(name for name, month in SEASONS.items() if month == start.month)
