"""Opens the connections to a SQLite file, after a look at its schema and its pages."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hotmem.core.encryption_key import EncryptionKey
from hotmem.core.logs import log
from hotmem.errors import StoreReadOnly
from hotmem.storage.queries.languages import ENTRIES, of_index
from hotmem.storage.sqlite import connection, files, journal, migrations
from hotmem.storage.sqlite.connection import Connection, connect, mapped_errors

READERS: Final = 2
"""Reader threads. Reads hold the interpreter's lock most of the time: more are slower."""

INLINE_READERS: Final = 2
"""Threads that read inline (`InlineSqliteDatabase`): those of recalls and of explicit stores. None
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
    truncated: bool = True


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
    if not files.writable(path):
        return _with_language(None, _open_read_only(path, key), path, language)
    writer = connect(path, key=key)
    try:
        with mapped_errors(path):
            migrations.checked_version(writer, path)
            _check_pages(writer, path)
            migrations.migrate(writer, path)
            writer.execute(f"PRAGMA wal_autocheckpoint = {JOURNAL_PAGES}")
        readers = [connect(path, key=key, read_only=True) for _ in range(READERS + INLINE_READERS)]
        truncated = journal.truncate(writer, path, 0)
    except BaseException:  # no open file is left behind, interrupted or not
        writer.close()
        raise
    return replace(_with_language(writer, readers, path, language), truncated=truncated)


def _with_language(
    writer: Connection | None, readers: list[Connection], path: Path, wanted: str | None
) -> Connections:
    """The connections, which get the language of the search index; closed if it is not the wanted.

    Raises:
        StoreUnusable: If it is another one.
    """
    every = [*readers, *(() if writer is None else (writer,))]
    try:
        with mapped_errors(path):
            entries = readers[0].execute(ENTRIES.format(meta="meta")).fetchall()
        language = of_index(entries, wanted, str(path))
    except BaseException:  # no open file is left behind, interrupted or not
        for conn in every:
            conn.close()
        raise
    for conn in every:
        conn.search.language = language
    return Connections(writer, readers, language)


def _open_read_only(path: Path, key: EncryptionKey | None) -> list[Connection]:
    """Read-only connections to a file that cannot be written.

    Raises:
        StoreReadOnly: If its schema would have to be migrated first.
        StoreError: If it cannot be read.
    """
    readers: list[Connection] = []
    try:
        with mapped_errors(path):
            for _ in range(READERS + INLINE_READERS):
                readers.append(connect(path, key=key, read_only=True))
            version = migrations.checked_version(readers[0], path)
            _check_pages(readers[0], path)
        needed = len(migrations.STEPS)
        if version < needed:
            fact = "is empty" if not version else f"has schema {version}, {needed} is needed"
            raise StoreReadOnly(
                f"{path} {fact} and cannot be written. Make it and its folder writable, or open a"
                " copy of it once."
            )
    except BaseException:  # no open file is left behind, interrupted or not
        for reader in readers:
            reader.close()
        raise
    return readers


def _check_pages(conn: Connection, path: Path) -> None:
    if not connection.check(conn, path, CHECK_S):
        log.info("large file: only a part was checked; `hotmem validate` checks all of it")
