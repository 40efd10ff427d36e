"""Import in small transactions, so that other programs can use the file meanwhile.

    records ─▶ batches, read in a thread ─▶ short transactions with the progress ─▶ links ─▶ done
                                             └─ an invalid record ─▶ reverted, in short transactions

Imported text can be searched by words at once; it is embedded, processed and summarised when the
import is finished. An interrupted import resumes when the same file is imported again, and can be
reverted until then.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, TypeVar

from hotmem.core.threads import ForegroundPriority
from hotmem.errors import MemoryClosed, StoreError, StoreLocked
from hotmem.portability.sources import ImportSource
from hotmem.storage import Storage, queries, steps
from hotmem.storage.database import Database
from hotmem.storage.queries.imports import ImportSession
from hotmem.types import ImportResult

T = TypeVar("T")

BATCH: Final = 64
"""Records read at once, and links and sessions written in one transaction."""

WRITE_S: Final = 0.03
"""Maximum duration of a transaction in seconds, so that other writers get their turn."""


async def import_records(
    storage: Storage,
    priority: ForegroundPriority,
    source: ImportSource,
    progress: Callable[[], None],
    *,
    with_forgotten: bool = False,
) -> ImportResult:
    """Import records that are not stored yet: all of them, or none if one is invalid.

    Args:
        storage: Target storage.
        priority: Recalls take priority over each batch.
        source: The records.
        progress: Called after each record.
        with_forgotten: Also import turns and memories that were deleted before.

    Raises:
        InvalidInput: If a record is invalid; records before it are reverted.
        StoreLocked: If another program holds the file or runs the same import; the import can be
            resumed.
        StoreError: If a write fails; the import is reverted.
    """
    database = storage.database
    await revert_imports(storage, priority)
    session = await database.read_all(
        queries.import_rows.start, source.source, source.form, with_forgotten=with_forgotten
    )
    try:
        return await _import(database, priority, session, source, progress)
    except (StoreLocked, MemoryClosed):
        raise
    except Exception:  # the memory must be restored after any error
        # If the disk is full, for example, the background reverts the import later.
        with suppress(StoreError):
            await database.write_all(queries.imports.abort, session.source)
            await revert_imports(storage, priority)
        raise


async def revert_imports(storage: Storage, priority: ForegroundPriority) -> None:
    """Delete the records of imports that failed or were undone."""
    while await steps.roll_back_imports(storage.database, WRITE_S):
        await priority.wait_idle()


async def _import(
    database: Database,
    priority: ForegroundPriority,
    session: ImportSession,
    source: ImportSource,
    progress: Callable[[], None],
) -> ImportResult:
    before = 0
    while (batch := await asyncio.to_thread(session.next_batch, source.records, BATCH)) is not None:
        while batch:
            await priority.wait_idle()
            now = datetime.now(UTC)
            stored = await database.write_all(
                queries.import_rows.import_records, session, batch, now, WRITE_S
            )
            batch = batch[stored:]
        for _ in range(session.read.total() - before):
            progress()
        before = session.read.total()
    for links in _batches(session.links):
        await priority.wait_idle()
        await database.write_all(queries.import_rows.link, session, links, datetime.now(UTC))
    result = await database.write_all(queries.import_rows.finish, session, datetime.now(UTC))
    for sessions in _batches(sorted(session.pending_sessions)):
        await database.write_all(queries.import_rows.end_sessions, sessions)
    return result


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))
