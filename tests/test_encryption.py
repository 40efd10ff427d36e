"""Encrypted memory files: keys and their errors, copies, and the commands."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hotmem import InvalidInput, Options, StoreKeyWrong, StoreLocked
from hotmem.cli.app import app
from hotmem.core.location import EncryptionKey
from hotmem.settings import Settings
from hotmem.storage.sqlite import opening
from hotmem.storage.sqlite.connection import Connection, connect
from hotmem.storage.sqlite.database import SqliteDatabase
from hotmem.storage.sqlite.opening import convert
from hotmem.tools.files import BackupArguments, ExportArguments, backup_restore, export_memories
from tests.conversation import OpenMemory, closed, remember, said

SECRET, OTHER = 'kōri\'s "long" päss; --phrase', "another passphrase"


def add(conn: Connection, name: str) -> None:
    conn.execute("INSERT INTO users (public_id) VALUES (?)", (name,))


async def keep(path: Path, key: EncryptionKey | None, name: str = "Potola") -> None:
    """Store a name in a file, creating it if necessary."""
    async with closed(SqliteDatabase.open(path, key)) as opened:
        await opened.write_all(add, name)


def names(path: Path, key: EncryptionKey | None) -> list[str]:
    with closing(connect(path, key=key, read_only=True)) as conn:
        return conn.column("SELECT public_id FROM users ORDER BY id")


def contents(folder: Path) -> bytes:
    """Return the content of all files of a folder."""
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


@pytest.fixture
def stored(database: Path) -> Path:
    asyncio.run(keep(database, None))
    return database


@pytest.fixture
def sealed(database: Path) -> Path:
    asyncio.run(keep(database, EncryptionKey(SECRET)))
    return database


async def test_no_text_is_readable_in_an_encrypted_file(
    database: Path, open_memory: OpenMemory
) -> None:
    async with open_memory(database, Options(key=SECRET)) as memory:
        await remember(memory, "My dog is called Potola.")
        assert (database.parent / "memory.db-wal").stat().st_size > 0
        held = await asyncio.to_thread(contents, database.parent)
        assert b"Potola" not in held and b"CREATE TABLE" not in held
    async with open_memory(database, Options(key=lambda: SECRET)) as memory:
        assert "Potola" in (await memory.recall("What's my dog called?", user_id="ana")).text
    held = await asyncio.to_thread(contents, database.parent)
    assert b"Potola" not in held and b"SQLite format 3" not in held


@pytest.mark.parametrize(
    ("key", "fix"),
    [
        (EncryptionKey(OTHER), "Pass the key that it was encrypted with"),
        (None, "Set HOTMEM_KEY or HOTMEM_KEY_FILE, or pass Options"),
    ],
)
async def test_a_wrong_and_a_missing_key_are_reported(
    sealed: Path, key: EncryptionKey | None, fix: str
) -> None:
    before = await asyncio.to_thread(sealed.read_bytes)
    with pytest.raises(StoreKeyWrong, match=fix) as raised:
        SqliteDatabase.open(sealed, key)
    assert SECRET not in str(raised.value) and OTHER not in str(raised.value)
    assert await asyncio.to_thread(sealed.read_bytes) == before
    assert names(sealed, EncryptionKey(SECRET)) == ["Potola"]


def test_a_key_for_a_plain_file_is_reported(stored: Path) -> None:
    with pytest.raises(
        StoreKeyWrong,
        match=(
            r"is not encrypted, and a key was given\. Leave .* or encrypt the file with `hotmem "
            r"encrypt`"
        ),
    ):
        SqliteDatabase.open(stored, EncryptionKey(SECRET))
    assert names(stored, None) == ["Potola"]


def test_a_key_is_a_string_the_first_line_of_a_file_or_a_function_s_result(
    sealed: Path, tmp_path: Path
) -> None:
    file = tmp_path / "key"
    file.write_text(f"{SECRET}\r\nof the memory\n", "utf-8")
    sources: tuple[str | Path | Callable[[], str], ...] = (SECRET, file, lambda: SECRET)
    for source in sources:
        assert names(sealed, EncryptionKey.from_source(source)) == ["Potola"]
    assert EncryptionKey.from_source(None) is None


def test_invalid_keys_are_refused(tmp_path: Path) -> None:
    binary, empty = tmp_path / "binary", tmp_path / "empty"
    binary.write_bytes(b"\xff\xfe")
    empty.touch()
    sources: tuple[str | Path | Callable[[], str], ...] = (
        "",
        "\ud800",
        lambda: "",
        binary,
        empty,
        tmp_path / "missing",
        tmp_path,
    )
    for source in sources:
        with pytest.raises(InvalidInput):
            EncryptionKey.from_source(source)


def test_a_key_never_appears_in_a_representation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTMEM_KEY", SECRET)
    settings = Settings.from_environment()
    assert settings.options().key == SECRET
    for shown in (settings, settings.options(), EncryptionKey(SECRET), [EncryptionKey(SECRET)]):
        assert (
            SECRET not in f"{shown!r} {shown}" and SECRET.encode().hex() not in f"{shown!r} {shown}"
        )
    monkeypatch.setenv("HOTMEM_KEY_FILE", "key.txt")
    with pytest.raises(InvalidInput, match="both set"):
        Settings.from_environment().options()
    monkeypatch.setenv("HOTMEM_KEY", "")
    assert Settings.from_environment().options().key == Path("key.txt")


async def test_a_copy_keeps_the_key_and_an_export_is_plain(
    sealed: Path, tmp_path: Path, open_memory: OpenMemory
) -> None:
    copy, again, export = tmp_path / "copy.db", tmp_path / "again.db", tmp_path / "ana.jsonl"
    async with open_memory(sealed, Options(key=SECRET)) as memory:
        await memory.remember(said("My cat is called Fips."))
        assert (
            await backup_restore(memory, "ana", BackupArguments(action="backup", file=str(copy)))
        ).encrypted
        assert (
            await backup_restore(
                memory, "ana", BackupArguments(action="restore", file=str(copy), target=str(again))
            )
        ).encrypted
        assert not (
            await export_memories(memory, "ana", ExportArguments(file=str(export)))
        ).encrypted
    for path in (copy, again):
        assert names(path, EncryptionKey(SECRET)) == ["Potola", "ana"]
        with pytest.raises(StoreKeyWrong):
            connect(path)
    assert "Fips" in await asyncio.to_thread(export.read_text, "utf-8")


def test_a_file_is_converted_completely(stored: Path) -> None:
    stored.chmod(0o640)
    asyncio.run(keep(stored, None, "Fips"))
    first, second = EncryptionKey(SECRET), EncryptionKey(OTHER)
    for before, after in ((None, first), (first, second), (second, None)):
        convert(stored, before, after)
        assert [path.name for path in stored.parent.iterdir()] == [
            stored.name
        ] and stored.stat().st_mode & 0o777 == 0o640
        assert (b"Potola" in contents(stored.parent)) is (after is None)
        assert names(stored, after) == ["Potola", "Fips"]
        asyncio.run(keep(stored, after, f"written with {after and 'a key'}"))
        with closing(connect(stored, key=after)) as conn:
            conn.execute("DELETE FROM users WHERE public_id LIKE 'written%'")
            assert conn.scalar("PRAGMA integrity_check") == "ok"
            assert conn.scalar("PRAGMA journal_mode") == "wal"


def test_a_failed_conversion_leaves_the_file_unchanged(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(opening, "_check_same", fail)
    with pytest.raises(OSError, match="the disk is gone"):
        convert(stored, None, EncryptionKey(SECRET))
    assert [path.name for path in stored.parent.iterdir()] == [stored.name]
    assert names(stored, None) == ["Potola"]
    with pytest.raises(StoreKeyWrong):
        convert(stored, EncryptionKey(OTHER), None)
    assert names(stored, None) == ["Potola"]


def test_the_copy_of_a_killed_conversion_is_removed_at_the_next_open(stored: Path) -> None:
    for suffix in ("making", "making-journal"):
        stored.with_name(f"{stored.name}.{suffix}").write_bytes(stored.read_bytes())
    assert names(stored, None) == ["Potola"]
    asyncio.run(keep(stored, None, "Fips"))
    assert [path.name for path in stored.parent.iterdir()] == [stored.name]


def test_a_conversion_leaves_the_copy_of_another_that_is_under_way(stored: Path) -> None:
    copy = stored.with_name(f"{stored.name}.making")
    with closing(connect(stored)) as conn:
        conn.execute("PRAGMA journal_mode = DELETE")
        conn.execute("BEGIN IMMEDIATE")
        copy.write_bytes(b"half")
        with pytest.raises(StoreLocked):
            convert(stored, None, EncryptionKey(SECRET))
        assert copy.read_bytes() == b"half"


CONVERTED = """
import sys
from pathlib import Path
from hotmem.errors import HotMemError
from hotmem.core.location import EncryptionKey
from hotmem.storage.sqlite.opening import convert
try:
    convert(Path(sys.argv[1]), None, EncryptionKey(sys.stdin.read()))
