"""The bundled SQLite, with its errors turned into ours.

Within one process a memory file is opened through this driver only: a second SQLite library that
opens and closes the same file drops the first one's POSIX locks, and writes can be lost.

One driver for every platform: many Pythons carry an SQLite that cannot load extensions, or is older
than 3.51.3, the first that does not lose writes when two connections begin the journal anew at
once.
"""

import json
import os
import time
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import quote

import apsw

from hotmem.core.location import EncryptionKey
from hotmem.errors import (
    DeadlineExceeded,
    HotMemError,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreKeyWrong,
    StoreLocked,
    StoreReadOnly,
    StoreUnusable,
)
from hotmem.storage.database import RowChange
from hotmem.storage.dialect import to_sqlite
from hotmem.storage.queries.index_entries import WORDED
from hotmem.storage.rows import Rows
from hotmem.storage.schema import TABLES
from hotmem.storage.sqlite import files
from hotmem.storage.sqlite.primitives import SqliteSearch
from hotmem.types import Fault, UserKey

__all__ = ["Connection", "complete_statement", "connect", "mapped_errors"]

complete_statement = apsw.complete

LOCK_WAIT_S: Final = 5.0
"""Seconds a connection waits for another program's lock."""

SYNCHRONOUS: Final = "FULL"
"""When SQLite waits for the disk: at every commit, so that what was stored outlives a power cut."""

CIPHER: Final = "cipher=chacha20"
"""ChaCha20-Poly1305: authenticated, so that a damaged or altered page is detected."""

HEAD: Final = 24
PLAIN: Final = b"SQLite format 3\0"
ENCRYPTED: Final = b"\x20\x40\x20\x20"
"""The end of the first `HEAD` bytes: a page ends with 32 bytes of the cipher's, and what every
database has there."""

LOOK_STEPS: Final = 2000
"""SQLite instructions between two looks at the clock, about 20 µs."""


def _bound(_cursor: apsw.Cursor, _place: int, value: object) -> str:
    """A list as JSON text, see `hotmem.storage.dialect`."""
    if isinstance(value, list):
        return json.dumps(value)
    raise TypeError(f"SQLite cannot store a {type(value).__name__}.")


class Cursor(apsw.Cursor):
    """The result of a statement."""

    def execute(self, statements: str, bindings: Any = None, **options: Any) -> apsw.Cursor:  # noqa: ANN401
        """Runs a statement of `hotmem.storage.dialect`; one that must not be cached, as it is."""
        if options.get("can_cache", True):
            statements = to_sqlite(statements)
        return super().execute(statements, bindings, **options)

    def executemany(self, statements: str, sequenceofbindings: Any, **options: Any) -> apsw.Cursor:  # noqa: ANN401 - as in apsw
        """Runs a statement of `hotmem.storage.dialect` once for each sequence of values."""
        return super().executemany(to_sqlite(statements), sequenceofbindings, **options)

    def fetchone(self) -> Any:  # noqa: ANN401 - a row
        """The first row; ends the statement, which would keep its snapshot of the file."""
        row = super().fetchone()
        self.close()
        return row

    if TYPE_CHECKING:  # a row holds what its statement selects

        def __iter__(self) -> Self: ...

        def fetchall(self) -> list[Any]: ...


REUSED: Final = ("entities", "recalls")
"""Tables that give the number of their last row again once it is deleted."""


