"""The bundled SQLite, with its errors turned into ours.

Within one process a memory file is opened through this driver only: a second SQLite library that opens and closes the same file
drops the first one's POSIX locks, and writes can be lost.

One driver for every platform: many Pythons carry an SQLite that cannot load extensions or is older than 3.42, the first
whose full-text index can delete securely.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import sqlean.dbapi2 as sqlite
import sqlite_vec

from hotmem.errors import (
    DeadlineExceeded,
    HotMemError,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreUnusable,
)
from hotmem.store import files

if TYPE_CHECKING:
    from sqlite3 import Connection, complete_statement
else:
    from sqlean.dbapi2 import Connection, complete_statement

__all__ = ["Connection", "complete_statement", "connect", "mapped_errors"]

MAPPED_BYTES: Final = 2**32
"""Bytes of the file that are read through the page cache that all connections share, instead of copied into each one's own 2 MB."""

LOCK_WAIT_S: Final = 5.0
"""Seconds a connection waits for another program's lock."""

SYNCHRONOUS: Final = "FULL"
"""When SQLite waits for the disk: at every commit, so that what was stored outlives a power cut."""


def connect(path: Path, *, read_only: bool = False) -> Connection:
    """A connection in autocommit mode with sqlite-vec loaded, foreign keys on and deleted bytes overwritten.

    A file that cannot be written and that nobody has open is read without a journal, which SQLite would
    have to make; whoever begins to write it meanwhile spoils what is read.

    Args:
        path: The database file; it is created unless `read_only`.
        read_only: Whether any write is refused.

    Raises:
        StoreError: If the file cannot be opened.
    """
    still = read_only and not files.writable(path) and not files.in_use(path)
    mode = ("ro&immutable=1" if still else "ro") if read_only else "rwc"
    with mapped_errors(path):
        conn: Connection = sqlite.connect(
            f"file:{quote(str(path))}?mode={mode}", uri=True, timeout=LOCK_WAIT_S, isolation_level=None, check_same_thread=False
        )
        try:
            conn.enable_load_extension(True)
            sqlite_vec.load(conn)
            conn.enable_load_extension(False)
            conn.execute("PRAGMA foreign_keys = ON")
            conn.execute("PRAGMA secure_delete = ON")
            conn.execute("PRAGMA temp_store = MEMORY")
            conn.execute(f"PRAGMA mmap_size = {0 if still else MAPPED_BYTES}")
            if not read_only:
                conn.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
        except BaseException:
            conn.close()
            raise
    return conn


@contextmanager
def mapped_errors(path: Path) -> Iterator[None]:
    """Raises SQLite's errors as ours, with the fact and the fix."""
    try:
        yield
    except sqlite.Error as error:
        raise _as_ours(error, path) from error


def begun(conn: Connection) -> bool:
    """Begins a write; False if another program is in one."""
    try:
        conn.execute("BEGIN IMMEDIATE")
    except sqlite.OperationalError as error:
        if _is_lock(error):
            return False
        raise
    return True


def locked(path: Path) -> StoreLocked:
    """The error of a file that another program holds."""
    return StoreLocked(
        f"{path} has been locked for over {LOCK_WAIT_S:.0f} s by {files.holder(path)}. Nothing of this was stored; end what holds it, or try again."
    )


def _is_lock(error: Exception) -> bool:
    return str(getattr(error, "sqlite_errorname", "")).startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) or "is locked" in str(error)


def _as_ours(error: Exception, path: Path) -> HotMemError:
    name = str(getattr(error, "sqlite_errorname", ""))
    text = str(error)
    if name.startswith("SQLITE_INTERRUPT") or text == "interrupted":
        return DeadlineExceeded("A search did not finish in its time and was stopped.")
    if _is_lock(error):
        return locked(path)
    if name.startswith("SQLITE_READONLY") or "readonly" in text:
        return StoreReadOnly(f"{path} cannot be written. Make the file and its folder writable, or open another file.")
    if name.startswith("SQLITE_FULL") or "disk is full" in text:
        return StoreFull(f"The disk that holds {path} is full. Free some space; what was stored before is intact.")
    if name.startswith("SQLITE_CANTOPEN") or "unable to open" in text:
        return StoreUnusable(f"{path} cannot be opened. Check that its folder exists and that you may read and write it.")
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")) or "not a database" in text or "malformed" in text:
        return StoreUnusable(f"{path} is damaged or not a database. Restore it from a backup or open another file.")
    return StoreError(f"{path}: SQLite refused an operation ({name or type(error).__name__}: {text}). The last change was rolled back.")
