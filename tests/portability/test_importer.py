"""Imports in batches, concurrent with other writers.

An import that fails or is undone leaves the store unchanged; an interrupted one resumes.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hotmem import InvalidInput, Memory
from hotmem.core.threads import ForegroundPriority
from hotmem.core.validation import counted
from hotmem.errors import StoreFull
from hotmem.portability import importer
from hotmem.portability.importer import hotmem_source
from hotmem.portability.jsonl import memory_line
from hotmem.storage import Storage, open_storage, queries
from hotmem.storage.sqlite.connection import connect
from hotmem.storage.sqlite.database import SqliteDatabase
from hotmem.tools.files import ImportArguments, import_memories
from hotmem.tools.maintenance import (
    DecisionsArguments,
    NoArguments,
    memory_decisions,
    validate_storage,
)
from hotmem.tools.registry import tool
from hotmem.types import (
    Category,
    DecisionAction,
    ImportResult,
    Kind,
    MemoryRecord,
    SourceSpan,
    UserRecord,
)
from tests.conversation import (
    START,
    OpenMemory,
    decisions,
    file_of,
    remember,
    said,
    store_turns,
    turn_record,
    undo,
    user_of,
)
from tests.victim import import_until_killed
from tests.warm import CONTEXT

SEED = 20261122
KILLS = 8
LONGEST_S = 0.15

OF_IMPORTS = ("imports", "import_changes")
NUMBERED = ("sqlite_sequence", "index_revisions")
"""Tables of counters that are never decreased."""


def contents(path: Path, *, without: tuple[str, ...] = ()) -> dict[str, list[Any]]:
    """Return every row of the file by table; of the word index, the terms of each row."""
    with closing(connect(path, read_only=True)) as conn:
        tables = [
            name
            for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if "_words_" not in name
        ]
        held = {
            name: sorted(map(repr, conn.execute(f"SELECT * FROM {name}")))
            for name in tables
            if name not in (*NUMBERED, *without)
        }
        held["meta"] = [row for row in held.get("meta", []) if not row.startswith("('clock'")]
        for kind in ("passage", "memory"):
            conn.execute(
                f"CREATE VIRTUAL TABLE temp.{kind}_terms "
                f"USING fts5vocab(main, {kind}_words, 'instance')"
            )
            held[f"{kind}_words"] = sorted(
                map(repr, conn.execute(f"SELECT term, doc FROM temp.{kind}_terms"))
            )
        return held


@pytest.fixture
async def other(tmp_path: Path, open_memory: OpenMemory) -> AsyncIterator[Memory]:
    """The memory that files are exported from."""
    async with open_memory(tmp_path / "other.db") as opened:
        yield opened


CONVERSATION = (
    (9_000, "elsewhere", "My dog is called Paola."),
    (9_001, "elsewhere", "No, I said Potola, not Paola."),
    (9_002, "elsewhere", "I live in Porto."),
    (9_003, "elsewhere", "I moved to Leeds."),
    (9_100, "monday", "Rui wants to open a bakery."),
)
"""When what was said, in minutes, and in which session."""


async def add_conversation(memory: Memory) -> None:
    """Store a conversation of Ana.

    Facts, a correction, a reminder, and a note with tags; summarised, with weights and a quality
    record.
    """
    for minutes, session, text in CONVERSATION:
        await memory.remember(said(text, session=session, minutes=minutes, name=f"e{minutes}"))
    for session in ("elsewhere", "monday"):
        await memory.end_session(user_id="ana", session_id=session)
    await memory.settle()
    boiler, tags = "The boiler's serial number is 44 B 19.", {"tags": ["heating", "dog"]}
    await memory.store_memory(boiler, user_id="ana", context=tags)
    later = START + timedelta(days=30)
    block = await memory.recall("What is my dog called?", user_id="ana", at=later)
    await memory.feedback(block, reply="She's called Potola!")


async def here_before(memory: Memory) -> None:
    """Store turns and memories before an import.

    A session of the same name, the same city, and a tag of the same name.
    """
    await remember(
        memory, said("My sister Bea lives in Porto.", session="monday", name="b1"), end="monday"
    )
    await memory.store_memory("The dog eats at six.", user_id="ana", context={"tags": ["dog"]})


async def exported(memory: Memory, path: Path) -> list[str]:
    lines = [line async for line in memory.export("ana")]
    await asyncio.to_thread(path.write_text, "\n".join(lines), "utf-8")
    return lines


async def spoilt(memory: Memory, path: Path) -> Path:
    """An export whose last record is invalid."""
    lines = await exported(memory, path)
    last = max(number for number, line in enumerate(lines) if '"type": "quality"' in line)
    lines[last] = lines[last].replace('"day": "', '"day": "someday ')
    await asyncio.to_thread(path.write_text, "\n".join(lines), "utf-8")
    return path


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit after every record, and delete few rows in each transaction."""
    monkeypatch.setattr(importer, "WRITE_S", 0.0)
    monkeypatch.setattr(importer, "BATCH", 3)


