"""SQLite beside PostgreSQL: recall(), remember(), cold starts and ingestion, same conversations.

The history is synthetic and stored fast, as the background work would leave it; other users may be
beside it. Questions are asked one after another, on both engines in turn. A delay is added on the
way to the server and back.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from eval.bench import ingestion
from eval.bench.history import SentenceCache
from eval.bench.ingestion import Ingestion
from eval.bench.latency import WARM_UP, Times, timed
from eval.bench.loading import add_others, copy, load
from eval.bench.synthetic import USER, SyntheticConversations
from hotmem import Memory, Options
from hotmem.core.location import locate
from hotmem.errors import InvalidInput
from hotmem.models import load_language
from hotmem.models.encoders import OnnxEncoder
from hotmem.options import BackgroundMode, BackgroundOptions
from hotmem.storage import open_storage, queries
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


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured.

    Attributes:
        turns: Turns of each measured user.
        questions: Questions measured, and turns remembered one at a time, for each user.
        delays_ms: Milliseconds of a round trip that are added, for the last user.
        others: Other users in both databases, with `OTHER_TURNS` turns each.
        writers: Numbers of writers of the ingestion.
        seconds: Seconds of each ingestion.
    """

    turns: Sequence[int]
    questions: int
    delays_ms: Sequence[float]
    others: int
    writers: Sequence[int]
    seconds: float


@dataclass(frozen=True, slots=True)
class EngineTimes:
    """Times of one engine and user, in milliseconds.

    Attributes:
        engine: The engine, and the delay of a round trip to it.
        turns: Turns of the user.
        opened: Opening the memory, models included; median.
        first: The first recall after it, which loads the user's index; median.
        recall: recall() after `WARM_UP` questions.
        remember: remember(), one turn at a time.
    """

    engine: str
    turns: int
    opened: float
    first: float
    recall: Times
    remember: Times


@dataclass(frozen=True, slots=True)
class Engines:
    """Results.

    Attributes:
        plan: What was measured.
        durability: Settings of both engines.
        times: The engines' times.
        equal: Questions whose blocks are equal on all engines.
        asked: Questions of all users.
        ingestion: Turns stored a second.
    """

    plan: Plan
    durability: str
    times: tuple[EngineTimes, ...]
    equal: int
    asked: int
    ingestion: tuple[Ingestion, ...]


def measure(url: str, plan: Plan, console: Console) -> Engines:
    """Load both engines and measure.

    Args:
        url: An empty PostgreSQL database.
        plan: What is measured.
        console: Console for the progress bar.

    Raises:
        InvalidInput: If the database holds a memory already.
    """
    with Progress(console=console) as progress, tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(url, Path(folder) / "memory.db", plan, progress))


def show(result: Engines, console: Console) -> None:
    """Print the results as tables."""
    plan = result.plan
    table = Table(
        title=f"{plan.questions} questions; {plan.others:,} other users; milliseconds",
        title_justify="left",
    )
    table.add_column("engine")
    for heading in ("turns", "opened", "first", "recall p50", "p95", "remember p50", "p95"):
        table.add_column(heading, justify="right")
    for one in result.times:
        values = (
            *(one.opened, one.first, one.recall.p50, one.recall.p95),
            *(one.remember.p50, one.remember.p95),
        )
        table.add_row(one.engine, f"{one.turns:,}", *(f"{value:.1f}" for value in values))
    console.print(table)
    console.print(f"{result.equal} of {result.asked} blocks are equal on all engines.")
    written = Table("turns stored a second", title_justify="left")
    for writers in plan.writers:
        written.add_column(f"{writers} writers", justify="right")
    for engine in dict.fromkeys(one.engine for one in result.ingestion):
        rates = (one.turns_per_s for one in result.ingestion if one.engine == engine)
        written.add_row(engine, *(f"{rate:,.0f}" for rate in rates))
    console.print(written)
    console.print(result.durability, highlight=False)


