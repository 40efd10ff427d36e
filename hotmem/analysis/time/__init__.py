"""Times in an utterance: "last week", "on the 3rd", "in an hour", "8 May, 2023", "from 3 to 5 tomorrow" → intervals in UTC.

Weeks start on Monday, seasons are those of the northern hemisphere. A weekday, month or day without a year is the nearest one in the direction the
speaker's tense gives: "I flew on Tuesday" looks back, "I fly on Tuesday" looks ahead. Habits ("every Monday") and bare durations ("for 3 hours") are
no times. The path: `respelt` words, `pieces` read by the rules of `days`, `periods`, `counts` and `clocks`, `composed` to whole times, `find_times`.
"""

from hotmem.analysis.time.bounds import Bound
from hotmem.analysis.time.finding import find_interval, find_times
from hotmem.analysis.time.mention import TimeMention
from hotmem.analysis.time.units import CALENDAR, WEEKDAYS, Grain
from hotmem.analysis.time.writing import written, written_bare

__all__ = ["CALENDAR", "WEEKDAYS", "Bound", "Grain", "TimeMention", "find_interval", "find_times", "written", "written_bare"]
