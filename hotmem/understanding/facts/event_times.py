"""When what a turn speaks of happened: the times it names, each read by the tense of its clause."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from hotmem.temporal import Bound, TimeMention
from hotmem.types import EventTime, Interval


def read_event_times(said_at: datetime, mentions: Iterable[TimeMention]) -> Iterator[EventTime]:
    """The times a turn names, in order.

    "Since March" lasts until it is said. What lies before, after or up to a time is nowhere
    exactly, and left out.

    Args:
        said_at: When it was said.
        mentions: Its times, read as past or as to come.
    """
    for mention in mentions:
        found = mention.interval
        if mention.bound is Bound.SINCE and found.start < said_at:
            yield EventTime(
                mention.start, mention.stop, Interval(found.start, max(said_at, found.end))
            )
        elif mention.bound is Bound.AT:
            yield EventTime(mention.start, mention.stop, found)
