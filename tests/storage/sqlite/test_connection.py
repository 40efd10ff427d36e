"""What the store relies on of its SQLite."""

import gc
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from hotmem.errors import (
    DeadlineExceeded,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
)
from hotmem.storage.sqlite import connection
from hotmem.storage.sqlite.connection import Connection, connect, mapped_errors

SOUND: tuple[int, ...] = (3, 51, 3)
"""The first SQLite that does not lose writes when two connections begin the journal anew at
once."""


@pytest.fixture
def numbers(database: Path) -> Path:
    """A file with a table of numbers in three rows."""
    with closing(connect(database)) as conn:
        conn.execute("PRAGMA journal_mode = WAL")
        conn.execute(
            "CREATE TABLE numbers (n INTEGER PRIMARY KEY, half INTEGER REFERENCES numbers)"
        )
        conn.executemany("INSERT INTO numbers (n) VALUES (?)", [(1,), (2,), (3,)])
    return database


def test_the_bundled_sqlite_is_sound_and_complete(numbers: Path) -> None:
    with closing(connect(numbers)) as conn:
        assert tuple(map(int, conn.scalar("SELECT sqlite_version()").split("."))) >= SOUND
        conn.execute("CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'porter unicode61')")


@pytest.mark.parametrize("read_only", [False, True])
def test_no_page_is_mapped(numbers: Path, read_only: bool) -> None:
    with closing(connect(numbers, read_only=read_only)) as conn:
        assert conn.scalar("PRAGMA mmap_size") == 0


@pytest.mark.parametrize(
    ("pragma", "value"),
    [("foreign_keys", 1), ("secure_delete", 1), ("synchronous", 2), ("busy_timeout", 5000)],
)
def test_a_connection_keeps_what_the_store_relies_on(
    numbers: Path, pragma: str, value: int, durable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SYNCHRONOUS", durable)
    with closing(connect(numbers)) as conn:
        assert conn.scalar(f"PRAGMA {pragma}") == value


def test_one_row_that_was_fetched_keeps_no_snapshot(numbers: Path) -> None:
    with closing(connect(numbers)) as reader, closing(connect(numbers)) as writer:
        held = reader.execute("SELECT n FROM numbers ORDER BY n")
        assert held.fetchone() == (1,)
        writer.execute("INSERT INTO numbers (n) VALUES (4)")
        assert writer.scalar("PRAGMA wal_checkpoint(TRUNCATE)") == 0, "nobody reads the journal"
        assert reader.scalar("SELECT max(n) FROM numbers") == 4


def test_a_statement_leaves_nothing_in_memory(numbers: Path) -> None:
    with closing(connect(numbers)) as conn:

        def cursors() -> int:
            gc.collect()
            return sum(issubclass(type(one), apsw.Cursor) for one in gc.get_objects())

        before = cursors()
        for _ in range(50):
            conn.execute("SELECT n FROM numbers").fetchone()
            conn.execute("SELECT n FROM numbers").fetchall()
            conn.execute("UPDATE numbers SET half = NULL RETURNING n").fetchone()
            first, second = (
                conn.execute("SELECT n FROM numbers"),
                conn.execute("SELECT half FROM numbers"),
            )
            assert len(list(first)) == len(list(second))
            del second, first
        assert cursors() == before


def test_what_one_statement_returns_is_written_whole(numbers: Path) -> None:
    with closing(connect(numbers)) as conn:
        assert conn.execute("UPDATE numbers SET half = 1 RETURNING n").fetchone() is not None
        assert conn.scalar("SELECT count(*) FROM numbers WHERE half = 1") == 3
        assert not conn.in_transaction


def test_a_broken_reference_is_refused_though_one_row_was_fetched(numbers: Path) -> None:
    with (
        closing(connect(numbers)) as conn,
        pytest.raises(StoreError, match="SQLITE_CONSTRAINT_FOREIGNKEY"),
        mapped_errors(numbers),
    ):
        conn.execute("INSERT INTO numbers VALUES (8, 99) RETURNING n").fetchone()


def test_a_value_that_is_missing_is_an_error(numbers: Path) -> None:
    with closing(connect(numbers)) as conn:
        with pytest.raises(KeyError):
            conn.execute("SELECT :asked", {"other": 1})
        with pytest.raises(StoreError), mapped_errors(numbers):
            conn.execute("SELECT ?", (1, 2))


def test_a_copy_tells_how_far_it_is(numbers: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with closing(connect(numbers)) as source, closing(connect(tmp_path / "copy.db")) as target:
        connection.copy(source, target, 1, lambda left, whole: told.append((left, whole)))
        assert target.scalar("SELECT count(*) FROM numbers") == 3
    assert (
        told == [(len(told) - 1 - place, len(told)) for place in range(len(told))] and len(told) > 1
    )


def stopped(conn: Connection) -> None:
    conn.set_progress_handler(lambda: True, 1)
    conn.execute("SELECT count(*) FROM numbers").fetchone()


def full(conn: Connection) -> None:
    conn.execute("PRAGMA max_page_count = 1")
    conn.execute("CREATE TABLE more AS SELECT zeroblob(100000)")


def read_only(conn: Connection) -> None:
    conn.execute("PRAGMA query_only = ON")
    conn.execute("INSERT INTO numbers (n) VALUES (9)")


def not_text(conn: Connection) -> None:
    conn.execute("SELECT CAST(x'ff41' AS TEXT)").fetchone()


def not_sql(conn: Connection) -> None:
    conn.execute("SELECT FROM")


@pytest.mark.parametrize(
    ("fails", "error"),
    [
        (stopped, DeadlineExceeded),
        (full, StoreFull),
        (read_only, StoreReadOnly),
        (not_text, StoreDamaged),
        (not_sql, StoreError),
    ],
)
def test_errors_of_sqlite_are_ours(numbers: Path, fails: object, error: type[Exception]) -> None:
    with closing(connect(numbers)) as conn, pytest.raises(error) as raised, mapped_errors(numbers):
        assert callable(fails)
        fails(conn)
    assert type(raised.value) is error


def test_a_write_beside_another_is_locked(numbers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LOCK_WAIT_S", 0.05)
    with closing(connect(numbers)) as one, closing(connect(numbers)) as other:
        one.execute("BEGIN IMMEDIATE")
        assert not connection.begun(other)
        with pytest.raises(StoreLocked), mapped_errors(numbers):
            other.execute("INSERT INTO numbers (n) VALUES (9)")
        one.execute("ROLLBACK")
        assert connection.begun(other) and other.in_transaction


def test_a_page_that_cannot_be_read_whole_is_damage(numbers: Path) -> None:
    for code in connection.DAMAGED:
        with pytest.raises(StoreDamaged, match="damaged"), mapped_errors(numbers):
            raise apsw.exception_for(code)
