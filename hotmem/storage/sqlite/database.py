"""One SQLite file: a writer thread, and reader threads with read-only connections."""

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar

from hotmem.core.location import EncryptionKey
from hotmem.core.logs import log
from hotmem.errors import DeadlineExceeded, MemoryClosed, StoreDamaged, StoreLocked, StoreReadOnly
from hotmem.storage.sqlite import connection, files
from hotmem.storage.sqlite.connection import Connection, Journal, mapped_errors
from hotmem.storage.sqlite.opening import READERS, Connections, open_connections
from hotmem.types import Leftovers, UserKey

P = ParamSpec("P")
T = TypeVar("T")

CHECKPOINT_EVERY: Final = 32
"""Writes after which the write-ahead log is copied into the file, behind the writes that wait.
SQLite's own checkpoint runs within a write, which returns later."""

LOCK_POLL_S: Final = 0.002
"""Seconds between two looks whether another program has ended its write. SQLite's own handler looks
every 0.1 s and misses the pauses of an import."""

CLOSE_WAIT_S: Final = 1.0
"""Seconds that closing waits for readers; then the last to close the file truncates the log."""


class SqliteDatabase:
    """Runs query functions on a SQLite file, in threads of its own.

    Writes run one at a time, each in one transaction. Reads run concurrently on read-only
    connections, with a deadline that reaches into SQLite.

    Args:
        path: The file.
        connections: Its open connections.
    """

    def __init__(self, path: Path, connections: Connections) -> None:
        self.path = path
        self.read_only = connections.writer is None
        self.language = connections.language
        self._file = path.absolute()
        self._identity = files.identity(self._file)
        self._lock_awaited = False
        self._writer = connections.writer
        self._readers: SimpleQueue[Connection] = SimpleQueue()
        for reader in connections.readers:
            self._readers.put(reader)
        self._write_pool = ThreadPoolExecutor(1, thread_name_prefix="hotmem-writer")
        self._read_pool = ThreadPoolExecutor(READERS, thread_name_prefix="hotmem-reader")
        self._closed = Event()
        self._damaged = Event()
        self._writes = 0
        self._journal = Journal(path)
        if not connections.truncated:
            self._journal.mark()

    @classmethod
    def open(
        cls, path: Path, key: EncryptionKey | None = None, language: str | None = None
    ) -> Self:
        """Opens or creates the file, see `hotmem.storage.sqlite.opening`. Blocking.

        Raises:
            StoreKeyWrong: If the key is not the file's.
            StoreError: If the file cannot be used.
        """
        return cls(path, open_connections(path, key, language))

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
        self,
        operation: Callable[Concatenate[Any, UserKey, P], T],
        user: UserKey,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Runs a query function about one user; returns once it is committed to disk.

        Raises:
            StoreDamaged: If the file was found damaged, now or by an earlier read.
            StoreError: If it could not be committed; nothing of it remains.
        """
        return await self._transact("COMMIT", operation, user, *args, **kwargs)

    async def write_all(
        self, operation: Callable[Concatenate[Any, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a query function about no user or more than one, committed to disk on return.

        Raises:
            StoreDamaged: If the file was found damaged, now or by an earlier read.
            StoreError: If it could not be committed; nothing of it remains.
        """
        return await self._transact("COMMIT", operation, *args, **kwargs)

    async def rehearse(
        self,
        operation: Callable[Concatenate[Any, UserKey, P], T],
        user: UserKey,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Runs a write and rolls it back; returns its result.

        Raises:
            StoreError: If it could not be written.
        """
        return await self._transact("ROLLBACK", operation, user, *args, **kwargs)

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
                f"{self.path} is open read-only, as it or its folder cannot be written. Make both"
                " writable and open it again."
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
        """Raises SQLite's errors as ours; after one that reports damage nothing is written."""
        try:
            with mapped_errors(self.path):
                yield
        except StoreDamaged:
            self._damaged.set()
            raise

    def _begin(self, writer: Connection) -> None:
        """Begins a transaction once no other program has one."""
        until = time.monotonic() + connection.LOCK_WAIT_S
        writer.execute("PRAGMA busy_timeout = 0")
        try:
            while not connection.begun(writer):
                if time.monotonic() > until or self._closed.is_set():
                    raise connection.locked(self.path)
                self._lock_awaited = True
                time.sleep(LOCK_POLL_S)
        finally:
            self._lock_awaited = False
            writer.execute(f"PRAGMA busy_timeout = {connection.LOCK_WAIT_S * 1000:.0f}")

    def _count_write(self, writer: Connection) -> None:
        self._writes += 1
        if self._writes % CHECKPOINT_EVERY == 0:
            with suppress(RuntimeError):  # closing truncates the log itself
                self._write_pool.submit(
                    lambda: writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                )

    def purge_later(self) -> None:
        """Marks, within a write, that the write-ahead log has to be truncated after it."""
        self._journal.mark()

    async def purge(self, timeout_s: float) -> Leftovers:
        """Truncates the write-ahead log, which holds copies of what was deleted.

        Reads that are under way prevent it: ours end within milliseconds, another program's may
        last.

        Args:
            timeout_s: Seconds in which it is tried.

        Returns:
            Where copies remain. If it could not be truncated, `retry_purge` tries again, and so do
            closing and the next opening.

        Raises:
            StoreError: If the file cannot be written.
        """
        until = time.monotonic() + timeout_s
        self._journal.mark()
        while not await self._try_purge():
            if time.monotonic() > until:
                return Leftovers.JOURNAL
            await asyncio.sleep(connection.PURGE_PAUSE_S)
        return Leftovers.NONE

    async def retry_purge(self) -> None:
        """Tries a purge again that was prevented, at most once a second.

        Raises:
            StoreError: If the file cannot be written.
        """
        if self._journal.retry_due and await self._try_purge():
            log.info("journal purged", reason="another program read it when something was deleted")

    async def _try_purge(self) -> bool:
        writer = self._writer
        if writer is None:
            raise StoreReadOnly(f"{self.path} is open read-only, so that it cannot be purged.")
        return await self._in(self._write_pool, lambda: self._journal.purge(writer))

    async def read(
        self,
        operation: Callable[Concatenate[Any, UserKey, P], T],
        user: UserKey,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Runs a query function about one user on a read-only connection.

        Raises:
            StoreError: If the file cannot be read.
        """
        return await self._in(
            self._read_pool, lambda: self.read_here(None, operation, user, *args, **kwargs)
        )

    async def read_all(
        self, operation: Callable[Concatenate[Any, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a query function about no user or more than one on a read-only connection.

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
        """Finishes what is running, truncates the write-ahead log and closes the file."""
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
            truncated = connection.truncate(self._writer, self.path, CLOSE_WAIT_S)
            if self._journal.marked and not truncated:
                log.warning(
                    "journal not purged",
                    reason="another program reads the file and keeps deleted content in it",
                )
            with mapped_errors(self.path):
                self._writer.close()


class InlineSqliteDatabase:
    """Runs reads of a SQLite file in the calling thread.

    Args:
        database: The file.
    """

    joins_reads = False

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def read_until(
        self,
        deadline: float | None,
        operation: Callable[Concatenate[Any, UserKey, P], T],
        user: UserKey,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Runs a query function about one user, and stops inside SQLite after the deadline."""
        return self._database.read_here(deadline, operation, user, *args, **kwargs)

    async def read(
        self,
        operation: Callable[Concatenate[Any, UserKey, P], T],
        user: UserKey,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Runs a query function about one user, without a deadline."""
        return self._database.read_here(None, operation, user, *args, **kwargs)

    async def read_all(
        self, operation: Callable[Concatenate[Any, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a query function about no user or more than one, without a deadline."""
        return self._database.read_here(None, operation, *args, **kwargs)
