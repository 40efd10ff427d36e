"""Opens, encrypts and copies a SQLite file, after a look at its schema and its pages."""

import os
import stat
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw

from hotmem.core.location import EncryptionKey
from hotmem.core.logs import log
from hotmem.core.output_files import new_file
from hotmem.errors import InvalidInput, StoreError, StoreLocked, StoreReadOnly, StoreUnusable
from hotmem.storage import database
from hotmem.storage.queries.maintenance import ENTRIES, of_index
from hotmem.storage.sqlite import connection, files, migrations
from hotmem.storage.sqlite.connection import Connection, connect, mapped_errors
from hotmem.storage.sqlite.migrations import APPLICATION_ID, checked_version

READERS: Final = 2
"""Reader threads. Reads hold the interpreter's lock most of the time: more are slower."""

INLINE_READERS: Final = 2
"""Threads that read inline (`InlineDatabase`): those of recalls and of explicit stores. None
waits for another's connection."""

JOURNAL_PAGES: Final = 4000
"""Pages of the log, 16 MB, from which a write itself copies them into the file."""

CHECK_S: Final = 1.0
"""Seconds that a file's pages are checked when it is opened. Damage in pages behind them is found
when they are read."""


@dataclass(frozen=True, slots=True)
class Connections:
    """The connections to a file.

    Attributes:
        writer: The one that writes; None if the file cannot be written.
        readers: Read-only connections.
        language: The language of the search index, which each of them has.
        truncated: Whether the write-ahead log was truncated.
    """

    writer: Connection | None
    readers: list[Connection]
    language: str
    truncated: bool


def open_connections(
    path: Path, key: EncryptionKey | None, language: str | None = None
) -> Connections:
    """Opens or creates a file and brings its schema up to date. Blocking.

    A file that cannot be written is opened read-only.

    Args:
        path: The file.
        key: Its encryption key.
        language: The language that its index must have; None for the one that it has.

    Raises:
        StoreUnusable: If its index has another language.
        StoreKeyWrong: If the key is not the file's.
        StoreError: If the file is foreign, damaged, locked or newer than this program, or of an
            older schema and not writable.
    """
    files.check_path(path)
    writer, readers, truncated = None, list[Connection](), True
    with ExitStack() as opened, mapped_errors(path):  # no open file is left behind by an error
        if files.writable(path):
            writer = opened.enter_context(closing(connect(path, key=key)))
            migrations.checked_version(writer, path)
            _check_pages(writer, path)
            migrations.migrate(writer, path)  # which waits for the end of a conversion
            _remove_copies(path)
            writer.execute(f"PRAGMA wal_autocheckpoint = {JOURNAL_PAGES}")
        for _ in range(READERS + INLINE_READERS):
            reader = connect(path, key=key, read_only=True)
            readers.append(opened.enter_context(closing(reader)))
        if writer is None:
            _check_migrated(readers[0], path)
        else:
            truncated = connection.truncate(writer, path, 0)
        entries = readers[0].execute(ENTRIES.format(meta="meta")).fetchall()
        language = of_index(entries, language, str(path))
        opened.pop_all()
    for conn in readers if writer is None else (*readers, writer):
        conn.search.language = language
    return Connections(writer, readers, language, truncated)


def _check_migrated(reader: Connection, path: Path) -> None:
    """Checks the schema and the pages of a file that cannot be written.

    Raises:
        StoreReadOnly: If its schema would have to be migrated first.
        StoreError: If it cannot be read.
    """
    version, needed = migrations.checked_version(reader, path), len(migrations.STEPS)
    _check_pages(reader, path)
    if version < needed:
        fact = "is empty" if not version else f"has schema {version}, {needed} is needed"
        raise StoreReadOnly(
            f"{path} {fact} and cannot be written. Make it and its folder writable, or open a"
            " copy of it once."
        )


def _check_pages(conn: Connection, path: Path) -> None:
    if not connection.check(conn, path, CHECK_S):
        log.info("large file: only a part was checked; `hotmem validate` checks all of it")


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
        if conn.scalar("PRAGMA application_id") != APPLICATION_ID:
            raise StoreUnusable(f"{source} is no copy of a memory. Name a file that a backup made.")
        connection.check(conn, source)
        backup(conn, target, lambda _left, _whole: None)


def convert(path: Path, before: EncryptionKey | None, after: EncryptionKey | None) -> None:
    """Replaces a database with a copy that has another key. Blocking.

    The old file stays until the copy is complete.

    Args:
        path: The file, which must not be open.
        before: Its key; None if it is plain.
        after: The new key; None for a plain file.

    Raises:
        StoreLocked: If the file is open elsewhere.
        StoreKeyWrong: If `before` is not its key.
        StoreError: If it cannot be read or written.
    """
    files.check_path(path)
    path = path.resolve()
    if not files.writable(path) or not os.access(path.parent, os.W_OK):
        raise StoreReadOnly(f"{path} or its folder cannot be written. Make both writable.")
    making, _ = _copies(path)
    with mapped_errors(path), closing(connect(path, key=before)) as conn:
        checked_version(conn, path)
        connection.check(conn, path)
        _leave_journal(conn, path)
        with closing(
            connect(path, key=before)
        ) as guard:  # blocks writers until the file is replaced
            if not connection.begun(guard):
                raise _in_use(path)
            try:
                _remove_copies(path)
                _write(conn, making, after)
                _check_same(conn, making, after)
                making.chmod(stat.S_IMODE(path.stat().st_mode))
                _flush(making)
                making.replace(path)
                if os.name == "posix":
                    _flush(path.parent)
                guard.execute("ROLLBACK")
            finally:
                _remove_copies(path)


def _copies(path: Path) -> tuple[Path, Path]:
    """The copy that a conversion makes of a file, and its journal."""
    path = path.resolve()
    return path.with_name(f"{path.name}.making"), path.with_name(f"{path.name}.making-journal")


def _remove_copies(path: Path) -> None:
    """Removes what a conversion that was killed has left, which no deletion would reach."""
    for left in _copies(path):
        left.unlink(missing_ok=True)


def _leave_journal(conn: Connection, path: Path) -> None:
    """Checkpoints and removes the journal; SQLite refuses while another connection is open."""
    conn.set_busy_timeout(0)
    try:
        mode = conn.scalar("PRAGMA journal_mode = DELETE")
    except apsw.BusyError as error:
        raise _in_use(path) from error
    if mode != "delete":
        raise _in_use(path)


def _write(conn: Connection, target: Path, key: EncryptionKey | None) -> None:
    os.close(files.created(target))
    address = (
        f"file:{quote(str(target))}?{connection.CIPHER}&{key.uri_parameter()}"
        if key
        else f"file:{quote(str(target))}?key="
    )
    conn.execute("VACUUM INTO ?", (address,))


def _check_same(conn: Connection, target: Path, key: EncryptionKey | None) -> None:
    with mapped_errors(target), closing(connect(target, key=key)) as made:
        connection.check(made, target)
        if _counts(made) != _counts(conn):
            raise StoreError(
                f"{target} does not match the original. The file is unchanged; try again."
            )


def _counts(conn: Connection) -> dict[str, int]:
    tables = conn.column("SELECT name FROM sqlite_schema WHERE type = 'table'")
    return {name: conn.scalar(f'SELECT count(*) FROM "{name}"') for name in tables}


def _flush(path: Path) -> None:
    """Flushes a file, or the entries of a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _in_use(path: Path) -> StoreLocked:
    return StoreLocked(
        f"{path} is open in another program, or twice in this one. Nothing was changed; "
        "close it there and try again."
    )
