"""`hotmem copy`: its result, its progress and its errors."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import Result

from hotmem.errors import InvalidInput, StoreTooNew, StoreUnusable
from hotmem.storage import open_storage
from hotmem.storage.sqlite.connection import connect
from tests.commands import run
from tests.conversation import life, store_turns
from tests.postgres import VERSIONS, PostgresServer

FIRST, *_ = VERSIONS


pytestmark = pytest.mark.usefixtures("command_line")


@pytest.fixture
def source(database: Path) -> Path:
    """A file with 20 turns of two users."""

    async def fill() -> None:
        storage = open_storage(database)
        for user in ("ana", "ben"):
            for turn in life(user, 10):
                await store_turns(storage.database, turn, now=turn.spoken_at)
        await storage.database.close()

    asyncio.run(fill())
    return database


def copy(source: Path | str, target: Path | str) -> Result:
    return run("copy", source, target)


def test_a_file_is_copied_to_a_server_and_back(
    source: Path, tmp_path: Path, postgres_url: Callable[[str], str]
) -> None:
    url, back = postgres_url(FIRST), tmp_path / "back.db"
    outcome = copy(source, url)
    assert outcome.exit_code == 0, outcome.exception
    assert "users: 2, turns: 20, memories: 0" in outcome.stdout
    assert "copying rows" in outcome.stderr and "comparing rows" in outcome.stderr
    assert copy(url, back).exit_code == 0
    assert texts(back) == texts(source)


def texts(path: Path) -> list[tuple[str, str]]:
    with closing(connect(path)) as conn:
        return conn.execute("SELECT public_id, text FROM turns ORDER BY id").fetchall()


def test_a_copy_is_on_record_in_the_source(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOTMEM_AUDIT", "true")
    assert copy(source, tmp_path / "copy.db").exit_code == 0
    with closing(connect(source)) as conn:
        assert conn.execute("SELECT who, action, what FROM audit").fetchall() == [
            ("command line", "backup", "copy")
        ]


def test_a_copy_has_a_source_another_target_and_room(source: Path, tmp_path: Path) -> None:
    for given, target, error in (
        (source, source, "cannot be copied into itself"),
        (source, Path(source.name), "cannot be copied into itself"),
        (tmp_path / "none.db", tmp_path / "copy.db", "none.db not found"),
        (tmp_path, tmp_path / "copy.db", "is a folder"),
    ):
        outcome = copy(given, target)
        assert isinstance(outcome.exception, InvalidInput)
        assert error in str(outcome.exception)
    assert not (tmp_path / "copy.db").exists()
    assert copy(source, tmp_path / "copy.db").exit_code == 0
    outcome = copy(source, tmp_path / "copy.db")
    assert isinstance(outcome.exception, InvalidInput)
    assert "holds a memory already" in str(outcome.exception)


def test_a_target_of_a_newer_version_or_without_rights_is_refused(
    source: Path, tmp_path: Path, postgres_servers: Callable[[str], PostgresServer]
) -> None:
    newer = tmp_path / "newer.db"
    assert copy(source, newer).exit_code == 0
    with closing(connect(newer)) as conn:
        conn.execute("PRAGMA user_version = 99")
    assert isinstance(copy(source, newer).exception, StoreTooNew)
    server = postgres_servers(FIRST)
    server.create_database("unmigrated")
    outcome = copy(source, server.url("unmigrated", "bot"))
    assert isinstance(outcome.exception, StoreUnusable)
    assert "hotmem migrate" in str(outcome.exception)
