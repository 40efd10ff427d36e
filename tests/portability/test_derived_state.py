"""Imports of doubts, and beside what is said: one that was rolled back was never made."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hotmem import Memory
from hotmem.options import BackgroundMode
from hotmem.portability import importer
from hotmem.readings import store_understanding
from hotmem.storage import queries
from hotmem.storage.database import Connection
from hotmem.storage.queries.jobs import UserRotation
from hotmem.types import DecisionAction, Statement, Understanding
from tests.conversation import START
from tests.portability.test_importer import export_lines
from tests.storage.contract.story import NOW, turn, user_key
from tests.storage.contract.test_as_if_never_said import TEXT, history, read_again, stored
from tests.test_leases import background


def say(conn: Connection, user: str, told: Sequence[Statement], start: int, session: str) -> None:
    """Store turns of a session, an hour apart, with what each of them states."""
    for number, statement in enumerate(told, start):
        at, name = NOW + timedelta(hours=number), f"{session}{number}"
        queries.turns.add(conn, turn(TEXT, user=user, session=session, at=at, name=name), at)
        ((key, _),) = queries.turns.waiting(conn, UserRotation(), 1)
        store_understanding(conn, key, Understanding((statement,)))


@pytest.mark.parametrize(
    ("seed", "length"), [*((seed, 12) for seed in range(8)), (4, 24), (9, 24), (29, 24)]
)
async def test_an_import_that_was_rolled_back_was_never_made(
    tmp_path: Path, seed: int, length: int
) -> None:
    half, imported_at = length // 2, (-30, length // 2, length + 1)[seed % 3]
    before, after = history(seed, length), history(seed + 9000, length)[:half]
    async with Memory.open(tmp_path / "memory.db", background(BackgroundMode.OFF)) as memory:
        database, file = memory.runtime.database, tmp_path / "export.jsonl"
        imported = history(seed + 5000, length)[:half]
        await database.write_all(say, "carla", imported, imported_at, "imported")
        lines = [line async for line in memory.export("carla")]
        file.write_text("\n".join(lines).replace('"carla"', '"ana"'), "utf-8")
        for user in ("ana", "ben"):
            await database.write_all(say, user, before, 0, "before")
            if user == "ana":
                await memory.import_records(file)
            await database.write_all(say, user, after, length + 20, "after")
        ana, ben = [await database.write_all(user_key, user) for user in ("ana", "ben")]
        decisions = await database.read(queries.decisions.of_user, ana, 1000)
        (made,) = [one for one in decisions if one.action is DecisionAction.IMPORTED]
        await database.write(queries.undoing.undo, ana, made.id, NOW + timedelta(days=50))
        await importer.revert_imports(memory.runtime.storage, memory.runtime.priority)
        told = dict(enumerate(before)) | dict(enumerate(after, length + 20))
        await database.write_all(read_again, told)
        assert await database.read(stored, ana) == await database.read(stored, ben)


LATER = START + timedelta(days=9)


async def test_doubts_are_exported_and_imported_with_their_cause(
    memory: Memory, tmp_path: Path
) -> None:
    doubts = {
        "m0": {"doubted_at": LATER.isoformat(), "doubted_by": "m1"},
        "m1": {"doubted_at": LATER.isoformat(), "doubted_in": "t3"},
        "m2": {"doubted_at": LATER.isoformat(), "doubted_by": "not in the file"},
        "m3": {"doubted_at": LATER.isoformat(), "doubted_in": "not in the file"},
    }
    records: list[dict[str, Any]] = [json.loads(line) for line in export_lines(4)]
    for record in records:
        record |= doubts.get(record.get("id", ""), {})
    file = tmp_path / "doubts.jsonl"
    file.write_text("\n".join(map(json.dumps, records)), "utf-8")
    await memory.import_records(file)
    exported = [json.loads(line) async for line in memory.export("ana")]
    found = {
        one["id"]: (
            one["doubted_at"] and datetime.fromisoformat(one["doubted_at"]),
            one["doubted_by"],
            one["doubted_in"],
        )
        for one in exported
        if one["type"] == "memory"
    }
    assert found == {
        "m0": (LATER, "m1", None),
        "m1": (LATER, None, "t3"),
        "m2": (None, None, None),
        "m3": (None, None, None),
    }
