"""One PostgreSQL database: a pool of connections, and threads that run query functions on them."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar

from psycopg_pool import ConnectionPool

from hotmem.errors import (
    MemoryClosed,
    StoreLocked,
    StoreReadOnly,
)
from hotmem.storage.postgres import migrations
from hotmem.storage.postgres.connection import (
    CONNECT_S,
    OPTIONS,
    SCHEMA,
    Client,
    PostgresConnection,
    configure,
    mapped_errors,
    parse,
)
from hotmem.storage.postgres.transactions import Transactions
from hotmem.storage.queries.maintenance import ENTRIES, of_index
from hotmem.text.languages import ENGLISH
from hotmem.types import Leftovers, UserKey

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

    Args:
        location: The URL without its password.
        pool: Connections, adapted and in autocommit mode.
        read_only: Whether the server refuses writes.
        role: The role that transactions change to; None for the connection's own.
        language: The language of the search index.
    """

    def __init__(
        self,
        location: str,
        pool: "ConnectionPool[Client]",
        *,
        read_only: bool,
        role: str | None = None,
        language: str = ENGLISH,
    ) -> None:
        self._location = location
        self._transactions = Transactions(location, pool, role, language)
        self.read_only = read_only
        self.language = language
        self._write_pool = ThreadPoolExecutor(1, thread_name_prefix="hotmem-writer")
        self._read_pool = ThreadPoolExecutor(READERS, thread_name_prefix="hotmem-reader")
        self._closed = Event()

    @classmethod
    def open(cls, url: str, language: str | None = None) -> Self:
        """Connects, and creates or migrates the schema. Blocking.

        Args:
            url: The URL.
            language: The language that the search index must have; None for the one that it has.

        Raises:
            StoreUnusable: If the index has another language.
            StoreUnreachable: If the server cannot be reached.
            StoreError: If the database cannot be used.
        """
        location, conninfo = parse(url)
        with mapped_errors(location):
            with Client.connect(conninfo, **OPTIONS) as conn:
                conn.patience_s = CONNECT_S
                row = conn.execute("SHOW transaction_read_only").fetchone()
                read_only = row is not None and row[0] == "on"
                if not read_only:
                    migrations.migrate(conn, location)
                elif migrations.checked_version(conn, location) < len(migrations.STEPS):
                    raise StoreReadOnly(
                        f"{location} has an older schema or none, and cannot be written. Open the"
                        " primary server once."
                    )
                found = migrations.isolation(conn)
                migrations.warn_if_bypassed(found, location)
                entries = conn.execute(ENTRIES.format(meta=f"{SCHEMA}.meta").encode()).fetchall()
                language = of_index(entries, language, location)
            pool = ConnectionPool(
                conninfo,
                connection_class=Client,
                kwargs=OPTIONS,
                min_size=1,
                max_size=CONNECTIONS,
                timeout=CONNECT_S,
                reconnect_timeout=CONNECT_S,
                configure=configure,
                name="hotmem",
                open=True,
            )
        return cls(location, pool, read_only=read_only, role=found.role, language=language)

    @property
    def location(self) -> str:
        """The URL without its password."""
        return self._location

    def inline(self) -> "InlinePostgresDatabase":
        """The same database, read in the calling thread."""
        return InlinePostgresDatabase(self)

    def blocked(self) -> StoreLocked | None:
        """The error of a write that waits for another program's lock now, if one does."""
        return self._transactions.blocked()

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
        return await self._in(self._write_pool, lambda: self._transactions.write(ending, user, run))

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
        return self._transactions.read(deadline, user, run)

    def purge_later(self) -> None:
        """Does nothing: the server's vacuum removes deleted rows."""

    async def purge(self, timeout_s: float) -> Leftovers:
        """Does nothing: the server's vacuum removes deleted rows."""
        return Leftovers.SERVER

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
        self._transactions.close()


class InlinePostgresDatabase:
    """Runs reads of a PostgreSQL database in the calling thread.

    Args:
        database: The database.
    """

    joins_reads = True

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
