"""Export, import and backup by the tools.

An import with an invalid record stores nothing, a repeated one nothing new. Files stay in the
permitted folder.
"""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from hotmem import InvalidInput, Memory, StoreUnusable
from hotmem.operations.requests import checked
from hotmem.tools.files import (
    BackupArguments,
    ExportArguments,
    ImportArguments,
    backup_restore,
    export_memories,
    import_memories,
)
from hotmem.tools.maintenance import NoArguments, memory_stats, validate_storage
from hotmem.tools.mcp import create_server, default_folder
from hotmem.tools.registry import FOR_MODELS, tool
from hotmem.types import Category
from tests.conversation import file_of, models, remember, said
from tests.tables import tables

CASES = tables(__file__)

TALK = (
    "2024-05-06 09:00 Ana: My dog is called Potola.\n2024-05-06 09:01 Bot: Nice name!\n"
    "2024-05-07 20:00 Ana: I live in Porto."
)
MEM0 = CASES["mem0"]


@pytest.fixture
def talk(tmp_path: Path) -> str:
    file = tmp_path / "chat.txt"
    file.write_text(TALK, encoding="utf-8")
    return str(file)


def mem0_file(folder: Path, content: object = MEM0) -> str:
    file = folder / "mem0.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return str(file)


async def test_a_transcript_is_imported_once(memory: Memory, talk: str) -> None:
    report = await import_memories(memory, "ana", ImportArguments(file=talk))
    assert (report.form, report.turns, report.known, report.sessions) == ("transcript", 3, 0, 2)
    await memory.settle()
    assert {one.text for one in await memory.memories("ana")} == {
        "Ana's dog is called Potola.",
        "Ana lives in Porto.",
    }
    assert "Potola" in (await memory.recall("What is my dog called?", user_id="ana")).text
    assert (
        await memory.lookup.summary(user_id="ana", session_id="chat 2024-05-06 09:00") is not None
    )
    again = await import_memories(memory, "ana", ImportArguments(file=talk))
    assert (again.turns, again.known) == (0, 3)
    with Path(talk).open("a", encoding="utf-8") as file:  # noqa: ASYNC230
        file.write("\n2024-05-09 10:00 Ana: I like rain.")
    grown = await import_memories(memory, "ana", ImportArguments(file=talk))
    assert (grown.turns, grown.known) == (1, 3)


async def test_mem0_memories_are_classified_found_and_reported(
    memory: Memory, tmp_path: Path
) -> None:
    progress: list[tuple[str, int]] = []
    report = await import_memories(
        memory,
        "ana",
        ImportArguments(file=mem0_file(tmp_path)),
        lambda stage, done: progress.append((stage, done)),
    )
    await memory.settle()
    assert (report.form, report.memories, report.known) == ("mem0", 2, 0)
    assert progress == [
        ("classifying", 1),
        ("classifying", 2),
        ("importing", 1),
        ("importing", 2),
    ]
    assert report.categories["home"].filed == {Category.REMINDERS: 1}
    assert sum(one.unsure for one in report.categories.values()) == len(report.unsure_ids)
    found = await memory.search_memory("walnuts", user_id="ana")
    assert (
        found.results[0].id == "m2"
        and found.results[0].created.isoformat() == "2025-03-20T09:09:00+00:00"
    )
    assert (await memory_stats(memory, "ana", NoArguments())).tags == {"health": 1, "home": 1}
    again = await import_memories(memory, "ana", ImportArguments(file=mem0_file(tmp_path)))
    assert (again.memories, again.known) == (0, 2)
    assert (await validate_storage(memory, "ana", NoArguments())).sound


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (
            {"results": [*MEM0["results"], MEM0["results"][0] | {"memory": "Something else."}]},
            "m1 has other words here, or stands twice",
        ),
        (
            {"results": [*MEM0["results"], MEM0["results"][0] | {"id": "m3", "user_id": "ben"}]},
            "Record 3: user_id is 'ben'",
        ),
        ({"results": [*MEM0["results"], {"id": "m3"}]}, "Record 3 has no memory"),
    ],
)
async def test_a_failed_foreign_import_leaves_nothing(
    memory: Memory, tmp_path: Path, content: object, error: str
) -> None:
    await memory.remember(said("I was here before."))
    with pytest.raises(InvalidInput, match=error):
        await import_memories(memory, "ana", ImportArguments(file=mem0_file(tmp_path, content)))
    stats = await memory_stats(memory, "ana", NoArguments())
    assert (stats.turns, stats.memories) == (1, 0)


