"""The audit log: who searched, changed or exported a memory, without any text."""

import json
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hotmem import Memory, Options
from hotmem.cli import console
from hotmem.operations.results import acting
from hotmem.options import AuditOptions
from hotmem.storage import queries
from hotmem.storage.sqlite.connection import connect
from hotmem.tools.files import BackupArguments, backup_restore
from hotmem.tools.registry import TOOLS, tool
from hotmem.types import Action, Actor, AuditEntry
from tests.commands import run as run_command
from tests.conversation import OpenMemory, file_of, remember, said

WORDS = "Potola Oleander Ottoline walnuts"


@pytest.fixture
async def populated(memory: Memory) -> AsyncIterator[Memory]:
    """A memory with turns of Ana and Ben."""
    await remember(
        memory,
        said(f"My dog is called Potola. I keep {WORDS}.", session="Oleander", name="t1"),
        said("Ottoline is my boss.", session="Tuesday", name="t2"),
        said("I live in Porto.", user="ben", name="t3"),
    )
    yield memory


async def entries(memory: Memory, user: str | None = None) -> list[AuditEntry]:
    """Return all entries, oldest first."""
    return (
        await memory.runtime.database.read_all(queries.retention.entries, user, None, None, 1000)
    )[::-1]


async def test_recalls_of_a_bot_are_not_logged(populated: Memory) -> None:
    await populated.recall("What's my dog called?", user_id="ana")
    await populated.memories("ana")
    assert await entries(populated) == []
    with acting(Actor.MCP):
        await populated.recall("What's my dog called?", user_id="ana")
    (entry,) = await entries(populated)
    assert (entry.user_id, entry.who, entry.act.action, entry.act.what) == (
        "ana",
        Actor.MCP,
        Action.READ,
        "recall",
    )


async def test_searches_changes_exports_copies_and_deletions_are_logged_once_without_text(
    populated: Memory, tmp_path: Path
) -> None:
    with acting(Actor.MCP):
        await tool("search_memory").call(populated, "ana", {"query": f"Who keeps {WORDS}?"})
        stored = await tool("store_memory").call(
            populated, "ana", {"content": "Ottoline likes walnuts.", "note": "Oleander"}
        )
    with acting(Actor.TOOL):
        await tool("search_contextual").call(populated, "ana", {"query": WORDS})
        await tool("edit_memory").call(
            populated, "ana", {"id": stored["id"], "content": "Ottoline hates walnuts."}
        )
        await tool("memory_timeline").call(populated, "ana", {"about": "Ottoline"})
    assert [line async for line in populated.export("ana")]
    await backup_restore(
        populated, "", BackupArguments(action="backup", file=str(tmp_path / "Oleander.db"))
    )
    await populated.forget(user_id="ana", entity="Ottoline", dry_run=True)
    with acting(Actor.VOICE):
        await populated.forget(user_id="ana", entity="Ottoline")
    await populated.forget(user_id="ana", session_id="Oleander")
    found = await entries(populated)
    assert [(one.who, one.act.action, one.act.what) for one in found] == [
        (Actor.MCP, Action.READ, "search_memory"),
        (Actor.MCP, Action.CHANGE, "store_memory"),
        (Actor.TOOL, Action.READ, "search_contextual"),
        (Actor.TOOL, Action.CHANGE, "edit_memory"),
        (Actor.TOOL, Action.READ, "memory_timeline"),
        (Actor.PROGRAM, Action.EXPORT, "export"),
        (Actor.PROGRAM, Action.BACKUP, "backup"),
        (Actor.VOICE, Action.FORGET, "name"),
        (Actor.PROGRAM, Action.FORGET, "session"),
    ]
    assert (
        found[0].act.turns + found[0].act.memories > 0
        and found[-2].act.turns == 2
        and found[-1].act.sessions == 0
    )
    assert [one.user_id for one in found] == ["ana"] * 6 + [None] + ["ana"] * 2
    with closing(connect(file_of(populated), read_only=True)) as conn:
        rows = conn.execute("SELECT * FROM audit").fetchall()
    everything = " ".join(str(column) for row in rows for column in row)
    assert not [
        word for word in [*WORDS.split(), "Porto", "t1", stored["id"]] if word in everything
    ]


async def test_one_anonymous_entry_is_left_of_an_erased_user(populated: Memory) -> None:
    await populated.search_memory("dog", user_id="ana")
    await populated.search_memory("dog", user_id="ben")
    await populated.forget(user_id="ana", everything=True)
    ben, erased = await entries(populated)
    assert ben.user_id == "ben"
    assert (erased.user_id, erased.act.action, erased.act.what, erased.act.turns) == (
        None,
        Action.FORGET,
        "everything",
        2,
    )
    with closing(connect(file_of(populated), read_only=True)) as conn:
        assert conn.execute(
            "SELECT user_key FROM audit WHERE id = ?", (erased.number,)
        ).fetchone() == (None,)


async def test_the_audit_log_can_be_disabled(database: Path, open_memory: OpenMemory) -> None:
    async with open_memory(database, Options(audit=AuditOptions(on=False))) as memory:
        await memory.remember(said("My dog is called Potola."))
        await memory.search_memory("dog", user_id="ana")
        assert await entries(memory) == []


def test_every_tool_is_logged_by_the_memory_or_by_itself() -> None:
    read = {one.name for one in TOOLS if one.action is Action.READ}
    assert read >= {"memory_stats", "memory_decisions", "usage_patterns", "memory_quality"}
    assert all(tool(name).action is Action.CHANGE for name in ("undo_decision", "edit_memory"))


async def test_the_command_shows_and_filters_entries(
    populated: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "screen", console.make_console(width=200))
    await populated.search_memory("dog", user_id="ana")
    await populated.search_memory("dog", user_id="ben")
    await populated.forget(user_id="ben", everything=True)
    await populated.close()

    def run(*words: str) -> str:
        done = run_command("audit", "-d", str(populated.runtime.location), *words)
        assert done.exit_code == 0, done.output
        return done.output

    import asyncio

    shown = await asyncio.to_thread(run)
    assert (
        "search_memory" in shown and "(erased)" in shown and "ana" in shown and "ben" not in shown
    )
    (only,) = json.loads(await asyncio.to_thread(run, "--user", "ana", "--json"))
    assert (only["user"], only["who"], only["action"], only["what"]) == (
        "ana",
        "program",
        "read",
        "search_memory",
    )
    assert len(json.loads(await asyncio.to_thread(run, "--action", "forget", "--json"))) == 1
    assert (
        json.loads(
            await asyncio.to_thread(
                run, "--since", (datetime.now(UTC) + timedelta(days=1)).date().isoformat(), "--json"
            )
        )
        == []
    )
