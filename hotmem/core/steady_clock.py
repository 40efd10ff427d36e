"""A wall clock that does not jump forward."""

import time
from datetime import UTC, datetime, timedelta


class SteadyClock:
    """UTC wall clock that ignores forward jumps of the system clock.

    It shows the earlier of the system clock and the start time plus the monotonic time since, so a
    system clock that is set forward does not make anything expire. One that is set back is
    followed. An error in the system clock at the start is not detected.
    """

    def __init__(self) -> None:
        self._started = datetime.now(UTC)
        self._monotonic = time.monotonic()

    def now(self) -> datetime:
        """The current time, UTC."""
        elapsed = timedelta(seconds=time.monotonic() - self._monotonic)
        return min(datetime.now(UTC), self._started + elapsed)
