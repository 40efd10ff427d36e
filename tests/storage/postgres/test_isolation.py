"""Row level security with real roles: application role, owner, and roles that bypass it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from loguru import logger

from hotmem.errors import StoreError, StoreUnusable
from hotmem.storage.database import Connection
from hotmem.storage.postgres import migrations
from hotmem.storage.postgres.database import PostgresDatabase
from hotmem.storage.queries import turns
from hotmem.types import UserKey
from tests.commands import run
from tests.postgres import PostgresServer
from tests.storage.contract.story import NOW, turn, user_key

ROLES = Path(__file__).parents[3] / "deploy" / "roles.sql"
COUNT = "SELECT count(*) FROM turns"


async def filled(database: PostgresDatabase) -> tuple[UserKey, UserKey]:
    """Two users, of whom the first said one thing and the second two."""
    for name, text, user in (("a", "Hi", "ana"), ("b", "Hi", "ben"), ("c", "Ho", "ben")):
        await database.write_all(turns.add, turn(text, user=user, name=name, session=user), NOW)
    return await database.write_all(user_key, "ana"), await database.write_all(user_key, "ben")


def count(conn: Connection, user: UserKey) -> int:
    return int(conn.scalar(COUNT))


def count_all(conn: Connection) -> int:
    return int(conn.scalar(COUNT))


@pytest.fixture(params=["bot", "keeper", "owner", "bypassing"])
async def database(
    request: pytest.FixtureRequest, server: PostgresServer, url: str
) -> AsyncIterator[PostgresDatabase]:
    """Opened as an application role, the tables' owner, a superuser, and a role with BYPASSRLS."""
    if not server.execute("SELECT 1 FROM pg_roles WHERE rolname = 'bypassing'"):
        server.execute("CREATE ROLE bypassing LOGIN BYPASSRLS IN ROLE hotmem_app")
    opened = PostgresDatabase.open(server.url(url.rpartition("/")[2], request.param))
    yield opened
    await opened.close()


async def test_a_query_without_where_sees_one_user(database: PostgresDatabase) -> None:
    ana, ben = await filled(database)
    assert await database.read(count, ana) == 1
    assert await database.read(count, ben) == 2
    assert await database.write(count, ana) == 1
    assert await database.inline().read(count, ben) == 2
    assert await database.read_all(count_all) == 3


async def test_a_row_of_another_user_is_refused(database: PostgresDatabase) -> None:
    ana, ben = await filled(database)

    def insert(conn: Connection, user: UserKey) -> None:
        conn.execute(
            """INSERT INTO sessions (user_key, public_id, started_at, last_at, touched_at)
               VALUES (?, 'x', 0, 0, 0)""",
            (ben,),
        )

    def change(conn: Connection, user: UserKey) -> int:
        return len(conn.execute("UPDATE turns SET text = '' RETURNING id").fetchall())

    with pytest.raises(StoreError, match="row-level security"):
        await database.write(insert, ana)
    assert await database.rehearse(change, ana) == 1


async def test_a_function_about_one_user_cannot_reach_others(database: PostgresDatabase) -> None:
    ana, ben = await filled(database)

    def widen(conn: Connection, user: UserKey, sql: str) -> None:
        conn.execute(sql).fetchall()

    for sql in (
        "SELECT set_config('hotmem.scope', 'all', true)",
        "SELECT SET_CONFIG('hotmem.user', '2', true)",
        "SET LOCAL hotmem.scope = 'all'",
        "SET ROLE owner",
        " reset role",
    ):
        with pytest.raises(ValueError, match="settings"):
            await database.read(widen, ana, sql)
    with pytest.raises(ValueError, match="another"):
        await database.write(lambda conn, user: conn.lock_user(ben), ana)
    assert await database.read(count, ana) == 1


async def test_text_as_a_user_never_reaches_the_server(database: PostgresDatabase) -> None:
    ana, _ = await filled(database)
    injected = cast(UserKey, "0, set_config('hotmem.scope', 'all', true)")
    for call in (database.read, database.write):
        with pytest.raises(ValueError, match="format code"):
            await cast(Any, call)(count, injected)
    name = "x'; DROP TABLE turns; --"
    await database.write_all(turns.add, turn("Hi", user=name, name="d", session="d"), NOW)
    injector = await database.write_all(user_key, name)
    assert await database.read(count, injector) == 1
    assert await database.read(count, ana) == 1


