"""A wall clock that does not jump forward."""

import time
from datetime import datetime, timedelta


class SteadyClock:
    """Ignores forward jumps of a wall clock.

    It shows the earlier of the wall clock and the time of the first look plus the monotonic time
    since, so a clock that is set forward does not make anything expire. One that is set back is
    followed. An error at the first look is not detected.
    """

    def __init__(self) -> None:
        self._first: datetime | None = None
        self._monotonic = 0.0

    def now(self, shown: datetime) -> datetime:
        """The current time, UTC.

        Args:
            shown: What the wall clock shows.
        """
        if self._first is None:
            self._first, self._monotonic = shown, time.monotonic()
        elapsed = timedelta(seconds=time.monotonic() - self._monotonic)
        return min(shown, self._first + elapsed)
