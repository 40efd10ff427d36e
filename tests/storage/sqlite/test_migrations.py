"""Files of every version keep opening and answering; the schema changes only by a migration."""

import json
import lzma
import random
import re
import time
from contextlib import closing
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest

from hotmem import Memory, StoreTooNew, StoreUnusable, Weights
from hotmem.models import Language
from hotmem.storage import queries
from hotmem.storage.sqlite import migrations
from hotmem.storage.sqlite.connection import Connection, connect
from hotmem.storage.sqlite.database import SqliteDatabase
from hotmem.storage.sqlite.migrations import APPLICATION_ID, STEPS, migrate
from hotmem.storage.sqlite.opening import open_connections
from hotmem.tools.registry import tool
from tests.conversation import START, turns_told
from tests.letters import LetterEncoder
from tests.storage.sqlite.make_version1 import FILE, NOTES, QUESTION, TURNS
from tests.victim import LATER_STEPS, migrate_until_killed
from tests.warm import CONTEXT

VERSION_1: Final = lzma.decompress(FILE.read_bytes())

IMPORTED: Final = "The user's cousin Rolf plays the cello."

KILLS, KILLS_IN_FULL = 12, 200

SCHEMA_SHA256 = "45587ca5424dd6c0d1acd8316dce83388ecb5b6f45a5799a14f2e99c08e351ff"


@pytest.fixture
def version1(database: Path) -> Path:
    """A file as the first version left it."""
    database.write_bytes(VERSION_1)
    return database


def schema(conn: Connection) -> str:
    """Every table, index and trigger that a migration made, by name.

    Not those that FTS5 and vec0 make for themselves.
    """
    rows = conn.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE sql NOT NULL ORDER BY type, name"
    ).fetchall()
    virtual = [name for _, name, sql in rows if sql.startswith("CREATE VIRTUAL")]
    own = [
        sql
        for _, name, sql in rows
        if not any(name.startswith(f"{table}_") for table in virtual) and name != "sqlite_sequence"
    ]
    return "\n".join(re.sub(r"\s+", " ", sql) + ";" for sql in own) + "\n"


def test_the_schema_changes_by_a_migration_alone(database: Path) -> None:
    """After a deliberate change, with a migration, write the new checksum by hand."""
    with closing(connect(database)) as conn:
        migrate(conn, database)
        assert sha256(schema(conn).encode()).hexdigest() == SCHEMA_SHA256


def test_migrating_marks_the_file_and_happens_once(database: Path) -> None:
    with closing(connect(database)) as conn:
        migrate(conn, database)
        before = database.read_bytes()
        migrate(conn, database)
        assert conn.scalar("PRAGMA user_version") == len(STEPS)
        assert conn.scalar("PRAGMA application_id") == APPLICATION_ID
        assert database.read_bytes() == before


def test_a_file_that_lacks_columns_is_left_as_it_is(database: Path) -> None:
    """Before the first release the schema changed without a step."""
    with closing(connect(database)) as conn:
        migrate(conn, database)
        conn.execute("ALTER TABLE decisions DROP COLUMN changes")
    before = database.read_bytes()
    with pytest.raises(StoreUnusable, match=r"lacks decisions\.changes\. Export it with"):
        open_connections(database, None)
    assert database.read_bytes() == before


