"""`hotmem doctor`: findings, fixes and exit code."""

import asyncio
import json
import re
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import Result

from hotmem.core.location import EncryptionKey
from hotmem.storage import open_storage, queries
from hotmem.storage.sqlite.connection import connect
from hotmem.types import JobKind, Turn
from tests.commands import run as run_command
from tests.conversation import said, store_turns

SECRET = "Potola"


pytestmark = pytest.mark.usefixtures("command_line")


@pytest.fixture
def database_file(database: Path) -> Path:
    """A file with two unprocessed turns."""
    turns = [
        said(f"My dog is called {SECRET}.", name="t1"),
        said("I live in Porto.", user="ben", name="t2"),
    ]
    asyncio.run(keep(database, turns))
    return database


async def keep(path: Path, turns: Sequence[Turn], key: EncryptionKey | None = None) -> None:
    storage = open_storage(path, key)
    for turn in turns:
        await store_turns(storage.database, turn, now=datetime.now(UTC))
    await storage.database.close()


async def fail(path: Path, work: JobKind, key: int) -> None:
    storage = open_storage(path)
    await storage.database.write_all(
        queries.job_failures.record, work, key, "ZeroDivisionError", 1, 1.0, datetime.now(UTC), None
    )
    await storage.database.close()


def run(*words: str | Path) -> Result:
    return run_command("doctor", *map(str, words))


def test_an_intact_file_has_no_findings(database_file: Path) -> None:
    done = run("-d", database_file)
    assert done.exit_code == 0, done.output
    for words in (
        "only its owner",
        "not encrypted",
        "today's",
        "sound",
        "2 turns to be understood",
        "2 passages to be embedded",
    ):
        assert words in done.output
    assert SECRET not in done.output


def test_the_language_is_shown_and_another_setting_needs_attention(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def record(language: str) -> None:
        storage = open_storage(database, language=language)
        await storage.database.write_all(queries.maintenance.record, str(database))
        await storage.database.close()

    asyncio.run(keep(database, []))
    assert re.search(r"language +none yet", run("-d", database).output)
    asyncio.run(record("de"))
    for set_, well in (("", True), ("de", True), ("fr", False)):
        monkeypatch.setenv("HOTMEM_LANGUAGE", set_)
        done = run("-d", database)
        assert re.search(r"language +de", done.output)
        assert done.exit_code == (not well)
        assert ("hotmem language fr" in done.output) == (not well)


def test_what_waits_for_a_language_model_is_counted(database_file: Path) -> None:
    with closing(connect(database_file)) as conn:
        conn.execute(
            """INSERT INTO pending_extractions (turn, user_key, session)
               SELECT id, user_key, session FROM turns"""
        )
        conn.execute(
            """INSERT INTO summaries (id, user_key, topics, text, tries)
               SELECT id, user_key, '[]', '', 0 FROM sessions LIMIT 1"""
        )
    output = run("-d", database_file).output
    assert "2 turns to be sent to the language model" in output
    assert "1 summary to be written by the language model" in output


def test_failed_jobs_are_listed_and_retried(database_file: Path) -> None:
    for work in (JobKind.TURN, JobKind.PASSAGE):
        asyncio.run(fail(database_file, work, 1))
    done = run("-d", database_file)
    assert done.exit_code == 1
    assert "2 jobs that failed" in done.output and "hotmem doctor --retry" in done.output
    assert (
        done.output.count("ZeroDivisionError") == 2 and "ana" in done.output and "t1" in done.output
    )
    assert SECRET not in done.output
    found = json.loads(run("-d", database_file, "--json").output)
    assert found["well"] is False
    assert {
        (one["user_id"], one["work"], one["piece"], one["tries"]) for one in found["failures"]
    } == {
        ("ana", "turn", "t1", 1),
        ("ana", "passage", "t1", 1),
    }
    done = run("-d", database_file, "--retry")
    assert done.exit_code == 0 and "2 jobs will be retried" in done.output
    with closing(connect(database_file, read_only=True)) as conn:
        assert conn.execute(
            "SELECT (SELECT sum(held) FROM pending_turns), (SELECT sum(held) FROM passages)"
        ).fetchone() == (0, 0)


def test_a_file_readable_by_others_needs_attention(database_file: Path) -> None:
    database_file.chmod(0o644)
    done = run("-d", database_file)
    assert done.exit_code == 1 and f"chmod 600 {database_file}" in done.output.replace("\n", "")


def test_a_folder_writable_by_others_needs_attention(database_file: Path) -> None:
    database_file.parent.chmod(0o777)
    done = run("-d", database_file)
    assert done.exit_code == 1 and "chmod go-w" in done.output


def test_a_damaged_file_is_reported_and_not_written(database_file: Path) -> None:
    content = bytearray(database_file.read_bytes())
    content[4096 * 4 : 4096 * 6] = b"\xff" * 8192
    database_file.write_bytes(content)
    done = run("-d", database_file)
    assert done.exit_code == 1 and "estore" in done.output
    assert database_file.read_bytes() == content


def test_an_incomplete_index_is_reported(database_file: Path) -> None:
    with closing(connect(database_file)) as conn:
        conn.execute("DELETE FROM passage_entries WHERE user_key = 1")
    done = run("-d", database_file)
    assert done.exit_code == 1 and "hotmem repair" in done.output


def test_an_encrypted_file_without_its_key_and_with_it(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(
        keep(
            database,
            [said("My dog is called Potola.")],
            EncryptionKey("a long and secret sentence"),
        )
    )
    done = run("-d", database)
    assert done.exit_code == 1 and "no key was given" in done.output
    monkeypatch.setenv("HOTMEM_KEY", "a long and secret sentence")
    done = run("-d", database)
    assert done.exit_code == 0 and "encrypted" in done.output


def test_an_open_file_is_diagnosed(database_file: Path) -> None:
    async def opened() -> Result:
        storage = open_storage(database_file)
        await store_turns(
            storage.database, said("Another sentence.", name="t3"), now=datetime.now(UTC)
        )
        done = await asyncio.to_thread(run, "-d", database_file)
        await storage.database.close()
        return done

    done = asyncio.run(opened())
    assert done.exit_code == 0 and "3 turns to be understood" in done.output
