"""A psycopg connection that runs the statements of query functions, with its errors as ours."""

import json
import time
from collections.abc import Container, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar, cast

import psycopg
from psycopg.abc import Buffer
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.numeric import Int8Dumper, NumericBinaryLoader
from psycopg.types.string import StrDumper

from hotmem.core.location import ServerUrl
from hotmem.errors import (
    DeadlineExceeded,
    HotMemError,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreUnreachable,
    StoreUnusable,
)
from hotmem.storage.database import Cursor, RowChange
from hotmem.storage.dialect import to_postgres
from hotmem.storage.postgres.primitives import PostgresSearch
from hotmem.storage.rows import Rows
from hotmem.text.languages import ENGLISH
from hotmem.types import Fault, UserKey

CONNECT_S: Final = 5.0
"""Seconds to wait for a connection."""

OPTIONS: Final[dict[str, Any]] = {"autocommit": True, "prepare_threshold": None}
"""Of every connection. Those of the pool prepare statements unless there is a pooler between."""


SETTINGS: Final[dict[str, Any]] = {
    "application_name": "hotmem",
    "connect_timeout": round(CONNECT_S),
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
"""Of every connection, unless the URL sets them: a server that no longer answers is noticed."""


def parse(url: str) -> tuple[str, str]:
    """The URL without its password, for messages, and the connection string.

    Raises:
        StoreUnusable: If it is no URL of PostgreSQL.
    """
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise StoreUnusable(
            "This is no URL of a PostgreSQL database. Write it as"
            " postgresql://user:password@host:5432/database."
        ) from None
    return str(ServerUrl(url)), make_conninfo(**(SETTINGS | parts))


T = TypeVar("T")

LOOK_S: Final = 0.1
"""Seconds between two looks at the clock while an answer is awaited."""


class Client(psycopg.Connection[Any]):
    """A connection whose calls wait for the server for a limited time.

    The server's own timeouts, and those of TCP, do not end a call to a server process that has been
    stopped. The connection is closed then: what the server did is not known.

    Attributes:
        patience_s: Seconds that a call waits; None for as long as it takes.
    """

    patience_s: float | None = None

    def wait(self, gen: Generator[Any, Any, T], interval: float = LOOK_S, *more: Any) -> T:  # noqa: ANN401 - psycopg's
        """Waits for an operation of the connection.

        Raises:
            psycopg.OperationalError: If there was no answer in time.
        """
        if self.patience_s is None:
            return super().wait(gen, interval, *more)
        bounded = self._bounded(gen, time.monotonic() + self.patience_s)
        return super().wait(bounded, min(interval, LOOK_S), *more)

    def _bounded(self, gen: Generator[Any, Any, T], until: float) -> Generator[Any, Any, T]:
        """The generator, which is resumed with 0 whenever nothing came for a while."""
        try:
            awaited = next(gen)
            while True:
                ready = yield awaited
                if not ready and time.monotonic() > until:
                    gen.close()
                    self.pgconn.finish()
                    raise psycopg.OperationalError("the server does not answer")
                awaited = gen.send(ready)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # a generator's value is untyped


SCHEMA: Final = "hotmem"
"""The schema of our tables: a database of another program may hold a memory beside its own."""

LOCK_WAIT_S: Final = 5.0
"""Seconds a statement waits for another transaction's lock."""

HOLD: Final = b"SELECT pg_advisory_xact_lock_shared(-1)"
HOLD_TO_CHANGE: Final = b"SELECT pg_advisory_xact_lock(-1)"
"""The lock of the encoder; those of users have their row numbers."""

COLUMNS: Final = """
    SELECT a.attname, coalesce(array_position(i.indkey::SMALLINT[], a.attnum) + 1, 0),
        a.atttypid = 'bytea'::REGTYPE
    FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
    WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"""
"""A table's columns: name, place in the primary key, and whether it holds bytes."""


SEQUENCES: Final = """
    SELECT name, sequence, coalesce(pg_sequence_last_value(sequence::REGCLASS), 0)
    FROM (SELECT c.relname AS name, pg_get_serial_sequence(c.oid::REGCLASS::TEXT, 'id') AS sequence
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = ?::REGNAMESPACE AND a.attname = 'id' AND a.attidentity <> '') s"""
"""Tables that number their rows, each with its sequence and the last number given."""

PREPARED_AFTER: Final = 1
"""Runs of a statement after which it is prepared: planning takes half of its time."""

PREPARED: Final = 200
"""Prepared statements of a connection at most; a call's recalls and writes have some 80."""

UNREACHABLE: Final = ("08", "53300", "57P")
"""Beginnings of the codes of errors of the connection, of too many of them, and of a shutdown."""

REFUSALS: Final = ("authentication", "does not exist", "pg_hba.conf", "permission denied")
"""Words of errors of a connection that cannot succeed when it is tried again."""


class _BoolDumper(Int8Dumper):
    """A bool as a number: flags are integers."""

    def dump(self, obj: Any) -> Buffer | None:  # noqa: ANN401 - psycopg's signature
        return super().dump(int(obj))


def adapt(conn: "psycopg.Connection[Any]") -> None:
    """Sets how Python values are passed and returned, which is as SQLite does."""
    conn.adapters.register_dumper(str, StrDumper)
    conn.adapters.register_dumper(int, Int8Dumper)
    conn.adapters.register_dumper(bool, _BoolDumper)
    conn.adapters.register_loader("numeric", _NumberLoader)


def configure(conn: Client) -> None:
    """Prepares a connection of the pool.

    The server plans a statement once if it talks to us alone. Behind a pooler such as PgBouncer
    the next transaction may get another server connection, which does not know the statement: a
    pooler is recognised by the number of its process, which is not the server's.
    """
    adapt(conn)
    conn.patience_s = CONNECT_S
    if conn.execute("SELECT pg_backend_pid()").fetchone() == (conn.info.backend_pid,):
        conn.prepare_threshold, conn.prepared_max = PREPARED_AFTER, PREPARED


class _NumberLoader(NumericBinaryLoader):
    """A sum of integers as int, an average as float."""

    def load(self, data: Buffer) -> int | float:  # type: ignore[override]  # an int or float suffices
        value = super().load(data)
        return float(value) if value.as_tuple().exponent else int(value)


class PostgresConnection(Rows):
    """Implements `hotmem.storage.database.Connection`.

    Args:
        raw: The connection, in autocommit mode.
        user: The user of the transaction; None if it concerns more than one.
        language: The language of the search index.
    """

    def __init__(
        self,
        raw: "psycopg.Connection[Any]",
        user: UserKey | None = None,
        language: str = ENGLISH,
    ) -> None:
        self.raw = raw
        self.user = user
        self.search = PostgresSearch(language)

    def execute(self, statements: str, bindings: Any = None, /) -> Cursor:  # noqa: ANN401 - a mapping or a sequence
        """Runs a statement of `hotmem.storage.dialect`."""
        query = to_postgres(statements).encode()
        return cast(Cursor, self.raw.execute(query, bindings or (), binary=True))

    def executemany(self, statements: str, sequenceofbindings: Iterable[Any], /) -> Cursor:
        """Runs a statement of `hotmem.storage.dialect` once for each sequence of values."""
        cursor = self.raw.cursor()
        cursor.executemany(to_postgres(statements).encode(), sequenceofbindings)
        return cast(Cursor, cursor)

    def lock_user(self, user: UserKey) -> None:
        """Serialises this transaction with other writes of the user, until it ends.

        Raises:
            ValueError: If the transaction is another user's.
        """
        if self.user not in (None, user):
            raise ValueError("A transaction of one user cannot change to another.")
        self.raw.execute(
            "SELECT set_config('hotmem.user', %s, true), pg_advisory_xact_lock(%s)",
            (str(user), user),
        )

    def row_numbers(self) -> dict[str, int]:
        """The highest row number that each table has given, also to rows that are deleted."""
        return {name: number for name, _, number in self.execute(SEQUENCES, (SCHEMA,)).fetchall()}

    def raise_row_numbers(self, numbers: Mapping[str, int]) -> None:
        """Has each table give higher row numbers than these from now on.

        The application role may take numbers and not set them: those below are taken.
        """
        for name, sequence, number in self.execute(SEQUENCES, (SCHEMA,)).fetchall():
            self.execute(
                "SELECT count(nextval(CAST(? AS REGCLASS))) FROM generate_series(1, ?)",
                (sequence, numbers.get(name, 0) - number),
            ).fetchone()

    def hold_encoder(self, *, change: bool = False) -> None:
        """Keeps the database's encoder from being changed until this transaction ends."""
        self.raw.execute(HOLD_TO_CHANGE if change else HOLD)

    def size_bytes(self, user: UserKey) -> int:
        """Size of all tables and indexes in bytes, all users together."""
        sql = """SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class
            WHERE relnamespace = ?::REGNAMESPACE AND relkind = 'r'"""
        return int(self.execute(sql, (SCHEMA,)).fetchone()[0])

    def integrity_faults(self) -> list[Fault]:
        """None: the server enforces references, and checks the pages that it reads."""
        return []

    def table_columns(self, relation: str) -> list[tuple[str, int]]:
        """Names of a table's columns, each with its place in the primary key, or 0."""
        return [(name, place) for name, place, _ in self._columns(relation)]

    @contextmanager
    def row_changes(self, tables: Container[str]) -> Iterator[list[RowChange]]:
        """Collects all changes of rows of some tables, also by cascades and triggers.

        The list is filled when the context ends.
        """
        seen: list[RowChange] = []
        self.raw.execute("SELECT set_config('hotmem.recording', 'on', true)")
        yield seen
        self.raw.execute("SELECT set_config('hotmem.recording', '', true)")
        changes = self.execute(
            "DELETE FROM row_changes RETURNING place, relation, before::TEXT, after::TEXT"
        ).fetchall()
        columns: dict[str, list[tuple[str, int, bool]]] = {}
        for _, relation, before, after in sorted(changes):
            if relation in tables:
                if relation not in columns:
                    columns[relation] = self._columns(relation)
                seen.append((relation, *(_row(columns[relation], row) for row in (before, after))))

    def _columns(self, relation: str) -> list[tuple[str, int, bool]]:
        return self.execute(COLUMNS, (f"{SCHEMA}.{relation}",)).fetchall()


def _row(columns: list[tuple[str, int, bool]], text: str | None) -> tuple[Any, ...] | None:
    """A row from JSON, in the order of its columns."""
    if text is None:
        return None
    values = json.loads(text)
    return tuple(
        bytes.fromhex(values[name][2:]) if is_bytes and values[name] is not None else values[name]
        for name, _, is_bytes in columns
    )


@contextmanager
def mapped_errors(location: str) -> Iterator[None]:
    """Raises psycopg's errors as ours, with the fact and the fix."""
    try:
        yield
    except psycopg.Error as error:
        raise as_ours(error, location) from error
    except UnicodeEncodeError:
        raise StoreError(f"{location}: a text has characters that cannot be stored.") from None


def as_ours(error: psycopg.Error, location: str) -> HotMemError:
    """Our error for one of psycopg's. Its text never holds values of a statement."""
    errors = psycopg.errors
    match error:
        case errors.QueryCanceled():
            return DeadlineExceeded("A search did not finish in its time and was stopped.")
        case errors.LockNotAvailable():
            return StoreLocked(
                f"{location}: rows of this user have been locked for over {LOCK_WAIT_S:.0f} s by"
                " another program. Nothing of this was stored; try again."
            )
        case errors.DeadlockDetected() | errors.SerializationFailure():
            return StoreLocked(
                f"{location}: this write and one of another program changed the same rows."
                " Nothing of this was stored; try again."
            )
        case errors.ForeignKeyViolation():
            return StoreError(
                f"{location}: what this belongs to was forgotten meanwhile. Nothing of it was"
                " stored."
            )
        case errors.ReadOnlySqlTransaction():
            return StoreUnreachable(
                f"{location} has become read-only, as a former primary does after a failover. The"
                " next write connects again; name all hosts and target_session_attrs=read-write"
                " in the URL."
            )
        case errors.DiskFull():
            return StoreFull(
                f"The disk of {location} is full. Free some space; what was stored before is"
                " intact."
            )
        case errors.InvalidPassword() | errors.InvalidAuthorizationSpecification():
            return StoreUnusable(
                f"{location} refuses this user or password. Check the URL, or set PGPASSWORD."
            )
        case errors.InvalidCatalogName():
            return StoreUnusable(f"{location}: there is no such database. Create it first.")
        case errors.InsufficientPrivilege():
            return StoreUnusable(
                f"{location}: this user lacks rights ({_reason(error)}). Grant them as"
                " docs/deploy.md describes."
            )
        case psycopg.OperationalError() if error.sqlstate is None and _refused(error):
            return StoreUnusable(
                f"{location} refuses the connection ({_reason(error)}). Check user, password and"
                " database in the URL."
            )
        case psycopg.OperationalError() if (error.sqlstate or "08").startswith(UNREACHABLE):
            return StoreUnreachable(
                f"{location} cannot be reached ({_reason(error)}). Check that the server runs and"
                " that host and port are right."
            )
    return StoreError(
        f"{location}: PostgreSQL refused an operation ({type(error).__name__}"
        f" {error.sqlstate or ''}: {_reason(error)}). The last change was rolled back."
    )


def _refused(error: psycopg.Error) -> bool:
    """Whether the server was reached and refused the connection, which has no error code then."""
    text = str(error)
    return "FATAL" in text and any(words in text for words in REFUSALS)


def _reason(error: psycopg.Error) -> str:
    """The server's primary message, which names no values; else the first line of the error."""
    primary = error.diag.message_primary
    return primary or (str(error).strip().splitlines() or ["no reason given"])[0]