async def test_settings_end_with_the_transaction(database: PostgresDatabase) -> None:
    await filled(database)
    with database.pool.connection() as raw:
        left = raw.execute(
            """SELECT coalesce(current_setting('hotmem.user', true), ''),
                coalesce(current_setting('hotmem.scope', true), ''), current_user = session_user,
                current_setting('lock_timeout'), current_setting('statement_timeout')"""
        ).fetchone()
        assert left == ("", "", True, "0", "0")


def test_a_role_without_isolation_is_warned_of(server: PostgresServer, url: str) -> None:
    """BYPASSRLS that may not become the application role."""
    name = url.rpartition("/")[2]
    if not server.execute("SELECT 1 FROM pg_roles WHERE rolname = 'careless'"):
        server.execute("CREATE ROLE careless LOGIN BYPASSRLS")
    server.execute("GRANT USAGE ON SCHEMA hotmem TO careless", name)
    server.execute("GRANT SELECT ON ALL TABLES IN SCHEMA hotmem TO careless", name)
    said: list[str] = []
    logger.add(lambda message: said.append(str(message)))
    opened = PostgresDatabase.open(server.url(name, "careless"))
    opened._close()
    assert any("row level security does not apply" in one for one in said)


def test_every_table_of_a_user_is_protected(server: PostgresServer, url: str) -> None:
    unprotected = server.execute(
        """SELECT c.relname FROM pg_class c
           WHERE relnamespace = 'hotmem'::REGNAMESPACE AND relkind = 'r'
               AND NOT (relrowsecurity AND relforcerowsecurity)""",
        url.rpartition("/")[2],
    )
    assert {name for (name,) in unprotected} == {
        *("meta", "former_vectors", "tombstones"),
    }


def test_an_application_role_cannot_migrate(
    server: PostgresServer, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.execute(ROLES.read_text(), empty)
    with pytest.raises(StoreUnusable, match=r"no schema yet.*hotmem migrate URL.*owner"):
        PostgresDatabase.open(server.url(empty, "hotmem_bot"))
    owner = server.url(empty, "hotmem_owner")
    for _ in range(2):
        done = run("migrate", owner)
        assert done.exit_code == 0, done.output
        assert done.output.endswith(f"has schema {len(migrations.STEPS)}.\n")
    PostgresDatabase.open(server.url(empty, "hotmem_bot"))._close()

    def second(conn: "psycopg.Connection[Any]") -> None:
        conn.execute("ALTER TABLE turns ADD COLUMN tone BIGINT")
        conn.execute("CREATE TABLE tones (id BIGINT GENERATED BY DEFAULT AS IDENTITY)")

    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, second))
    with pytest.raises(StoreUnusable, match=r"has schema 1.*hotmem migrate URL"):
        PostgresDatabase.open(server.url(empty, "hotmem_bot"))
    assert migrations.upgrade(owner) == 2
    with psycopg.connect(server.url(empty, "hotmem_bot")) as conn:
        conn.execute("INSERT INTO hotmem.tones DEFAULT VALUES")


async def test_the_roles_file_is_enough_for_bots(server: PostgresServer, empty: str) -> None:
    for _ in range(2):  # running it again changes nothing
        server.execute(ROLES.read_text(), empty)
    migrations.upgrade(server.url(empty, "hotmem_owner"))
    database = PostgresDatabase.open(server.url(empty, "hotmem_bot"))
    ana, _ = await filled(database)
    assert await database.read(count, ana) == 1
    await database.close()
    with psycopg.connect(server.url(empty, "hotmem_bot")) as conn:
        assert conn.execute("SELECT count(*) FROM hotmem.turns").fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute("DROP TABLE hotmem.turns")


def test_a_superuser_creates_the_application_role(server: PostgresServer, empty: str) -> None:
    """On a server without it: dropped here after its rights in other databases are kept aside."""
    server.execute("ALTER ROLE hotmem_app RENAME TO set_aside")
    try:
        migrations.upgrade(server.url(empty, "owner"))
        assert server.execute("SELECT rolcanlogin FROM pg_roles WHERE rolname = 'hotmem_app'") == [
            (False,)
        ]
        server.execute("DROP OWNED BY hotmem_app", empty)
        server.execute("DROP ROLE hotmem_app")
    finally:
        server.execute("ALTER ROLE set_aside RENAME TO hotmem_app")
