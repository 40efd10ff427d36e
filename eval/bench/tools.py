"""How long search_memory and store_memory take with many memories of one user."""

import asyncio
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from shutil import copyfile
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from eval.bench.history import BATCH, SentenceCache
from eval.bench.latency import WARM_UP, Times, timed
from eval.bench.synthetic import USER, SyntheticConversations
from hotmem import Memory
from hotmem.models import load_encoder, load_language
from hotmem.options import ModelOptions
from hotmem.storage.queries import new_memories, users
from hotmem.storage.search import vectors
from hotmem.storage.sqlite.connection import connect
from hotmem.storage.sqlite.migrations import migrate
from hotmem.types import Category, Kind, NewMemory

NEW_SEED: Final = 17
"""Of the talk that is stored on top."""


@dataclass(frozen=True, slots=True)
class ToolTimes:
    """Milliseconds of the tools with so many memories stored."""

    memories: int
    search: Times
    store: Times


async def measure(memories: int, questions: int, folder: Path, console: Console) -> ToolTimes:
    """Build a memory file in the folder if needed; search and store in a copy of it.

    Args:
        memories: Memories of the one user.
        questions: Searches counted, and statements stored.
        folder: Where the store is, or will be.
        console: Where the progress bar goes.
    """
    measured = await asyncio.to_thread(prepared, folder, memories, console)
    search_ms: list[float] = []
    store_ms: list[float] = []
    async with Memory.open(measured) as memory:
        for query in SyntheticConversations().questions(WARM_UP + questions):
            with timed(search_ms):
                await memory.search_memory(query, user_id=USER)
        for turn in list(SyntheticConversations(seed=NEW_SEED).turns(WARM_UP + questions)):
            with timed(store_ms):
                await memory.store_memory(turn.text, user_id=USER)
    measured.unlink()
    return ToolTimes(memories, Times.of(search_ms[WARM_UP:]), Times.of(store_ms[WARM_UP:]))


def show(result: ToolTimes, console: Console) -> None:
    """Prints the times as a table."""
    table = Table(
        "milliseconds",
        "p50",
        "p95",
        title=f"{result.memories:,} memories of one user",
        title_justify="left",
    )
    for name, times in (("search_memory()", result.search), ("store_memory()", result.store)):
        table.add_row(name, f"{times.p50:.1f}", f"{times.p95:.1f}")
    console.print(table)


def figures(result: ToolTimes) -> dict[str, Any]:
    """The times as plain values."""
    return asdict(result)


def prepared(folder: Path, memories: int, console: Console) -> Path:
    """Return a copy of the memory file; build the file if the folder does not contain it."""
    path, measured = folder / f"memories-{memories}.db", folder / "measured.db"
    if not path.exists():
        fill(path, memories, console)
    copyfile(path, measured)
    return measured


def fill(path: Path, memories: int, console: Console) -> None:
    """Store statements as classified and tagged memories; rename the file when it is complete.

    Each distinct sentence is read once; a memory has the tags and names of its sentences, and the
    mean of their vectors.
    """
    making = path.with_suffix(".making")
    making.unlink(missing_ok=True)
    reading = SentenceCache(load_encoder(ModelOptions(embeddings_cached=0)), load_language())
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with closing(connect(making)) as conn, Progress(*columns, console=console) as progress:
        migrate(conn, making)
        conn.execute("PRAGMA synchronous = OFF")
        vectors.adopt(conn, reading.encoder.name, reading.encoder.dimension)
        user = users.ensure(conn, USER)
        bar = progress.add_task("storing", total=memories)
        spoken = enumerate(SyntheticConversations().turns(memories))
        for batch in iter(lambda: list(islice(spoken, BATCH)), []):
            conn.execute("BEGIN")
            rows, signs = reading.vectors([turn.text for _, turn in batch])
            for (number, turn), row, of_tokens in zip(batch, rows, signs, strict=True):
                tags, entities = reading.filed(turn.text)
                kind, category = (
                    tuple(Kind)[number % len(Kind)],
                    tuple(Category)[number % len(Category)],
                )
                note = NewMemory(
                    turn.text,
                    kind,
                    category,
                    1 + number % 5,
                    found_tags=tuple(tags),
                    tag_vectors=tags,
                    entities=entities,
                )
                new_memories.insert(conn, user, note, row, of_tokens, turn.spoken_at, "measured")
            conn.execute("COMMIT")
            progress.advance(bar, len(batch))
    making.rename(path)
