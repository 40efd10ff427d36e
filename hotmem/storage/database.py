"""What a storage engine offers: connections that run SQL, and databases that run query functions.

A query function takes a `Connection` as its first argument, runs SQL and returns plain data. It is
passed to a database with its other arguments. A function about one user takes that user second, so
that the type checker refuses a call without one:

    turns = await database.read(queries.turns.latest, user, session_id, 20)

What concerns no user, or more than one, says so:

    user = await database.read_all(queries.users.find, user_id)

An engine may enforce it: `read` and `write` then reach the rows of that user only, and the rows of
no user.

No query function knows which engine it is. Programs ask whether a memory is a file or on a server
(`hotmem.core.location`).
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from threading import Event
from typing import Any, ClassVar, Concatenate, Final, ParamSpec, Protocol, TypeAlias, TypeVar

from hotmem.errors import MemoryClosed, StoreLocked, StoreReadOnly
from hotmem.storage.rows import Rows
from hotmem.storage.search.primitives import SearchPrimitives
from hotmem.types import Fault, Leftovers, UserKey

P = ParamSpec("P")
T = TypeVar("T")


Pending: TypeAlias = Callable[[], T]
"""The result of a statement that was sent: calling it waits for the result.

A function that returns one has sent its statements. An engine on a server answers all that were
sent before the first call in one round trip.
"""


OfUser: TypeAlias = Callable[Concatenate[Any, UserKey, P], T]
"""A query function about one user: takes the connection and the user, then its other arguments."""

EVERYONE: Final = None
"""The scope of a transaction over all users."""

RowChange: TypeAlias = tuple[str, tuple[Any, ...] | None, tuple[Any, ...] | None]
"""A table, and the row before and after a change; None where there is none."""


class Cursor(Protocol):
    """The rows of one statement."""

    def fetchone(self) -> Any:  # noqa: ANN401 - a row holds what its statement selects
        """The first row, or None; the cursor is closed."""

    def fetchall(self) -> list[Any]:
        """All rows that are left."""

    def __iter__(self) -> Iterator[Any]:
        """The rows, one at a time."""

    @property
    def description(self) -> Sequence[Sequence[Any]]:
        """A sequence for each column, its name first."""


class Connection(Rows, Protocol):
    """Runs SQL within the transaction that `Database.read` or `Database.write` has begun."""

    @property
    def search(self) -> SearchPrimitives:
        """The engine's search index."""

    def executemany(self, statements: str, sequenceofbindings: Iterable[Any], /) -> Cursor:
        """Runs a statement once for each sequence of values."""

    def row_changes(self, tables: Container[str]) -> AbstractContextManager[list[RowChange]]:
        """Collects all changes of rows of some tables, also by cascades and triggers.

        Each row has its values in the order of `table_columns`. The list is complete once the
        context is left.
        """

    def table_columns(self, relation: str) -> list[tuple[str, int]]:
        """Names of a table's columns in their order, each with its place in the primary key, or 0.

        An engine may have more of them than another, such as a user's row number in every table.
        """

    def row_numbers(self) -> dict[str, int]:
        """The highest row number that each table has given, also to rows that are deleted."""

    def raise_row_numbers(self, numbers: Mapping[str, int]) -> None:
        """Has each table give higher row numbers than these from now on."""

    def lock_user(self, user: UserKey) -> None:
        """Serialises this transaction with other writes of a user, until it ends.

        A function run by `write_all` calls it before it reads what it changes of the user, and
        again when it comes back to the user after another: rows that are inserted without a user
        belong to the last one locked. For a function run by `write` the database has done so. An
        engine with one writer at a time, whose rows need no user of their own, does nothing.
        """

    def hold_encoder(self, *, change: bool = False) -> None:
        """Keeps the database's encoder from being changed until this transaction ends.

        Called before the encoder is read to store vectors; with `change` it waits for all those.
        """

    def size_bytes(self, user: UserKey) -> int:
        """Size of the stored data of a user in bytes, or of all users if they share one file."""

    def integrity_faults(self) -> list[Fault]:
        """Faults that the engine finds in its own structures, such as dangling references."""


