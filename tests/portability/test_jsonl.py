"""An export holds everything, and imported it answers as before.

An import that fails leaves nothing behind.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from shutil import copy

import pytest

from hotmem import InvalidInput, Memory
from hotmem.portability import read_export
from hotmem.portability.jsonl import COUNTED_TYPES, SKIPPED_TYPES
from hotmem.storage import queries
from hotmem.storage.database import Connection
from hotmem.storage.sqlite.connection import connect
from hotmem.tools.maintenance import (
    MergeArguments,
    NoArguments,
    memory_stats,
    merge_memories,
    validate_storage,
)
from hotmem.types import ExportedTurn, Intent, IntentOffset, Role, Turn
from tests.conversation import START, OpenMemory, file_of, life, remember, said, turn_record
from tests.tables import tables

CASES = tables(__file__)

LATER = START + timedelta(days=151)

QUESTIONS = CASES["questions"]


@pytest.fixture
async def second(tmp_path: Path, open_memory: OpenMemory) -> AsyncIterator[Memory]:
    """A second, empty memory."""
    async with open_memory(tmp_path / "second.db") as opened:
        yield opened


def offsets_of(conn: Connection, user_id: str) -> dict[Intent, IntentOffset]:
    """A user's offsets of the weights by intent."""
    user = queries.users.ensure(conn, user_id)
    return queries.layer_weights.moved(conn, user)


def put_offset(conn: Connection, user_id: str) -> None:
    """Store an offset of the weights for questions of one intent."""
    user = queries.users.ensure(conn, user_id)
    queries.layer_weights.put_moved(conn, user, {Intent.FACT: (0.1, 0.0, -0.1, 0.0)})


async def tell(memory: Memory) -> None:
    """Store 150 turns, a correction, a move, feedback, two equal notes and one that expires."""
    for turn in life():
        await memory.remember(turn)
    for number, text in enumerate(CASES["told"]):
        await memory.remember(said(text, session="last", minutes=216_000 + number))
    for session in ("last", "monday"):
        await memory.end_session(user_id="ana", session_id=session)
    await memory.settle()
    await memory.store_memory(
        "The boiler's serial number is 44 B 19.",
        user_id="ana",
        context={"tags": ["heating"], "note": "on the left"},
    )
    for text in ("The canoe is at the harbour.", "Rui borrowed the canoe and the paddle."):
        await memory.store_memory(text, user_id="ana")
    kept = await memory.store_memory("I drive a grey Skoda Octavia.", user_id="ana")
    other = await memory.store_memory(
        "My own vehicle is one of those Octavias, grey.", user_id="ana"
    )
    await merge_memories(memory, "ana", MergeArguments(into=kept.id, ids=(other.id,)))
    await memory.store_memory(
        "The cat's chip is 981.",
        user_id="ana",
        context={"expires_at": (LATER + timedelta(days=1)).isoformat()},
    )
    block = await memory.recall("What is my dog called?", user_id="ana", at=LATER)
    await memory.feedback(block, reply="She's called Potola!")


@pytest.fixture(scope="module")
def shared_file(tmp_path_factory: pytest.TempPathFactory, open_memory: OpenMemory) -> Path:
    database = tmp_path_factory.mktemp("shared") / "memory.db"

    async def run() -> None:
        async with open_memory(database) as memory:
            await tell(memory)

    asyncio.run(run())
    return database


@pytest.fixture
def database(shared_file: Path, tmp_path: Path) -> Path:
    """A file with that conversation."""
    return Path(copy(shared_file, tmp_path / "memory.db"))


async def written(memory: Memory, path: Path) -> list[str]:
    """Return the lines of an export, and write them to a file."""
    lines = [line async for line in memory.export("ana")]
    await asyncio.to_thread(path.write_text, "\n".join(lines), "utf-8")
    return lines


