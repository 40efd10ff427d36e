"""A time as it is found in an utterance."""

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from hotmem.temporal.bounds import Bound
from hotmem.temporal.units import Granularity
from hotmem.types import Interval


@dataclass(frozen=True, slots=True)
class TimeMention:
    """A time and the words that name it.

    Attributes:
        start: First character of its words, a leading preposition among them.
        stop: One past the last character.
        interval: What it means, in UTC.
        grain: How exact it is.
        yearly: Names a month and a day only, so that a birthday can be told from an appointment.
        vague: Said with "about", "a few" and the like.
        bound: Whether something begins or ends there: "since March", "before 2020".
        counted: The very moment that "in two weeks" counts to, UTC; None where nothing was counted.
        daily: Names a time of day only, taken on the nearest day: "at 5 pm".
        zone: Where it was said.
    """

    start: int
    stop: int
    interval: Interval
    granularity: Granularity
    yearly: bool = False
    vague: bool = False
    bound: Bound = Bound.AT
    counted: datetime | None = None
    daily: bool = False
    zone: tzinfo = UTC

    @property
    def local(self) -> tuple[datetime, datetime]:
        """The interval by the clock of where it was said."""
        return self.interval.start.astimezone(self.zone), self.interval.end.astimezone(self.zone)
