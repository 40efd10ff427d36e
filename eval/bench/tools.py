"""How long search_memory and store_memory take with many memories of one user."""

import asyncio
from contextlib import closing
from pathlib import Path
from shutil import copyfile
from typing import Annotated, Any, Final

import typer

from eval.arguments import AsJson, Keep, working_folder
from eval.bench.history import BATCH, SentenceCache, batches
from eval.bench.synthetic import USER, SyntheticConversations
from eval.output import print_figures, print_json, progress_bars
from eval.timing import WARM_UP, Times, timed
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


def tools(
    memories: Annotated[int, typer.Option(help="Memories of one user.", min=1)] = 10_000,
    questions: Annotated[
        int, typer.Option(help="Searches measured, and statements stored.", min=1, max=2000)
    ] = 200,
    keep: Keep = None,
    as_json: AsJson = False,
) -> None:
    """Measure search_memory() and store_memory() with many memories of one user."""
    with working_folder(keep) as folder:
        path = prepared(folder, memories)
        found = asyncio.run(_measure(path, questions))
        path.unlink()
    print_figures(f"{memories:,} memories of one user, ms p50 / p95", found)
    print_json({"memories": memories} | found, as_json)


async def _measure(path: Path, questions: int) -> dict[str, Any]:
    """Search and store in a file."""
    search_ms: list[float] = []
    store_ms: list[float] = []
    async with Memory.open(path) as memory:
        for query in SyntheticConversations().questions(WARM_UP + questions):
            with timed(search_ms):
                await memory.search_memory(query, user_id=USER)
        for turn in list(SyntheticConversations(seed=NEW_SEED).turns(WARM_UP + questions)):
            with timed(store_ms):
                await memory.store_memory(turn.text, user_id=USER)
    return {"search": Times.of(search_ms[WARM_UP:]), "store": Times.of(store_ms[WARM_UP:])}


def prepared(folder: Path, memories: int) -> Path:
    """Return a copy of the memory file; build the file if the folder does not contain it."""
    path, measured = folder / f"memories-{memories}.db", folder / "measured.db"
    if not path.exists():
        fill(path, memories)
    copyfile(path, measured)
    return measured


def fill(path: Path, memories: int) -> None:
    """Store statements as classified and tagged memories; rename the file when it is complete.

    Each distinct sentence is read once; a memory has the tags and names of its sentences, and the
    mean of their vectors.
    """
    making = path.with_suffix(".making")
    making.unlink(missing_ok=True)
    reading = SentenceCache(load_encoder(ModelOptions(embeddings_cached=0)), load_language())
    kinds, categories = tuple(Kind), tuple(Category)
    with closing(connect(making)) as conn, progress_bars() as progress:
        migrate(conn, making)
        conn.execute("PRAGMA synchronous = OFF")
        vectors.adopt(conn, reading.encoder.name, reading.encoder.dimension)
        user = users.ensure(conn, USER)
        bar = progress.add_task("storing", total=memories)
        for batch in batches(enumerate(SyntheticConversations().turns(memories)), BATCH):
            conn.execute("BEGIN")
            rows, signs = reading.vectors([turn.text for _, turn in batch])
            for (number, turn), row, of_tokens in zip(batch, rows, signs, strict=True):
                tags, entities = reading.filed(turn.text)
                note = NewMemory(
                    turn.text,
                    kinds[number % len(kinds)],
                    categories[number % len(categories)],
                    1 + number % 5,
                    found_tags=tuple(tags),
                    tag_vectors=tags,
                    entities=entities,
                )
                new_memories.insert(conn, user, note, row, of_tokens, turn.spoken_at, "measured")
            conn.execute("COMMIT")
            progress.advance(bar, len(batch))
    making.rename(path)
