"""A spool beside the database for turns that cannot be written.

While the database is locked, full, missing or damaged, turns wait in a small database of their own
(`memory.db.spool`), encrypted with the same key. The next program that can write replays them in
order. A turn that is stored already is skipped, so an interrupted replay repeats nothing.
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from platformdirs import user_state_path

from hotmem.core.location import EncryptionKey, Location, ServerUrl
from hotmem.core.logs import log
from hotmem.core.metrics import count_lost
from hotmem.errors import (
    HotMemError,
    InvalidInput,
    SpoolFull,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreKeyWrong,
    StoreUnusable,
)
from hotmem.storage.sqlite import files
from hotmem.storage.sqlite.connection import Connection, connect, mapped_errors
from hotmem.text.timezones import to_named_zone, zone_name
from hotmem.types import Role, Turn

T = TypeVar("T")

MOST: Final = 10_000
"""Records that wait at most."""

HELD: Final = 1_000
"""Records that wait in this process at most, while the spool cannot be written either."""

AT_ONCE: Final = 50
"""Records read from the spool at once."""

IN_PROCESS: Final = 0
"""The number of a record that is in no file."""

FIRST_RETRY_S: Final = 1.0
LAST_RETRY_S: Final = 30.0
"""Seconds between two attempts, doubled from the first to the last. The last is also the interval
at which the spool of another program is looked for."""

_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS waiting (id INTEGER PRIMARY KEY AUTOINCREMENT, "
    "turn TEXT, record TEXT NOT NULL)"
)


@dataclass(frozen=True, slots=True)
class Removal:
    """Turns that the user retracted while the database could not be written.

    Attributes:
        user_id: The user's id.
        turn_ids: Ids of the turns.
    """

    user_id: str
    turn_ids: tuple[str, ...]


Record: TypeAlias = Turn | Removal
"""A record in the spool."""

Take: TypeAlias = Callable[[Record], Awaitable[object]]
"""Writes a record to the database."""


def path_of(database: Location, folder: Path | None = None) -> Path:
    """Path of a database's spool, whose name is unique to the database in a folder of several.

    Args:
        database: The database.
        folder: The folder; None is that of the file, or for a server's database the user's folder
            for state.
    """
    if isinstance(database, ServerUrl):
        return (folder or user_state_path("hotmem")) / f"{database.name}.spool"
    database = database.absolute()
    if folder is None:
        return database.with_name(f"{database.name}.spool")
    return (
        folder
        / f"{database.name}-{sha256(str(database.absolute()).encode()).hexdigest()[:12]}.spool"
    )


def waiting_in(path: Path, key: EncryptionKey | None) -> int:
    """Number of records in a spool; 0 if it does not exist. Blocking.

    Raises:
        StoreError: If it cannot be read.
    """
    if not path.exists():
        return 0
    with mapped_errors(path), closing(connect(path, key=key, read_only=True)) as conn:
        begun = conn.exists("SELECT 1 FROM sqlite_schema WHERE name = 'waiting'")
        return _count(conn) if begun else 0


class Spool:
    """Records that wait for one database.

    Args:
        path: The spool file, created with the first record.
        key: Key of the database.
        take: Writes a record to the database; raises a StoreError while that is not possible.
        creates_folder: Whether the folder is created if it is missing. That of a memory file is
            not: it may be on a disk that is not mounted.

    Attributes:
        waiting: Number of waiting records known to this process; until the file was read, 1 if it
            exists.
    """

    def __init__(
        self, path: Path, key: EncryptionKey | None, take: Take, *, creates_folder: bool = False
    ) -> None:
        self.waiting = int(path.exists())
        self._path = path
        self._key = key
        self._take = take
        self._creates_folder = creates_folder
        self._conn: Connection | None = None
        self._identity: files.Identity = (0, 0)
        self._held: deque[Record] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hotmem-spool")
        self._replaying = asyncio.Lock()
        self._came = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Starts replaying records to the database."""
        self._task = asyncio.create_task(self._run(), name="hotmem-spool")

    async def put(self, record: Record) -> None:
        """Stores a record until the database can be written. Durable on return.

        Raises:
            StoreError: If the spool cannot be written either. The record is then held in memory
                and retried while the process runs.
            SpoolFull: If too many records wait; the record is then not stored.
        """
        if len(self._held) >= HELD:
            raise SpoolFull(
                f"{HELD:,} turns wait in this process, as neither the memory file nor "
                f"{self._path} can be written. Make room on the disk."
            )
        self.waiting += 1
        self._came.set()
        self._held.append(record)
        await self._on_thread(self._write_held)

    async def replay(self) -> int:
        """Writes all waiting records to the database in order; returns how many.

        Raises:
            StoreError: If the database or the spool cannot be used; remaining records keep waiting.
        """
        brought = 0
        async with self._replaying:
            while portion := await self._on_thread(self._following):
                for number, record in portion:
                    try:
                        await self._take(record)
                    except (
                        InvalidInput
                    ) as error:  # it would stand in the way of all that comes after it
                        log.error(
                            "a spooled turn cannot be stored and was dropped", reason=str(error)
                        )
                    self.waiting = await self._on_thread(self._done, number)
                    brought += 1
            self.waiting = len(self._held)
        if brought:
            log.info("spooled turns were stored", records=brought)
        return brought

    async def close(self) -> None:
        """Stops replaying.

        Records in the file wait for the next open; those that could not be written are logged as
        lost.
        """
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        with suppress(StoreError):
            await self._on_thread(self._write_held)
        if self._held:
            count_lost(len(self._held))
            log.error(
                "turns lost: neither the memory file nor the spool could be written",
                turns=len(self._held),
            )
        await asyncio.to_thread(self._close)

    async def _run(self) -> None:
        pause = FIRST_RETRY_S
        while True:
            self._came.clear()
            try:
                await self.replay()
                pause = FIRST_RETRY_S if self.waiting else LAST_RETRY_S
            except HotMemError as error:
                log.warning(
                    "spooled turns cannot be stored yet",
                    waiting=self.waiting,
                    error=type(error).__name__,
                )
                pause = min(2 * pause, LAST_RETRY_S)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._came.wait()
                    await asyncio.sleep(FIRST_RETRY_S)
                    pause = FIRST_RETRY_S

    async def _on_thread(self, run: Callable[..., T], *args: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, run, *args)

    def _write_held(self) -> None:
        if not self._held:
            return
        conn = self._begun()
        with mapped_errors(self._path):
            try:
                if _count(conn) + len(self._held) > MOST:
                    raise StoreFull(
                        f"{self._path} holds {MOST:,} turns that the memory file did not "
                        "take, and no more. Make that file writable."
                    )
                written = list(self._held)
                for record in written:
                    _write(conn, record)
                conn.execute("COMMIT")
            except BaseException:
                if conn.in_transaction:
                    conn.execute("ROLLBACK")
                raise
        for _ in written:
            self._held.popleft()

    def _following(self) -> list[tuple[int, Record]]:
        """The next records with their numbers: those in the file, then those in memory."""
        with suppress(StoreError):
            self._write_held()
        if self._conn is not None or self._path.exists():
            conn = self._open()
            with mapped_errors(self._path):
                rows = conn.execute(
                    "SELECT id, record FROM waiting ORDER BY id LIMIT ?", (AT_ONCE,)
                ).fetchall()
            if rows:
                return [(number, _read(record)) for number, record in rows]
        return [(IN_PROCESS, record) for record in self._held]

    def _done(self, number: int) -> int:
        """Deletes a record; returns the number of records that still wait."""
        if number == IN_PROCESS:
            self._held.popleft()
        if self._conn is None:
            return len(self._held)
        with mapped_errors(self._path):
            self._conn.execute("DELETE FROM waiting WHERE id = ?", (number,))
            return _count(self._conn) + len(self._held)

    def _open(self) -> Connection:
        """Opens the spool file; an unreadable one is renamed and kept."""
        if self._conn is None:
            if self._creates_folder:
                _create_folder(self._path.parent)
            try:
                self._conn = _opened(self._path, self._key)
            except (StoreDamaged, StoreKeyWrong) as error:
                aside = self._path.with_name(f"{self._path.name}.unreadable-{time.time_ns()}")
                self._path.rename(aside)
                log.error(
                    "a spool cannot be read and was put aside",
                    file=aside.name,
                    error=type(error).__name__,
                )
                self._conn = _opened(self._path, self._key)
            self._identity = files.identity(self._path)
        return self._conn

    def _begun(self) -> Connection:
        """Begins a transaction; creates the file again if another program removed it."""
        while True:
            conn = self._open()
            with mapped_errors(self._path):
                conn.execute("BEGIN IMMEDIATE")
            if self._path.exists() and files.identity(self._path) == self._identity:
                return conn
            conn.close()
            self._conn = None

    def _close(self) -> None:
        self._thread.shutdown(wait=True)
        if self._conn is None:
            return
        with (
            suppress(StoreError),
            mapped_errors(self._path),
        ):  # another program may be writing into it
            self._conn.execute("BEGIN IMMEDIATE")
            if not _count(self._conn) and files.identity(self._path) == self._identity:
                self._path.unlink()
        self._conn.close()


