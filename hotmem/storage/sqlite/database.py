"""One SQLite file: a writer thread, and reader threads with read-only connections."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import Any, Final, Self, TypeVar

from hotmem.core.location import EncryptionKey
from hotmem.core.logs import log
from hotmem.errors import DeadlineExceeded, StoreDamaged, StoreLocked, StoreReadOnly
from hotmem.storage.database import Database
from hotmem.storage.sqlite import connection, files, migrations
from hotmem.storage.sqlite.connection import Connection, mapped_errors
from hotmem.storage.sqlite.opening import READERS, Connections, open_connections
from hotmem.types import Leftovers, UserKey

T = TypeVar("T")

CHECKPOINT_EVERY: Final = 32
"""Writes after which the write-ahead log is copied into the file, behind the writes that wait.
SQLite's own checkpoint runs within a write, which returns later."""

LOCK_POLL_S: Final = 0.002
"""Seconds between two looks whether another program has ended its write. SQLite's own handler looks
every 0.1 s and misses the pauses of an import."""

PURGE_WAIT_S: Final = 0.02
"""Seconds that one attempt to purge waits for reads to end; our own writes wait as long."""

PURGE_PAUSE_S: Final = 0.03
"""Seconds between two attempts, in which writes and reads go on."""

RETRY_EVERY_S: Final = 1.0
"""Seconds between two attempts of the background worker."""

CLOSE_WAIT_S: Final = 1.0
"""Seconds that closing waits for readers; then the last to close the file truncates the log."""


class SqliteDatabase(Database):
    """Runs query functions on a SQLite file, in threads of its own.

    Writes run one at a time, each in one transaction. Reads run concurrently on read-only
    connections, with a deadline that reaches into SQLite.

    Args:
        path: The file.
        connections: Its open connections.
    """

    joins_reads = False
    why_read_only = ", as it or its folder cannot be written. Make both writable and open it again."

    def __init__(self, path: Path, connections: Connections) -> None:
        super().__init__(
            str(path), connections.language, READERS, read_only=connections.writer is None
        )
        self.path = path
        self._file = path.absolute()
        self._identity = files.identity(self._file)
        self._lock_awaited = False
        self._writer = connections.writer
        self._readers: SimpleQueue[Connection] = SimpleQueue()
        for reader in connections.readers:
            self._readers.put(reader)
        self._damaged = Event()
        self._writes = 0
        self._purge_due = Event()
        self._purge_tried_at = -inf
        if not connections.truncated:
            self._purge_due.set()

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

    def blocked(self) -> StoreLocked | None:
        """The error of a write that waits for another program's lock now, if one does."""
        return connection.locked(self.path) if self._lock_awaited else None

    def write_here(self, ending: str, user: UserKey | None, run: Callable[[Any], T]) -> T:
        """Runs a write in the calling thread, in one transaction. Blocking.

        Raises:
            StoreDamaged: If the file was found damaged, now or by an earlier read.
            StoreError: If it could not be committed; nothing of it remains.
        """
        writer = self._writable()
        with self._mapped_errors():
            if self._damaged.is_set():
                raise connection.damaged(self.path)
            self._begin(writer)
            try:
                migrations.check_not_newer(writer, self.path)
                result = run(writer)
                files.check_same(self._file, self._identity)
                writer.execute(ending)
            except BaseException:
                if writer.in_transaction:
                    writer.execute("ROLLBACK")
                raise
            self._count_write(writer)
            return result

    def _writable(self) -> Connection:
        if self._writer is None:
            raise StoreReadOnly(f"{self.path} is open read-only{self.why_read_only}")
        return self._writer

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
        self._purge_due.set()

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
        self._purge_due.set()
        while not await self._try_purge():
            if time.monotonic() > until:
                return Leftovers.JOURNAL
            await asyncio.sleep(PURGE_PAUSE_S)
        return Leftovers.NONE

    async def retry_purge(self) -> None:
        """Tries a purge again that was prevented, at most once a second.

        Raises:
            StoreError: If the file cannot be written.
        """
        waits = time.monotonic() - self._purge_tried_at <= RETRY_EVERY_S
        if self._purge_due.is_set() and not waits and await self._try_purge():
            log.info("journal purged", reason="another program read it when something was deleted")

    async def _try_purge(self) -> bool:
        writer = self._writable()

        def purge() -> bool:
            self._purge_tried_at = time.monotonic()
            truncated = connection.truncate(writer, self.path, PURGE_WAIT_S)
            if truncated:
                self._purge_due.clear()
            return truncated

        return await self._in(self._write_pool, purge)

    def read_here(self, deadline: float | None, user: UserKey | None, run: Callable[[Any], T]) -> T:
        """Runs a read in the calling thread, until the deadline at most. Blocking.

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
                    migrations.check_not_newer(conn, self.path)
                    return run(conn)
                finally:
                    if conn.in_transaction:
                        conn.execute("ROLLBACK")
        finally:
            conn.set_progress_handler(None, 0)
            self._readers.put(conn)

    def _close(self) -> None:
        while not self._readers.empty():
            self._readers.get().close()
        if self._writer is not None:
            truncated = connection.truncate(self._writer, self.path, CLOSE_WAIT_S)
            if self._purge_due.is_set() and not truncated:
                log.warning(
                    "journal not purged",
                    reason="another program reads the file and keeps deleted content in it",
                )
            with mapped_errors(self.path):
                self._writer.close()
