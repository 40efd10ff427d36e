"""What the memory file cannot take is not lost.

It waits beside it, in order, through crashes and restarts.
"""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copy
from zoneinfo import ZoneInfo

import pytest

from hotmem import InvalidInput, Options, StoreError, StoreFull, StoreGone, Turn
from hotmem.cli.commands.maintenance import _convert
from hotmem.core.location import EncryptionKey
from hotmem.errors import StoreUnusable
from hotmem.storage import spool as module
from hotmem.storage.spool import Record, Removal, Spool, path_of, waiting_in
from hotmem.storage.sqlite import connection
from hotmem.storage.sqlite.connection import connect
from tests.conversation import OpenMemory, remember
from tests.pipecat.scene import turns_in
from tests.pipecat.test_vanishing import locked
from tests.test_encryption import contents

NOON = datetime(2026, 3, 2, 12, tzinfo=ZoneInfo("Europe/Lisbon"))

DYING = """
import asyncio, os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from hotmem import Turn
from hotmem.storage.spool import Spool

async def main():
    async def take(_):
        raise AssertionError
    spool = Spool(Path(sys.argv[1]), None, take)
    for number in range(1000):
        at = datetime(2026, 3, 2, tzinfo=UTC)
        await spool.put(Turn("ana", "monday", "user", f"Number {number}.", at, id=f"t{number}"))
        print(number, flush=True)

asyncio.run(main())
"""


def said(number: int, text: str | None = None) -> Turn:
    at = NOON + timedelta(seconds=number)
    return Turn("ana", "monday", "user", text or f"Number {number}.", at, "Ana", f"t{number}")


class Shut:
    """A memory file that takes records only while it is open."""

    def __init__(self) -> None:
        self.open = False
        self.taken: list[Record] = []

    async def take(self, record: Record) -> None:
        if not self.open:
            raise StoreError("shut")
        self.taken.append(record)


async def test_records_come_back_as_they_were_and_in_order(tmp_path: Path) -> None:
    path, door = tmp_path / "memory.db.spool", Shut()
    spool = Spool(path, None, door.take)
    records: list[Record] = [
        said(1),
        said(2, "I've moved to São Paulo 🎉"),
        Removal("ana", ("elsewhere",)),
        said(3),
    ]
    for record in records:
        await spool.put(record)
    with pytest.raises(StoreError, match="shut"):
        await spool.replay()
    assert spool.waiting == 4 and waiting_in(path, None) == 4
    await spool.close()

    again = Spool(path, None, door.take)
    door.open = True
    assert await again.replay() == 4 and door.taken == records and again.waiting == 0
    assert isinstance(door.taken[0], Turn) and door.taken[0].spoken_at.tzinfo == ZoneInfo(
        "Europe/Lisbon"
    )
    await again.close()
    assert not path.exists(), "an empty spool leaves nothing behind"


async def test_a_spool_is_its_owners_alone_and_encrypted_like_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "memory.db.spool"
    spool = Spool(path, EncryptionKey("secret"), Shut().take)
    await spool.put(said(1, "My PIN is 4471."))
    await spool.close()
    assert path.stat().st_mode & 0o777 == 0o600
    assert b"4471" not in contents(tmp_path) and b"ana" not in contents(tmp_path)
    assert waiting_in(path, EncryptionKey("secret")) == 1


async def test_the_folder_of_a_spool_is_created_with_the_first_record(tmp_path: Path) -> None:
    path, door = tmp_path / "state" / "hotmem" / "server.spool", Shut()
    spool = Spool(path, None, door.take, creates_folder=True)
    assert not await spool.replay() and not path.parent.exists()
    await spool.put(said(1))
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert waiting_in(path, None) == 1
    await spool.close()


async def test_a_folder_that_cannot_be_created_is_an_error_of_the_spool(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    door = Shut()
    spool = Spool(tmp_path / "state" / "server.spool", None, door.take, creates_folder=True)
    with pytest.raises(StoreUnusable, match="cannot be created"):
        await spool.put(said(1))
    door.open = True
    assert await spool.replay() == 1 and door.taken == [said(1)], "it was held in the process"
    await spool.close()


async def test_the_folder_of_a_memory_file_is_not_created_by_its_spool(tmp_path: Path) -> None:
    """It may be that of a disk that is not mounted, where nobody would look for it later."""
    spool = Spool(tmp_path / "gone" / "memory.db.spool", None, Shut().take)
    with pytest.raises(StoreError):
        await spool.put(said(1))
    await spool.close()
    assert not (tmp_path / "gone").exists()


async def test_what_was_taken_back_is_not_stored_from_the_spool(tmp_path: Path) -> None:
    path, door = tmp_path / "memory.db.spool", Shut()
    spool = Spool(path, None, door.take)
    for record in (said(1), said(2, "I have cancer."), Removal("ana", ("t2",)), said(3)):
        await spool.put(record)
    await spool.close()
    assert b"cancer" not in path.read_bytes()
    door.open = True
    again = Spool(path, None, door.take)
    await again.replay()
    assert door.taken == [said(1), Removal("ana", ("t2",)), said(3)]
    await again.close()


async def test_a_record_that_can_never_be_stored_does_not_stand_in_the_way(tmp_path: Path) -> None:
    taken: list[Record] = []

    async def take(record: Record) -> None:
        if isinstance(record, Turn) and record.id == "t1":
            raise InvalidInput("This turn id was already used for other words.")
        taken.append(record)

    spool = Spool(tmp_path / "memory.db.spool", None, take)
    for number in (1, 2):
        await spool.put(said(number))
    await spool.replay()
    assert taken == [said(2)] and not spool.waiting
    await spool.close()


async def test_while_the_disk_is_full_turns_wait_in_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, door = tmp_path / "memory.db.spool", Shut()
    spool = Spool(path, None, door.take)
    await spool.put(said(1))
    assert spool._conn is not None
    spool._conn.execute("PRAGMA max_page_count = 3")
    with pytest.raises(StoreFull):
        await spool.put(said(2, "word " * 5000))
    with pytest.raises(StoreFull):
        await spool.put(said(3))
    assert spool.waiting == 3
    monkeypatch.setattr(module, "HELD", 2)
    with pytest.raises(StoreFull, match="Make room"):
        await spool.put(said(4))
    door.open = True
    await spool.replay()
    assert [one.id for one in door.taken if isinstance(one, Turn)] == [
        "t1",
        "t2",
        "t3",
    ] and not spool.waiting
    await spool.close()


async def test_a_spool_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2)
    spool = Spool(tmp_path / "memory.db.spool", None, Shut().take)
    for number in (1, 2):
        await spool.put(said(number))
    with pytest.raises(StoreFull, match="holds 2 turns"):
        await spool.put(said(3))
    await spool.close()


