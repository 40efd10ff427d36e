"""The time that stages take, and a clock that never goes back."""

import time
from datetime import datetime, timedelta


class StageTimer:
    """Measure the duration of stages and the time left until a deadline.

    Args:
        limit_ms: Milliseconds from start to deadline; None for no deadline.
        started: `time.monotonic()` at the start; None for now.

    Attributes:
        stages: Duration of each stage, in milliseconds.
    """

    def __init__(self, limit_ms: float | None = None, started: float | None = None) -> None:
        self._started = self._last = time.monotonic() if started is None else started
        self._limit_ms = limit_ms
        self.stages: dict[str, float] = {}

    def mark(self, stage: str) -> None:
        """Record the time since the previous mark as the duration of a stage."""
        now = time.monotonic()
        self.stages[stage] = (now - self._last) * 1000
        self._last = now

    def deadline(self, share: float = 1.0) -> float | None:
        """`time.monotonic()` when this share of the limit is used up; None without a limit."""
        return None if self._limit_ms is None else self._started + self._limit_ms * share / 1000

    def remaining_s(self, share: float = 1.0) -> float | None:
        """Seconds until the deadline of this share, never negative; None without a limit."""
        deadline = self.deadline(share)
        return None if deadline is None else max(deadline - time.monotonic(), 0.0)


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
