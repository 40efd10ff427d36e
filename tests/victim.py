"""Target functions of the processes that tests kill.

They remember turns and send each turn's number when `remember` has returned, or import a file.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from hotmem import Memory
from hotmem.core.location import Location
from hotmem.core.threads import ForegroundPriority
from hotmem.models import load_encoder, load_language
from hotmem.models.encoder import Vectors
from hotmem.options import BackgroundOptions, Options
from hotmem.portability import importer
from hotmem.portability.importer import hotmem_source
from hotmem.storage import copying, open_storage, queries
from hotmem.storage.sqlite import migrations
from hotmem.storage.sqlite.connection import Connection as SqliteConnection
from hotmem.storage.sqlite.opening import open_connections
from hotmem.types import Turn
from tests.conversation import START
from tests.letters import LetterEncoder

LANGUAGE = load_language()
"""Loaded once, in the process that the others are forked from."""

SETTLED_EVERY = 4
"""Turns between two calls of `settle`, so that kills hit both phases."""


def remember_until_killed(path: Path, first: int, out: Connection) -> None:
    """Remember turns numbered from `first`, and send each number when the turn is durable."""
    asyncio.run(_remember(path, first, out))


def fail_until_killed(path: Path, out: Connection) -> None:
    """Remember turns, every fifth of which cannot be embedded, and run background jobs.

    Sends a message when all turns are durable.
    """
    asyncio.run(_fail(path, out))


class Refusing(LetterEncoder):
    """A letter encoder that fails on texts with the word poison."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        if any("poison" in text for text in texts):
            raise MemoryError
        return super().encode(texts)


async def _fail(path: Path, out: Connection) -> None:
    options = Options(background=BackgroundOptions(batch=4, pause_s=0.01))
    async with Memory.open(path, options, encoder=Refusing(), language=LANGUAGE) as memory:
        first = (await memory.runtime.database.read_all(queries.retention.clock)).newest
        for number in range(20) if first is None else ():
            text = "The poison is in the cupboard." if number % 5 == 0 else turn(number).text
            await memory.remember(
                Turn("ana", "monday", "user", text, turn(number).spoken_at, "Ana", f"t{number}")
            )
        out.send(None)
        await memory.settle()
        await asyncio.Event().wait()


def import_until_killed(path: Path, file: Path, out: Connection) -> None:
    """Import a file, one transaction a record, and send a message when the first is written."""
    importer.WRITE_S = 0.0  # type: ignore[misc]  # a constant, for small transactions
    asyncio.run(_import(path, file, out))


def _copies_texts(conn: SqliteConnection) -> None:
    conn.execute("ALTER TABLE memories ADD COLUMN shown TEXT")
    for key, text in conn.execute("SELECT id, text FROM memories").fetchall():
        conn.execute("UPDATE memories SET shown = ? WHERE id = ?", (text, key))


def _rewrites_turns(conn: SqliteConnection) -> None:
    conn.execute("CREATE TABLE turns_before AS SELECT * FROM turns")
    conn.execute(
        "UPDATE turns SET text = (SELECT b.text FROM turns_before b WHERE b.id = turns.id)"
    )
    conn.execute("DROP TABLE turns_before")


LATER_STEPS: Final = (_copies_texts, _rewrites_turns)
"""Steps of a later version of HotMem."""


def migrate_until_killed(path: Path, out: Connection) -> None:
    """Open a file with a later version's steps, after a message."""
    migrations.STEPS = (*migrations.STEPS, *LATER_STEPS)  # type: ignore[misc]  # of a later version
    out.send(None)
    open_connections(path, None)


async def _import(path: Path, file: Path, out: Connection) -> None:
    storage = open_storage(path)
    await importer.import_records(
        storage, ForegroundPriority(), hotmem_source(file), lambda: out.send(None)
    )


def copy_until_killed(source: Location, target: Location, out: Connection) -> None:
    """Copy a memory in small blocks, and send a message after each."""
    copying.BLOCK = 10  # type: ignore[misc]  # a constant, for small transactions
    asyncio.run(_copy(source, target, out))


async def _copy(source: Location, target: Location, out: Connection) -> None:
    ours, theirs = open_storage(source), open_storage(target)
    await copying.copy_database(
        ours.database, theirs.database, lambda stage, done, whole: out.send((stage, done, whole))
    )


async def _remember(path: Path, first: int, out: Connection) -> None:
    options = Options(background=BackgroundOptions(batch=2))
    encoder = await asyncio.to_thread(load_encoder, options.models)
    async with Memory.open(path, options, encoder=encoder, language=LANGUAGE) as memory:
        for number in count(first):
            await memory.remember(turn(number))
            out.send(number)
            if number % SETTLED_EVERY == 0:
                await memory.end_session(user_id="ana", session_id=turn(number).session_id)
                await memory.settle()


def turn(number: int) -> Turn:
    """Return the turn with a number."""
    letters = "".join(chr(ord("a") + int(digit)) for digit in str(number))
    text = (
        f"My friend Bea{number} lives in Porto. My name is Bo{letters}. I like walnuts "
        f"with number {number}."
    )
    session, at = f"session {number // 10}", START + timedelta(minutes=number)
    return Turn("ana", session, "user", text, at, "Ana", f"t{number}")
