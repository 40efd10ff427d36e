"""Lost answers, servers that fall silent, and schemas that change while bots are connected."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from hotmem.errors import (
    DeadlineExceeded,
    StoreTooNew,
    StoreUncertain,
    StoreUnreachable,
    StoreUnusable,
)
from hotmem.storage import queries
from hotmem.storage.database import Connection
from hotmem.storage.postgres import database as engine
from hotmem.storage.postgres import migrations
from hotmem.storage.postgres.connection import Client
from hotmem.storage.postgres.database import PostgresDatabase
from tests.postgres import PostgresServer
from tests.relay import Relay, relay
from tests.storage.contract.story import adopt, say, texts_of, user_key


@pytest.fixture
def between(server: PostgresServer) -> Iterator[Relay]:
    """A relay to the server."""
    with relay(server.port) as running:
        yield running


@pytest.fixture
async def database(url: str, between: Relay) -> AsyncIterator[PostgresDatabase]:
    """A database that is reached through the relay."""
    opened = PostgresDatabase.open(between.url(url))
    await opened.write_all(adopt)
    yield opened
    await opened.close()


def backends(server: PostgresServer, url: str) -> list[int]:
    """Process ids of the server's backends of a database."""
    sql = f"SELECT pid FROM pg_stat_activity WHERE datname = '{url.rpartition('/')[2]}'"
    return [pid for (pid,) in server.execute(sql)]


def texts(conn: Connection) -> list[str]:
    return [text for (text,) in conn.execute("SELECT text FROM turns ORDER BY id")]


@pytest.mark.parametrize("lost", ["answer", "request"])
async def test_a_commit_whose_answer_is_lost(
    database: PostgresDatabase, between: Relay, lost: str
) -> None:
    await database.write_all(user_key, "ana")
    between.lose = lost
    saying = database.write_all(say, "The ferry is late.")
    if lost == "answer":
        await saying
    else:
        with pytest.raises(StoreUnreachable) as raised:
            await saying
        assert not isinstance(raised.value, StoreUncertain)
    assert between.lost.is_set()
    stored = await database.read_all(texts)
    assert stored == (["The ferry is late."] if lost == "answer" else [])


async def test_a_commit_whose_outcome_nobody_can_tell(
    database: PostgresDatabase, between: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "CONNECT_S", 0.3)
    between.lose = "all"
    with pytest.raises(StoreUncertain, match="may be stored or not"):
        await database.write_all(say, "The ferry is late.")
    between.refusing = False
    monkeypatch.undo()
    assert await database.read_all(texts) == ["The ferry is late."]


async def test_another_server_says_nothing_about_a_commit(
    database: PostgresDatabase, between: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        engine, "STATUS", engine.STATUS.replace("pg_postmaster_start_time()", "now()")
    )
    between.lose = "answer"
    with pytest.raises(StoreUncertain):
        await database.write_all(say, "The ferry is late.")
    monkeypatch.setattr(
        engine,
        "STATUS",
        engine.STATUS.replace("now()::TEXT", "''").replace("%s", "('9' || %s)"),
    )
    between.lose = "answer"
    with pytest.raises(StoreUncertain):
        await database.write_all(say, "The ferry is here.", session="second")


async def test_a_schema_that_becomes_newer_is_neither_read_nor_written(
    database: PostgresDatabase, between: Relay, server: PostgresServer, url: str
) -> None:
    name = url.rpartition("/")[2]
    ana = await database.write_all(user_key, "ana")
    inline = database.inline()
    assert await inline.read(texts_of, ana) == []
    server.execute("UPDATE hotmem.meta SET value = '99' WHERE key = 'version'", name)
    for reconnected in (False, True):
        if reconnected:
            between.cut()
        with pytest.raises(StoreTooNew, match="schema 99"):
            await database.write_all(say, "The ferry is late.")
        with pytest.raises(StoreTooNew):
            await database.write(queries.users.name, ana)
        with pytest.raises(StoreTooNew):
            await inline.read(texts_of, ana)
        with pytest.raises(StoreTooNew):
            await database.read_all(lambda conn: conn.execute("SELECT newer FROM turns").fetchall())
    server.execute("UPDATE hotmem.meta SET value = '0' WHERE key = 'version'", name)
    with pytest.raises(StoreUnusable, match="hotmem migrate"):
        await database.write_all(say, "The ferry is late.")
    sql = f"UPDATE hotmem.meta SET value = '{len(migrations.STEPS)}' WHERE key = 'version'"
    server.execute(sql, name)
    assert await database.read_all(texts) == []


async def test_a_migration_and_writes_exclude_each_other(
    database: PostgresDatabase, server: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, finished = threading.Event(), threading.Event()

    def hold(conn: Connection) -> None:
        conn.execute("SELECT 1").fetchall()
        writing.set()
        finished.wait(5)

    name = url.rpartition("/")[2]
    holding = asyncio.create_task(database.write_all(hold))
    await asyncio.to_thread(writing.wait, 5)
    began = threading.Event()

    def newer(conn: Client) -> None:
        began.set()

    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, newer))
    migrating = asyncio.create_task(asyncio.to_thread(_migrate, server.url(name)))
    waits = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    async with asyncio.timeout(5):
        while not await asyncio.to_thread(server.execute, waits):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.01)
    assert not began.is_set()
    finished.set()
    await holding
    await migrating
    monkeypatch.undo()
    with pytest.raises(StoreTooNew):
        await database.write_all(say, "The ferry is late.")


def _migrate(url: str) -> None:
    with Client.connect(url, autocommit=True) as conn:
        migrations.migrate(conn, url)


async def test_a_server_that_accepts_and_never_answers(
    server: PostgresServer, between: Relay, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    between.frozen.set()
    monkeypatch.setattr(engine, "CONNECT_S", 1.0)
    started = time.monotonic()
    with pytest.raises(StoreUnreachable):
        PostgresDatabase.open(between.url(url) + "?connect_timeout=2")
    assert time.monotonic() - started < 4


async def test_a_server_that_is_stopped_and_continues(
    server: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = PostgresDatabase.open(url)
    await database.write_all(adopt)
    ana = await database.write_all(user_key, "ana")
    await database.write_all(say, "The ferry is late.")
    monkeypatch.setattr(engine, "LOCK_WAIT_S", 1.0)
    monkeypatch.setattr(engine, "CONNECT_S", 0.5)
    stopped = [server.pid, *backends(server, url)]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        started = time.monotonic()
        with pytest.raises((StoreUnreachable, DeadlineExceeded)):
            await database.inline().read_until(started + 0.2, texts_of, ana)
        assert time.monotonic() - started < 1.2
        with pytest.raises(StoreUnreachable):
            await database.write_all(say, "The ferry is here.", session="second")
        assert time.monotonic() - started < 4
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    await database.write_all(say, "The ferry is here.", session="second")
    assert await database.read(texts_of, ana) == ["The ferry is late.", "The ferry is here."]
    await database.close()
