"""A wall clock that never runs ahead.

What is to last for a day is not over because a clock was set.
"""

import time
from datetime import UTC, datetime, timedelta


class SteadyClock:
    """Tells the time in UTC, no later than the wall clock, and no later than when it was made and the seconds that have passed since.

    A wall clock that jumps forward while the process runs changes nothing; one that is set back is
    believed. Whether it was right when the process began cannot be told.
    """

    def __init__(self) -> None:
        self._began = datetime.now(UTC)
        self._monotonic = time.monotonic()

    def now(self) -> datetime:
        """The time, UTC."""
        return min(
            datetime.now(UTC), self._began + timedelta(seconds=time.monotonic() - self._monotonic)
        )
