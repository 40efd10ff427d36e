"""The export of all data of a user has nothing of other users."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from hotmem import InvalidInput, Memory, Options
from hotmem.storage.queries.export_rows import HELD, LEFT_OUT
from hotmem.storage.sqlite.connection import Connection, connect
from hotmem.storage.sqlite.migrations import migrate
from hotmem.tools.files import export_subject
from hotmem.tools.registry import tool
from tests.conversation import file_of, remember, said

OF_NOBODY = {"meta", "former_vectors"}
"""Tables without rows of a user."""


@pytest.fixture
async def two_users(memory: Memory) -> AsyncIterator[Memory]:
    """Ana's data in most tables, and Ben's, which must not be exported."""
    await remember(
        memory,
        said("My dog is called Paola. I met Marta in Porto yesterday.", name="t1"),
        said("My dog is called Potola.", name="t2", minutes=5),
        said(
            "I keep Oleander on the balcony.", user="ben", session="Braga", speaker="Ben", name="t3"
        ),
        end="monday",
    )
    stored = await memory.store_memory(
        "Ana drives a grey Octavia.", user_id="ana", context={"tags": ["car"]}
    )
    await tool("edit_memory").call(
        memory, "ana", {"id": stored.id, "content": "Ana drives a red Octavia."}
    )
    learning = Options()
    encoder, language = memory.runtime.recall.encoder, memory.runtime.recall.language
    async with Memory.open(
        file_of(memory), learning, encoder=encoder, language=language
    ) as learner:
        block = await learner.recall("What's my dog called?", user_id="ana")
        await learner.feedback(block, "Your dog is called Potola.")
    await memory.search_memory("Oleander", user_id="ben")
    yield memory


def tables(conn: Connection) -> set[str]:
    """Return all tables except the shadow tables of virtual ones."""
    rows = conn.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    virtual = [name for name, sql in rows if sql.startswith("CREATE VIRTUAL")]
    return {name for name, _ in rows if not any(name.startswith(f"{one}_") for one in virtual)}


def test_every_table_is_exported_or_has_no_user(database: Path) -> None:
    with closing(connect(database)) as conn:
        migrate(conn, database)
        assert {*HELD} | {*LEFT_OUT} | OF_NOBODY == tables(conn)
        assert not {*HELD} & {*LEFT_OUT}
        with_user = {
            name
            for name in tables(conn)
            if "user_key" in {row[1] for row in conn.execute(f"PRAGMA table_info({name})")}
        }
    assert with_user <= {*HELD} | {*LEFT_OUT}


async def test_every_row_and_column_of_the_user_is_exported(
    two_users: Memory, tmp_path: Path
) -> None:
    file = tmp_path / "ana.json"
    done = await export_subject(two_users, "ana", file)
    text = await asyncio.to_thread(file.read_text, "utf-8")
    document = json.loads(text)
    assert [one["table"] for one in document["contents"]] == list(HELD)
    assert (
        {one["table"]: one["rows"] for one in document["contents"]}
        == done.lines
        == {table: len(document[table]) for table in HELD}
    )
    with closing(connect(file_of(two_users), read_only=True)) as conn:
        for table in HELD:
            columns = [row[1:3] for row in conn.execute(f"PRAGMA table_info({table})")]
            wanted = {name for name, sort in columns if sort != "BLOB" and name != "user_key"}
            assert all(row.keys() >= wanted for row in document[table]), table
            if ("user_key", "INTEGER") in columns:
                assert len(document[table]) == conn.scalar(
                    f"SELECT count(*) FROM {table} WHERE user_key = 1"
                ), table
    filled = {
        "turns",
        "memories",
        "sources",
        "summaries",
        "entities",
        "event_times",
        "tags",
        "decisions",
        "recalls",
        "recall_items",
        "weights",
        "quality",
        "audit",
    }
    assert all(document[table] for table in filled)
    for words in ("Paola", "Potola", "grey Octavia", "What's my dog called?", "car"):
        assert words in text
    for words in ("Oleander", "Braga", "t3"):
        assert words not in text
    assert document["turns"][0]["spoken_at"].startswith("2026-03-02T09:00")
    assert document["audit"][-1]["what"] == "all"


async def test_an_unknown_user_gets_no_file(two_users: Memory, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="There is no user"):
        await export_subject(two_users, "nobody", tmp_path / "nobody.json")
    assert not (tmp_path / "nobody.json").exists()