class InlineDatabase:
    """Runs reads of a database in the calling thread, which blocks meanwhile.

    For threads that may wait, such as the one of recalls: passing a read to another thread costs a
    fifth of a recall. Its methods are coroutines so that callers need not know the difference, but
    they never suspend.

    Args:
        database: The database.
    """

    def __init__(self, database: "Database") -> None:
        self._database = database

    @property
    def joins_reads(self) -> bool:
        """Whether reads asked for at the same time should run as one: each costs a round trip."""
        return self._database.joins_reads

    async def read_until(
        self,
        deadline: float | None,
        operation: OfUser[P, T],
        user: UserKey,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Runs a query function about one user until `time.monotonic()` passes the deadline.

        Raises:
            DeadlineExceeded: If the deadline passed.
            StoreError: If the database cannot be read.
        """
        return self._database.read_here(
            deadline, user, lambda conn: operation(conn, user, *args, **kwargs)
        )

    async def read(
        self, operation: OfUser[P, T], user: UserKey, /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a query function about one user, without a deadline.

        Raises:
            StoreError: If the database cannot be read.
        """
        return await self.read_until(None, operation, user, *args, **kwargs)

    async def read_all(
        self, operation: Callable[Concatenate[Any, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a query function about no user or more than one, without a deadline.

        Raises:
            StoreError: If the database cannot be read.
        """
        return self._database.read_here(
            None, EVERYONE, lambda conn: operation(conn, *args, **kwargs)
        )


class Database(ABC):
    """One open database. Its methods suspend while threads of its own do the work.

    Writes run one at a time, each in one transaction; reads run concurrently. An engine says how
    one of each runs in the calling thread.

    Attributes:
        location: The path of the file, or the URL without its password; for messages.
        read_only: Whether every write raises `StoreReadOnly`.
        language: The language whose rules stem indexed words, by its ISO 639-1 code.
    """

    joins_reads: ClassVar[bool]
    """Whether reads asked for at the same time should run as one: each costs a round trip."""

    why_read_only: ClassVar[str]
    """Why the engine opens a database read-only, and the fix; the end of a sentence."""

    def __init__(self, location: str, language: str, readers: int, *, read_only: bool) -> None:
        self.location = location
        self.language = language
        self.read_only = read_only
        self._write_pool = ThreadPoolExecutor(1, thread_name_prefix="hotmem-writer")
        self._read_pool = ThreadPoolExecutor(readers, thread_name_prefix="hotmem-reader")
        self._closed = Event()

    @abstractmethod
    def read_here(self, deadline: float | None, user: UserKey | None, run: Callable[[Any], T]) -> T:
        """Runs a read in the calling thread, until the deadline at most. Blocking.

        Args:
            deadline: A time of `time.monotonic()`; None for none.
            user: The user; None if it concerns others too.
            run: What reads, of a connection.

        Raises:
            DeadlineExceeded: If the deadline passed.
            MemoryClosed: If the database is closed.
            StoreError: If the database cannot be read.
        """

    @abstractmethod
    def write_here(self, ending: str, user: UserKey | None, run: Callable[[Any], T]) -> T:
        """Runs a write in the calling thread. Blocking.

        Args:
            ending: "COMMIT", or "ROLLBACK" to try it only.
            user: The user, who is locked; None if it concerns others too.
            run: What writes, of a connection.

        Raises:
            StoreError: If it could not be committed; nothing of it remains.
        """

    @abstractmethod
    def blocked(self) -> StoreLocked | None:
        """The error of a write that waits for another program's lock now, if one does."""

    @abstractmethod
    def purge_later(self) -> None:
        """Marks, within a write, that deleted content has to be purged after it, see `purge`."""

    @abstractmethod
    async def purge(self, timeout_s: float) -> Leftovers:
        """Removes deleted content from the engine's own files, such as a write-ahead log.

        Args:
            timeout_s: Seconds to wait for readers that prevent it.

        Returns:
            Where copies remain; if a reader prevents it, `retry_purge` tries again.

        Raises:
            StoreError: If it cannot be written.
        """

    @abstractmethod
    async def retry_purge(self) -> None:
        """Tries a purge again that was prevented.

        Raises:
            StoreError: If it cannot be written.
        """

    @abstractmethod
    def _close(self) -> None:
        """Closes the connections; no read or write runs any more. Blocking."""

    def inline(self) -> InlineDatabase:
        """The same database, read in the calling thread."""
        return InlineDatabase(self)

    async def read(
        self, operation: OfUser[P, T], user: UserKey, /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a query function about one user in one read transaction.

        Args:
            operation: Takes the connection and the user, then its other arguments.
            user: The user; it sees this user's rows only, where the engine enforces that.
            args: Its other arguments.
            kwargs: The same, by name.

        Raises:
            StoreError: If the database cannot be read.
        """
        return await self._read(user, lambda conn: operation(conn, user, *args, **kwargs))

    async def read_all(
        self, operation: Callable[Concatenate[Any, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a query function about no user or more than one in one read transaction.

        Raises:
            StoreError: If the database cannot be read.
        """
        return await self._read(EVERYONE, lambda conn: operation(conn, *args, **kwargs))

    async def write(
        self, operation: OfUser[P, T], user: UserKey, /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a query function about one user in one transaction; returns once it is durable.

        Writes of one user run one after the other.

        Args:
            operation: Takes the connection and the user, then its other arguments.
            user: The user; it sees this user's rows only, where the engine enforces that.
            args: Its other arguments.
            kwargs: The same, by name.

        Raises:
            StoreError: If it could not be committed; nothing of it remains.
        """
        return await self._write(
            "COMMIT", user, lambda conn: operation(conn, user, *args, **kwargs)
        )

    async def write_all(
        self, operation: Callable[Concatenate[Any, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a query function about no user or more than one in one transaction.

        Returns once it is durable. The function locks each user whose rows it changes, see
        `Connection.lock_user`.

        Raises:
            StoreError: If it could not be committed; nothing of it remains.
        """
        return await self._write("COMMIT", EVERYONE, lambda conn: operation(conn, *args, **kwargs))

    async def rehearse(
        self, operation: OfUser[P, T], user: UserKey, /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a write and rolls it back; returns its result.

        Raises:
            StoreError: If it could not be written.
        """
        return await self._write(
            "ROLLBACK", user, lambda conn: operation(conn, user, *args, **kwargs)
        )

    async def close(self) -> None:
        """Finishes what is running and closes the database."""
        if self._closed.is_set():
            return
        self._closed.set()
        await asyncio.to_thread(self._shut_down)

    async def _read(self, user: UserKey | None, run: Callable[[Any], T]) -> T:
        return await self._in(self._read_pool, lambda: self.read_here(None, user, run))

    async def _write(self, ending: str, user: UserKey | None, run: Callable[[Any], T]) -> T:
        if self.read_only:
            raise StoreReadOnly(f"{self.location} is open read-only{self.why_read_only}")
        return await self._in(self._write_pool, lambda: self.write_here(ending, user, run))

    async def _in(self, pool: ThreadPoolExecutor, run: Callable[[], T]) -> T:
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(pool, run)

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise MemoryClosed("The memory is closed. Open it again with Memory.open(path).")

    def _shut_down(self) -> None:
        self._read_pool.shutdown(wait=True)
        self._write_pool.shutdown(wait=True)
        self._close()
