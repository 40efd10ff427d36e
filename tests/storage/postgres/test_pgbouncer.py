"""PgBouncer in transaction mode, and a double of its rules that runs on every machine.

Each transaction may run on another server connection, and nothing is reset between two: a setting,
a lock or a prepared statement of a session would leak to another client, or be missed.
"""

import asyncio
import os
import pwd
import shutil
import subprocess
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from hotmem.storage.database import Connection
from hotmem.storage.postgres.connection import OPTIONS, adapt
from hotmem.storage.postgres.database import PostgresDatabase
from hotmem.storage.queries import turns
from hotmem.types import UserKey
from tests.postgres import PostgresServer, free_port
from tests.storage.contract.story import NOW, turn, user_key

PGBOUNCER: Final = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
USERS: Final = 6
CONFIGURED: Final = Path(__file__).parents[3] / "deploy" / "pgbouncer.ini"

LEFT: Final = """
    SELECT coalesce(current_setting('hotmem.user', true), ''),
        coalesce(current_setting('hotmem.scope', true), ''),
        current_setting('search_path'), current_setting('lock_timeout'),
        current_setting('statement_timeout'), current_user = session_user,
        (SELECT count(*) FROM pg_prepared_statements),
        (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())"""
"""What a server connection would keep for its next client."""

NOTHING: Final = ("", "", '"$user", public', "0", "0", True, 0, 0)


class RotatingPool:
    """A pool that gives each transaction another server connection, and resets none."""

    def __init__(self, url: str, connections: int = 3) -> None:
        self.all = [psycopg.connect(url, **OPTIONS) for _ in range(connections)]
        for raw in self.all:
            adapt(raw)
        self._free = deque(self.all)

    def getconn(self, timeout: float) -> "psycopg.Connection[Any]":
        until = time.monotonic() + timeout
        while True:
            try:
                return self._free.popleft()
            except IndexError:
                assert time.monotonic() < until
                time.sleep(0.001)

    def putconn(self, raw: "psycopg.Connection[Any]") -> None:
        assert raw.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        self._free.append(raw)

    def close(self) -> None:
        for raw in self.all:
            raw.close()


def texts(conn: Connection, user: UserKey) -> list[str]:
    return conn.column("SELECT text FROM turns ORDER BY id")


async def talk(database: PostgresDatabase, prefix: str) -> None:
    """Users who speak and are read at once see their own turns, whatever connection they get."""

    async def one(number: int) -> None:
        name = f"{prefix}-{number}"
        expected = []
        for place in range(10):  # psycopg would prepare a statement by itself after five
            text = f"{name} says {place}"
            said = turn(text, user=name, name=f"{name}-{place}", session=name)
            await database.write_all(turns.add, said, NOW)
            expected.append(text)
            user = await database.write_all(user_key, name)
            assert await database.read(texts, user) == expected
            assert await database.inline().read_until(time.monotonic() + 5, texts, user) == expected
            assert await database.write(texts, user) == expected

    await asyncio.gather(*(one(number) for number in range(USERS)))


@asynccontextmanager
async def pgbouncer(server: PostgresServer, url: str, tmp_path: Path) -> AsyncIterator[str]:
    """A URL of PgBouncer, with two server connections and the settings that are deployed."""
    assert PGBOUNCER is not None
    port = free_port()
    settings = CONFIGURED.read_text().split("[pgbouncer]")[1]
    changed = {
        "listen_addr": "127.0.0.1",
        "listen_port": str(port),
        "auth_type": "any",
        "auth_file": "",
        "default_pool_size": "2",
        "reserve_pool_size": "0",
        "unix_socket_dir": "",
    }
    kept = [
        line
        for line in settings.splitlines()
        if line.split("=")[0].strip() not in changed and not line.startswith(("client_tls", ";"))
    ]
    name = url.rpartition("/")[2]
    config = tmp_path / "pgbouncer.ini"
    config.write_text(
        f"[databases]\n{name} = host=127.0.0.1 port={server.port} user=bot\n[pgbouncer]\n"
        + "\n".join([*kept, *(f"{key} = {value}" for key, value in changed.items())])
    )
    account: dict[str, Any] = {}
    if os.geteuid() == 0:  # it refuses to run as root
        nobody = pwd.getpwnam("nobody")
        account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        for folder in (tmp_path, *tmp_path.parents):
            if not folder.stat().st_mode & 0o001:
                folder.chmod(folder.stat().st_mode | 0o001)
    with (tmp_path / "log").open("wb") as log:
        running = subprocess.Popen(  # noqa: ASYNC220 - it starts at once
            [PGBOUNCER, config], stdout=log, stderr=log, **account
        )
    try:
        address = f"postgresql://bot@127.0.0.1:{port}/{name}"
        for attempt in range(100):
            try:
                psycopg.connect(address, prepare_threshold=None).close()
                break
            except psycopg.OperationalError:
                assert attempt < 99, (tmp_path / "log").read_text()
                await asyncio.sleep(0.05)
        yield address
    finally:
        running.terminate()
        running.wait()


@pytest.mark.parametrize("pooler", ["double", "pgbouncer"] if PGBOUNCER else ["double"])
async def test_transactions_leave_nothing_to_the_next(
    pooler: str, server: PostgresServer, url: str, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        if pooler == "double":
            database = PostgresDatabase.open(url)
            pool: Any = RotatingPool(url)
            database.pool.close()
            database.pool = pool
        else:
            address = await stack.enter_async_context(pgbouncer(server, url, tmp_path))
            database = PostgresDatabase.open(address)
            other = PostgresDatabase.open(address)
            stack.push_async_callback(other.close)
            await talk(other, "other")
        stack.push_async_callback(database.close)
        await talk(database, "one")
        database._ending_pool.shutdown(wait=True)
        if pooler == "double":
            left = [raw.execute(LEFT).fetchone() for raw in pool.all]
        else:
            with psycopg.connect(address, **OPTIONS) as conn:
                left = [conn.execute(LEFT).fetchone() for _ in range(10)]
        assert set(left) == {NOTHING}


def test_the_double_notices_what_leaks(url: str) -> None:
    """It would fail a client that keeps state in its session."""
    pool = RotatingPool(url)
    first = pool.getconn(1)
    first.execute("SET hotmem.scope = 'all'")
    pool.putconn(first)
    others = [pool.getconn(1).execute(LEFT).fetchone() for _ in pool.all]
    assert [one == NOTHING for one in others] == [True, True, False]
    pool.close()
