"""Reminders that were stored explicitly: their time is read from their text, as no turn has it."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import Final

from hotmem.temporal import find_times
from hotmem.text.truncation import MAX_QUERY_CHARACTERS, truncate
from hotmem.types import Evidence, Query, Source, TimedWords

MAX_STORED: Final = 20
"""Number of the latest stored reminders that are candidates where a time window is requested."""


def stated_times(reminder: Evidence, zone: tzinfo | None) -> tuple[TimedWords, ...]:
    """Return the times in the text of a stored reminder, read as future in a time zone."""
    text = truncate(reminder.text, MAX_QUERY_CHARACTERS)
    return tuple(
        TimedWords(text[time.start : time.stop], time.interval)
        for time in find_times(text, reminder.said_at.astimezone(zone), ahead=True)
    )


def with_stated_times(evidence: Sequence[Evidence], query: Query) -> Iterator[Evidence]:
    """Yield the evidence; stored reminders with the times of their text, read as future.

    Args:
        evidence: The evidence.
        query: The query, in the user's time zone.
    """
    asked = query.analysis.time
    for one in evidence:
        if not one.reminder or one.source is not Source.STATEMENT:
            yield one
            continue
        times = stated_times(one, query.at.tzinfo)
        matches = asked is not None and any(
            time.start < asked.end and time.end > asked.start for _, time in times
        )
        yield one._replace(times=times, matches_time=matches)