async def _measure(url: str, file: Path, plan: Plan, progress: Progress) -> Engines:
    locations = {SQLITE: str(file), POSTGRES: url}
    await _load(file, url, plan, progress)
    times: list[EngineTimes] = []
    equal = 0
    for size in plan.turns:
        delays = plan.delays_ms if size == plan.turns[-1] else [0.0]
        bar = progress.add_task(f"measuring {size:,} turns", total=1 + len(delays))
        texts: list[list[str]] = []
        async with AsyncExitStack() as stack:
            engines = {SQLITE: str(file)}
            for delay_ms in delays:
                name = f"{POSTGRES}, {delay_ms:g} ms added" if delay_ms else POSTGRES
                engines[name] = await stack.enter_async_context(delayed(url, delay_ms / 2000))
            for name, location in engines.items():
                measured, blocks = await _engine(name, location, size, plan.questions)
                times.append(measured)
                texts.append([block.text for block in blocks[WARM_UP:]])
                progress.advance(bar)
        equal += sum(len(set(same)) == 1 for same in zip(*texts, strict=True))
    durability = await _durability(url)
    bar = progress.add_task("ingestion", total=len(plan.writers) * len(locations))
    rates = await asyncio.to_thread(
        ingestion.measure, locations, plan.writers, plan.seconds, partial(progress.advance, bar)
    )
    asked = plan.questions * len(plan.turns)
    return Engines(plan, durability, tuple(times), equal, asked, tuple(rates))


async def _load(file: Path, url: str, plan: Plan, progress: Progress) -> None:
    """Store other users and the measured ones in a file, and copy it to the server."""
    server = (await asyncio.to_thread(open_storage, locate(url))).database
    try:
        if await server.read_all(queries.users.names, 1):
            raise InvalidInput(f"{server.location} holds a memory. Name an empty database.")
    finally:
        await server.close()
    reading = await asyncio.to_thread(lambda: SentenceCache(OnnxEncoder.load(), load_language()))
    database = open_storage(locate(str(file))).database
    try:
        bar = progress.add_task("other users", total=plan.others)
        await add_others(database, plan.others, reading, partial(progress.advance, bar))
        for size in plan.turns:
            bar = progress.add_task(f"{size:,} turns", total=size)
            await load(database, _talk(size).turns(size), reading, partial(progress.advance, bar))
    finally:
        await database.close()
    await copy(str(file), url, progress)
    server = (await asyncio.to_thread(open_storage, locate(url))).database
    try:
        await server.write_all(_analyze)
    finally:
        await server.close()


def _talk(size: int) -> SyntheticConversations:
    """The conversations of the user with so many turns."""
    return SyntheticConversations(user=f"{USER}-{size}")


def _analyze(conn: Connection) -> None:
    """Does what autovacuum does some minutes after so many rows were added."""
    conn.execute("ANALYZE")


async def _durability(url: str) -> str:
    """Return the settings of both engines that say when a commit is durable."""
    database = (await asyncio.to_thread(open_storage, locate(url))).database
    try:
        fsync, commit = await database.read_all(
            lambda conn: [
                conn.execute(f"SHOW {name}").fetchone()[0]
                for name in ("fsync", "synchronous_commit")
            ]
        )
    finally:
        await database.close()
    return (
        f"{SQLITE}: synchronous {SYNCHRONOUS}. {POSTGRES}: fsync {fsync}, synchronous_commit"
        f" {commit}."
    )


async def _engine(
    name: str, location: str, size: int, questions: int
) -> tuple[EngineTimes, list[ContextBlock]]:
    """Ask the questions of one engine, then store new turns of another user."""
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
    return (
        EngineTimes(
            name,
            size,
            median(opened_ms),
            median(first_ms),
            Times.of(recall_ms[WARM_UP:]),
            Times.of(remember_ms),
        ),
        blocks,
    )


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
