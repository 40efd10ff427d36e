"""Decisions about memories by the tools: listed, undone, and undoings taken back."""

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hotmem import InvalidInput, Memory
from hotmem.storage import queries
from hotmem.storage.sqlite.connection import connect
from hotmem.tools.registry import tool
from tests.conversation import models, remember, said

DOG, CITY = "Ana's dog is called Potola.", "Ana lives in Porto."


@pytest.fixture
async def told(memory: Memory) -> Memory:
    """A memory with two facts of Ana, read from speech."""
    await remember(
        memory,
        said("My dog is called Potola.", name="t1"),
        said("I live in Porto.", minutes=5, name="t2"),
    )
    return memory


async def call(memory: Memory, name: str, **arguments: Any) -> Any:  # noqa: ANN401 - JSON
    return await tool(name).call(memory, "ana", arguments)


async def listed(memory: Memory, *actions: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await call(memory, "memory_decisions", actions=actions))[
        "decisions"
    ]
    return found


async def known(memory: Memory) -> set[str]:
    return {one.text for one in await memory.memories("ana", past=True)}


async def test_each_fact_that_was_read_has_its_turn_and_probability(told: Memory) -> None:
    city, dog = await listed(told, "read")
    assert {one.id for one in await told.memories("ana")} == {city["id"], dog["id"]}
    assert "read from the turn t1" in dog["reason"] and "% sure of the category" in dog["reason"]
    assert dog["reason"].count("“is called”") == 1
    assert [one["action"] for one in await listed(told, "merged", "ended")] == []
    with pytest.raises(InvalidInput, match="actions"):
        await listed(told, "eaten")


async def test_a_fact_read_wrongly_is_withdrawn_everywhere_and_can_come_back(told: Memory) -> None:
    before = (await told.recall("What is my dog called?", user_id="ana")).text
    _, dog = await listed(told, "read")
    undone = await call(told, "undo_decision", decision=dog["id"])
    assert await known(told) == {CITY}
    block = await told.recall("What is my dog called?", user_id="ana")
    assert DOG not in block.text and "My dog is called Potola." in block.text, "it was still said"
    found = await told.search_memory("Potola", user_id="ana", options={"min_relevance": 0.0})
    assert DOG not in {one.content for one in found.results}
    await call(told, "undo_decision", decision=undone["decision"])
    assert await known(told) == {CITY, DOG}
    assert (await told.recall("What is my dog called?", user_id="ana")).text == before
    assert not await told.runtime.database.read_all(queries.maintenance.faults)


async def test_a_correction_by_the_user_is_undone_with_its_subcategory_and_tags(
    memory: Memory,
) -> None:
    stored = await memory.store_memory("The boiler is a Viessmann.", user_id="ana")
    (filed,) = await listed(memory, "filed")
    assert "% sure of the category" in filed["reason"] and stored.id in filed["memory_ids"]
    second = stored.analysis.second
    assert second not in (None, stored.analysis.category) and f", {second} next" in filed["reason"]
    before = [line async for line in memory.export("ana") if '"type": "memory"' in line]
    await call(
        memory, "edit_memory", id=stored.id, category="projects", tags=["heating"], note="cellar"
    )
    (refiled,) = await listed(memory, "refiled")
    changes = {one["field"]: (one["before"], one["after"]) for one in refiled["changes"]}
    assert changes["category"] == (stored.analysis.category, "projects")
    assert changes["note"] == (None, "cellar") and changes["tags"][1] == "heating"
    await call(memory, "undo_decision", decision=refiled["id"])
    after = [line async for line in memory.export("ana") if '"type": "memory"' in line]
    assert after == before
    assert "heating" not in (await call(memory, "memory_stats"))["tags"]
    undone, *_ = await listed(memory)
    assert (undone["action"], undone["undoes"]) == ("undone", refiled["id"])


async def test_a_withdrawn_fact_stays_withdrawn_after_an_export_and_import(
    told: Memory, tmp_path: Path
) -> None:
    _, dog = await listed(told, "read")
    await call(told, "undo_decision", decision=dog["id"])
    lines = [line async for line in told.export("ana")]
    assert not [line for line in lines if '"action": "read"' in line and CITY in line]
    file = tmp_path / "ana.jsonl"
    await asyncio.to_thread(file.write_text, "\n".join(lines), "utf-8")
    async with Memory.open(tmp_path / "other.db", **models(told)) as other:
        await other.import_records(file)
        await other.settle()
        assert await known(other) == {CITY}
        assert not await other.runtime.database.read_all(queries.maintenance.faults)
        (undoing,) = await listed(other, "undone")
        await call(other, "undo_decision", decision=undoing["id"])
        assert await known(other) == {CITY, DOG}, "the undoing can still be undone"
        (imported,) = await listed(other, "imported")
        await call(other, "undo_decision", decision=imported["id"])
        await other.settle()
        assert await known(other) == set() and await listed(other, "read") == []


async def test_forgetting_leaves_no_word_in_decisions(told: Memory, database: Path) -> None:
    _, dog = await listed(told, "read")
    await call(told, "edit_memory", id=dog["id"], note="Xylomander gave her away", tags=["xylo"])
    await call(told, "edit_memory", id=dog["id"], note="")
    for one in await listed(told, "refiled"):
        await call(told, "undo_decision", decision=one["id"])
    await told.forget(user_id="ana", entity="Xylomander")
    await told.forget(user_id="ana", memory_id=dog["id"])
    await told.close()
    held = (await asyncio.to_thread(database.read_bytes)).lower()
    assert b"xylo" not in held and b"potola" not in held
    with closing(connect(database, read_only=True)) as conn:
        assert conn.scalar("SELECT count(*) FROM decisions") == 0


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("undo_decision", {"decision": "a\ud800"}),
        ("merge_memories", {"into": "a\ud800", "ids": ["b"]}),
        ("merge_memories", {"into": "a", "ids": ["b\ud800"]}),
        ("merge_memories", {"into": "a", "ids": ["b"], "reason": "a\ud800"}),
        ("edit_memory", {"id": "a\ud800", "importance": 3}),
        ("memory_timeline", {"about": "a\ud800"}),
    ],
)
async def test_half_a_character_in_an_argument_is_invalid(
    memory: Memory, name: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput, match="valid string"):
        await call(memory, name, **arguments)
