"""Latency of recall() and remember() on SQLite and on PostgreSQL, with the same conversation.

The history is synthetic. Questions are asked one after another, on both engines in turn, when all
background work is done. A delay is added on the way to the server and back.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from eval.bench.latency import WARM_UP, Times, timed
from eval.bench.synthetic import USER, SyntheticConversations
from hotmem import Memory, Options
from hotmem.errors import InvalidInput
from hotmem.storage import queries
from hotmem.types import ContextBlock, Turn

DEFAULT_PORT: Final = 5432
CHUNK: Final = 2**16
OTHER: Final = "another user"


@dataclass(frozen=True, slots=True)
class EngineTimes:
    """Times of one engine, in milliseconds.

    Attributes:
        engine: The engine, and the delay of a round trip to it.
        opened: Opening the memory, models included.
        first: The first recall after it, which loads the user's index.
        recall: recall() after `WARM_UP` questions.
        remember: remember(), one turn at a time.
    """

    engine: str
    opened: float
    first: float
    recall: Times
    remember: Times


@dataclass(frozen=True, slots=True)
class Engines:
    """Results.

    Attributes:
        turns: Turns of the user.
        questions: Questions measured.
        times: The engines' times.
        equal: Questions whose blocks are equal on all engines.
    """

    turns: int
    questions: int
    times: tuple[EngineTimes, ...]
    equal: int


def measure(
    url: str, turns: int, questions: int, delays_ms: Sequence[float], console: Console
) -> Engines:
    """Load both engines and measure.

    Args:
        url: An empty PostgreSQL database.
        turns: Turns of the one user.
        questions: Questions measured, and turns remembered one at a time.
        delays_ms: Milliseconds of a round trip that are added to those of the network.
        console: Console for the progress bar.

    Raises:
        InvalidInput: If the database holds a memory already.
    """
    with Progress(console=console) as progress, tempfile.TemporaryDirectory() as folder:
        return asyncio.run(
            _measure(url, Path(folder) / "memory.db", turns, questions, delays_ms, progress)
        )


def show(result: Engines, console: Console) -> None:
    """Print the results as a table."""
    table = Table(
        title=f"{result.turns:,} turns of one user, {result.questions} questions",
        title_justify="left",
    )
    for heading in ("ms", "opened", "first", "recall p50", "p95", "remember p50", "p95"):
        table.add_column(heading, justify="left" if heading == "ms" else "right")
    for one in result.times:
        values = (
            *(one.opened, one.first, one.recall.p50, one.recall.p95),
            *(one.remember.p50, one.remember.p95),
        )
        table.add_row(one.engine, *(f"{value:.1f}" for value in values))
    console.print(table)
    console.print(f"{result.equal} of {result.questions} blocks are equal on all engines.")


async def _measure(
    url: str,
    file: Path,
    turns: int,
    questions: int,
    delays_ms: Sequence[float],
    progress: Progress,
) -> Engines:
    talk = SyntheticConversations()
    asked = talk.questions(WARM_UP + questions)
    spoken = list(talk.turns(turns + questions * (1 + len(delays_ms))))
    for location in (str(file), url):
        async with Memory.open(location, Options()) as memory:
            if await memory.runtime.database.read_all(queries.users.names, 1):
                raise InvalidInput(f"{memory.location} holds a memory. Name an empty database.")
            await _load(memory, spoken[:turns], progress)
    times: list[EngineTimes] = []
    texts: list[list[str]] = []
    async with AsyncExitStack() as stack:
        engines: dict[str, str] = {"SQLite": str(file)}
        for delay_ms in delays_ms:
            name = f"PostgreSQL, {delay_ms:g} ms added" if delay_ms else "PostgreSQL"
            engines[name] = await stack.enter_async_context(delayed(url, delay_ms / 2000))
        rest = spoken[turns:]
        for place, (name, location) in enumerate(engines.items()):
            new = rest[place * questions : (place + 1) * questions]
            measured, blocks = await _engine(name, location, asked, spoken[turns - 1], new)
            times.append(measured)
            texts.append([block.text for block in blocks[WARM_UP:]])
    equal = sum(len(set(same)) == 1 for same in zip(*texts, strict=True))
    return Engines(turns, questions, tuple(times), equal)


async def _engine(
    name: str, location: str, asked: Sequence[str], last: Turn, new: Sequence[Turn]
) -> tuple[EngineTimes, list[ContextBlock]]:
    """Ask the questions of one engine, then store new turns of another user."""
    opened_ms: list[float] = []
    recall_ms: list[float] = []
    remember_ms: list[float] = []
    blocks = []
    async with AsyncExitStack() as stack:
        with timed(opened_ms):
            memory = await stack.enter_async_context(Memory.open(location, Options()))
        at = last.spoken_at + timedelta(days=1)
        for text in asked:
            with timed(recall_ms):
                block = await memory.recall(text, user_id=USER, session_id="today", at=at)
            blocks.append(block)
        for number, turn in enumerate(new):
            other = replace(turn, user_id=OTHER, session_id="today", id=f"{name} {number}")
            with timed(remember_ms):
                await memory.remember(other)
            await memory.settle()
    return (
        EngineTimes(
            name,
            opened_ms[0],
            recall_ms[0],
            Times.of(recall_ms[WARM_UP:]),
            Times.of(remember_ms),
        ),
        blocks,
    )


async def _load(memory: Memory, history: Sequence[Turn], progress: Progress) -> None:
    """Remember the history session by session, with the background work of each session."""
    bar = progress.add_task("loading", total=len(history))
    for place, turn in enumerate(history):
        await memory.remember(turn)
        if place + 1 == len(history) or history[place + 1].session_id != turn.session_id:
            await memory.end_session(user_id=USER, session_id=turn.session_id)
            await memory.settle()
        progress.advance(bar)


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
