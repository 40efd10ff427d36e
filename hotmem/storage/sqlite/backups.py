"""Copies of a memory file: how they are made, and how one becomes a memory file again."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from hotmem.core.encryption_key import EncryptionKey
from hotmem.core.output_files import new_file
from hotmem.errors import InvalidInput, StoreUnusable
from hotmem.storage import database
from hotmem.storage.sqlite import connection, files
from hotmem.storage.sqlite.connection import Connection, connect, mapped_errors
from hotmem.storage.sqlite.migrations import APPLICATION_ID

PAGES: Final = 2000
"""Pages copied at once in a backup; others may write in between."""


def backup(conn: database.Connection, target: Path, progress: Callable[[int, int], None]) -> None:
    """Copies the database as of one moment, while others read and write.

    The copy of an encrypted database has its key.

    Args:
        conn: A connection.
        target: Path of the copy, which must not exist.
        progress: Called now and then with the pages left and the total.

    Raises:
        InvalidInput: If the target exists, or the database is of another engine.
        StoreError: If it cannot be written.
    """
    if not isinstance(conn, Connection):
        raise InvalidInput(
            "This memory is not in a file. Back it up with the tools of its database, such as "
            "pg_dump."
        )
    files.check_path(target)
    with new_file(target) as making, mapped_errors(target):
        conn.execute(
            "SELECT 1 FROM sqlite_master"
        ).fetchone()  # all pages are of one snapshot, whatever others write
        with closing(connect(making, key=conn.key)) as made:
            connection.copy(conn, made, PAGES, progress)


def restore(source: Path, target: Path, key: EncryptionKey | None = None) -> None:
    """Creates a database from a backup, which is not changed. Blocking.

    Args:
        source: The backup.
        target: Path of the database, which must not exist.
        key: Key of the backup and of the database.

    Raises:
        InvalidInput: If the target exists.
        StoreError: If one of them cannot be used.
    """
    with mapped_errors(source), closing(connect(source, key=key, read_only=True)) as conn:
        if conn.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise StoreUnusable(f"{source} is no copy of a memory. Name a file that a backup made.")
        connection.check(conn, source)
        backup(conn, target, lambda _left, _whole: None)
