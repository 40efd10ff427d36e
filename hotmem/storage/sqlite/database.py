"""One writer thread and a few read-only reader threads over one file."""

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar

from hotmem.core.encryption_key import EncryptionKey
from hotmem.core.logs import log
from hotmem.errors import DeadlineExceeded, MemoryClosed, StoreDamaged, StoreLocked, StoreReadOnly
from hotmem.storage.sqlite import connection, files
from hotmem.storage.sqlite.connection import Connection, connect, mapped_errors
from hotmem.storage.sqlite.migrations import STEPS, checked_version, migrate

P = ParamSpec("P")
T = TypeVar("T")

READERS: Final = 2
"""Reader threads. Reads hold the interpreter's lock most of the time: four threads take a tenth
longer than two."""

LANES: Final = 2
"""Threads that read for themselves (`here`): recalls' and storing's (`hotmem.core.loop_thread`).
None is to wait for another's connection."""

CHECKPOINTED_AFTER: Final = 32
"""Writes after which the journal is copied into the file, behind the writes that wait. SQLite
itself would do it every 1,000 pages before a write returns: beside other work 40 to 60 ms where
the other writes, of some 30 pages, took 7."""

JOURNAL_PAGES: Final = 4000
"""Pages of the journal, 16 MB, from which a write copies them itself: after large ones."""

LOCK_LOOK_S: Final = 0.002
"""Seconds between two looks whether another program has ended its write. SQLite's own handler
comes to look every 0.1 s, and beside an import, which pauses for some milliseconds after each
portion, waited 4.4 s."""

CLOSING_WAIT_S: Final = 1.0
"""Seconds that closing waits for others before it leaves the journal to whoever closes the file
last."""

EMPTYING_TRY_S: Final = 0.02
"""Seconds that one try to empty the journal waits for reads to end; writes of ours that come
meanwhile wait as long. A read of a recall takes 1 to 3 ms."""

EMPTYING_PAUSE_S: Final = 0.03
"""Seconds between two tries to empty the journal, in which writes and reads go on."""

EMPTYING_EVERY_S: Final = 1.0
"""Seconds between two tries of the background."""

CHECK_S: Final = 1.0
"""Seconds for which a file's pages are looked at when it is opened: all of some 500 MB that the
system has in memory. What is damaged behind them is found when it is read."""