def test_a_step_that_fails_leaves_the_version_before_it(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(conn: Connection) -> None:
        conn.execute("CREATE TABLE half (id)")
        raise ZeroDivisionError

    with closing(connect(database)) as conn:
        monkeypatch.setattr(migrations, "STEPS", (*STEPS, breaks))
        with pytest.raises(ZeroDivisionError):
            migrate(conn, database)
        assert conn.scalar("PRAGMA user_version") == len(STEPS)
        assert not conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'half'").fetchone()
        assert not conn.in_transaction


def test_an_older_file_is_brought_up_step_by_step(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def adds(conn: Connection) -> None:
        conn.execute("ALTER TABLE users ADD COLUMN shown TEXT")

    with closing(connect(database)) as conn:
        migrate(conn, database)
        conn.execute("INSERT INTO users (public_id) VALUES ('ana')")
        monkeypatch.setattr(migrations, "STEPS", (*STEPS, adds))
        migrate(conn, database)
        assert conn.scalar("PRAGMA user_version") == len(STEPS) + 1
        assert conn.execute("SELECT public_id, shown FROM users").fetchall() == [("ana", None)]


async def test_a_file_of_the_first_version_opens_and_answers(
    version1: Path, language: Language
) -> None:
    async with Memory.open(version1, encoder=LetterEncoder(), language=language) as memory:
        block = await memory.recall(
            QUESTION, user_id="ana", session_id="third", at=START + timedelta(days=60)
        )
        assert "Potola" in block.text
        assert await turns_told(memory, "ben") == [TURNS[-1].text]
        held = {known.text: known.current for known in await memory.memories("ana", past=True)}
        assert held["Ana's dog is called Potola."] and not held["Ana's dog is called Paola."]
        assert held["Ana lives in Lisbon."] and not held["Ana lives in Porto."]
        assert await memory.lookup.summary(user_id="ana", session_id="first") is not None
        assert (
            len(
                [
                    line
                    async for line in memory.export("ana")
                    if json.loads(line)["type"] == "question"
                ]
            )
            == 1
        )
        assert await memory.remember(TURNS[0]) is False
        assert (await memory.forget(user_id="ana", everything=True)).turns == 5
    with closing(connect(version1, read_only=True)) as conn:
        assert conn.scalar("PRAGMA integrity_check") == "ok"


async def test_what_the_first_version_did_can_be_undone(version1: Path, language: Language) -> None:
    async with Memory.open(version1, encoder=LetterEncoder(), language=language) as memory:

        async def call(name: str, **arguments: Any) -> Any:  # noqa: ANN401 - of the tool
            return await tool(name).call(memory, "ana", arguments)

        async def texts() -> set[str]:
            return {known.text for known in await memory.memories("ana")}

        decisions = (await call("memory_decisions", limit=100))["decisions"]
        standing = {one["action"]: one["id"] for one in decisions if one["undone_at"] is None}
        assert standing.keys() >= {"merged", "edited", "refiled", "imported", "evolved"}
        assert len((await call("memory_subcategories"))["subcategories"]) == 2
        assert {"The spare key is under the mat.", IMPORTED} <= await texts()
        for action in ("evolved", "merged", "edited", "imported"):
            await call("undo_decision", decision=standing[action])
        assert (await call("memory_subcategories"))["subcategories"] == []
        await memory.settle()  # hours after the file was made, the category evolves again
        assert {NOTES[0], NOTES[2]} <= await texts() and IMPORTED not in await texts()
        assert await memory.restore(user_id="ana") is not None
        assert "I went to Bruges with Hannelore." in await turns_told(memory)
        assert (await call("validate_storage"))["sound"]


async def test_a_program_that_is_older_than_a_migration_is_stopped(database: Path) -> None:
    """Another process may migrate a file that this one has open."""
    opened = SqliteDatabase.open(database)
    await opened.write_all(queries.users.ensure, "ana")
    with closing(connect(database)) as conn:
        conn.execute(f"PRAGMA user_version = {len(STEPS) + 1}")
    with pytest.raises(StoreTooNew, match="pip install -U"):
        await opened.write_all(queries.users.ensure, "ben")
    with pytest.raises(StoreTooNew):
        await opened.read_all(queries.users.find, "ana")
    await opened.close()
    with closing(connect(database, read_only=True)) as conn:
        assert conn.execute("SELECT public_id FROM users").fetchall() == [("ana",)]


@pytest.mark.timeout(600)
def test_a_file_opens_again_that_was_killed_while_it_was_migrated(
    database: Path, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments, longest, versions = random.Random(20261130), 10.0, set[int]()
    for _ in range(KILLS_IN_FULL if full else KILLS):
        database.with_name(f"{database.name}-wal").unlink(missing_ok=True)
        database.with_name(f"{database.name}-shm").unlink(missing_ok=True)
        database.write_bytes(VERSION_1)
        receiver, sender = CONTEXT.Pipe(duplex=False)
        process = CONTEXT.Process(target=migrate_until_killed, args=(database, sender))
        process.start()
        sender.close()
        assert receiver.poll(60), "the process sent no message"
        began = time.monotonic()
        process.join(moments.uniform(0.0, longest) if versions else None)
        longest = longest if versions else time.monotonic() - began
        process.kill()
        process.join()
        receiver.close()
        with closing(connect(database, read_only=True)) as conn:
            versions.add(conn.scalar("PRAGMA user_version"))
        with monkeypatch.context() as later:
            later.setattr(migrations, "STEPS", (*STEPS, *LATER_STEPS))
            opened = open_connections(database, None)
        for one in (*opened.readers, opened.writer):
            assert one is not None
            one.close()
        with closing(connect(database, read_only=True)) as conn:
            assert conn.scalar("PRAGMA user_version") == len((*STEPS, *LATER_STEPS))
            assert conn.scalar("SELECT count(*) FROM memories WHERE shown = text") == 21
            assert not queries.maintenance.faults(conn)
    assert len(versions) > 1, "some were killed before a step was done"


def test_who_only_reads_a_file_is_told_that_it_is_older(
    version1: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = version1.read_bytes()
    with monkeypatch.context() as later:
        later.setattr(migrations, "STEPS", (*STEPS, lambda conn: None))
        with pytest.raises(StoreUnusable, match=r"has schema 1, and .* Open it once"):
            migrations.turns(version1, "ana", 10)
    assert version1.read_bytes() == before
    with closing(connect(version1)) as conn:
        conn.execute("DELETE FROM weights")
        conn.execute(
            "INSERT INTO weights SELECT id, 'semantic', 99, 0 FROM users WHERE public_id = 'ana'"
        )
        conn.execute(
            "INSERT INTO weights SELECT id, 'nonsense', 1, 0 FROM users WHERE public_id = 'ana'"
        )
    told, count, weights = migrations.turns(version1, "ana", 10)
    assert len(told) == count == 5
    assert weights == Weights(semantic=1.5)


async def test_a_file_of_the_first_version_takes_another_encoder(
    version1: Path, language: Language
) -> None:
    class Longer(LetterEncoder):
        name = "another encoder"

    async with Memory.open(version1, encoder=Longer(), language=language) as memory:
        await memory.settle()
    with closing(connect(version1, read_only=True)) as conn:
        assert all(
            rows == with_vector == indexed > 0 for rows, with_vector, indexed in embedded(conn)
        )
        assert conn.scalar("SELECT value FROM meta WHERE key = 'encoder'").startswith(
            "another encoder"
        )


def embedded(conn: Connection) -> list[tuple[int, int, int]]:
    """Of each table the rows, the rows with a vector and the rows in the index."""
    tables = {
        "passages": "passage",
        "(SELECT vector FROM memories WHERE merged_into IS NULL)": "memory",
        "summaries": "summary",
    }
    return [
        (
            conn.scalar(f"SELECT count(*) FROM {table}"),
            conn.scalar(f"SELECT count(*) FROM {table} WHERE vector NOT NULL"),
            conn.scalar(f"SELECT count(*) FROM {kind}_entries WHERE bits NOT NULL"),
        )
        for table, kind in tables.items()
    ]
