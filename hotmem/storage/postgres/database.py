"""One PostgreSQL database: transactions on pooled connections, in threads that run query functions.

A read is one REPEATABLE READ transaction, so that all of its statements see one snapshot. A write
is one READ COMMITTED transaction that first takes its user's lock: its statements see what earlier
writes of the user committed. All settings are local to the transaction, so that a pooler may share
server connections between transactions.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, Self, TypeVar

import psycopg
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolTimeout

from hotmem.core.logs import log
from hotmem.errors import (
    DeadlineExceeded,
    StoreError,
    StoreLocked,
    StoreReadOnly,
    StoreUncertain,
    StoreUnreachable,
)
from hotmem.storage.database import Database
from hotmem.storage.postgres import diagnosis, migrations
from hotmem.storage.postgres.connection import (
    CONNECT_S,
    LOCK_WAIT_S,
    OPTIONS,
    SCHEMA,
    UNREACHABLE,
    Client,
    PostgresConnection,
    configure,
    mapped_errors,
    parse,
)
from hotmem.storage.postgres.diagnosis import timed
from hotmem.storage.queries.maintenance import ENTRIES, of_index
from hotmem.text.languages import ENGLISH
from hotmem.types import Leftovers, UserKey

T = TypeVar("T")

READERS: Final = 2
"""Threads that run reads."""

CONNECTIONS: Final = 5
"""Connections at most: two readers, two threads that read inline, and the writer."""

VERSION: Final = f"(SELECT value FROM {SCHEMA}.meta WHERE key = 'version')"
"""The schema's version, read in each transaction: a migration may have changed it meanwhile."""

STATE: Final = f"""
    SELECT {VERSION}, pg_postmaster_start_time()::TEXT,
        CASE current_setting('transaction_read_only') WHEN 'off'
            THEN pg_current_xact_id()::TEXT END""".encode()
"""A server that is read-only gives no transaction id."""

STATUS: Final = "SELECT pg_postmaster_start_time()::TEXT, pg_xact_status(%s::TEXT::xid8)"
"""The outcome of a transaction. After a restart or a failover its id may be another's."""

IN_PROGRESS: Final = "in progress"
"""The status of a transaction whose server has not noticed yet that its client is gone."""

PAUSE_S: Final = 0.05
"""Seconds between two looks at such a transaction."""


@dataclass(frozen=True, slots=True, eq=False)
class Begun:
    """A write that has begun.

    Attributes:
        raw: Its connection.
        server: When the server was started, which tells it from every other.
        transaction: Its id.
    """

    raw: Client
    server: str
    transaction: str


WRITE_MS: Final = 60_000
"""Milliseconds that a statement of a write may take."""

WARM_S: Final = 0.03
"""Seconds that a connection is kept for the next read: those of one recall follow at once."""


NO_LIMIT: Final = 0
"""The server's word for statements that may take any time."""

SETTINGS: Final = f"""
    SELECT {VERSION}, set_config('search_path', %s, true), set_config('hotmem.user', %s, true),
        set_config('hotmem.scope', %s, true), set_config('statement_timeout', %s, true),
        set_config('role', %s, true), set_config('jit', 'off', true)""".encode()
"""The schema's version; what a transaction sees, and the milliseconds a statement may run."""

BEGIN_READ: Final = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
BEGIN_WRITE: Final = b"BEGIN ISOLATION LEVEL READ COMMITTED"
LOCK_LIMIT: Final = b"SELECT set_config('lock_timeout', %s, true)"
LOCK: Final = f"SELECT pg_advisory_xact_lock_shared({migrations.LOCK})".encode()
LOCK_USER: Final = LOCK + b", pg_advisory_xact_lock(%s)"
"""Taken by a separate statement: those after it see what was committed before it was free."""

CHAIN_READ: Final = b"ROLLBACK AND CHAIN"
"""Ends a read and begins another of the same kind, in one statement: within a pipeline the
isolation level of a second BEGIN may be refused."""


READ_S: Final = 60.0
ALL_READ_S: Final = 600.0
"""Seconds that a read without a deadline waits for the server: of one user, and of all."""

