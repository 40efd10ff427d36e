"""A time expression found in an utterance."""

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from hotmem.temporal.bounds import Bound
from hotmem.temporal.units import Granularity
from hotmem.types import Interval


@dataclass(frozen=True, slots=True)
class TimeMention:
    """A time and the words that express it.

    Attributes:
        start: Index of the first character, including a leading preposition.
        stop: Index after the last character.
        interval: The resolved interval, UTC.
        granularity: Its precision.
        yearly: Whether it is a month and a day without a year, as of a birthday.
        vague: Whether it is approximate: "about", "a few".
        bound: Whether something starts or ends there: "since March", "before 2020".
        exact_moment: The moment that "in two weeks" reaches, UTC; None if nothing was counted.
        clock_only: Whether it is a time of day without a day ("at 5 pm"), put on the nearest day.
        zone: Time zone of the speaker.
    """

    start: int
    stop: int
    interval: Interval
    granularity: Granularity
    yearly: bool = False
    vague: bool = False
    bound: Bound = Bound.AT
    exact_moment: datetime | None = None
    clock_only: bool = False
    zone: tzinfo = UTC

    @property
    def local(self) -> tuple[datetime, datetime]:
        """Start and end in the speaker's time zone."""
        return self.interval.start.astimezone(self.zone), self.interval.end.astimezone(self.zone)
