"""The script that compares a restored file with the live one."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hotmem import Memory, Options, Turn
from hotmem.core.location import EncryptionKey
from hotmem.storage.sqlite import opening
from hotmem.storage.sqlite.connection import connect
from tests.conversation import OpenMemory, file_of, remember

DRILL = Path(__file__).parents[1] / "deploy" / "restore_drill.py"
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture(params=["", "secret"], ids=["plain", "encrypted"])
async def live(
    request: pytest.FixtureRequest, tmp_path: Path, open_memory: OpenMemory
) -> AsyncIterator[tuple[Memory, str]]:
    """An open memory, and its key."""
    async with open_memory(tmp_path / "memory.db", Options(key=request.param or None)) as memory:
        for number in range(5):
            await memory.remember(
                Turn("ana", "s", "user", f"I have {number} cats.", NOON + timedelta(minutes=number))
            )
        await memory.settle()
        yield memory, request.param


def drill(live: Path, restored: Path, key: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, str(DRILL), str(live), str(restored)],
        capture_output=True,
        text=True,
        env=os.environ | {"HOTMEM_KEY": key},
        check=False,
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split())


async def test_a_restored_copy_is_equal_and_a_modified_one_is_not(
    live: tuple[Memory, str], tmp_path: Path
) -> None:
    (memory, secret), copy, restored = live, tmp_path / "copy.db", tmp_path / "restored.db"
    key = EncryptionKey(secret) if secret else None
    with closing(connect(file_of(memory), key=key, read_only=True)) as conn:
        opening.backup(conn, copy, lambda *_: None)
    opening.restore(copy, restored, key)
    code, output = drill(file_of(memory), restored, secret)
    assert code == 0 and "the same as the live one" in output, output

    await remember(memory, Turn("ana", "s", "user", "And a dog.", NOON + timedelta(hours=1)))
    code, output = drill(file_of(memory), restored, secret)
    assert code == 1 and "turns" in output, output

    with closing(connect(restored, key=key)) as conn:
        conn.execute("UPDATE turns SET text = 'I have 9 cats.' WHERE text = 'I have 3 cats.'")
    code, output = drill(file_of(memory), restored, secret)
    assert code == 1 and "not the live one" in output and "turns" in output, output


async def test_a_file_that_is_no_database_is_reported(
    live: tuple[Memory, str], tmp_path: Path
) -> None:
    (memory, secret), other = live, tmp_path / "other.db"
    other.write_bytes(b"nothing")
    code, output = drill(file_of(memory), other, secret)
    assert code == 1 and "Traceback" not in output, output