async def test_an_imported_memory_answers_as_before(
    memory: Memory, second: Memory, tmp_path: Path
) -> None:
    await memory.runtime.database.write_all(put_offset, "ana")
    lines = await written(memory, tmp_path / "export.jsonl")
    progress: list[None] = []
    result = await second.import_records(tmp_path / "export.jsonl", lambda: progress.append(None))
    await second.settle()
    kept = [line for line in lines if json.loads(line)["type"] not in SKIPPED_TYPES]
    assert result.known == 0 and len(progress) == len(kept) - 2
    assert {json.loads(line)["action"] for line in lines if '"type": "decision"' in line} == {
        "filed",
        "merged",
        "repeated",
        "doubted",
        "ended",
    }
    for question in QUESTIONS:
        ours, theirs = [
            await one.recall(question, user_id="ana", at=LATER) for one in (memory, second)
        ]
        assert ours.text == theirs.text, question
        assert [(item.memory_id, item.turn_ids, item.mark) for item in ours.items] == [
            (item.memory_id, item.turn_ids, item.mark) for item in theirs.items
        ]
    assert await second.memories("ana", past=True) == await memory.memories("ana", past=True)
    assert await second.learning.weights("ana") == await memory.learning.weights("ana")
    moved = [await one.runtime.database.read_all(offsets_of, "ana") for one in (memory, second)]
    assert moved[0] == moved[1] != {}, "the weights by intent, without which it answers otherwise"
    again = [line async for line in second.export("ana")]
    assert again == kept
    before, after = [await memory_stats(one, "ana", NoArguments()) for one in (memory, second)]
    for count in ("turns", "memories", "merged", "entities", "tags"):
        assert getattr(before, count) == getattr(after, count)
    assert after.tags["canoe"] == 2 and "paddle" not in after.tags
    assert "boiler" not in after.tags and after.tags["heating"] == 1
    assert after.waiting == 0 and (await validate_storage(second, "ana", NoArguments())).sound


async def test_importing_twice_adds_nothing(memory: Memory, second: Memory, tmp_path: Path) -> None:
    await written(memory, tmp_path / "export.jsonl")
    first = await second.import_records(tmp_path / "export.jsonl")
    again = await second.import_records(tmp_path / "export.jsonl")
    assert (again.turns, again.memories, again.known) == (0, 0, first.turns + first.memories)
    await second.settle()
    assert (await validate_storage(second, "ana", NoArguments())).sound


def line(turn: Turn) -> str:
    """A line of a turn without an export."""
    said = {
        "id": turn.id,
        "user_id": turn.user_id,
        "session_id": turn.session_id,
        "role": turn.role,
        "speaker": turn.speaker,
        "text": turn.text,
    }
    return json.dumps({"type": "turn"} | said | {"spoken_at": turn.spoken_at.isoformat()})


async def test_turns_without_an_export_are_processed(second: Memory, tmp_path: Path) -> None:
    spoken = [
        said("My dog is called Potola.", name="dog"),
        said(
            '"Quoted", ünïcode 🐕\nand a second line',
            role=Role.ASSISTANT,
            speaker=None,
            minutes=1.5,
            name="reply",
        ),
    ]
    file = tmp_path / "turns.jsonl"
    file.write_text("\n".join(line(turn) for turn in spoken), "utf-8")
    assert list(read_export(file)) == spoken
    await second.import_records(file)
    await second.settle()
    assert [known.text for known in await second.memories("ana")] == ["Ana's dog is called Potola."]
    assert await second.lookup.summary(user_id="ana", session_id="monday") is not None


def without(kind: str) -> Callable[[list[str]], list[str]]:
    return lambda lines: [line for line in lines if f'"type": "{kind}"' not in line]


def counted(spoil: Callable[[list[str]], list[str]]) -> Callable[[list[str]], list[str]]:
    """Return the lines with a correct end line."""

    def spoil_and_count(lines: list[str]) -> list[str]:
        left = spoil(lines)
        records = sum(json.loads(line)["type"] in COUNTED_TYPES for line in left)
        return [*left[:-1], json.dumps(json.loads(left[-1]) | {"records": records})]

    return spoil_and_count