async def test_an_export_is_imported_for_another_user(memory: Memory, tmp_path: Path) -> None:
    await remember(memory, "My dog is called Potola.", said("I have a boat.", user="ben"))
    file = str(tmp_path / "ana.jsonl")
    done = await export_memories(memory, "ana", ExportArguments(file=file))
    assert done.lines == {"export": 1, "turn": 1, "memory": 1, "weights": 1, "end": 1}
    with pytest.raises(InvalidInput, match=r"user_id is 'ana'\. Only records of 'ben'"):
        await import_memories(memory, "ben", ImportArguments(file=file))
    async with Memory.open(tmp_path / "other.db", **models(memory)) as other:
        report = await import_memories(other, "anna", ImportArguments(file=file, from_user="ana"))
        assert (report.turns, report.memories) == (1, 1)
        assert [one.text for one in await other.memories("anna")] == ["Ana's dog is called Potola."]
    with pytest.raises(InvalidInput, match="exists"):
        await export_memories(memory, "ana", ExportArguments(file=file))
    with pytest.raises(InvalidInput, match="There is no user"):
        await export_memories(
            memory, "nobody", ExportArguments(file=str(tmp_path / "nobody.jsonl"))
        )
    with pytest.raises(InvalidInput, match="cannot be written"):
        await export_memories(
            memory, "ana", ExportArguments(file=str(tmp_path / "no" / "folder.jsonl"))
        )
    assert [name for name in await asyncio.to_thread(os.listdir, tmp_path) if "jsonl" in name] == [
        "ana.jsonl"
    ]


@pytest.mark.parametrize(("given", "error"), CASES["an_invalid_import_is_named"])
async def test_an_invalid_import_is_named(
    memory: Memory, tmp_path: Path, talk: str, given: dict[str, Any], error: str
) -> None:
    for name, text in (
        ("notes", "milk\nbread"),
        ("list.json", "[1, 2]"),
        ("empty.txt", "\n"),
        ("half.json", '[{"role": "user"'),
    ):
        await asyncio.to_thread((tmp_path / name).write_text, text)
    with pytest.raises(InvalidInput, match=error):
        await tool("import_memories").call(
            memory, "ana", given | ({"file": str(tmp_path / given["file"])} if given else {})
        )
    assert (await memory_stats(memory, "ana", NoArguments())).turns == 0


async def test_a_transcript_needs_a_user(memory: Memory, talk: str) -> None:
    with pytest.raises(InvalidInput, match="is missing"):
        await import_memories(memory, None, ImportArguments(file=talk))
    with pytest.raises(InvalidInput, match="is given without user_id"):
        await import_memories(memory, None, ImportArguments(file=talk, from_user="ben"))


async def test_only_an_intact_copy_is_restored(memory: Memory, tmp_path: Path) -> None:
    await remember(memory, "My dog is called Potola.")
    copy, again = str(tmp_path / "copy.db"), str(tmp_path / "again.db")
    done = await backup_restore(memory, "ana", BackupArguments(action="backup", file=copy))
    assert done.bytes > 0
    await backup_restore(memory, "ana", BackupArguments(action="restore", file=copy, target=again))
    async with Memory.open(again, **models(memory)) as restored:
        assert [one.text for one in await restored.memories("ana")] == [
            "Ana's dog is called Potola."
        ]
    half = tmp_path / "half.db"
    whole = await asyncio.to_thread(Path(copy).read_bytes)
    await asyncio.to_thread(half.write_bytes, whole[: len(whole) // 2])
    for file, error in ((half, StoreUnusable), (tmp_path / "missing.db", StoreUnusable)):
        with pytest.raises(error):
            await backup_restore(
                memory,
                "ana",
                BackupArguments(
                    action="restore", file=str(file), target=str(tmp_path / "third.db")
                ),
            )
    for wrong in (
        {"action": "restore", "file": copy},
        {"action": "backup", "file": copy, "target": again},
        {"action": "copy", "file": copy},
    ):
        with pytest.raises(InvalidInput, match=r"target|'backup' or 'restore'"):
            await backup_restore(memory, "ana", checked(BackupArguments, wrong))
    assert not (tmp_path / "third.db").exists()


async def test_a_client_uses_files_in_one_folder_only(memory: Memory, talk: str) -> None:
    await remember(memory, "My dog is called Potola.")
    folder = default_folder(file_of(memory))
    async with Client(create_server(memory, "ana")) as client:

        async def called(name: str, **arguments: str) -> Any:  # noqa: ANN401 - the protocol's result
            return await client.call_tool(name, arguments)

        assert not (await called("export_memories", file="ana.jsonl")).is_error
        assert (folder / "ana.jsonl").is_file()
        assert (await called("backup_restore", action="backup", file="copy.db")).is_error, (
            "it holds every user"
        )
        assert (await called("import_memories", file="ana.jsonl")).structured_content["known"] == 2
        for name in (talk, "../chat.txt", "..", "a/b", str(folder / "ana.jsonl")):
            refused = await called("import_memories", file=name)
            assert refused.is_error and "Pass a file name without folders" in str(refused.content)
        await asyncio.to_thread((folder / "link.txt").symlink_to, talk)
        assert (await called("import_memories", file="link.txt")).is_error
    assert (await memory_stats(memory, "ana", NoArguments())).turns == 1


def test_tools_for_a_language_model_use_no_files() -> None:
    assert all(one.files == () for one in FOR_MODELS)
    assert (
        tool("export_memories").files
        and tool("import_memories").files
        and tool("backup_restore").files
    )
