"""Power cuts: committed turns survive, whichever of the writes since the last sync are lost."""

import random
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

from hotmem import Turn
from hotmem.storage.queries import maintenance, turns
from hotmem.storage.sqlite import connection
from hotmem.storage.sqlite.connection import connect
from hotmem.storage.sqlite.migrations import migrate

CUTS, CUTS_IN_FULL = 60, 240
TURNS = 30
SECTOR = 512
"""Bytes that a disk writes atomically."""

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


class Event(NamedTuple):
    """An operation on a file: a write at an offset, a truncation, a sync or a deletion."""

    name: str
    what: str
    place: int = 0
    content: bytes = b""


class Recording(apsw.VFS):
    """A file system that records writes."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.base = apsw.vfs_names()[0]
        super().__init__("recording", self.base, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> "RecordedFile":
        return RecordedFile(self.base, self.events, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.events.append(Event(Path(filename).name, "deleted"))
        super().xDelete(filename, syncdir)


class RecordedFile(apsw.VFSFile):
    """A file of the recording file system."""

    def __init__(
        self, base: str, events: list[Event], name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        self._events = events
        self._name = (
            "" if name is None else Path(name if isinstance(name, str) else name.filename()).name
        )
        super().__init__(base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._events.append(Event(self._name, "written", offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self._events.append(Event(self._name, "cut", newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        self._events.append(Event(self._name, "synced"))
        super().xSync(flags)


@pytest.fixture
def recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recording]:
    monkeypatch.setattr(connection, "SYNCHRONOUS", "FULL")
    vfs = Recording()
    yield vfs
    vfs.unregister()


def after_a_cut(events: list[Event], cut: int, chance: random.Random) -> dict[str, bytes]:
    """Return the files as a power cut after `cut` events may leave them.

    Each sector written since the last sync is kept or lost at random.
    """
    files: dict[str, bytearray] = {}
    synced = dict.fromkeys((one.name for one in events), -1)
    for place, one in enumerate(events[:cut]):
        if one.what == "synced":
            synced[one.name] = place
    for place, one in enumerate(events[:cut]):
        content = files.setdefault(one.name, bytearray())
        sure = place < synced[one.name]
        match one.what:
            case "deleted":
                files.pop(one.name)
            case "cut" if sure or chance.random() < 0.5:
                del content[one.place :]
            case "written":
                for start in range(0, len(one.content), SECTOR):
                    if sure or chance.random() < 0.5:
                        piece = one.content[start : start + SECTOR]
                        content.extend(bytes(max(0, one.place + start - len(content))))
                        content[one.place + start : one.place + start + len(piece)] = piece
    return {name: bytes(content) for name, content in files.items()}


def store_turns(path: Path, events: list[Event], kept: list[int]) -> None:
    """Store turns with occasional checkpoints, and record after which event each was committed."""
    with closing(connect(path)) as conn:
        migrate(conn, path)
        for number in range(TURNS):
            conn.execute("BEGIN IMMEDIATE")
            text, at = f"Number {number} " + "and more " * 200, NOON + timedelta(seconds=number)
            turns.add(conn, Turn("ana", "s", "user", text, at, id=f"t{number}"), NOON)
            conn.execute("COMMIT")
            kept.append(len(events))
            if number % 7 == 6:
                conn.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        events.append(Event("", "end"))


def test_a_power_cut_loses_no_committed_turn(
    recording: Recording, tmp_path: Path, full: bool
) -> None:
    path, kept = tmp_path / "memory.db", list[int]()
    (tmp_path / "written").mkdir()
    store_turns(tmp_path / "written" / path.name, recording.events, kept)
    events, chance = [*recording.events], random.Random(20261123)
    first = kept[0]
    for number in range(CUTS_IN_FULL if full else CUTS):
        cut = chance.randrange(first, len(events))
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, content in after_a_cut(events, cut, chance).items():
            if name and not name.endswith("-shm"):
                (folder / name).write_bytes(content)
        with closing(connect(folder / path.name)) as conn:
            migrate(conn, folder / path.name)
            connection.check(conn, folder / path.name)
            held = set(conn.column("SELECT public_id FROM turns"))
            sure = {f"t{place}" for place, when in enumerate(kept) if when <= cut}
            assert sure <= held <= sure | {f"t{len(sure)}"}, (number, cut)
            assert not maintenance.faults(conn)
