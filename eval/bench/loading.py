"""Fills a file fast, with the rows that the background work would leave, and copies it to a server.

The rows are written by the storage operations (`eval.bench.history`).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from rich.progress import Progress, TaskID

from eval.bench.history import BATCH, SentenceCache, batches, write_batch
from hotmem.core.location import locate
from hotmem.storage import open_storage, steps
from hotmem.storage.copying import copy_database
from hotmem.storage.database import Database
from hotmem.types import Turn


@asynccontextmanager
async def opened(location: str) -> AsyncIterator[Database]:
    """Yield the database of a file or server."""
    database = (await asyncio.to_thread(open_storage, locate(location))).database
    try:
        yield database
    finally:
        await database.close()


async def load(
    database: Database, history: Iterable[Turn], reading: SentenceCache, tell: Callable[[int], None]
) -> None:
    """Store whole sessions; `tell` is called with the number of turns of each batch."""
    await steps.adopt_encoder(database, reading.encoder.name, reading.encoder.dimension)
    for batch in batches(history, BATCH):
        await database.write_all(write_batch, batch, reading)
        tell(len(batch))


async def copy_memory(source: str, target: str, progress: Progress) -> dict[str, int]:
    """Copy a memory to an empty one; returns the rows of each table."""
    bars: dict[str, TaskID] = {}

    def tell(stage: str, done: int, whole: int) -> None:
        if stage not in bars:
            bars[stage] = progress.add_task(f"{stage} rows", total=whole)
        progress.update(bars[stage], completed=done)

    async with opened(source) as ours, opened(target) as theirs:
        return await copy_database(ours, theirs, tell)
