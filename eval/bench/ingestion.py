"""Turns a second that writers store at once, each in a process and for a user of its own.

A turn counts when it is durable. Vectors and facts are not computed meanwhile: workers do that.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from multiprocessing import get_context
from threading import Barrier
from typing import Any, Final

from rich.progress import Progress

from eval.bench.synthetic import SyntheticConversations
from hotmem.core.location import locate
from hotmem.errors import StoreLocked
from hotmem.remember import store_turn
from hotmem.storage import open_storage

WRITERS: Final = (1, 4, 8)
"""Default numbers of writers."""

START_S: Final = 60.0
"""Seconds in which all writers must be ready."""

MOST: Final = 1_000_000
"""Turns of a writer at most."""


def measure(
    engines: Mapping[str, str], numbers: Sequence[int], seconds: float, progress: Progress
) -> list[dict[str, Any]]:
    """Measure each engine with each number of writers.

    Args:
        engines: Locations by name.
        numbers: Numbers of writers.
        seconds: Duration of each measurement.
        progress: Gets a bar.

    Returns:
        Engine, number of writers, and turns stored a second by all writers together.
    """
    runs = [(engine, writers) for engine in engines for writers in numbers]
    return [
        {
            "engine": engine,
            "writers": writers,
            "turns_per_s": _rate(engines[engine], writers, seconds),
        }
        for engine, writers in progress.track(runs, description="ingestion")
    ]


def _rate(location: str, writers: int, seconds: float) -> float:
    context = get_context("spawn")
    with context.Manager() as manager, ProcessPoolExecutor(writers, context) as processes:
        together = manager.Barrier(writers)
        users = [f"writer-{number}-of-{writers}" for number in range(writers)]
        counts = [processes.submit(_stored, location, user, together, seconds) for user in users]
        return sum(count.result() for count in counts) / seconds


def _stored(location: str, user: str, together: Barrier, seconds: float) -> int:
    """Store turns for some seconds, from when all writers are ready; return how many."""
    return asyncio.run(_store(location, user, together, seconds))


async def _store(location: str, user: str, together: Barrier, seconds: float) -> int:
    storage = await asyncio.to_thread(open_storage, locate(location))
    try:
        turns = SyntheticConversations(user=user).turns(MOST)
        await store_turn(storage, next(turns), datetime.now(UTC))  # connects, creates the user
        await asyncio.to_thread(together.wait, START_S)
        until, stored = time.monotonic() + seconds, 0
        while time.monotonic() < until:
            turn = next(turns)
            with suppress(StoreLocked):  # SQLite's writers wait for each other, five seconds
                stored += await store_turn(storage, turn, datetime.now(UTC))
        return stored
    finally:
        await storage.database.close()