class SqliteDatabase:
    """Runs plain functions that take a connection as their first argument, in threads of its own.

    Writes run one at a time, each in one transaction. Reads run side by side on read-only
    connections and can be given a deadline that reaches into SQLite.
    """

    def __init__(self, path: Path, writer: Connection | None, readers: list[Connection]) -> None:
        self.path = path
        self.read_only = writer is None
        self._file = path.absolute()
        self._identity = files.identity(self._file)
        self._lock_awaited = False
        self._writer = writer
        self._readers: SimpleQueue[Connection] = SimpleQueue()
        for reader in readers:
            self._readers.put(reader)
        self._write_pool = ThreadPoolExecutor(1, thread_name_prefix="hotmem-writer")
        self._read_pool = ThreadPoolExecutor(READERS, thread_name_prefix="hotmem-reader")
        self._closed = Event()
        self._damaged = Event()
        self._writes = 0
        self._unemptied = Event()
        self._emptying_tried_at = -inf

    @classmethod
    def open(cls, path: Path, key: EncryptionKey | None = None) -> Self:
        """Opens or creates the file and brings its schema up to date.

        One that cannot be written is opened for reading. Blocking.

        Raises:
            StoreKeyWrong: If the key is not the file's.
            StoreError: If the file is foreign, damaged, newer than this program or locked, or of an
                older schema and not writable.
        """
        files.check_path(path)
        if not files.writable(path):
            return cls(path, None, _read_only(path, key))
        writer = connect(path, key=key)
        try:
            with mapped_errors(path):
                checked_version(writer, path)
                _look(writer, path)
                migrate(writer, path)
                writer.execute(f"PRAGMA wal_autocheckpoint = {JOURNAL_PAGES}")
            readers = [connect(path, key=key, read_only=True) for _ in range(READERS + LANES)]
            emptied = _empty_journal(writer, path, 0)
        except BaseException:  # interrupted or not, no open file is left behind
            writer.close()
            raise
        opened = cls(path, writer, readers)
        if not emptied:
            opened._unemptied.set()
        return opened

    @property
    def location(self) -> str:
        """The path of the file."""
        return str(self.path)

    def inline(self) -> "InlineSqliteDatabase":
        """The same file, read in the calling thread."""
        return InlineSqliteDatabase(self)

    def blocked(self) -> StoreLocked | None:
        """The error of a write that waits for another program's lock now, if one does."""
        return connection.locked(self.path) if self._lock_awaited else None

    async def write(
        self, operation: Callable[Concatenate[Any, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs the operation in one transaction; returns once it is committed to disk.

        Raises:
            StoreDamaged: If the file was found damaged, now or by whoever read it before.
            StoreError: If it could not be committed; nothing of it remains.
        """
        return await self._transact("COMMIT", operation, *args, **kwargs)

    async def rehearse(
        self, operation: Callable[Concatenate[Any, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What `write` would return; nothing of the operation remains.

        Raises:
            StoreError: If it could not be written.
        """
        return await self._transact("ROLLBACK", operation, *args, **kwargs)

    async def _transact(
        self,
        ending: str,
        operation: Callable[Concatenate[Any, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        writer = self._writer
        if writer is None:
            raise StoreReadOnly(
                f"{self.path} is open for reading only, as it or its folder cannot be written. Make both writable and open it again."
            )

        def run() -> T:
            with self._mapped_errors():
                if self._damaged.is_set():
                    raise connection.damaged(self.path)
                self._begin(writer)
                try:
                    result = operation(writer, *args, **kwargs)
                    files.check_same(self._file, self._identity)
                    writer.execute(ending)
                except BaseException:
                    if writer.in_transaction:
                        writer.execute("ROLLBACK")
                    raise
                self._count_write(writer)
                return result

        return await self._in(self._write_pool, run)

    @contextmanager
    def _mapped_errors(self) -> Iterator[None]:
        """Raises SQLite's errors as ours.

        From the first that tells of damage nothing is written.
        """
        try:
            with mapped_errors(self.path):
                yield
        except StoreDamaged:
            self._damaged.set()
            raise

    def _begin(self, writer: Connection) -> None:
        """Begins a transaction once no other program is in one."""
        until = time.monotonic() + connection.LOCK_WAIT_S
        writer.execute("PRAGMA busy_timeout = 0")
        try:
            while not connection.begun(writer):
                if time.monotonic() > until or self._closed.is_set():
                    raise connection.locked(self.path)
                self._lock_awaited = True
                time.sleep(LOCK_LOOK_S)
        finally:
            self._lock_awaited = False
            writer.execute(f"PRAGMA busy_timeout = {connection.LOCK_WAIT_S * 1000:.0f}")

    def _count_write(self, writer: Connection) -> None:
        self._writes += 1
        if self._writes % CHECKPOINTED_AFTER == 0:
            with suppress(RuntimeError):  # it closes, and empties the journal itself
                self._write_pool.submit(
                    lambda: writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                )

    def purge_later(self) -> None:
        """Says, within a write, that the journal is to be emptied after it, whatever becomes of who asked for the write."""
        self._unemptied.set()

    async def purge(self, timeout_s: float) -> bool:
        """Copies the journal into the file and cuts it to nothing, as it holds what was removed and overwritten in the file.

        Reads that are under way keep it: our own end within milliseconds, another program's may
        last.

        Args:
            timeout_s: Seconds for which it is tried.

        Returns:
            Whether it is empty. If not, `retry_purge` tries again, and so does closing and the
            next opening of the file.

        Raises:
            StoreError: If the file cannot be written.
        """
        until = time.monotonic() + timeout_s
        self.purge_later()
        while not await self._try_emptying():
            if time.monotonic() > until:
                return False
            await asyncio.sleep(EMPTYING_PAUSE_S)
        return True

    async def retry_purge(self) -> None:
        """Tries once more, where the journal could not be emptied, unless that was tried within the last second.

        Raises:
            StoreError: If the file cannot be written.
        """
        if (
            self._unemptied.is_set()
            and time.monotonic() - self._emptying_tried_at > EMPTYING_EVERY_S
            and await self._try_emptying()
        ):
            log.info(
                "journal emptied",
                reason="what was forgotten while another program was reading is gone now",
            )

    async def _try_emptying(self) -> bool:
        writer = self._writer
        if writer is None:
            raise StoreReadOnly(
                f"{self.path} is open for reading only, so that its journal cannot be emptied."
            )

        def run() -> bool:
            self._emptying_tried_at = time.monotonic()
            emptied = _empty_journal(writer, self.path, EMPTYING_TRY_S)
            if emptied:
                self._unemptied.clear()
            return emptied

        return await self._in(self._write_pool, run)

    async def read(
        self, operation: Callable[Concatenate[Any, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a query function on a read-only connection.

        Raises:
            StoreError: If the file cannot be read.
        """
        return await self._in(
            self._read_pool, lambda: self.read_here(None, operation, *args, **kwargs)
        )

    def read_here(
        self,
        deadline: float | None,
        operation: Callable[Concatenate[Any, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Runs a query function in the calling thread, until the deadline at most. Blocking.

        Raises:
            DeadlineExceeded: If `time.monotonic()` passed the deadline.
            MemoryClosed: If the database is closed.
            StoreError: If the file cannot be read.
        """
        self._check_open()
        if deadline is not None and time.monotonic() > deadline:
            raise DeadlineExceeded("A search could not begin in its time.")
        conn = self._readers.get()
        try:
            if deadline is not None:
                conn.set_progress_handler(
                    lambda: time.monotonic() > deadline, connection.LOOK_STEPS
                )
            with self._mapped_errors():
                conn.execute("BEGIN")
                try:
                    return operation(conn, *args, **kwargs)
                finally:
                    if conn.in_transaction:
                        conn.execute("ROLLBACK")
        finally:
            conn.set_progress_handler(None, 0)
            self._readers.put(conn)

    async def _in(self, pool: ThreadPoolExecutor, run: Callable[[], T]) -> T:
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(pool, run)

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise MemoryClosed("The memory is closed. Open it again with Memory.open(path).")

    async def close(self) -> None:
        """Finishes what is running, empties the journal into the file and closes it."""
        if self._closed.is_set():
            return
        self._closed.set()
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._read_pool.shutdown(wait=True)
        self._write_pool.shutdown(wait=True)
        while not self._readers.empty():
            self._readers.get().close()
        if self._writer is not None:
            emptied = _empty_journal(self._writer, self.path, CLOSING_WAIT_S)
            if self._unemptied.is_set() and not emptied:
                log.warning(
                    "journal not emptied",
                    reason="another program reads the file; copies of what was forgotten stay until it closes it",
                )
            with mapped_errors(self.path):
                self._writer.close()


class InlineSqliteDatabase:
    """Runs reads of a SQLite file in the calling thread.

    Args:
        database: The file.
    """

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def read_until(
        self,
        deadline: float | None,
        operation: Callable[Concatenate[Any, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Runs a query function, and stops inside SQLite once the deadline has passed."""
        return self._database.read_here(deadline, operation, *args, **kwargs)

    async def read(
        self, operation: Callable[Concatenate[Any, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a query function without a deadline."""
        return self._database.read_here(None, operation, *args, **kwargs)


def _empty_journal(writer: Connection, path: Path, wait_s: float) -> bool:
    """Copies the journal into the file and cuts it to nothing, waiting so long for others.

    False if one of them keeps it. Blocking.
    """
    with mapped_errors(path):
        writer.execute(f"PRAGMA busy_timeout = {wait_s * 1000:.0f}")
        try:
            return bool(writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
        finally:
            writer.execute(f"PRAGMA busy_timeout = {connection.LOCK_WAIT_S * 1000:.0f}")


def _look(conn: Connection, path: Path) -> None:
    if not connection.check(conn, path, CHECK_S):
        log.info("a large memory file was not looked at to its end; `hotmem validate` does that")


def _read_only(path: Path, key: EncryptionKey | None) -> list[Connection]:
    """Readers of a file that cannot be written.

    Raises:
        StoreReadOnly: If its schema would have to be changed first.
        StoreError: If it cannot be read.
    """
    readers: list[Connection] = []
    try:
        with mapped_errors(path):
            for _ in range(READERS + LANES):
                readers.append(connect(path, key=key, read_only=True))
            version = checked_version(readers[0], path)
            _look(readers[0], path)
        if version < len(STEPS):
            fact = "is empty" if not version else f"has schema {version}, {len(STEPS)} is needed"
            raise StoreReadOnly(
                f"{path} {fact} and cannot be written. Make it and its folder writable, or open a copy of it once."
            )
    except BaseException:  # interrupted or not, no open file is left behind
        for reader in readers:
            reader.close()
        raise
    return readers
