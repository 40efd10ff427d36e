"""Copies a whole memory into an empty one, between any two engines.

Row numbers are kept, so that whatever refers to a row by its number is right in the copy. The
source is one snapshot. Rows are written in blocks, one transaction each, parents before children. A
block that is there already is left alone: a copy that was interrupted continues when it is run
again, also if the source has changed since. At the end the number of rows and a checksum of each
table are compared. Until then the target is marked, and `check_finished` refuses to open it.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from hotmem.core.location import Location
from hotmem.errors import InvalidInput, StoreError, StoreUnusable
from hotmem.storage.copying import tables
from hotmem.storage.copying.tables import UNFINISHED, Digest, Row, Table
from hotmem.storage.database import Connection, Database

__all__ = ["check_different", "check_finished", "copy_database"]

BLOCK: Final = 2000
"""Rows of a transaction."""

Progress: TypeAlias = Callable[[str, int, int], None]
"""Told the stage, and the rows that are done and of how many."""

Write: TypeAlias = Callable[..., Any]
"""Runs a function on a connection to the target, in a transaction."""


def check_different(source: Location, target: Location) -> None:
    """Checks that a copy has two places.

    Raises:
        InvalidInput: If both are the same, or the source is a file that does not exist.
    """
    same = source == target
    if isinstance(source, Path):
        if not source.is_file():
            raise InvalidInput(f"{source} not found. Name a memory file or a postgresql:// URL.")
        same = isinstance(target, Path) and source.resolve() == target.resolve()
    if same:
        raise InvalidInput(f"{source} cannot be copied into itself. Name another target.")


async def copy_database(
    source: Database, target: Database, progress: Progress = lambda *_: None
) -> dict[str, int]:
    """Copies all users of a memory, and what belongs to the memory itself.

    Programs may use the source meanwhile, and no program the target.

    Args:
        source: What is copied, as of the beginning.
        target: Where to: it is empty, or has what an interrupted copy has left.
        progress: Told now and then how far it is.

    Returns:
        Number of rows of each table.

    Raises:
        InvalidInput: If the target holds a memory.
        StoreUnusable: If the source is an unfinished copy itself.
        StoreError: If one of them cannot be used, or the copy is not equal. The target is marked as
            unfinished then.
    """
    await check_finished(source)
    if source.language != target.language:
        raise InvalidInput(
            f"{target.location} was opened for words in the language {target.language!r}, and those"
            f" of {source.location} are indexed in {source.language!r}."
        )
    if not await target.write_all(_begin):
        raise InvalidInput(
            f"{target.location} holds a memory already. Name an empty database or a new file, or"
            " add single users with `hotmem export` and `hotmem import`."
        )
    matched = tables.matched(
        await source.read_all(tables.columns), await target.read_all(tables.columns)
    )
    loop = asyncio.get_running_loop()

    def write(operation: Callable[..., Any], *args: Any) -> Any:  # noqa: ANN401 - the function's own
        written = target.write_all(operation, *args)
        return asyncio.run_coroutine_threadsafe(written, loop).result()

    sent = await source.read_all(_send, matched, write, progress)
    await tables.index(target, progress)
    found = await target.read_all(_digests, matched, progress)
    for name, digest in sent.items():
        if found[name] != digest:
            raise StoreError(
                f"{target.location}: the copy of the table {name} has {found[name][0]} rows and is"
                f" not equal to the source, which has {digest[0]}. Stop other programs that use the"
                " target, and copy again."
            )
    await target.write_all(_finish)
    return {name: rows for name, (rows, _) in sent.items()}


async def check_finished(database: Database) -> None:
    """Checks that a database is no unfinished copy.

    Raises:
        StoreUnusable: If it is.
    """
    if await database.read_all(_unfinished):
        raise StoreUnusable(
            f"{database.location} is an unfinished copy. Run `hotmem copy` again, which continues"
            " it, or delete it."
        )


def _unfinished(conn: Connection) -> bool:
    return conn.exists("SELECT 1 FROM meta WHERE key = ?", (UNFINISHED,))


def _begin(conn: Connection) -> bool:
    """Marks the target; False if it holds a memory."""
    if _unfinished(conn):
        return True
    for name in ("users", "audit", "tombstones"):
        if conn.exists(f"SELECT 1 FROM {name} LIMIT 1"):
            return False
    conn.execute("INSERT INTO meta (key, value) VALUES (?, '')", (UNFINISHED,))
    return True


def _finish(conn: Connection) -> None:
    conn.execute("DELETE FROM meta WHERE key = ?", (UNFINISHED,))


def _raise_numbers(conn: Connection, numbers: dict[str, int]) -> None:
    conn.raise_row_numbers(numbers)


def _send(
    conn: Connection, matched: Sequence[Table], write: Write, progress: Progress
) -> dict[str, tuple[int, str]]:
    """Reads all rows of the source's snapshot and writes them to the target.

    Returns:
        The number of rows and the checksum of each table.
    """
    write(_raise_numbers, conn.row_numbers())
    whole = tables.count(conn, matched)
    digests: dict[str, tuple[int, str]] = {}
    done = 0
    for table in matched:
        digest = Digest()
        links: list[Row] = []
        if table.links:
            write(tables.clear_links, table)
        for after, upto, rows in tables.pages(conn, table, BLOCK):
            write(tables.put, table, after, upto, rows)
            digest.add(table, rows)
            plain = len(table.columns) - len(table.links)
            links += [row for row in rows if any(row[plain : len(table.columns)])]
            done += len(rows)
            progress("copying", done, whole)
        for start in range(0, len(links), BLOCK):
            write(tables.set_links, table, links[start : start + BLOCK])
        digests[table.name] = digest.value
    return digests


def _digests(
    conn: Connection, matched: Sequence[Table], progress: Progress
) -> dict[str, tuple[int, str]]:
    """The number of rows and the checksum of each table of the target."""
    whole = tables.count(conn, matched)
    digests: dict[str, tuple[int, str]] = {}
    done = 0
    for table in matched:
        digest = Digest()
        for _, _, rows in tables.pages(conn, table, BLOCK, owned=False):
            digest.add(table, rows)
            done += len(rows)
            progress("comparing", done, whole)
        digests[table.name] = digest.value
    return digests
