"""SQLite beside PostgreSQL: recall(), remember(), cold starts and ingestion, same conversations.

The history is synthetic and stored fast, as the background work would leave it; other users may be
beside it. Questions are asked one after another, on both engines in turn. A delay is added on the
way to the server and back.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Final
from urllib.parse import urlsplit, urlunsplit

import typer
from rich.progress import Progress

from eval.arguments import AsJson, working_folder
from eval.bench import ingestion
from eval.bench.history import SentenceCache
from eval.bench.loading import add_others, copy_memory, load, opened
from eval.bench.synthetic import USER, SyntheticConversations
from eval.output import print_json, print_table, progress_bars
from eval.timing import WARM_UP, Times, timed
from hotmem import Memory, Options
from hotmem.errors import InvalidInput
from hotmem.models import load_language
from hotmem.models.encoders import OnnxEncoder
from hotmem.options import BackgroundMode, BackgroundOptions
from hotmem.storage import queries
from hotmem.storage.database import Connection
from hotmem.storage.sqlite.connection import SYNCHRONOUS
from hotmem.types import ContextBlock, Turn

DEFAULT_PORT: Final = 5432
CHUNK: Final = 2**16

SPEAKER: Final = "another user"
"""The user whose turns are remembered one at a time."""

COLD_STARTS: Final = 5
"""Cold starts, whose medians are reported."""

SQLITE: Final = "SQLite"
POSTGRES: Final = "PostgreSQL"


def engines(
    url: Annotated[str, typer.Argument(help="URL of an empty PostgreSQL database.")],
    turns: Annotated[
        list[int] | None,
        typer.Option(help="Turns of a measured user; repeatable. 1,000 by default.", min=1),
    ] = None,
    questions: Annotated[
        int, typer.Option(help="Queries measured for each, and turns remembered.", min=1, max=500)
    ] = 100,
    delay_ms: Annotated[
        list[float] | None,
        typer.Option(help="Milliseconds added to a round trip; repeatable. 0 and 2 by default."),
    ] = None,
    others: Annotated[
        int, typer.Option(help="Other users in both databases, with 100 turns each.", min=0)
    ] = 0,
    writers: Annotated[
        list[int] | None,
        typer.Option(help="Writers of the ingestion; repeatable. 1, 4 and 8 by default.", min=1),
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="Seconds of each measurement of the ingestion.", min=0.1)
    ] = 20,
    as_json: AsJson = False,
) -> None:
    """Measure SQLite beside PostgreSQL: recalls, cold starts, remember() and ingestion."""
    sizes, delays = turns or [1000], delay_ms or [0.0, 2.0]
    with progress_bars() as progress, working_folder(None) as folder:
        file = folder / "memory.db"
        asyncio.run(_load(file, url, sizes, others, progress))
        times, equal = asyncio.run(_asked(url, file, sizes, delays, questions, progress))
        durability = asyncio.run(_durability(url))
        stored = ingestion.measure(
            {SQLITE: str(file), POSTGRES: url}, writers or ingestion.WRITERS, seconds, progress
        )
    headings = ("engine", "turns", "opened", "first", "recall p50 / p95", "remember p50 / p95")
    title = f"{questions} questions; {others:,} other users; milliseconds"
    print_table(title, headings, [list(one.values()) for one in times])
    asked = questions * len(sizes)
    print(f"{equal} of {asked} blocks are equal on all engines.")
    rates = [list(one.values()) for one in stored]
    print_table("turns stored a second", ("engine", "writers", "turns"), rates)
    print(durability)
    print_json(
        {
            "questions": questions,
            "others": others,
            "durability": durability,
            "times": times,
            "equal": equal,
            "asked": asked,
            "ingestion": stored,
        },
        as_json,
    )


async def _asked(
    url: str,
    file: Path,
    sizes: Sequence[int],
    delays_ms: Sequence[float],
    questions: int,
    progress: Progress,
) -> tuple[list[dict[str, Any]], int]:
    """Ask the questions of every user on all engines; with all delays for the last user.

    Returns:
        The times of each engine and user, and the number of questions whose blocks are equal.
    """
    times = []
    equal = 0
    for size in sizes:
        delays = delays_ms if size == sizes[-1] else [0.0]
        bar = progress.add_task(f"measuring {size:,} turns", total=1 + len(delays))
        texts: list[list[str]] = []
        async with AsyncExitStack() as stack:
            locations = {SQLITE: str(file)}
            for delay_ms in delays:
                name = f"{POSTGRES}, {delay_ms:g} ms added" if delay_ms else POSTGRES
                locations[name] = await stack.enter_async_context(delayed(url, delay_ms / 2000))
            for name, location in locations.items():
                measured, blocks = await _engine(name, location, size, questions)
                times.append({"engine": name, "turns": size} | measured)
                texts.append([block.text for block in blocks[WARM_UP:]])
                progress.advance(bar)
        equal += sum(len(set(same)) == 1 for same in zip(*texts, strict=True))
    return times, equal


async def _load(
    file: Path, url: str, sizes: Sequence[int], others: int, progress: Progress
) -> None:
    """Store other users and the measured ones in a file, and copy it to the server."""
    async with opened(url) as server:
        if await server.read_all(queries.users.names, 1):
            raise InvalidInput(f"{server.location} holds a memory. Name an empty database.")
    reading = await asyncio.to_thread(lambda: SentenceCache(OnnxEncoder.load(), load_language()))
    async with opened(str(file)) as database:
        bar = progress.add_task("other users", total=others)
        await add_others(database, others, reading, partial(progress.advance, bar))
        for size in sizes:
            bar = progress.add_task(f"{size:,} turns", total=size)
            await load(database, _talk(size).turns(size), reading, partial(progress.advance, bar))
    await copy_memory(str(file), url, progress)
    async with opened(url) as server:
        await server.write_all(_analyze)


def _talk(size: int) -> SyntheticConversations:
    """The conversations of the user with so many turns."""
    return SyntheticConversations(user=f"{USER}-{size}")


def _analyze(conn: Connection) -> None:
    """Does what autovacuum does some minutes after so many rows were added."""
    conn.execute("ANALYZE")


async def _durability(url: str) -> str:
    """Return the settings of both engines that say when a commit is durable."""
    async with opened(url) as database:
        fsync, commit = await database.read_all(
            lambda conn: [
                conn.execute(f"SHOW {name}").fetchone()[0]
                for name in ("fsync", "synchronous_commit")
            ]
        )
    return (
        f"{SQLITE}: synchronous {SYNCHRONOUS}. {POSTGRES}: fsync {fsync}, synchronous_commit"
        f" {commit}."
    )


async def _engine(
    name: str, location: str, size: int, questions: int
) -> tuple[dict[str, Any], list[ContextBlock]]:
    """Ask the questions of one engine, then store new turns of another user.

    Returns:
        Milliseconds: medians of opening the memory, models included, and of the first recall after
        it, which loads the user's index; recall() after `WARM_UP` questions, and remember(). Then
        the blocks.
    """
    talk, off = _talk(size), Options(background=BackgroundOptions(mode=BackgroundMode.OFF))
    asked = talk.questions(WARM_UP + questions)
    *_, last = talk.turns(size)
    at = last.spoken_at + timedelta(days=1)
    opened_ms: list[float] = []
    first_ms: list[float] = []
    for text in asked[:COLD_STARTS]:
        async with AsyncExitStack() as stack:
            with timed(opened_ms):
                memory = await stack.enter_async_context(Memory.open(location, off))
            with timed(first_ms):
                await memory.recall(text, user_id=talk.user, session_id="today", at=at)
    recall_ms: list[float] = []
    remember_ms: list[float] = []
    blocks = []
    async with Memory.open(location, Options()) as memory:
        for text in asked:
            with timed(recall_ms):
                block = await memory.recall(text, user_id=talk.user, session_id="today", at=at)
            blocks.append(block)
        for number, turn in enumerate(_new_turns(talk, questions)):
            new = replace(turn, user_id=SPEAKER, session_id="today", id=f"{name} {size} {number}")
            with timed(remember_ms):
                await memory.remember(new)
            await memory.settle()
    times = {
        "opened": median(opened_ms),
        "first": median(first_ms),
        "recall": Times.of(recall_ms[WARM_UP:]),
        "remember": Times.of(remember_ms),
    }
    return times, blocks


def _new_turns(talk: SyntheticConversations, number: int) -> list[Turn]:
    """Return turns that are in no database."""
    return list(replace(talk, seed=talk.seed + 1).turns(number))


@asynccontextmanager
async def delayed(url: str, seconds: float) -> AsyncIterator[str]:
    """A URL of the same database, through a relay that delays each direction."""
    if not seconds:
        yield url
        return
    parts = urlsplit(url)
    host, port = parts.hostname or "localhost", parts.port or DEFAULT_PORT

    writers: list[asyncio.StreamWriter] = []

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(host, port)
        writers.extend((writer, back))
        with suppress(asyncio.CancelledError):  # the loop ends
            await asyncio.gather(_pump(reader, back, seconds), _pump(there, writer, seconds))

    server = await asyncio.start_server(relay, "127.0.0.1", 0)
    try:
        credentials = parts.netloc.rpartition("@")[0]
        place = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        netloc = f"{credentials}@{place}" if credentials else place
        yield urlunsplit(parts._replace(netloc=netloc))
    finally:
        server.close()
        for writer in writers:
            writer.close()
        for writer in writers:
            with suppress(OSError):
                await writer.wait_closed()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
    """Pass on what arrives, each piece after a delay."""
    loop = asyncio.get_running_loop()
    with suppress(ConnectionError):
        while data := await reader.read(CHUNK):
            loop.call_later(seconds, _write, writer, data)
    await asyncio.sleep(seconds)
    writer.close()


def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    if not writer.is_closing():
        writer.write(data)