class Connection(apsw.Connection, Rows):
    """A connection in autocommit mode.

    What is not between BEGIN and COMMIT is a transaction of its own.
    """

    def __init__(self, path: str, flags: int, key: EncryptionKey | None) -> None:
        super().__init__(path, flags)
        self.cursor_factory = Cursor
        self.convert_binding = _bound
        self.search = SqliteSearch()
        self.key = key

    @contextmanager
    def row_changes(self, tables: Container[str]) -> Iterator[list[RowChange]]:
        """Collects all changes of rows of some tables, also by cascades and triggers."""
        seen: list[RowChange] = []

        def note(update: apsw.PreUpdate) -> None:
            if update.table_name in tables:
                seen.append((update.table_name, update.old, update.new))

        self.preupdate_hook(note)
        try:
            yield seen
        finally:
            self.preupdate_hook(None)

    def table_columns(self, relation: str) -> list[tuple[str, int]]:
        """Names of a table's columns in their order, each with its place in the primary key, or 0.

        Args:
            relation: The table.
        """
        return self.execute(
            f"SELECT name, pk FROM pragma_table_info('{relation}') ORDER BY cid"
        ).fetchall()

    def row_numbers(self) -> dict[str, int]:
        """The highest row number that each table has given, also to rows that are deleted."""
        last = " UNION ALL ".join(f"SELECT '{name}', max(id) FROM {name}" for name in REUSED)
        rows = self.execute(f"SELECT name, seq FROM sqlite_sequence UNION ALL {last}").fetchall()
        return {str(name): int(number or 0) for name, number in rows}

    def raise_row_numbers(self, numbers: Mapping[str, int]) -> None:
        """Has each table give higher row numbers than these from now on."""
        given = self.row_numbers()
        self.executemany(
            "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?",
            [(number, name) for name, number in numbers.items() if name in given],
        )
        self.executemany(
            "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)",
            [(name, number) for name, number in numbers.items() if name not in given],
        )

    def lock_user(self, user: UserKey) -> None:
        """Does nothing: a write transaction holds the lock of the whole file from its beginning."""

    def hold_encoder(self, *, change: bool = False) -> None:
        """Does nothing, see `lock_user`."""

    def size_bytes(self, user: UserKey) -> int:
        """Size of the whole file in bytes, all users together."""
        sql = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
        return int(self.scalar(sql))

    def integrity_faults(self) -> list[Fault]:
        """Damaged pages and indexes, rows with dangling references or values of a wrong type."""
        # A query makes the index reload the file first: otherwise its own check would
        # report later writes of other connections as damage.
        for kind in WORDED:
            self.execute(
                f"SELECT rowid FROM {kind}_words WHERE {kind}_words MATCH 'u0x' LIMIT 1"
            ).fetchone()
        found = [
            Fault("file", 1, str(text))
            for text in self.column("PRAGMA integrity_check")
            if text != "ok"
        ]
        if dangling := self.execute("PRAGMA foreign_key_check").fetchall():
            what = "rows that refer to rows that are gone"
            found.append(Fault("references", len(dangling), what))
        for table in TABLES.values():
            wrong = " OR ".join(
                f"typeof({column.name}) NOT IN ('{column.kind.lower()}', 'null')"
                for column in table.columns
                if column.kind != "BLOB"  # vectors, which can be mended
            )
            sql = f"SELECT count(*) FROM {table.name} WHERE {wrong or 'FALSE'}"
            if count := self.scalar(sql):
                found.append(Fault("rows", count, f"rows of {table.name} with a wrong type"))
        return found

    if TYPE_CHECKING:

        def __enter__(self) -> Self: ...

        def execute(self, statements: str, bindings: Any = None, **options: Any) -> Cursor: ...  # noqa: ANN401, D102

        def executemany(  # noqa: D102
            self,
            statements: str,
            sequenceofbindings: Any,  # noqa: ANN401
            **options: Any,  # noqa: ANN401
        ) -> Cursor: ...


