"""Imports, a few records at a time, so that bots that use the same file go on meanwhile.

    records ─▶ portions, read in a thread ─▶ short transactions, each with how far the import has come ─▶ links ─▶ finished, and in the decisions
                                                        └─ a record that cannot be used ─▶ taken back, in short transactions too

What an import brings is found by its words at once, and embedded, understood and summarised when it
is finished. One that was killed goes on where it stopped when the same file is imported again;
until then it can be taken back.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, TypeVar

from hotmem.core.priority import ForegroundPriority
from hotmem.errors import MemoryClosed, StoreError, StoreLocked
from hotmem.portability.sources import Incoming
from hotmem.storage import Storage, queries, steps
from hotmem.storage.queries.import_rows import ImportSession
from hotmem.types import ImportResult

T = TypeVar("T")

PORTION: Final = 64
"""Records read at once, and links and sessions written in one transaction."""

WRITING_S: Final = 0.03
"""Seconds of writing after which others have their turn."""


async def import_records(
    storage: Storage,
    precedence: ForegroundPriority,
    incoming: Incoming,
    progress: Callable[[], None],
    *,
    with_forgotten: bool = False,
) -> ImportResult:
    """Takes in what is not there yet: all of it or, if something cannot be used, nothing.

    Args:
        storage: Where it goes.
        precedence: Tells when recalls are on their way, which go before each portion.
        incoming: The records.
        progress: Called after each record.
        with_forgotten: Whether turns and memories come back that were forgotten.

    Raises:
        InvalidInput: If a record cannot be used; what came before it is taken back.
        StoreLocked: If another program holds the file, or imports the same; the import can be gone
            on with.
        StoreError: If something could not be written; what was is taken back.
    """
    await take_back(storage, precedence)
    taking = await storage.database.read(
        queries.import_rows.taking, incoming.source, incoming.form, with_forgotten=with_forgotten
    )
    try:
        return await _taken(storage, precedence, taking, incoming, progress)
    except (StoreLocked, MemoryClosed):
        raise
    except Exception:  # whatever it is, the memory is to be as it was
        with suppress(
            StoreError
        ):  # a full disk, say: the background takes back what is marked, as soon as it can
            await storage.database.write(queries.imports.give_up, taking.source)
            await take_back(storage, precedence)
        raise


async def take_back(storage: Storage, precedence: ForegroundPriority) -> None:
    """Takes back what came with imports that failed, or that somebody took back."""
    while await steps.roll_back_imports(storage.database, WRITING_S):
        await precedence.wait_idle()


async def _taken(
    storage: Storage,
    precedence: ForegroundPriority,
    taking: ImportSession,
    incoming: Incoming,
    progress: Callable[[], None],
) -> ImportResult:
    before = 0
    while (
        portion := await asyncio.to_thread(taking.following, incoming.records, PORTION)
    ) is not None:
        while portion:
            await precedence.wait_idle()
            portion = portion[
                await storage.database.write(
                    queries.import_rows.import_records,
                    taking,
                    portion,
                    datetime.now(UTC),
                    WRITING_S,
                ) :
            ]
        for _ in range(taking.read.total() - before):
            progress()
        before = taking.read.total()
    for links in _portions(taking.links):
        await precedence.wait_idle()
        await storage.database.write(queries.import_rows.link, taking, links)
    taken = await storage.database.write(queries.import_rows.finish, taking, datetime.now(UTC))
    for sessions in _portions(sorted(taking.plain_sessions)):
        await storage.database.write(queries.import_rows.end, sessions)
    return taken


def _portions(values: Sequence[T]) -> Iterator[Sequence[T]]:
    return (values[start : start + PORTION] for start in range(0, len(values), PORTION))
