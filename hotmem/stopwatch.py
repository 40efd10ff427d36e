"""Stage times and the deadline of one recall."""

import time


class Stopwatch:
    """Measures laps in ms and knows when time is up.

    Args:
        limit_ms: Milliseconds until the deadline; None for none.
        started: The reading of `time.monotonic()` from which they count; now, if not given.
    """

    def __init__(self, limit_ms: float | None = None, started: float | None = None) -> None:
        self._started = self._lap = time.monotonic() if started is None else started
        self._limit_ms = limit_ms
        self.laps: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        """Notes the time since the last lap under the stage's name."""
        now = time.monotonic()
        self.laps[stage] = (now - self._lap) * 1000
        self._lap = now

    def until(self, share: float = 1.0) -> float | None:
        """The reading of `time.monotonic()` at which this share of the limit is used up; None without a limit."""
        return None if self._limit_ms is None else self._started + self._limit_ms * share / 1000

    def left_s(self, share: float = 1.0) -> float | None:
        """Seconds until then, never negative; None without a limit."""
        until = self.until(share)
        return None if until is None else max(until - time.monotonic(), 0.0)
