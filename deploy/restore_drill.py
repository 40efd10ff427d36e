"""Proves that a restored memory is the live one.

Every row of every table, and that the file is whole.

    python deploy/restore_drill.py memory.db restored.db

Both are only read, each as it is at one moment; encrypted ones with HOTMEM_KEY or HOTMEM_KEY_FILE.
Stop the bots, or make the copy and compare at once: what was stored in between is a difference. The
exit code is 1 if there is any.
"""

import hashlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from hotmem.core.location import EncryptionKey
from hotmem.errors import HotMemError
from hotmem.settings import Settings
from hotmem.storage.queries import maintenance
from hotmem.storage.sqlite import connection
from hotmem.storage.sqlite.connection import Connection, connect

INDEXES = ("_words", "_entries")
"""Ends of names of tables that are made of others; `faults` compares them with those."""

OF_OTHERS = ("sqlite_", "_litestream")
"""Beginnings of names of tables that are not ours."""


class Compared(NamedTuple):
    """A table in both files.

    Rows that are the same, only in the live one, and only in the restored one.
    """

    name: str
    same: int
    live: int
    restored: int


def main(
    live: Annotated[Path, typer.Argument(exists=True, help="The memory file in use.")],
    restored: Annotated[
        Path, typer.Argument(exists=True, help="The file that was restored from a copy of it.")
    ],
) -> None:
    """Compares a restored memory with the live one."""
    screen, key = Console(), EncryptionKey.from_source(Settings().options().key)
    try:
        with (
            closing(connect(live, key=key, read_only=True)) as one,
            closing(connect(restored, key=key, read_only=True)) as other,
        ):
            connection.check(other, restored)
            faults = maintenance.faults(other)
            found = list(compared(one, other))
    except HotMemError as error:
        screen.print(f"[red]{error}[/red]", soft_wrap=True)
        raise typer.Exit(1) from None
    table = Table("table", "the same", "only live", "only restored")
    for row in found:
        table.add_row(row.name, *map(str, row[1:]))
    screen.print(table)
    wrong = [
        *(row.name for row in found if row.live or row.restored),
        *(f"{fault.where}: {fault.what}" for fault in faults),
    ]
    if wrong:
        screen.print(
            f"[red]The restored memory is not the live one: {', '.join(wrong)}.[/red]",
            soft_wrap=True,
        )
        if not any(row.restored for row in found) and not faults:
            screen.print(
                "Nothing is missing from the live one. If something was said since "
                "the copy was made, make a new one and compare at once."
            )
        raise typer.Exit(1)
    screen.print(
        "[green]The restored memory is whole, and the same as the live one row by row.[/green]"
    )


def compared(live: Connection, restored: Connection) -> Iterator[Compared]:
    """Every table of ours, row by row."""
    for conn in (live, restored):
        conn.execute("BEGIN")
    names = {conn: set(tables(conn)) for conn in (live, restored)}
    for name in sorted(names[live] | names[restored]):
        here, there = (
            set(rows(conn, name)) if name in names[conn] else set() for conn in (live, restored)
        )
        yield Compared(name, len(here & there), len(here - there), len(there - here))


def tables(conn: Connection) -> Iterator[str]:
    """Names of the tables that hold something of their own."""
    for (name,) in conn.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    ):
        if not name.startswith(OF_OTHERS) and not any(index in name for index in INDEXES):
            yield name


def rows(conn: Connection, name: str) -> Iterator[bytes]:
    """A hash of each row."""
    for row in conn.execute(f'SELECT * FROM "{name}"'):
        yield hashlib.blake2b(repr(tuple(row)).encode(), digest_size=16).digest()


if __name__ == "__main__":
    typer.run(main)
