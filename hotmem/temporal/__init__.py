"""Time expressions in an utterance, resolved to intervals in UTC.

"last week", "on the 3rd", "in an hour", "8 May, 2023", "from 3 to 5 tomorrow".

Weeks start on Monday; seasons are those of the northern hemisphere. A weekday, month or day without
a year is the nearest one in the direction of the tense: "I flew on Tuesday" looks back, "I fly on
Tuesday" looks ahead. Habits ("every Monday") and durations ("for 3 hours") are not times.

The pipeline is `parser.find_times`: `normalize` the words, find fragments by the rules of `dates`,
`days`, `months`, `years`, `periods`, `offsets` and `clocks`, `compose` them to whole times, and
resolve those on the calendar.
"""

from hotmem.temporal.parser import (
    TimeMention,
    find_interval,
    find_times,
    format_time,
    format_time_bare,
)
from hotmem.temporal.units import CALENDAR, WEEKDAYS, Bound, Granularity

__all__ = [
    "CALENDAR",
    "WEEKDAYS",
    "Bound",
    "Granularity",
    "TimeMention",
    "find_interval",
    "find_times",
    "format_time",
    "format_time_bare",
]
