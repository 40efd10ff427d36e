"""Event times: when the events of a turn happened or will happen."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from hotmem.temporal import Bound, TimeMention
from hotmem.types import EventTime, Interval


def read_event_times(said_at: datetime, mentions: Iterable[TimeMention]) -> Iterator[EventTime]:
    """Yield the event times of a turn, in order.

    "Since March" extends to `said_at`. Open intervals ("before Friday", "until May") are left out.

    Args:
        said_at: When it was said.
        mentions: Its times, resolved as past or future.
    """
    for mention in mentions:
        found = mention.interval
        if mention.bound is Bound.SINCE and found.start < said_at:
            yield EventTime(
                mention.start, mention.stop, Interval(found.start, max(said_at, found.end))
            )
        elif mention.bound is Bound.AT:
            yield EventTime(mention.start, mention.stop, found)
