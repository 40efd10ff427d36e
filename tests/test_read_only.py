"""Read-only files can be searched, recalled from and exported; writing raises an error."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from hotmem import StoreReadOnly
from hotmem.storage.sqlite.migrations import STEPS
from tests.conversation import OpenMemory, remember
from tests.test_bad_input import OPENED_AS_NOBODY


@pytest.fixture
async def stored(database: Path, open_memory: OpenMemory) -> Path:
    async with open_memory(database) as memory:
        await remember(memory, "My dog is called Potola.", end="monday")
    return database


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that other accounts may read."""
    with TemporaryDirectory() as outside:
        Path(outside).chmod(0o755)
        yield Path(outside)


def used(path: Path, out: Path) -> dict[str, Any]:
    """Return what an account without write permission can do with a file."""
    out.mkdir()
    out.chmod(0o777)
    command = [
        sys.executable,
        "-m",
        "tests.nobody",
        str(path),
        str(out / "export.jsonl"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("of_file", "of_folder"), [(0o444, 0o777), (0o666, 0o555), (0o444, 0o555)])
def test_a_read_only_file_can_be_used_for_reading(
    of_file: int, of_folder: int, stored: Path, place: Path
) -> None:
    folder = place / "kept"
    folder.mkdir()
    path = folder / "memory.db"
    shutil.copy(stored, path)
    before = path.read_bytes()
    path.chmod(of_file)
    folder.chmod(of_folder)
    found = used(path, place / "out")
    assert (
        "Potola" in found["recall"]
        and any("Potola" in text for text in found["search"])
        and found["memories"] == ["Ana's dog is called Potola."]
    )
    assert found["contextual"] == 1 and found["trace"] >= 1 and found["faults"] == 0
    assert found["exported"]["turn"] == 1 and found["exported"]["memory"] == 1
    assert {kind for kind, _ in found["errors"]} == {"StoreReadOnly"}
    assert all("writable and open it again" in text for _, text in found["errors"])
    assert len(found["spoken"]) == 1 and "Potola" in found["spoken"][0], (
        "the bot continues with its memory"
    )
    assert ["remember", "StoreReadOnly"] in found["failed"]
    assert path.read_bytes() == before
    assert list(folder.iterdir()) == [path], "no other file is left"


async def test_a_file_can_be_read_while_its_owner_writes(
    stored: Path, place: Path, open_memory: OpenMemory
) -> None:
    folder = place / "owned"
    folder.mkdir(mode=0o755)
    path = folder / "memory.db"
    shutil.copy(stored, path)
    path.chmod(0o644)
    async with open_memory(path) as memory:
        await remember(memory, "My cat is called Fips.")
        found = used(path, place / "out")
    assert len(found["memories"]) == 2 and "Potola" in found["recall"]


NEWER = """
from hotmem.storage.sqlite import migrations

migrations.STEPS = (*migrations.STEPS, lambda conn: None)
"""
"""Makes a process a newer version of HotMem, with one more migration."""


def test_a_read_only_file_of_an_older_schema_is_reported(stored: Path, place: Path) -> None:
    old, empty = place / "old.db", place / "empty.db"
    shutil.copy(stored, old)
    empty.touch()
    for path in (old, empty):
        path.chmod(0o444)
    done = subprocess.run(
        [sys.executable, "-c", NEWER + OPENED_AS_NOBODY, str(old), str(empty)],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    (kind, first), (same, second) = map(json.loads, done.stdout.splitlines())
    assert kind == same == StoreReadOnly.__name__
    assert first.startswith(f"{old} has schema {len(STEPS)}, ") and "cannot be written" in first
    assert second.startswith(f"{empty} is empty and cannot be written")
