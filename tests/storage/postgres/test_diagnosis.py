"""`hotmem doctor` on a server: findings, fixes and exit code."""

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from hotmem.storage import queries
from hotmem.storage.postgres import diagnosis
from hotmem.storage.postgres.database import PostgresDatabase
from hotmem.types import JobKind
from tests.commands import run
from tests.conversation import store_turns
from tests.postgres import PostgresServer
from tests.storage.contract.story import adopt, pass_time, turn, user_key


@pytest.fixture(autouse=True)
def spool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOTMEM_SPOOL_DIR", str(tmp_path))


def doctor(url: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, findings by what they are about, and the output."""
    done = run("doctor", "--json", "-d", url)
    found = {one["about"]: one for one in json.loads(done.output)["findings"]}
    return done.exit_code, found, done.output


async def fill(url: str, at: datetime) -> None:
    database = PostgresDatabase.open(url)
    await database.write_all(adopt)
    await store_turns(database, turn("A secret", at=at), now=at)
    ana = await database.write_all(user_key, "ana")
    await database.write_all(queries.jobs.take, "elsewhere/1/x", JobKind.TURN, [ana])
    await database.write_all(pass_time, (datetime.now(UTC) - at).total_seconds())
    await database.close()


async def test_a_healthy_database_has_no_fixes(url: str) -> None:
    await fill(url, datetime.now(UTC))
    code, found, output = doctor(url)
    assert code == 0, output
    assert not any(one["fix"] for one in found.values())
    assert "keeps users apart" in found["isolation"]["fact"]
    assert "1 turn to be understood" in found["waiting"]["fact"]
    assert found["language"]["fact"] == "en"
    assert found["workers"]["fact"] == "1 at work now"
    assert "secret" not in output
    assert run("doctor", "-d", url).exit_code == 0


async def test_another_language_in_the_settings_needs_attention(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(url, datetime.now(UTC))
    monkeypatch.setenv("HOTMEM_LANGUAGE", "fr")
    code, found, _ = doctor(url)
    assert code == 1
    assert "hotmem language fr" in found["language"]["fix"]


async def test_what_needs_attention(
    url: str, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(url, datetime.now(UTC) - timedelta(hours=1))
    name = url.rpartition("/")[2]
    server.execute("ALTER TABLE hotmem.turns NO FORCE ROW LEVEL SECURITY", name)
    server.execute("REVOKE DELETE ON hotmem.sources FROM hotmem_app", name)
    code, found, _ = doctor(url)
    assert code == 1
    assert "turns" in found["isolation"]["fact"]
    assert "sources" in found["rights"]["fact"]
    server.execute("GRANT DELETE ON hotmem.sources TO hotmem_app", name)
    real = time.time
    monkeypatch.setattr(diagnosis, "LONG_S", 0)
    monkeypatch.setattr(diagnosis, "BUSY", 0.0)
    monkeypatch.setattr(time, "time", lambda: real() + 30)
    with psycopg.connect(url) as open_for_long:
        open_for_long.execute("SELECT 1")
        code, found, _ = doctor(url)
    assert code == 1
    for about in ("clock", "oldest job", "connections", "transactions", "isolation"):
        assert found[about]["fix"], about
    assert "1 lease of workers that died" in found["workers"]["fact"]


def test_no_schema_wrong_roles_and_no_server(server: PostgresServer, empty: str, url: str) -> None:
    code, found, _ = doctor(server.url(empty, "bot"))
    assert (code, found["schema"]["fact"]) == (1, "none yet")
    assert "hotmem migrate" in found["schema"]["fix"]
    name = url.rpartition("/")[2]
    if not server.execute("SELECT 1 FROM pg_roles WHERE rolname = 'unkept'"):
        server.execute("CREATE ROLE unkept LOGIN BYPASSRLS")
    server.execute("GRANT USAGE ON SCHEMA hotmem TO unkept", name)
    server.execute("GRANT SELECT ON ALL TABLES IN SCHEMA hotmem TO unkept", name)
    code, found, _ = doctor(server.url(name, "unkept"))
    assert code == 1
    assert "bypasses" in found["isolation"]["fact"]
    code, found, _ = doctor("postgresql://bot@127.0.0.1:1/none")
    assert code == 1
    assert "cannot be reached" in found["database"]["fact"]


async def test_a_read_only_server_is_named(url: str, server: PostgresServer) -> None:
    await fill(url, datetime.now(UTC))
    name = url.rpartition("/")[2]
    server.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    code, found, _ = doctor(url)
    assert code == 1
    assert "read-only" in found["writing"]["fact"]
