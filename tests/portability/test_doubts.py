"""Memories that are possibly outdated, in exports."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from hotmem import Memory
from tests.conversation import START
from tests.portability.test_importer import export_lines

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
