"""Times of repeated calls."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np

WARM_UP: Final = 10
"""First calls, which are not measured, while models and pages are loaded."""


@dataclass(frozen=True, slots=True)
class Times:
    """A distribution of milliseconds."""

    p50: float
    p95: float

    @classmethod
    def of(cls, milliseconds: Sequence[float]) -> "Times":
        """Return the median and 95th percentile of at least one time."""
        return cls(*np.percentile(milliseconds, [50, 95]).tolist())


@contextmanager
def timed(milliseconds: list[float]) -> Iterator[None]:
    """Append the duration of its block."""
    started = time.perf_counter()
    yield
    milliseconds.append(1000 * (time.perf_counter() - started))