@pytest.mark.usefixtures("slow")
async def test_a_failed_import_leaves_the_store_unchanged(
    memory: Memory, other: Memory, tmp_path: Path
) -> None:
    await add_conversation(other)
    await here_before(memory)
    await memory.settle()
    before = await asyncio.to_thread(contents, file_of(memory))
    file = await spoilt(other, tmp_path / "spoilt.jsonl")
    with pytest.raises(InvalidInput, match="day"):
        await memory.import_records(file)
    assert await asyncio.to_thread(contents, file_of(memory)) == before
    await memory.settle()
    assert await asyncio.to_thread(contents, file_of(memory)) == before
    assert (await validate_storage(memory, "ana", NoArguments())).sound


@pytest.mark.usefixtures("slow")
async def test_a_failed_import_leaves_no_new_user(
    memory: Memory, other: Memory, tmp_path: Path
) -> None:
    await add_conversation(other)
    before = await asyncio.to_thread(contents, file_of(memory))
    with pytest.raises(InvalidInput, match="day"):
        await memory.import_records(await spoilt(other, tmp_path / "spoilt.jsonl"))
    assert await asyncio.to_thread(contents, file_of(memory)) == before


@pytest.mark.usefixtures("slow")
async def test_an_undone_import_leaves_the_store_unchanged(
    memory: Memory, other: Memory, tmp_path: Path
) -> None:
    await add_conversation(other)
    await here_before(memory)
    await memory.settle()
    before = await asyncio.to_thread(contents, file_of(memory), without=(*OF_IMPORTS, "decisions"))
    await exported(other, tmp_path / "ana.jsonl")
    result = await memory.import_records(tmp_path / "ana.jsonl")
    await memory.settle()
    (decision,) = await decisions(memory, DecisionAction.IMPORTED)
    assert (
        decision.reason == f"hotmem: {counted(result.turns, 'turn')} and "
        f"{counted(result.memories, 'memory', 'memories')} were new, 0 known"
    )
    undone = await undo(memory, decision.id)
    assert (undone.restored, undone.removed) == (0, result.turns + result.memories)
    await memory.settle()
    after = await asyncio.to_thread(contents, file_of(memory), without=(*OF_IMPORTS, "decisions"))
    assert after == before
    with pytest.raises(InvalidInput, match="was undone on"):
        await undo(memory, decision.id)
    again = await memory.import_records(tmp_path / "ana.jsonl")
    assert again == result


@pytest.mark.usefixtures("slow")
async def test_imported_statements_that_are_repeated_survive_an_undo(
    memory: Memory, other: Memory, tmp_path: Path
) -> None:
    await add_conversation(other)
    await exported(other, tmp_path / "ana.jsonl")
    await memory.import_records(tmp_path / "ana.jsonl")
    await memory.settle()
    for number in range(3):
        await memory.remember(said("I live in Leeds.", session="after", minutes=90_000 + number))
    await memory.remember(said("No, I said Carlota, not Potola.", session="after", minutes=90_009))
    await memory.store_memory("The boiler's serial number is 44 B 19.", user_id="ana")
    await memory.settle()
    known = {one.text: one.id for one in await memory.memories("ana")}
    edit = {"id": known["Ana's dog is called Carlota."], "content": "Ana's dog is called Carla."}
    await tool("edit_memory").call(memory, "ana", edit)
    (decision,) = await decisions(memory, DecisionAction.IMPORTED)
    await undo(memory, decision.id)
    await memory.settle()
    held = {one.text: one.confirmations for one in await memory.memories("ana", past=True)}
    assert held.pop("Ana's dog is called Carla.") == 0, "a person's edit of a correction stays"
    assert held.pop("Ana's dog is called Carlota.") == 0, "with what was edited"
    assert held == {"Ana lives in Leeds.": 2, "The boiler's serial number is 44 B 19.": 0}
    assert (await validate_storage(memory, "ana", NoArguments())).sound