def connect(path: Path, *, key: EncryptionKey | None = None, read_only: bool = False) -> Connection:
    """A connection in autocommit mode with foreign keys on and deleted bytes overwritten.

    A file that cannot be written and that nobody has open is read without a journal, which SQLite
    would have to create; reads are not consistent if another process starts writing to it.

    Args:
        path: The database file; it is created unless `read_only`, for its owner alone. SQLite gives
            the journal and its index the same rights.
        key: What it is encrypted with, or will be; None for a plain file.
        read_only: Whether any write is refused.

    Raises:
        StoreKeyWrong: If the file is encrypted with another key or none.
        StoreError: If the file cannot be opened.
    """
    still = read_only and not files.writable(path) and not files.in_use(path)
    mode = ("ro&immutable=1" if still else "ro") if read_only else "rw"
    access = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
    if not read_only:
        with suppress(OSError):  # it is there, or SQLite says why it cannot be opened
            os.close(files.created(path))
    with mapped_errors(path):
        _check_key_given(path, key)
        conn = Connection(
            f"file:{quote(str(path))}?mode={mode}", apsw.SQLITE_OPEN_URI | access, key
        )
        try:
            conn.set_busy_timeout(round(LOCK_WAIT_S * 1000))
            if key is not None:
                _unlock(conn, key, path)
            conn.execute("PRAGMA foreign_keys = ON")
            conn.execute("PRAGMA secure_delete = ON")
            conn.execute("PRAGMA temp_store = MEMORY")
            conn.execute(
                "PRAGMA mmap_size = 0"
            )  # a mapped page that cannot be read ends the process, a copied one is an error
            if not read_only:
                conn.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
        except BaseException:
            conn.close()
            raise
    return conn


def _check_key_given(path: Path, key: EncryptionKey | None) -> None:
    """Raises an error for a plain file with a key, and an encrypted one without."""
    head = _head(path)
    if key is not None and head.startswith(PLAIN):
        fix = (
            "Leave HOTMEM_KEY, HOTMEM_KEY_FILE and Options.key away, or encrypt the file with"
            " `hotmem encrypt`."
        )
        raise StoreKeyWrong(f"{path} is not encrypted, and a key was given. {fix}")
    if key is None and _is_encrypted(head):
        raise StoreKeyWrong(
            f"{path} is encrypted, and no key was given. Set HOTMEM_KEY or HOTMEM_KEY_FILE, or pass"
            " Options(key=…)."
        )


def encrypted(path: Path) -> bool:
    """Whether a file looks encrypted.

    Raises:
        StoreUnusable: If it cannot be read.
    """
    with mapped_errors(path):
        return _is_encrypted(_head(path))


def _is_encrypted(head: bytes) -> bool:
    return not head.startswith(PLAIN) and head[20:] == ENCRYPTED


def _head(path: Path) -> bytes:
    """The first bytes of a file, read as SQLite reads them.

    Closing it in any other way drops the locks that this process has on it.
    """
    beneath = apsw.vfs_names()[0].removeprefix("multipleciphers-")
    file = apsw.VFSFile(
        beneath, str(path.resolve()), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0]
    )
    try:
        return file.xRead(min(file.xFileSize(), HEAD), 0)
    finally:
        file.xClose()


def _unlock(conn: Connection, key: EncryptionKey, path: Path) -> None:
    """Gives a connection its key, and reads with it."""
    conn.execute(f"PRAGMA {CIPHER.replace('=', ' = ')}")
    conn.execute(key.pragma(), can_cache=False)
    try:
        conn.execute("PRAGMA schema_version").fetchone()
    except apsw.NotADBError:
        fix = (
            "Pass the key that it was encrypted with; if it is that, the beginning of the file is"
            " damaged: restore a backup."
        )
        raise StoreKeyWrong(f"{path} cannot be read with this key. {fix}") from None


def copy(
    source: Connection, target: Connection, pages: int, progress: Callable[[int, int], None]
) -> None:
    """Copies a whole file into another.

    Args:
        source: What is copied; between two portions others may write to it.
        target: Where to; what is in it is lost.
        pages: Pages of a portion.
        progress: Told pages left and in all after each portion.
    """
    with closing(target.backup("main", source, "main")) as copying:
        while not copying.done:
            copying.step(pages)
            progress(copying.remaining, copying.page_count)