GRACE_S: Final = 0.5
"""Seconds after its deadline that a read waits for the server, which ends it then by itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Lent:
    """A connection of the pool that runs reads.

    Attributes:
        raw: The connection.
        pipeline: Its pipeline mode, which closing ends.
        begun: Whether the transaction of an earlier read is still open.
    """

    raw: Client
    pipeline: ExitStack
    begun: bool = False


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
        self._role = role
        self.pool = pool
        self._ending_pool = ThreadPoolExecutor(1, thread_name_prefix="hotmem-ending")
        self._warm: list[Lent] = []
        self._lock = Lock()
        self._lock_awaited_since: float | None = None
        diagnosis.OBSERVED.add(self)

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
                read_only = conn.execute("SHOW transaction_read_only").fetchone() == ("on",)
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
        since = self._lock_awaited_since
        if since is None or time.monotonic() - since < LOCK_WAIT_S:
            return None
        return StoreLocked(f"{self.location}: a write waits for a lock of another program.")

    def purge_later(self) -> None:
        """Does nothing: the server's vacuum removes deleted rows."""

    async def purge(self, timeout_s: float) -> Leftovers:
        """Does nothing: the server's vacuum removes deleted rows."""
        return Leftovers.SERVER

    async def retry_purge(self) -> None:
        """Does nothing: the server's vacuum removes deleted rows."""

    def _close(self) -> None:
        diagnosis.OBSERVED.discard(self)
        self._ending_pool.shutdown(wait=True)
        self.pool.close()

    def read_here(self, deadline: float | None, user: UserKey | None, run: Callable[[Any], T]) -> T:
        """Runs a read in the calling thread, until the deadline at most. Blocking.

        A connection that has died is replaced.

        Raises:
            DeadlineExceeded: If `time.monotonic()` passed the deadline.
            MemoryClosed: If the database is closed.
            StoreError: If the database cannot be read.
        """
        self._check_open()
        until = time.monotonic() + CONNECT_S if deadline is None else deadline
        if time.monotonic() > until:
            raise DeadlineExceeded("A search could not begin in its time.")
        with timed("read"), mapped_errors(self.location):
            while True:
                lent = self._take_warm() or self._lend(until)
                try:
                    return self._read_on(lent, deadline, user, run)
                except psycopg.OperationalError:
                    if not lent.raw.closed or time.monotonic() > until:
                        raise

    def _read_on(
        self, lent: Lent, deadline: float | None, user: UserKey | None, run: Callable[[Any], T]
    ) -> T:
        """Runs a read on a connection.

        All statements are sent without waiting for the results of those before. The transaction is
        ended by the next read on the connection, or in a thread of its own after `WARM_S`, so that
        the caller does not wait for it.
        """
        try:
            limit_ms = NO_LIMIT
            lent.raw.patience_s = ALL_READ_S if user is None else READ_S
            if deadline is not None:
                limit_ms = round((deadline - time.monotonic()) * 1000)
                if limit_ms <= 0:
                    raise DeadlineExceeded("A search could not begin in its time.")
                lent.raw.patience_s = limit_ms / 1000 + GRACE_S
            lent.raw.execute(CHAIN_READ if lent.begun else BEGIN_READ)
            state = self._set(lent.raw, user, limit_ms)
            try:
                result = run(PostgresConnection(lent.raw, user, self.language))
            except psycopg.ProgrammingError:  # of another schema?
                self._check_version(state)
                raise
            self._check_version(state)
        except BaseException:  # interrupted or not, the connection goes back
            self._end(lent)
            raise
        self._keep_warm(lent)
        return result

    def _check_version(self, state: "psycopg.Cursor[Any]") -> None:
        row = state.fetchone()
        migrations.check_current(int(row[0] or 0) if row else 0, self.location)

    def _lend(self, until: float) -> Lent:
        raw = self._free_connection(until)
        pipeline = ExitStack()
        try:
            pipeline.enter_context(raw.pipeline())
        except BaseException:  # interrupted or not, the connection goes back
            self.pool.putconn(raw)
            raise
        return Lent(raw, pipeline)

    def _take_warm(self) -> Lent | None:
        with self._lock:
            return self._warm.pop() if self._warm else None

    def _keep_warm(self, lent: Lent) -> None:
        kept = Lent(lent.raw, lent.pipeline, begun=True)
        with self._lock:
            self._warm.append(kept)
        self._ending_pool.submit(self._end_later, kept, time.monotonic() + WARM_S)

    def _end_later(self, kept: Lent, due: float) -> None:
        """Ends a transaction, unless another read has taken its connection meanwhile."""
        time.sleep(max(0.0, due - time.monotonic()))
        with self._lock:
            if not any(one is kept for one in self._warm):
                return
            self._warm.remove(kept)
        self._end(kept)

    def _end(self, lent: Lent) -> None:
        """Ends a read transaction; a connection that cannot is closed."""
        try:
            with suppress(psycopg.Error):
                lent.pipeline.close()
        finally:
            self._give_back(lent.raw)

    def write_here(self, ending: str, user: UserKey | None, run: Callable[[Any], T]) -> T:
        """Runs a write in the calling thread, in one transaction. Blocking.

        Raises:
            StoreUncertain: If it is not known whether it was committed.
            StoreError: If it could not be committed; nothing of it remains.
        """
        try:
            with timed("write"), mapped_errors(self.location):
                begun = self._begin(user, time.monotonic() + CONNECT_S)
                try:
                    result = run(PostgresConnection(begun.raw, user, self.language))
                    self._commit(begun, ending)
                    return result
                except psycopg.errors.ReadOnlySqlTransaction:
                    begun.raw.close()  # a new connection may reach the new primary
                    raise
                finally:
                    self._give_back(begun.raw)
        except DeadlineExceeded:
            raise StoreError(
                f"{self.location}: a statement took over {WRITE_MS // 1000} s and was stopped."
                " Nothing of this write was stored."
            ) from None

    def _begin(self, user: UserKey | None, until: float) -> Begun:
        """Begins a write; a connection that turns out to be dead is replaced."""
        while True:
            raw = self._free_connection(until)
            raw.patience_s = LOCK_WAIT_S + CONNECT_S
            self._lock_awaited_since = time.monotonic()
            try:
                with raw.pipeline():
                    raw.execute(BEGIN_WRITE)
                    self._set(raw, user, WRITE_MS)
                    raw.execute(LOCK_LIMIT, (f"{LOCK_WAIT_S:.0f}s",))
                    raw.execute(*((LOCK,) if user is None else (LOCK_USER, (user,))))
                    state = raw.execute(STATE)
                version, server, transaction = state.fetchone() or (None, "", None)
                migrations.check_current(int(version or 0), self.location)
                if transaction is None:
                    raw.close()  # a new connection may reach the new primary
                    raise psycopg.errors.ReadOnlySqlTransaction
            except BaseException as error:  # interrupted or not, the connection goes back
                dead = raw.closed
                self._give_back(raw)
                if (
                    not dead
                    or not isinstance(error, psycopg.OperationalError)
                    or time.monotonic() > until
                ):
                    raise
            else:
                raw.patience_s = WRITE_MS / 1000 + CONNECT_S
                return Begun(raw, server, transaction)
            finally:
                self._lock_awaited_since = None

    def _commit(self, begun: Begun, ending: str) -> None:
        """Ends a write.

        If the connection is lost before the answer, the server is asked for the outcome.

        Raises:
            StoreUncertain: If it does not say.
            psycopg.OperationalError: If nothing was committed.
        """
        try:
            begun.raw.execute(ending.encode(), prepare=False)
        except psycopg.OperationalError as error:
            if not (error.sqlstate or "08").startswith(UNREACHABLE):
                raise
            begun.raw.close()
            match self._status(begun):
                case "committed":
                    log.info("commit confirmed after a lost connection")
                case "aborted":
                    raise
                case _:
                    raise StoreUncertain(
                        f"{self.location} was lost while a write was committed, which may be"
                        " stored or not. Look before you repeat it; turns can be repeated."
                    ) from error

    def _status(self, begun: Begun) -> str | None:
        """What became of a transaction; None if the server that ran it does not say in time."""
        until = time.monotonic() + CONNECT_S
        status: str | None = IN_PROGRESS
        while status == IN_PROGRESS and (left := until - time.monotonic()) > 0:
            try:
                raw = self._free_connection(until)
            except StoreUnreachable:
                return None
            raw.patience_s = left
            try:
                server, status = raw.execute(STATUS, (begun.transaction,)).fetchone() or ("", None)
                if server != begun.server:
                    return None
                if status == IN_PROGRESS:
                    time.sleep(PAUSE_S)
            except psycopg.OperationalError:
                raw.close()
            except psycopg.Error:  # an id that this server has not given yet
                return None
            finally:
                self._give_back(raw)
        return status

    def _give_back(self, raw: Client) -> None:
        """Returns a connection to the pool, outside of a transaction or closed."""
        try:
            if not raw.closed and raw.info.transaction_status != TransactionStatus.IDLE:
                raw.execute(b"ROLLBACK")
        except psycopg.Error:
            raw.close()
        finally:
            self.pool.putconn(raw)

    def _free_connection(self, until: float) -> Client:
        try:
            return self.pool.getconn(max(0.001, until - time.monotonic()))
        except PoolTimeout:
            raise StoreUnreachable(
                f"{self.location} gave no connection in time. Check that the server runs and"
                " has connections to spare."
            ) from None

    def _set(self, raw: Client, user: UserKey | None, limit_ms: int) -> "psycopg.Cursor[Any]":
        """Sets what a transaction sees: one user's rows, or all; returns the schema's version."""
        key, scope = ("", "all") if user is None else (f"{user:d}", "one")
        path, role = f"{SCHEMA}, pg_catalog", self._role or "none"
        return raw.execute(SETTINGS, (path, key, scope, str(limit_ms), role))