async def test_turns_after_an_import_survive_an_undo(memory: Memory, tmp_path: Path) -> None:
    chat = tmp_path / "chat.txt"
    chat.write_text(
        "2024-05-06 09:00 Ana: My dog is called Potola.\n"
        "2024-05-06 09:01 Ana: I live in Porto.\n2024-05-06 09:02 Ana: I like walnuts.\n"
    )
    await remember(memory, said("I live in Braga.", minutes=-3_000_000))
    await import_memories(memory, "ana", ImportArguments(file=str(chat)))
    await memory.settle()
    (braga,) = [one for one in await memory.memories("ana", past=True) if "Braga" in one.text]
    assert braga.doubted_at or not braga.current
    since = (
        "My dog is called Potola.",
        "My dog is called Potola.",
        "No, I said I like hazelnuts, not walnuts.",
        "I own a boat.",
    )
    for number, text in enumerate(since):
        await memory.remember(said(text, session="after", minutes=number))
    await memory.settle()
    (decision,) = await decisions(memory, DecisionAction.IMPORTED)
    await undo(memory, decision.id)
    await memory.settle()
    held = {one.text: one for one in await memory.memories("ana", past=True)}
    assert set(held) >= {"Ana lives in Braga.", "Ana's dog is called Potola.", "Ana owns a boat."}
    assert not any("walnuts" in text or "Porto" in text for text in held)
    assert (
        held["Ana lives in Braga."].current
        and held["Ana lives in Braga."].doubted_at is None
        and held["Ana's dog is called Potola."].confirmations == 1
    )
    assert "Potola" in (await memory.recall("What is my dog called?", user_id="ana")).text
    assert (await validate_storage(memory, "ana", NoArguments())).sound


