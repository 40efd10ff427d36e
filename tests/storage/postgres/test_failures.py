"""Failures of the server and of the connection, and databases that cannot be used."""

import asyncio
import time
from collections.abc import Callable, Iterator

import pytest

from hotmem.errors import (
    DeadlineExceeded,
    StoreError,
    StoreLocked,
    StoreTooNew,
    StoreUnreachable,
    StoreUnusable,
)
from hotmem.storage import queries
from hotmem.storage.database import Connection
from hotmem.storage.postgres import migrations
from hotmem.storage.postgres.database import PostgresDatabase
from hotmem.types import UserKey
from tests.conversation import closed
from tests.postgres import PostgresServer, server
from tests.storage.contract.story import adopt, say, texts_of, user_key

VERSION = "18"


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    """A server that the test may stop."""
    with server(VERSION, fsync="on", synchronous_commit="on") as running:
        yield running


def sleep(conn: Connection, user: UserKey, seconds: float) -> None:
    conn.execute("SELECT pg_sleep(?)", (seconds,)).fetchall()


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_a_restart_of_the_server_is_survived(own_server: PostgresServer, mode: str) -> None:
    async with closed(PostgresDatabase.open(own_server.create_database("calls"))) as database:
        await database.write_all(adopt)
        ana = await database.write_all(user_key, "ana")
        await database.write_all(say, "The ferry is late.")
        own_server.stop(mode)
        inline = database.inline()
        started = time.monotonic()
        with pytest.raises((StoreUnreachable, DeadlineExceeded)):
            await inline.read_until(started + 0.3, texts_of, ana)
        assert time.monotonic() - started < 1
        with pytest.raises(DeadlineExceeded):
            await inline.read_until(started - 1, texts_of, ana)
        with pytest.raises(StoreUnreachable):
            await database.write_all(say, "Nobody hears this.", session="lost")
        own_server.start()
        await database.write_all(say, "The ferry is here.", session="after")
        assert await database.read(texts_of, ana) == ["The ferry is late.", "The ferry is here."]
        assert await inline.read(texts_of, ana) == ["The ferry is late.", "The ferry is here."]


async def test_a_lost_connection_is_replaced(
    postgres_url: Callable[[str], str], postgres_servers: Callable[[str], PostgresServer]
) -> None:
    url = postgres_url(VERSION)
    async with closed(PostgresDatabase.open(url)) as database:
        await database.write_all(adopt)
        ana = await database.write_all(user_key, "ana")
        for number in range(3):
            await database.write_all(say, f"Line {number}.", session=str(number))
            assert len(await database.read(texts_of, ana)) == number + 1
            postgres_servers(VERSION).execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                f" WHERE datname = '{url.rpartition('/')[2]}'"
            )


async def test_a_deadline_stops_the_server_and_frees_the_connection(
    postgres_url: Callable[[str], str],
) -> None:
    async with closed(PostgresDatabase.open(postgres_url(VERSION))) as database:
        ana = await database.write_all(user_key, "ana")
        inline = database.inline()
        started = time.monotonic()
        for _ in range(8):  # more than there are connections
            with pytest.raises(DeadlineExceeded):
                await inline.read_until(time.monotonic() + 0.05, sleep, ana, 30)
        assert time.monotonic() - started < 5
        assert await inline.read(queries.users.name, ana) == "ana"


async def test_writes_of_one_user_wait_for_each_other(postgres_url: Callable[[str], str]) -> None:
    url = postgres_url(VERSION)
    first, second = PostgresDatabase.open(url), PostgresDatabase.open(url)
    try:
        ana, ben = [await first.write_all(user_key, name) for name in ("ana", "ben")]
        holding = asyncio.ensure_future(first.write(sleep, ana, 1.0))
        await asyncio.sleep(0.2)
        started = time.monotonic()
        await second.write(queries.users.name, ben)
        assert time.monotonic() - started < 0.5, "another user does not wait"
        await second.write(queries.users.name, ana)
        assert holding.done() or time.monotonic() - started > 0.5
        await holding
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("hotmem.storage.postgres.database.LOCK_WAIT_S", 1)
            holding = asyncio.ensure_future(first.write(sleep, ana, 3.0))
            await asyncio.sleep(0.2)
            with pytest.raises(StoreLocked):
                await second.write(queries.users.name, ana)
        await holding
    finally:
        await first.close()
        await second.close()


async def test_programs_that_create_the_schema_at_the_same_time(
    postgres_servers: Callable[[str], PostgresServer],
) -> None:
    url = postgres_servers(VERSION).create_database("created_together")
    opened = await asyncio.gather(
        *(asyncio.to_thread(PostgresDatabase.open, url) for _ in range(4))
    )
    versions = [
        await one.read_all(lambda conn: conn.execute("SELECT value FROM meta").fetchall())
        for one in opened
    ]
    assert all((str(len(migrations.STEPS)),) in found for found in versions)
    for one in opened:
        await one.close()


@pytest.mark.parametrize(
    ("url", "kind", "words"),
    [
        ("postgresql://ana:hidden@127.0.0.1:1/none", StoreUnreachable, "cannot be reached"),
        ("postgresql://ana:hidden@no.such.host.invalid/none", StoreUnreachable, "reached"),
        ("postgresql://ana:hidden@[::1/none", StoreUnusable, "no URL"),
        ("{server}/no_such_database", StoreUnusable, "no_such_database"),
        ("{nobody}", StoreUnusable, "refuses the connection"),
    ],
)
def test_a_database_that_cannot_be_opened(
    url: str,
    kind: type[StoreError],
    words: str,
    postgres_servers: Callable[[str], PostgresServer],
) -> None:
    running = postgres_servers(VERSION)
    named = url.format(
        server=running.url("").rstrip("/"), nobody=running.url(user="no_such_role:hidden")
    )
    with pytest.raises(kind, match=words) as raised:
        PostgresDatabase.open(named)
    assert "hidden" not in str(raised.value)


def test_schemas_that_are_not_ours_or_newer(
    postgres_servers: Callable[[str], PostgresServer],
) -> None:
    running = postgres_servers(VERSION)
    url = running.create_database("of_others")
    running.execute(
        "SET ROLE keeper; CREATE SCHEMA hotmem CREATE TABLE turns (id BIGINT)", "of_others"
    )
    with pytest.raises(StoreUnusable, match="another program"):
        PostgresDatabase.open(url)
    running.execute("DROP SCHEMA hotmem CASCADE", "of_others")
    running.execute("CREATE TABLE turns (id BIGINT)", "of_others")
    asyncio.run(PostgresDatabase.open(url).close())
    running.execute("UPDATE hotmem.meta SET value = '99' WHERE key = 'version'", "of_others")
    with pytest.raises(StoreTooNew, match="schema 99"):
        PostgresDatabase.open(url)


def test_another_encoding_is_refused(postgres_servers: Callable[[str], PostgresServer]) -> None:
    running = postgres_servers(VERSION)
    running.execute(
        "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    )
    with pytest.raises(StoreUnusable, match="UTF8"):
        PostgresDatabase.open(running.url("latin"))
