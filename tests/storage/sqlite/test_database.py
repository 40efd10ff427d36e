"""Threads, transactions and deadlines around the file."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from shutil import copyfile

import pytest

from hotmem.errors import DeadlineExceeded, MemoryClosed
from hotmem.storage.sqlite import connection
from hotmem.storage.sqlite.connection import Connection, connect
from hotmem.storage.sqlite.database import CHECKPOINT_EVERY, SqliteDatabase
from hotmem.storage.sqlite.opening import READERS
from hotmem.types import UserKey
from tests.conversation import closed

USER = UserKey(1)

COUNT_FOR_EVER = (
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
)


def count_for_ever(conn: Connection, user: UserKey) -> int:
    return int(conn.scalar(COUNT_FOR_EVER))


def count(conn: Connection) -> int:
    return int(conn.scalar("SELECT count(*) FROM users"))


def add(conn: Connection, name: str) -> None:
    conn.execute("INSERT INTO users (public_id) VALUES (?)", (name,))


@pytest.fixture
async def opened(database: Path) -> AsyncIterator[SqliteDatabase]:
    """An open file, empty at first."""
    file = SqliteDatabase.open(database)
    yield file
    await file.close()


async def test_the_loop_runs_on_while_all_readers_are_busy(opened: SqliteDatabase) -> None:
    until = time.monotonic() + 0.3
    busy = [
        asyncio.create_task(
            asyncio.to_thread(
                opened.read_here, until, USER, lambda conn: count_for_ever(conn, USER)
            )
        )
        for _ in range(READERS)
    ]
    ticks = 0
    while not all(task.done() for task in busy):
        await asyncio.sleep(0.01)
        ticks += 1
    assert ticks >= 5
    assert all(
        isinstance(result, DeadlineExceeded)
        for result in await asyncio.gather(*busy, return_exceptions=True)
    )


async def test_the_journal_is_copied_into_the_file_behind_the_writes(
    opened: SqliteDatabase, database: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "without-journal.db"
    for number in range(CHECKPOINT_EVERY):
        await opened.write_all(add, f"user {number}")
    await opened.write_all(count)
    copyfile(database, copy)
    with closing(connect(copy)) as conn:
        assert count(conn) == CHECKPOINT_EVERY


async def test_what_write_returned_from_is_on_the_disk(
    database: Path, monkeypatch: pytest.MonkeyPatch, durable: str
) -> None:
    monkeypatch.setattr(connection, "SYNCHRONOUS", durable)
    async with closed(SqliteDatabase.open(database)) as opened:
        await opened.write_all(add, "ana")
        with closing(connect(database, read_only=True)) as other:
            assert count(other) == 1
        assert await opened.write_all(lambda conn: conn.scalar("PRAGMA synchronous")) == 2
        assert await opened.write_all(lambda conn: conn.scalar("PRAGMA journal_mode")) == "wal"


async def test_closing_leaves_one_file_and_can_be_done_twice(
    opened: SqliteDatabase, database: Path
) -> None:
    await opened.write_all(add, "ana")
    await opened.close()
    await opened.close()
    assert await asyncio.to_thread(lambda: [path.name for path in database.parent.iterdir()]) == [
        database.name
    ]
    with pytest.raises(MemoryClosed, match="Open it again"):
        await opened.read_all(count)


async def test_a_file_without_a_journal_is_opened_and_closed(database: Path) -> None:
    for _ in range(2):
        await SqliteDatabase.open(database).close()
        with closing(connect(database)) as conn:
            assert conn.scalar("PRAGMA journal_mode = DELETE") == "delete"


async def test_a_closed_file_is_told_to_who_reads_here_too(opened: SqliteDatabase) -> None:
    here = opened.inline()
    await opened.close()
    with pytest.raises(MemoryClosed):
        await here.read_all(lambda conn: conn.execute("SELECT 1").fetchone())
