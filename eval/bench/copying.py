"""Seconds of `hotmem copy` from a file to a server and back, and whether nothing is different."""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import Progress

from eval.bench.history import SentenceCache
from eval.bench.loading import copy, load
from eval.bench.synthetic import SyntheticConversations
from hotmem import Memory, Options
from hotmem.core.location import locate
from hotmem.models import load_language
from hotmem.models.encoders import OnnxEncoder
from hotmem.options import BackgroundMode, BackgroundOptions
from hotmem.storage import open_storage

OFF: Final = Options(background=BackgroundOptions(mode=BackgroundMode.OFF))


@dataclass(frozen=True, slots=True)
class Copying:
    """Results.

    Attributes:
        turns: Turns of the one user.
        rows: Rows copied.
        there_s: Seconds to the server.
        back_s: Seconds back to a file.
        equal_exports: Whether the exports of the three memories are equal.
        equal: Questions whose blocks are equal in the three memories.
        asked: Questions.
    """

    turns: int
    rows: int
    there_s: float
    back_s: float
    equal_exports: bool
    equal: int
    asked: int


def measure(url: str, turns: int, questions: int, console: Console) -> Copying:
    """Make a memory in a file, copy it to a server and back, and compare.

    Args:
        url: A PostgreSQL database without a memory.
        turns: Turns of the one user.
        questions: Questions that are asked of the three memories.
        console: Console for the progress bars.

    Raises:
        InvalidInput: If the database holds a memory.
    """
    with Progress(console=console) as progress, tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(url, Path(folder), turns, questions, progress))


def show(result: Copying, console: Console) -> None:
    """Print the results."""
    console.print(
        f"{result.turns:,} turns, {result.rows:,} rows: {result.there_s:.0f} s to the server,"
        f" {result.back_s:.0f} s back. Exports are {'' if result.equal_exports else 'NOT '}equal;"
        f" {result.equal} of {result.asked} blocks are equal.",
        highlight=False,
    )


async def _measure(
    url: str, folder: Path, turns: int, questions: int, progress: Progress
) -> Copying:
    first, back = str(folder / "memory.db"), str(folder / "back.db")
    talk = SyntheticConversations()
    reading = await asyncio.to_thread(lambda: SentenceCache(OnnxEncoder.load(), load_language()))
    database = open_storage(locate(first)).database
    bar = progress.add_task("loading", total=turns)
    await load(database, talk.turns(turns), reading, partial(progress.advance, bar))
    await database.close()
    seconds: list[float] = []
    for source, target in ((first, url), (url, back)):
        with _timed(seconds):
            rows = await copy(source, target, progress)
    *_, last = talk.turns(turns)
    seen = []
    for location in (first, url, back):
        async with Memory.open(location, OFF) as memory:
            export = sha256()
            async for line in memory.export(talk.user):
                export.update(line.encode())
            at = last.spoken_at + timedelta(days=1)
            blocks = [
                (await memory.recall(text, user_id=talk.user, session_id="today", at=at)).text
                for text in talk.questions(questions)
            ]
            seen.append((export.hexdigest(), blocks))
    exports, blocks_of = zip(*seen, strict=True)
    equal = sum(len(set(same)) == 1 for same in zip(*blocks_of, strict=True))
    there_s, back_s = seconds
    same = len(set(exports)) == 1
    return Copying(turns, sum(rows.values()), there_s, back_s, same, equal, questions)


@contextmanager
def _timed(seconds: list[float]) -> Iterator[None]:
    begun = time.perf_counter()
    yield
    seconds.append(time.perf_counter() - begun)