async def test_a_damaged_spool_is_put_aside_and_kept(tmp_path: Path) -> None:
    path, door = tmp_path / "memory.db.spool", Shut()
    path.write_bytes(b"no database at all" * 100)
    door.open = True
    spool = Spool(path, None, door.take)
    await spool.put(said(1))
    await spool.replay()
    await spool.close()
    (aside,) = await asyncio.to_thread(lambda: list(tmp_path.iterdir()))
    assert (
        "unreadable" in aside.name
        and contents(tmp_path).startswith(b"no database")
        and door.taken == [said(1)]
    )


async def test_two_programs_share_a_spool_and_neither_removes_what_the_other_puts(
    tmp_path: Path,
) -> None:
    path, door = tmp_path / "memory.db.spool", Shut()
    door.open = True
    one, other = Spool(path, None, door.take), Spool(path, None, door.take)
    await one.put(said(1))
    await other.put(said(2))
    await one.replay()
    await one.close()
    assert not path.exists()
    await other.put(said(3))
    assert waiting_in(path, None) == 1
    await other.replay()
    await other.close()
    assert door.taken == [said(1), said(2), said(3)]


def test_a_kill_loses_nothing_that_was_put(tmp_path: Path) -> None:
    for number in range(5):
        path = tmp_path / f"{number}.spool"
        with subprocess.Popen(
            [sys.executable, "-c", DYING, str(path)], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            for _ in range(3 + 4 * number):
                last = int(process.stdout.readline())
            os.kill(process.pid, signal.SIGKILL)
            told = process.stdout.read().split()
        assert waiting_in(path, None) >= (int(told[-1]) if told else last) + 1


@pytest.mark.parametrize("folder", [None, "elsewhere"])
async def test_after_a_file_was_gone_the_next_open_stores_what_was_said(
    folder: str | None, tmp_path: Path, open_memory: OpenMemory
) -> None:
    path, away = tmp_path / "memory.db", tmp_path / "away.db"
    if folder is not None:
        (tmp_path / folder).mkdir()
    options = Options(spool_dir=None if folder is None else tmp_path / folder)
    async with open_memory(path, options) as memory:
        await remember(memory, said(1))
        path.rename(away)
        with pytest.raises(StoreGone):
            await memory.remember(said(2))
        for number in (2, 3):
            await memory.runtime.spool.put(said(number))
        assert memory.runtime.spooled == 2
    copy(away, path)
    with suppress(FileNotFoundError):
        for rest in ("-wal", "-shm"):
            (tmp_path / f"memory.db{rest}").unlink()
    async with open_memory(path, options) as memory:
        await remember(memory, said(4))
        assert not memory.runtime.spooled
    assert [words for _, words in turns_in(path)][-3:] == ["Number 2.", "Number 3.", "Number 4."]
    assert not path_of(path, options.spool_dir).exists()


async def test_a_turn_that_waits_is_stored_before_anything_is_forgotten(
    tmp_path: Path, open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "LOCK_WAIT_S", 0.2)
    path = tmp_path / "memory.db"
    async with open_memory(path, Options()) as memory:
        with locked(path):
            await memory.runtime.spool.put(said(1, "Max lives in Bonn."))
            await asyncio.sleep(0)
        assert (await memory.forget(user_id="ana", entity="Max")).turns == 1
        assert turns_in(path) == [] and not memory.runtime.spooled
    assert b"Bonn" not in contents(tmp_path)


async def test_a_key_is_not_changed_while_turns_wait(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    connect(path).close()
    spool = Spool(path_of(path), None, Shut().take)
    await spool.put(said(1))
    await spool.close()
    with pytest.raises(InvalidInput, match="1 turn in"):
        await asyncio.to_thread(_convert, path, None, EncryptionKey("secret"))


def test_times_of_spooled_turns_keep_their_zone() -> None:
    for zone in (UTC, ZoneInfo("Asia/Tokyo"), None):
        turn = Turn(
            "ana", "monday", "user", "Hello.", datetime(2026, 3, 2, 12, tzinfo=UTC).astimezone(zone)
        )
        with_offset = module._read(module._body(turn))
        assert isinstance(with_offset, Turn) and with_offset.spoken_at == turn.spoken_at
        assert with_offset.spoken_at.utcoffset() == turn.spoken_at.utcoffset()