def _create_folder(folder: Path) -> None:
    """Creates a folder that only this user can read, if it is missing."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnusable(
            f"{folder} cannot be created ({error.strerror}). Create it, or name another folder for"
            " turns that wait (HOTMEM_SPOOL_DIR)."
        ) from error


def _opened(path: Path, key: EncryptionKey | None) -> Connection:
    conn = connect(path, key=key)
    try:
        with mapped_errors(path):
            conn.execute(_TABLE)
    except BaseException:
        conn.close()
        raise
    return conn


def _count(conn: Connection) -> int:
    return int(conn.scalar("SELECT count(*) FROM waiting"))


def _write(conn: Connection, record: Record) -> None:
    if isinstance(record, Removal):
        conn.executemany(
            "DELETE FROM waiting WHERE turn = ?",
            [(_name(record.user_id, one),) for one in record.turn_ids],
        )
        conn.execute(
            "INSERT INTO waiting (record) VALUES (?)",
            (json.dumps({"user_id": record.user_id, "turn_ids": record.turn_ids}),),
        )
        return
    name = _name(record.user_id, record.id)
    conn.execute(
        """INSERT INTO waiting (turn, record) SELECT ?, ? WHERE
            NOT EXISTS (SELECT 1 FROM waiting WHERE turn = ?)""",
        (name, _body(record), name),
    )


def _body(turn: Turn) -> str:
    return json.dumps(
        asdict(turn) | {"spoken_at": turn.spoken_at.isoformat(), "zone": zone_name(turn.spoken_at)}
    )


def _name(user_id: str, turn_id: str) -> str:
    return json.dumps([user_id, turn_id])


def _read(record: str) -> Record:
    fields = json.loads(record)
    if "turn_ids" in fields:
        return Removal(fields["user_id"], tuple(fields["turn_ids"]))
    spoken_at = to_named_zone(datetime.fromisoformat(fields["spoken_at"]), fields.pop("zone"))
    return Turn(**fields | {"role": Role(fields["role"]), "spoken_at": spoken_at})