def cut(lines: list[str]) -> list[str]:
    return [*lines[:-3], lines[-3][: len(lines[-3]) // 2]]


def replaced(old: str, new: str) -> Callable[[list[str]], list[str]]:
    return lambda lines: [re.sub(old, new, line, count=1) for line in lines]


def twice(kind: str) -> Callable[[list[str]], list[str]]:
    """Return the first record of a type again, with other text."""

    def spoil(lines: list[str]) -> list[str]:
        place = next(number for number, line in enumerate(lines, 1) if f'"type": "{kind}"' in line)
        again, end = (
            json.loads(lines[place - 1]) | {"text": "Something else."},
            json.loads(lines[-1]),
        )
        return [
            *lines[:place],
            json.dumps(again),
            *lines[place:-1],
            json.dumps(end | {"records": end["records"] + 1}),
        ]

    return spoil


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (cut, "is not JSON"),
        (twice("turn"), "or stands twice in the file"),
        (twice("memory"), "or stands twice in the file"),
        (counted(without("turn")), "comes from the turn"),
        (lambda lines: lines[:-1], "is truncated"),
        (without("quality"), "ends an export of"),
        (replaced('"version": 2', '"version": 3'), "export has version 3"),
        (
            replaced('"type": "memory"', '"type": "song"'),
            "type is 'song'. Use one of: export, turn",
        ),
        (
            replaced('"category": "contexts"', '"category": "songs"'),
            "category: Input should be 'contexts', 'projects'",
        ),
        (replaced(r'"entities": \[\]', '"entities": 3'), "entities is not a list of names"),
        (replaced('"kind": "fact"', '"kind": "song"'), "kind: Input should be 'fact'"),
        (
            replaced(r'"importance": \d', '"importance": 9'),
            "importance: Input should be less than or equal to 5",
        ),
        (
            replaced('"confirmations": 0', '"confirmations": -3'),
            "confirmations: Input should be greater than or equal to 0",
        ),
        (
            replaced(r'("type": "memory".*?"text": )"(?:[^"\\]|\\.)*"', r'\1" "'),
            "text: .*text is empty",
        ),
        (replaced('("type": "memory".*?"id": )"[^"]*"', r'\1""'), "id: .*id is empty"),
        (replaced('"type": "memory", "user_id": "ana"', '"type": "memory"'), "has no user_id"),
    ],
)
async def test_an_invalid_export_is_refused_completely(
    memory: Memory,
    second: Memory,
    tmp_path: Path,
    spoil: Callable[[list[str]], list[str]],
    named: str,
) -> None:
    lines = await written(memory, tmp_path / "export.jsonl")
    await remember(second, said("I was here before.", user="ana", session="early", name="early"))
    file = tmp_path / "spoilt.jsonl"
    await asyncio.to_thread(file.write_text, "\n".join(spoil(lines)), "utf-8")
    with pytest.raises(InvalidInput, match=named):
        await second.import_records(file)
    stats = await memory_stats(second, "ana", NoArguments())
    assert (stats.turns, stats.sessions) == (1, 1)
    assert (await validate_storage(second, "ana", NoArguments())).sound


async def test_two_users_may_have_memories_of_the_same_ids(memory: Memory, tmp_path: Path) -> None:
    lines = await written(memory, tmp_path / "export.jsonl")
    file = tmp_path / "ben.jsonl"
    await asyncio.to_thread(
        file.write_text, "\n".join(lines).replace('"user_id": "ana"', '"user_id": "ben"'), "utf-8"
    )
    await memory.import_records(file)
    await memory.settle()
    of_ana, of_ben = [
        {one["id"]: one["text"] for one in map(json.loads, lines) if one["type"] == "memory"}
        for lines in (lines, [line async for line in memory.export("ben")])
    ]
    assert of_ana == of_ben
    assert of_ana
    await memory.forget(user_id="ben", everything=True)
    assert [line async for line in memory.export("ana")][1:] == lines[1:]
    assert (await validate_storage(memory, "ana", NoArguments())).sound


async def test_the_order_of_memories_is_exported_as_told_at(memory: Memory) -> None:
    records = [json.loads(line) async for line in memory.export("ana")]
    memories = [record for record in records if record["type"] == "memory"]
    assert memories
    assert all("told_at" in one and "order_time" not in one for one in memories)


async def test_a_deleted_user_has_an_empty_export(memory: Memory) -> None:
    await memory.forget(user_id="ana", everything=True)
    assert [line async for line in memory.export("ana")] == []
    with connect(file_of(memory)) as conn:
        assert conn.scalar("SELECT count(*) FROM tags") == 0
        assert conn.scalar("SELECT count(*) FROM decisions") == 0


def test_lines_are_read_lazily(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    turn = turn_record("Hi.", "1")
    file.write_text(
        "\n".join(
            [
                json.dumps({"type": "export", "version": 2, "user_id": "ana"}),
                json.dumps(turn | {"entities": ["Rui"]}),
                "{",
            ]
        ),
        "utf-8",
    )
    lines = read_export(file)
    first = next(lines)
    assert first == ExportedTurn(Turn("ana", "s", Role.USER, "Hi.", START, "Ana", "1"), ("Rui",))
    with pytest.raises(InvalidInput, match="Line 3 is not JSON"):
        next(lines)