async def test_a_bot_can_write_during_an_import(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    lines = [turn_line(number) for number in range(1500)]
    await asyncio.to_thread(
        file.write_text, "\n".join([*lines, lines[0].replace("ferry", "train")]), "utf-8"
    )
    taking = asyncio.create_task(memory.import_records(file))
    waits = []
    for number in range(5):
        await asyncio.sleep(0.05)
        began = asyncio.get_running_loop().time()
        await memory.remember(said(f"My name is Bo{'abcde'[number]}.", name=f"live {number}"))
        waits.append(asyncio.get_running_loop().time() - began)
    assert not taking.done() and max(waits) < 0.5
    with pytest.raises(InvalidInput, match="stands twice"):
        await taking
    await memory.settle()
    assert [turn.id for turn in await turns(memory)] == [f"live {number}" for number in range(5)]
    assert len(await memory.memories("ana")) == 1


async def test_an_import_stopped_by_a_full_disk_is_reverted_later(
    memory: Memory, tmp_path: Path
) -> None:
    await remember(memory, "I was here before.")
    file = tmp_path / "many.jsonl"
    await asyncio.to_thread(
        file.write_text, "\n".join(turn_line(number) for number in range(3000)), "utf-8"
    )
    database = memory.runtime.database
    assert isinstance(database, SqliteDatabase) and database._writer is not None
    writer = database._writer
    writer.execute(f"PRAGMA max_page_count = {writer.scalar('PRAGMA page_count') + 200}")
    with pytest.raises(StoreFull):
        await memory.import_records(file)
    writer.execute("PRAGMA max_page_count = 1000000")
    await memory.settle()
    assert [turn.text for turn in await turns(memory)] == ["I was here before."]


async def test_an_interrupted_undo_is_finished_on_the_next_open(
    memory: Memory, other: Memory, tmp_path: Path, open_memory: OpenMemory
) -> None:
    await add_conversation(other)
    before = await asyncio.to_thread(contents, file_of(memory))
    file = await spoilt(other, tmp_path / "spoilt.jsonl")
    source = await half_imported(memory.runtime.storage, file)
    await memory.runtime.database.write_all(queries.imports.abort, source)
    await memory.close()
    async with open_memory(file_of(memory)) as again:
        await again.settle()
        assert await asyncio.to_thread(contents, file_of(memory)) == before


async def test_an_unfinished_import_can_be_undone(memory: Memory, tmp_path: Path) -> None:
    storage = memory.runtime.storage
    await begun(storage, tmp_path)
    await remember(memory, said("My dog is called Potola.", name="live"))
    assert [one.text for one in await memory.memories("ana")] == ["Ana's dog is called Potola."]
    with closing(connect(file_of(memory), read_only=True)) as conn:
        assert conn.scalar("SELECT count(*) FROM passages WHERE vector NOT NULL") == 1
    assert "Potola" in (await memory.recall("What is my dog called?", user_id="ana")).text
    (decision,) = await decisions(memory, DecisionAction.IMPORTED)
    assert "import the same file again" in decision.reason
    await undo(memory, decision.id)
    assert [turn.id for turn in await turns(memory)] == ["live"]


async def test_one_import_at_a_time_for_each_user(memory: Memory, tmp_path: Path) -> None:
    await begun(memory.runtime.storage, tmp_path)
    file = tmp_path / "two.jsonl"
    bens = [turn_line(number).replace('"ana"', '"ben"') for number in range(4)]
    await asyncio.to_thread(
        file.write_text, "\n".join([*bens, *map(turn_line, range(100, 104))]), "utf-8"
    )
    (unfinished,) = await decisions(memory)
    with pytest.raises(InvalidInput, match=f"undo it: {unfinished.id}"):
        await memory.import_records(file)
    assert await memory.runtime.database.read_all(queries.users.find, "ben") is None
    assert (await memory.import_records(tmp_path / "ten.jsonl")).turns == 10
    assert (await memory.import_records(file)).turns == 8
    decision = (await memory_decisions(memory, "ben", DecisionsArguments())).decisions[0]
    with pytest.raises(InvalidInput, match="cannot be undone"):
        await undo(memory, decision.id)
    assert (await undo(memory, decision.id, "ben")).removed == 4
    assert len(await turns(memory)) == 14


async def test_deleting_a_user_deletes_the_import(memory: Memory, tmp_path: Path) -> None:
    await begun(memory.runtime.storage, tmp_path)
    await memory.forget(user_id="ana", everything=True)
    with closing(connect(file_of(memory), read_only=True)) as conn:
        assert [
            conn.scalar(f"SELECT count(*) FROM {table}")
            for table in (*OF_IMPORTS, "turns", "passages", "pending_turns")
        ] == [0] * 5


@pytest.mark.timeout(200)
def test_a_repeatedly_killed_import_resumes_with_the_same_result(tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text("\n".join(export_lines(1500)), "utf-8")
    whole, broken = tmp_path / "whole.db", tmp_path / "broken.db"
    result = asyncio.run(imported_alone(whole, file))
    stood = [kill(broken, file, moment) for moment in moments()]
    assert stood == sorted(stood) and 0 < stood[0] < stood[-1]
    assert asyncio.run(imported_alone(broken, file)) == result
    assert lasting(broken) == lasting(whole)


@pytest.mark.timeout(200)
def test_an_import_killed_during_its_rollback_leaves_nothing(tmp_path: Path) -> None:
    file, path = tmp_path / "spoilt.jsonl", tmp_path / "memory.db"
    lines = export_lines(150)
    lines[-2] = lines[-2].replace('"importance": 3', '"importance": 9')
    file.write_text("\n".join(lines), "utf-8")
    asyncio.run(remembered(path))
    before = contents(path)
    assert any([kill(path, file, moment) for moment in moments()])
    with pytest.raises(InvalidInput, match="importance"):
        asyncio.run(imported_alone(path, file))
    assert contents(path) == before


def moments() -> Iterator[float]:
    """Return the seconds after the first record at which each process is killed."""
    chosen = random.Random(SEED)
    return (chosen.uniform(0.0, LONGEST_S) for _ in range(KILLS))


def kill(path: Path, file: Path, after_s: float) -> int:
    """Kill an import some seconds after its first record.

    Returns how many records the file holds then.
    """
    heard, mouth = CONTEXT.Pipe(duplex=False)
    victim = CONTEXT.Process(target=import_until_killed, args=(path, file, mouth))
    victim.start()
    mouth.close()
    assert heard.poll(60), "the import never began"
    victim.join(after_s)
    victim.kill()
    victim.join()
    heard.close()
    with closing(connect(path)) as conn:
        return int(conn.scalar("SELECT coalesce(sum(records), 0) FROM imports"))


async def imported_alone(path: Path, file: Path) -> ImportResult:
    """Import a file without any other work."""
    storage = open_storage(path)
    try:
        return await importer.import_records(
            storage, ForegroundPriority(), hotmem_source(file), lambda: None
        )
    finally:
        await storage.database.close()


async def remembered(path: Path) -> None:
    storage = open_storage(path)
    await store_turns(storage.database, said("I was here before.", session="s0"))
    await storage.database.close()


def lasting(path: Path) -> dict[str, list[Any]]:
    """Return every row without the times of the import."""
    held = contents(
        path, without=(*OF_IMPORTS, "meta", "decisions", "sessions", "weights", "weight_history")
    )
    with closing(connect(path, read_only=True)) as conn:
        held["sessions"] = conn.execute(
            "SELECT id, user_key, public_id, started_at, last_at, summary_due, passages "
            "FROM sessions"
        ).fetchall()
        held["weights"] = conn.execute("SELECT user_key, layer, weight FROM weights").fetchall()
        held["imports"] = conn.execute(
            "SELECT user_key, source, state, records, turns, memories, known, others FROM imports"
        ).fetchall()
    return held


async def test_parts_of_a_summary_are_imported_and_unknown_ones_ignored(
    memory: Memory, tmp_path: Path
) -> None:
    sentence = {"text": "The ferry is late", "turn_id": "t0"}
    lines = []
    for record in map(json.loads, export_lines(20)):
        if record["type"] == "summary":
            record["sentences"] |= {"title": [sentence], "mood": [sentence]}
        lines.append(json.dumps(record))
    file = tmp_path / "summary.jsonl"
    file.write_text("\n".join(lines), "utf-8")
    await memory.import_records(file)
    summary = await memory.lookup.summary(user_id="ana", session_id="s0")
    assert summary is not None and summary.title is not None
    assert summary.title.text == "The ferry is late"
    assert [one.text for one in summary.narrative] == ["The ferry is late."]


def export_lines(turns: int) -> list[str]:
    """An export of turns, each with a memory that replaces the previous, and session summaries."""
    lines = [json.dumps({"type": "export", "version": 2, "user_id": "ana"})]
    lines += [
        json.dumps(json.loads(turn_line(number)) | {"entities": [f"Rui {number % 7}"]})
        for number in range(turns)
    ]
    weights = {"facts": 1.1, "sessions": 1.0, "semantic": 1.0, "verbatim": 0.9}
    lines.append(json.dumps({"type": "weights", "user_id": "ana"} | weights))
    for session in range(turns // 20):
        sentences = {"narrative": [{"text": "The ferry is late.", "turn_id": f"t{session * 20}"}]}
        summary = {
            "session_id": f"s{session}",
            "topics": ["ferry"],
            "text": "The ferry.",
            "sentences": sentences,
        }
        lines.append(json.dumps({"type": "summary", "user_id": "ana"} | summary))
    for number in range(turns):
        record = MemoryRecord(
            id=f"m{number}",
            text=f"Ferry {number} is late.",
            subject="ferry",
            relation="is",
            object="late",
            kind=Kind.FACT,
            category=Category.CONTEXTS,
            importance=3,
            hedged=False,
            negated=False,
            changes=False,
            single=False,
            said_at=START,
            superseded_by=f"m{number + 1}" if number + 1 < turns else None,
            tags=("ferry", f"tag {number % 9}"),
            entities=(f"Rui {number % 5}",),
            words=(SourceSpan(f"t{number}", 0, 5),),
        )
        lines.append(memory_line(UserRecord("ana", record)))
    return [*lines, json.dumps({"type": "end", "user_id": "ana", "records": len(lines) - 1})]


async def half_imported(storage: Storage, file: Path) -> str:
    """Import the first records of a file; return the name of the source."""
    incoming = hotmem_source(file)
    taking = await storage.database.read_all(
        queries.imported_records.start, incoming.source, incoming.form, with_forgotten=False
    )
    portion = taking.next_batch(incoming.records, 5) or []
    await storage.database.write_all(
        queries.imported_records.import_records, taking, portion, datetime.now(UTC), 1.0
    )
    return incoming.source


async def begun(storage: Storage, folder: Path) -> None:
    """Run the first half of an import of ten turns."""
    file = folder / "ten.jsonl"
    await asyncio.to_thread(file.write_text, "\n".join(map(turn_line, range(10))), "utf-8")
    await half_imported(storage, file)


async def turns(memory: Memory) -> list[Any]:
    user = await user_of(memory.runtime.database)
    return [
        turn for _, turn in await memory.runtime.database.read(queries.turns.of_user, user, 0, 1000)
    ]


def turn_line(number: int) -> str:
    at, session = START + timedelta(minutes=number), f"s{number // 20}"
    text = f"The ferry number {number} is late."
    return json.dumps(turn_record(text, f"t{number}", session=session, at=at))
