"""One PostgreSQL database: a pool of connections, and threads that run query functions on them."""

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from hotmem.errors import (
    DeadlineExceeded,
    MemoryClosed,
    StoreLocked,
    StoreReadOnly,
    StoreUnreachable,
)
from hotmem.storage.postgres import migrations
from hotmem.storage.postgres.connection import (
    LOCK_WAIT_S,
    SCHEMA,
    PostgresConnection,
    adapt,
    mapped_errors,
)
from hotmem.storage.postgres.url import CONNECT_S, parse
from hotmem.types import UserKey

P = ParamSpec("P")
T = TypeVar("T")

READERS: Final = 2
"""Threads that run reads."""

CONNECTIONS: Final = 5
"""Connections at most: two readers, two threads that read inline, and the writer."""

EVERYONE: Final = None
"""The scope of a transaction over all users."""


class PostgresDatabase:
    """Runs query functions on a PostgreSQL database, in threads of its own.

    A read is one REPEATABLE READ transaction, so that all of its statements see one snapshot. A
    write is one READ COMMITTED transaction that first takes its user's lock: its statements see
    what earlier writes of the user committed. All settings are local to the transaction, so that a
    pooler may share server connections between transactions.

    Args:
        location: The URL without its password.
        pool: Connections, adapted and in autocommit mode.
        read_only: Whether the server refuses writes.
    """

    def __init__(
        self, location: str, pool: "ConnectionPool[psycopg.Connection[Any]]", *, read_only: bool
    ) -> None:
        self._location = location
        self._pool = pool
        self.read_only = read_only
        self._write_pool = ThreadPoolExecutor(1, thread_name_prefix="hotmem-writer")
        self._read_pool = ThreadPoolExecutor(READERS, thread_name_prefix="hotmem-reader")
        self._closed = Event()
        self._lock_awaited_since: float | None = None

    @classmethod
    def open(cls, url: str) -> Self:
        """Connects, and creates or migrates the schema. Blocking.

        Raises:
            StoreUnreachable: If the server cannot be reached.
            StoreError: If the database cannot be used.
        """
        location, conninfo = parse(url)
        with mapped_errors(location):
            with psycopg.connect(conninfo, autocommit=True) as conn:
                row = conn.execute("SHOW transaction_read_only").fetchone()
                read_only = row is not None and row[0] == "on"
                if not read_only:
                    migrations.migrate(conn, location)
                elif migrations.checked_version(conn, location) < len(migrations.STEPS):
                    raise StoreReadOnly(
                        f"{location} has an older schema or none, and cannot be written. Open the"
                        " primary server once."
                    )
            pool = ConnectionPool(
                conninfo,
                kwargs={"autocommit": True},
                min_size=1,
                max_size=CONNECTIONS,
                timeout=CONNECT_S,
                configure=adapt,
                name="hotmem",
                open=True,
            )
        return cls(location, pool, read_only=read_only)

    @property
    def location(self) -> str:
        """The URL without its password."""
        return self._location

    def inline(self) -> "InlinePostgresDatabase":
        """The same database, read in the calling thread."""
        return InlinePostgresDatabase(self)

    def blocked(self) -> StoreLocked | None:
        """The error of a write that waits for another program's lock now, if one does."""
        since = self._lock_awaited_since
        if since is None or time.monotonic() - since < LOCK_WAIT_S:
            return None
        return StoreLocked(f"{self._location}: a write waits for a lock of another program.")

    async def write(
        self,
        operation: Callable[Concatenate[Any, UserKey, P], T],
        user: UserKey,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Runs a query function about one user in one transaction; returns once it is durable.

        Raises:
            StoreError: If it could not be committed; nothing of it remains.
        """
        return await self._written(
            "COMMIT", user, lambda conn: operation(conn, user, *args, **kwargs)
        )

    async def write_all(
        self, operation: Callable[Concatenate[Any, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a query function about more than one user in one transaction.

        Raises:
            StoreError: If it could not be committed; nothing of it remains.
        """
        return await self._written(
            "COMMIT", EVERYONE, lambda conn: operation(conn, *args, **kwargs)
        )

    async def rehearse(
        self,
        operation: Callable[Concatenate[Any, UserKey, P], T],
        user: UserKey,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """What `write` would return; everything is rolled back.

        Raises:
            StoreError: If it could not be written.
        """
        return await self._written(
            "ROLLBACK", user, lambda conn: operation(conn, user, *args, **kwargs)
        )

    async def _written(
        self, ending: str, user: UserKey | None, run: Callable[[PostgresConnection], T]
    ) -> T:
        if self.read_only:
            raise StoreReadOnly(
                f"{self._location} was opened read-only: it is a replica or set to read-only. Name"
                " the primary server and open it again."
            )
        return await self._in(self._write_pool, lambda: self._transact(ending, user, run))

    def _transact(
        self, ending: str, user: UserKey | None, run: Callable[[PostgresConnection], T]
    ) -> T:
        lock = "" if user is None else f", pg_advisory_xact_lock({user:d})"
        begin = (
            "BEGIN ISOLATION LEVEL READ COMMITTED;"
            f" SELECT {_settings(user)}, set_config('lock_timeout', '{LOCK_WAIT_S:.0f}s', true);"
            f" SELECT 1{lock}"
        )
        self._lock_awaited_since = time.monotonic()
        try:
            with self._begun(begin) as conn:
                self._lock_awaited_since = None
                result = run(conn)
                conn.raw.execute(ending.encode())
                return result
        finally:
            self._lock_awaited_since = None

    async def read(
        self,
        operation: Callable[Concatenate[Any, UserKey, P], T],
        user: UserKey,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Runs a query function about one user in one read transaction.

        Raises:
            StoreError: If the database cannot be read.
        """
        return await self._in(
            self._read_pool,
            lambda: self.read_here(None, user, lambda conn: operation(conn, user, *args, **kwargs)),
        )

    async def read_all(
        self, operation: Callable[Concatenate[Any, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a query function about more than one user in one read transaction.

        Raises:
            StoreError: If the database cannot be read.
        """
        return await self._in(
            self._read_pool,
            lambda: self.read_here(None, EVERYONE, lambda conn: operation(conn, *args, **kwargs)),
        )

    def read_here(
        self,
        deadline: float | None,
        user: UserKey | None,
        run: Callable[[PostgresConnection], T],
    ) -> T:
        """Runs a read in the calling thread, until the deadline at most. Blocking.

        Raises:
            DeadlineExceeded: If `time.monotonic()` passed the deadline.
            MemoryClosed: If the database is closed.
            StoreError: If the database cannot be read.
        """
        self._check_open()
        timeout = ""
        if deadline is not None:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise DeadlineExceeded("A search could not begin in its time.")
            timeout = f", set_config('statement_timeout', '{max(1, int(remaining * 1000))}', true)"
        begin = (
            f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT {_settings(user)}{timeout}"
        )
        with self._begun(begin, deadline) as conn:
            result = run(conn)
            conn.raw.execute(b"COMMIT")
            return result

    @contextmanager
    def _begun(self, begin: str, deadline: float | None = None) -> Iterator[PostgresConnection]:
        """A connection within a transaction, which is rolled back if the context raises.

        A connection that turns out to be dead when the transaction begins is replaced.
        """
        with mapped_errors(self._location):
            until = time.monotonic() + CONNECT_S if deadline is None else deadline
            raw = self._connection(begin, until)
            try:
                yield PostgresConnection(raw)
            except BaseException:
                if not raw.closed:
                    try:
                        raw.execute(b"ROLLBACK")
                    except psycopg.Error:
                        raw.close()
                raise
            finally:
                self._pool.putconn(raw)

    def _connection(self, begin: str, until: float) -> "psycopg.Connection[Any]":
        while True:
            try:
                raw = self._pool.getconn(max(0.001, until - time.monotonic()))
            except PoolTimeout:
                raise StoreUnreachable(
                    f"{self._location} gave no connection in time. Check that the server runs and"
                    " has connections to spare."
                ) from None
            try:
                raw.execute(begin.encode())
            except BaseException as error:
                dead = raw.closed
                if not dead:
                    raw.execute(b"ROLLBACK")
                self._pool.putconn(raw)
                if not dead or not isinstance(error, psycopg.OperationalError):
                    raise
            else:
                return raw

    def purge_later(self) -> None:
        """Does nothing: the server's vacuum removes deleted rows."""

    async def purge(self, timeout_s: float) -> bool:
        """Does nothing: the server's vacuum removes deleted rows."""
        return True

    async def retry_purge(self) -> None:
        """Does nothing: the server's vacuum removes deleted rows."""

    async def _in(self, pool: ThreadPoolExecutor, run: Callable[[], T]) -> T:
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(pool, run)

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise MemoryClosed("The memory is closed. Open it again with Memory.open(path).")

    async def close(self) -> None:
        """Finishes what is running and closes the connections."""
        if self._closed.is_set():
            return
        self._closed.set()
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._read_pool.shutdown(wait=True)
        self._write_pool.shutdown(wait=True)
        self._pool.close()


class InlinePostgresDatabase:
    """Runs reads of a PostgreSQL database in the calling thread.

    Args:
        database: The database.
    """

    def __init__(self, database: PostgresDatabase) -> None:
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
        """Runs a query function about one user; the server stops it once the deadline passed."""
        return self._database.read_here(
            deadline, user, lambda conn: operation(conn, user, *args, **kwargs)
        )

    async def read(
        self,
        operation: Callable[Concatenate[Any, UserKey, P], T],
        user: UserKey,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Runs a query function about one user without a deadline."""
        return self._database.read_here(
            None, user, lambda conn: operation(conn, user, *args, **kwargs)
        )

    async def read_all(
        self, operation: Callable[Concatenate[Any, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a query function about more than one user without a deadline."""
        return self._database.read_here(
            None, EVERYONE, lambda conn: operation(conn, *args, **kwargs)
        )


def _settings(user: UserKey | None) -> str:
    """What a transaction sees: one user's rows, or all."""
    key, scope = ("", "all") if user is None else (f"{user:d}", "one")
    return (
        f"set_config('search_path', '{SCHEMA}, pg_catalog', true),"
        f" set_config('hotmem.user', '{key}', true), set_config('hotmem.scope', '{scope}', true)"
    )
