"""Stage times and the deadline of one recall."""

import time


class StageTimer:
    """Measures stages in ms and knows when time is up.

    Args:
        limit_ms: Milliseconds until the deadline; None for none.
        started: The reading of `time.monotonic()` from which they count; now, if not given.
    """

    def __init__(self, limit_ms: float | None = None, started: float | None = None) -> None:
        self._started = self._last = time.monotonic() if started is None else started
        self._limit_ms = limit_ms
        self.stages: dict[str, float] = {}

    def mark(self, stage: str) -> None:
        """Notes the time since the last mark under the stage's name."""
        now = time.monotonic()
        self.stages[stage] = (now - self._last) * 1000
        self._last = now

    def deadline(self, share: float = 1.0) -> float | None:
        """The reading of `time.monotonic()` at which this share of the limit is used up.

        None without a limit.
        """
        return None if self._limit_ms is None else self._started + self._limit_ms * share / 1000

    def remaining_s(self, share: float = 1.0) -> float | None:
        """Seconds until then, never negative; None without a limit."""
        until = self.deadline(share)
        return None if until is None else max(until - time.monotonic(), 0.0)
