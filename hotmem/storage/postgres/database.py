"""One PostgreSQL database: a pool of connections, and threads that run query functions on them."""

from collections.abc import Callable
from typing import Any, Final, ParamSpec, Self, TypeVar

from psycopg_pool import ConnectionPool

from hotmem.errors import (
    StoreLocked,
    StoreReadOnly,
)
from hotmem.storage.database import Database
from hotmem.storage.postgres import migrations
from hotmem.storage.postgres.connection import (
    CONNECT_S,
    OPTIONS,
    SCHEMA,
    Client,
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


class PostgresDatabase(Database):
    """Runs query functions on a PostgreSQL database, in threads of its own.

    Args:
        location: The URL without its password.
        pool: Connections, adapted and in autocommit mode.
        read_only: Whether the server refuses writes.
        role: The role that transactions change to; None for the connection's own.
        language: The language of the search index.
    """

    joins_reads = True
    why_read_only = ": it is a replica or set to read-only. Name the primary and open it again."

    def __init__(
        self,
        location: str,
        pool: "ConnectionPool[Client]",
        *,
        read_only: bool,
        role: str | None = None,
        language: str = ENGLISH,
    ) -> None:
        super().__init__(location, language, READERS, read_only=read_only)
        self._transactions = Transactions(location, pool, role, language)

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

    def blocked(self) -> StoreLocked | None:
        """The error of a write that waits for another program's lock now, if one does."""
        return self._transactions.blocked()

    def write_here(self, ending: str, user: UserKey | None, run: Callable[[Any], T]) -> T:
        """Runs a write in the calling thread, in one transaction. Blocking.

        Raises:
            StoreUncertain: If it is not known whether it was committed.
            StoreError: If it could not be committed; nothing of it remains.
        """
        return self._transactions.write(ending, user, run)

    def read_here(self, deadline: float | None, user: UserKey | None, run: Callable[[Any], T]) -> T:
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

    def _close(self) -> None:
        self._transactions.close()
