"""Times in an utterance.

"last week", "on the 3rd", "in an hour", "8 May, 2023", "from 3 to 5 tomorrow" → intervals in UTC.

Weeks start on Monday, seasons are those of the northern hemisphere. A weekday, month or day without
a year is the nearest one in the direction the speaker's tense gives: "I flew on Tuesday" looks
back, "I fly on Tuesday" looks ahead. Habits ("every Monday") and bare durations ("for 3 hours") are
no times. The path: `respelt` words, `pieces` read by the rules of `days`, `periods`, `counts` and
`clocks`, `composed` to whole times, `find_times`.
"""

from hotmem.temporal.bounds import Bound
from hotmem.temporal.formatting import format_time, format_time_bare
from hotmem.temporal.mention import TimeMention
from hotmem.temporal.parser import find_interval, find_times
from hotmem.temporal.units import CALENDAR, WEEKDAYS, Granularity

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
