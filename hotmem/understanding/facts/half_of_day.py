"""The half of the day that a time without "am" or "pm" means, by its event."""

import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from hotmem.temporal import Granularity, TimeMention
from hotmem.types import Interval

HALF_DAY: Final = timedelta(hours=12)
NOON, EVENING = 12, 19
"""Hours between which a time without "am" or "pm" may mean the morning."""

EARLIEST_EVENING: Final = 6
"""Hour from which one before noon may mean the evening."""

_WAKE: Final = re.compile(r"\bwake\s+(?:me|us)\b(?:\s+(?:up|in|for)\b)?[\s,]*$", re.IGNORECASE)
_EVENING_EVENT: Final = re.compile(
    r"\b(?:dinner|supper|party|film|movie|cinema|concert|gig|theatre|theater|opera|drinks|pub)\b",
    re.IGNORECASE,
)
_HALF_OF_DAY: Final = re.compile(
    r"[ap]\.?m\b|noon|morning|evening|night|\b(?:0\d|1[2-9]|2\d)\b", re.IGNORECASE
)


def in_its_half(text: str, mention: TimeMention, said_at: datetime) -> TimeMention:
    """Return a time of day without "am" or "pm" in the half of the day that its event tells.

    An hour at which somebody is to be woken is in the morning, that of a dinner in the evening.

    Args:
        text: The text.
        mention: A time in it.
        said_at: When it was said.
    """
    start, _ = mention.local
    hour = text[mention.start : mention.stop]
    if mention.granularity is not Granularity.MINUTE or _HALF_OF_DAY.search(hour):
        return mention
    before = text[: mention.start]
    if NOON <= start.hour < EVENING and _WAKE.search(before):
        over = mention.clock_only and start - HALF_DAY <= said_at
        moved = HALF_DAY if over else -HALF_DAY
    elif EARLIEST_EVENING <= start.hour < NOON and _EVENING_EVENT.search(
        before[before.rfind(".") + 1 :]
    ):
        moved = HALF_DAY
    else:
        return mention
    return replace(
        mention,
        interval=Interval(mention.interval.start + moved, mention.interval.end + moved),
    )
