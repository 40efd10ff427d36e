"""OpenTelemetry metrics of the databases that are open: counts and durations, never text.

Only the API is used, where it is installed: nothing is measured or sent unless the host program has
configured a meter provider.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from psycopg_pool import ConnectionPool

from hotmem.errors import HotMemError
from hotmem.storage.queries import jobs

try:
    from opentelemetry import metrics
except ImportError:  # an extra
    metrics = None  # type: ignore[assignment]  # not installed

if TYPE_CHECKING:
    from hotmem.storage.postgres.transactions import Transactions

OLDEST_JOB_S: Final = 2.0
"""Seconds that the query of the oldest job may take."""

_open: "WeakSet[Transactions]" = WeakSet()


def observe(transactions: "Transactions") -> None:
    """Includes a database in the metrics until it is closed."""
    _open.add(transactions)


def forget(transactions: "Transactions") -> None:
    """Excludes a database that is closed."""
    _open.discard(transactions)


def _pool_sizes(pool: "ConnectionPool[Any]") -> dict[str, int]:
    found = pool.get_stats()
    return {
        "open": found.get("pool_size", 0),
        "available": found.get("pool_available", 0),
        "waiting": found.get("requests_waiting", 0),
    }


def _observations(measure: "Callable[[Transactions], dict[str, float]]") -> Iterable[Any]:
    for one in list(_open):
        for state, value in measure(one).items():
            yield metrics.Observation(value, {"state": state} if state else {})


def _connections(one: "Transactions") -> dict[str, float]:
    return dict(_pool_sizes(one.pool))


def _oldest_job(one: "Transactions") -> dict[str, float]:
    """Seconds since the oldest turn was said that waits to be understood."""
    try:
        oldest = one.read(time.monotonic() + OLDEST_JOB_S, None, jobs.oldest_turn)
    except HotMemError:
        return {}
    return {"": 0.0 if oldest is None else max(0.0, time.time() - oldest.timestamp())}


if metrics is not None:
    _meter = metrics.get_meter("hotmem")
    _durations = _meter.create_histogram(
        "hotmem.transaction", unit="ms", description="Duration of transactions"
    )
    _meter.create_observable_gauge(
        "hotmem.connections",
        callbacks=[lambda _: _observations(_connections)],
        description="Connections of the pool, and requests that wait for one",
    )
    _meter.create_observable_gauge(
        "hotmem.oldest_job",
        callbacks=[lambda _: _observations(_oldest_job)],
        unit="s",
        description="Age of the oldest turn that waits to be understood",
    )


@contextmanager
def timed(kind: str) -> Iterator[None]:
    """Records the duration of a transaction, "read" or "write"."""
    if metrics is None:
        yield
        return
    began = time.perf_counter()
    try:
        yield
    finally:
        _durations.record((time.perf_counter() - began) * 1000, {"kind": kind})