except HotMemError as error:
    print(type(error).__name__, error)
"""


async def test_an_open_file_is_not_converted(stored: Path) -> None:
    async with closed(SqliteDatabase.open(stored)) as opened:
        with pytest.raises(
            StoreLocked,
            match=r"open in another program, or twice in this one\. Nothing was changed",
        ):
            convert(stored, None, EncryptionKey(SECRET))
        command = [sys.executable, "-c", CONVERTED, str(stored)]
        done = await asyncio.to_thread(
            subprocess.run,
            command,
            input=SECRET,
            capture_output=True,
            text=True,
            timeout=100,
            check=True,
        )
        assert done.stdout.startswith("StoreLocked ")
        await opened.write_all(add, "Fips")
    assert names(stored, None) == ["Potola", "Fips"]


def test_the_commands(stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = ["-d", str(stored)]
    run = CliRunner().invoke
    done = run(app, ["encrypt", *at], input=f"{SECRET}\n{SECRET}\n")
    assert done.exit_code == 0 and "is encrypted" in done.output and SECRET not in done.output
    assert names(stored, EncryptionKey(SECRET)) == ["Potola"]
    again = run(app, ["encrypt", *at])
    assert isinstance(again.exception, InvalidInput) and "hotmem rekey" in str(again.exception)
    assert isinstance(
        run(app, ["restore", str(stored), "-d", str(tmp_path / "new.db")]).exception, StoreKeyWrong
    )
    file = tmp_path / "new-key"
    file.write_text(OTHER)
    assert run(app, ["rekey", *at, "--new-key-file", str(file)], input=f"{SECRET}\n").exit_code == 0
    assert names(stored, EncryptionKey(OTHER)) == ["Potola"]
    monkeypatch.setenv("HOTMEM_KEY_FILE", str(file))
    copied = run(app, ["restore", str(stored), "-d", str(tmp_path / "new.db")])
    assert copied.exit_code == 0 and names(tmp_path / "new.db", EncryptionKey(OTHER)) == ["Potola"]
    assert run(app, ["decrypt", *at]).exit_code == 0
    assert names(stored, None) == ["Potola"]
    assert isinstance(run(app, ["decrypt", *at]).exception, StoreKeyWrong)


async def test_the_command_line_reads_an_encrypted_file(
    sealed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_memory: OpenMemory
) -> None:
    async with open_memory(sealed, Options(key=SECRET)) as memory:
        await memory.remember(said("My cat is called Fips."))
    monkeypatch.setenv("HOTMEM_KEY", SECRET)
    at = ["-d", str(sealed)]
    copied = await asyncio.to_thread(
        CliRunner().invoke, app, ["backup", str(tmp_path / "copy.db"), *at]
    )
    assert "encrypted with the same key" in copied.output
    exported = await asyncio.to_thread(
        CliRunner().invoke, app, ["export", str(tmp_path / "ana.jsonl"), "-u", "ana", *at]
    )
    assert "is not encrypted" in exported.output
    printed = await asyncio.to_thread(
        CliRunner().invoke,
        app,
        ["export", str(tmp_path / "json.jsonl"), "-u", "ana", "--json", *at],
    )
    assert json.loads(printed.stdout)["encrypted"] is False