@contextmanager
def mapped_errors(path: Path) -> Iterator[None]:
    """Raises SQLite's errors as ours, with the fact and the fix."""
    try:
        yield
    except apsw.Error as error:
        raise _as_ours(error, path) from error
    except UnicodeDecodeError:
        raise damaged(path) from None  # the error holds what is stored


def begun(conn: Connection) -> bool:
    """Begins a write; False if another program is in one."""
    try:
        conn.execute("BEGIN IMMEDIATE")
    except (apsw.BusyError, apsw.LockedError):
        return False
    return True


def locked(path: Path) -> StoreLocked:
    """The error of a file that another program holds."""
    return StoreLocked(
        f"{path} has been locked for over {LOCK_WAIT_S:.0f} s by {files.holder(path)}. Nothing of"
        " this was stored; end what holds it, or try again."
    )


DAMAGED: Final = (apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_CORRUPTFS)
"""Errors of reading that say that the content is wrong, not the disk or its cable."""


def check(conn: Connection, path: Path, limit_s: float = inf) -> bool:
    """Checks every page of a file within a time limit; returns whether all pages were checked.

    Args:
        conn: A connection.
        path: The file, for the error.
        limit_s: Seconds after which the remaining pages are not checked.

    Raises:
        StoreDamaged: If a page is damaged or was altered.
    """
    until = time.monotonic() + limit_s
    conn.set_progress_handler(lambda: time.monotonic() > until, LOOK_STEPS)
    try:
        with mapped_errors(path):
            sound: bool = conn.scalar("PRAGMA integrity_check(1)") == "ok"
    except DeadlineExceeded:
        return False
    finally:
        conn.set_progress_handler(None)
    if not sound:
        raise damaged(path)
    return True


def damaged(path: Path) -> StoreDamaged:
    """The error of a damaged file."""
    return StoreDamaged(
        f"{path} is damaged or not a database. Restore it from a backup or open another file."
    )


def _as_ours(error: apsw.Error, path: Path) -> HotMemError:
    code = getattr(error, "extendedresult", apsw.SQLITE_ERROR)  # misuse of the driver has none
    match code & 0xFF:
        case apsw.SQLITE_INTERRUPT:
            return DeadlineExceeded("A search did not finish in its time and was stopped.")
        case apsw.SQLITE_BUSY | apsw.SQLITE_LOCKED:
            return locked(path)
        case apsw.SQLITE_READONLY:
            return StoreReadOnly(
                f"{path} cannot be written. Make the file and its folder writable, or open another"
                " file."
            )
        case apsw.SQLITE_FULL:
            return StoreFull(
                f"The disk that holds {path} is full. Free some space; what was stored before is"
                " intact."
            )
        case apsw.SQLITE_CANTOPEN:
            return StoreUnusable(
                f"{path} cannot be opened. Check that its folder exists and that you may read and"
                " write it."
            )
        case apsw.SQLITE_NOTADB | apsw.SQLITE_CORRUPT:
            return damaged(path)
        case apsw.SQLITE_IOERR if code in DAMAGED:
            return damaged(path)
    name = apsw.mapping_extended_result_codes.get(code) or type(error).__name__
    return StoreError(
        f"{path}: SQLite refused an operation ({name}: {error}). The last change was rolled back."
    )


def truncate(writer: Connection, path: Path, wait_s: float) -> bool:
    """Copies the log into the file and truncates it; False if a reader prevents it. Blocking.

    Args:
        writer: A connection that can write.
        path: The file, for errors.
        wait_s: Seconds to wait for readers.

    Raises:
        StoreError: If the file cannot be written.
    """
    with mapped_errors(path):
        writer.execute(f"PRAGMA busy_timeout = {wait_s * 1000:.0f}")
        try:
            return bool(writer.scalar("PRAGMA wal_checkpoint(TRUNCATE)") == 0)
        finally:
            writer.execute(f"PRAGMA busy_timeout = {LOCK_WAIT_S * 1000:.0f}")
