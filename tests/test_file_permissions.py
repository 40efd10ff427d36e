"""File permissions: memory files, journals, copies and exports are private under any umask."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hotmem import Memory
from hotmem.core.location import EncryptionKey
from hotmem.storage.sqlite import connection
from hotmem.storage.sqlite.connection import Connection, connect
from hotmem.storage.sqlite.database import SqliteDatabase
from hotmem.storage.sqlite.opening import restore
from hotmem.tools.files import BackupArguments, ExportArguments, backup_restore, export_memories
from hotmem.tools.registry import tool
from tests.conversation import closed, remember

UMASKS = (0o000, 0o022, 0o777)


@pytest.fixture(params=UMASKS, ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """The umask under which files are created."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def rights(folder: Path) -> dict[str, int]:
    """Return the permissions of each file of a folder."""
    return {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}


async def test_a_memory_file_and_its_journal_are_private(database: Path, umask: int) -> None:
    async with closed(SqliteDatabase.open(database)) as opened:
        await opened.write_all(
            lambda conn: conn.execute("INSERT INTO users (public_id) VALUES ('ana')")
        )
        assert await asyncio.to_thread(rights, database.parent) == {
            f"memory.db{ending}": 0o600 for ending in ("", "-wal", "-shm")
        }
    assert await asyncio.to_thread(rights, database.parent) == {"memory.db": 0o600}


def test_a_file_is_private_before_sqlite_opens_it(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    class Looking(Connection):
        def __init__(self, path: str, flags: int, key: EncryptionKey | None) -> None:
            seen.append(database.stat().st_mode & 0o777)
            super().__init__(path, flags, key)

    monkeypatch.setattr(connection, "Connection", Looking)
    before = os.umask(0)
    try:
        connect(database).close()
    finally:
        os.umask(before)
    assert seen == [0o600]


def test_permissions_set_by_the_owner_are_kept(database: Path) -> None:
    connect(database).close()
    database.chmod(0o640)
    with closing(connect(database)) as conn:
        conn.execute("PRAGMA journal_mode = WAL")
        conn.execute("CREATE TABLE numbers (n)")
        assert set(rights(database.parent).values()) == {0o640}, (
            "the journal too, so that others can read the file"
        )


def test_a_file_is_created_at_the_target_of_a_link(tmp_path: Path) -> None:
    link, file = tmp_path / "memory.db", tmp_path / "kept.db"
    link.symlink_to(file)
    connect(link).close()
    assert file.stat().st_mode & 0o777 == 0o600


async def test_copies_and_exports_are_private(memory: Memory, tmp_path: Path) -> None:
    await remember(memory, "My dog is called Potola.")
    folder = tmp_path / "new" / "folder"
    before = os.umask(0)
    try:
        await tool("export_memories").call(memory, "ana", {"file": "one.jsonl"}, folder)
        await export_memories(memory, "ana", ExportArguments(file=str(folder / "two.jsonl")))
        await backup_restore(
            memory, "ana", BackupArguments(action="backup", file=str(folder / "copy.db"))
        )
        await asyncio.to_thread(restore, folder / "copy.db", folder / "restored.db")
    finally:
        os.umask(before)
    assert set(rights(folder)) >= {"one.jsonl", "two.jsonl", "copy.db", "restored.db"}
    assert set(rights(folder).values()) == {0o600}
    assert folder.stat().st_mode & 0o777 == folder.parent.stat().st_mode & 0o777 == 0o700
