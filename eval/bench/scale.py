"""Growth of recall(), ingestion, file and memory with the number of turns.

A file of each size is built by `eval.bench.history`, then opened and measured in its own process:
recall() with all models and layers, and new turns, remembered session by session. The baseline is
the minimum cost of a search.
"""

import asyncio
import resource
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from operator import attrgetter
from pathlib import Path
from shutil import copyfile
from typing import Annotated, Any, Final

import numpy as np
import typer
from rich.progress import Progress

from eval.arguments import AsJson, Keep, working_folder
from eval.bench.baseline import NEAREST, BaselineSearch
from eval.bench.history import Keys, Nearest, SentenceCache, build, spoken
from eval.bench.synthetic import SESSION_TURNS, START, USER, SyntheticConversations
from eval.output import print_figures, print_json, progress_bars
from eval.timing import Times, timed
from hotmem import Memory, Options
from hotmem.models import load_encoder, load_language
from hotmem.models.encoders import OnnxEncoder
from hotmem.options import ModelOptions
from hotmem.retrieval.layers.semantic import MAX_PASSAGES
from hotmem.storage import queries
from hotmem.storage.search.searches import VectorSearch
from hotmem.types import ContextBlock, EvidenceKind, QueryVectors

USUAL: Final = (1_000, 10_000, 100_000)
"""Default turns per user."""

QUESTIONS: Final = 300
"""Default number of questions at each size."""

WARM_UP: Final = 20
"""First questions, which are not measured, while models, pages and indexes are loaded. The very
first is reported separately."""

FIRST: Final = 10
"""Number of the nearest passages that are reported separately."""

FRESH: Final = 10 * SESSION_TURNS
"""Turns remembered to measure ingestion."""

FRESH_SEED: Final = 8
"""Seed of their words; none of their sentences are in the file."""


@dataclass(frozen=True, slots=True)
class Size:
    """Size of a memory file: `users` with `each` turns."""

    users: int
    each: int

    @property
    def turns(self) -> int:
        """Total turns."""
        return self.users * self.each

    @property
    def name(self) -> str:
        """Name in files and tables."""
        return f"{self.each:,}" if self.users == 1 else f"{self.users:,} x {self.each:,}"


def scale(
    turns: Annotated[
        list[int] | None,
        typer.Option(
            help="Turns per user; may be repeated. 1,000, 10,000 and 100,000 by default.", min=1
        ),
    ] = None,
    users: Annotated[int, typer.Option(help="Users of each memory file.", min=1)] = 1,
    questions: Annotated[
        int, typer.Option(help="Distinct queries measured at each size.", min=1, max=2000)
    ] = QUESTIONS,
    keep: Keep = None,
    as_json: AsJson = False,
) -> None:
    """Measure recall(), ingestion, file size and memory as a memory file grows."""
    asked = SyntheticConversations().questions(WARM_UP + questions)
    reading = SentenceCache(OnnxEncoder.load(), load_language())
    found = {}
    with working_folder(keep) as folder, progress_bars() as progress:
        for size in [Size(users, each) for each in turns or USUAL]:
            path = stored(size, folder, reading, asked, progress)
            bar = progress.add_task(f"{size.name}: measuring", total=1)
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                found[size.name] = process.submit(_measured, path, size, asked).result()
            progress.advance(bar)
    for name, one in found.items():
        print_figures(f"{name} turns; milliseconds p50 / p95", one)
    print_json(found, as_json)


def stored(
    size: Size, folder: Path, reading: SentenceCache, asked: Sequence[str], progress: Progress
) -> Path:
    """Return the file of a size; build it if it is missing or was built for other questions.

    Args:
        size: Its size.
        folder: Folder of the files.
        reading: Vectors and statements of sentences.
        asked: Questions whose exact nearest passages are stored with it.
        progress: The progress bar.
    """
    bar = progress.add_task(f"{size.name}: building", total=size.turns)
    path = folder / f"{size.users}x{size.each}.db"
    known = path.with_suffix(".npy")
    if not known.exists() or len(np.load(known, mmap_mode="r")) != len(asked):
        _build(path, size, reading, asked, partial(progress.advance, bar))
    progress.update(bar, completed=size.turns)
    return path


def _build(
    path: Path,
    size: Size,
    reading: SentenceCache,
    asked: Sequence[str],
    tell: Callable[[int], None],
) -> None:
    """Build both files, replacing those of an interrupted run."""
    for left in path.parent.glob(f"{path.stem}.*"):
        left.unlink()
    floor = BaselineSearch(path.with_suffix(".floor"), reading.encoder.dimension)
    nearest = Nearest.to(reading.encoder.encode(asked), NEAREST)
    try:
        build(path, spoken(size.users, size.each), reading, floor, nearest, tell)
    finally:
        floor.close()
    np.save(path.with_suffix(".npy"), nearest.ordered())


def _measured(path: Path, size: Size, asked: Sequence[str]) -> dict[str, Any]:
    bytes_a_turn = path.stat().st_size / size.turns
    measured = asyncio.run(_measure(path, size, asked))
    copy = path.with_suffix(".fresh")
    copyfile(path, copy)
    fresh_per_s = asyncio.run(_fresh(copy))
    copy.unlink()
    return measured | {"fresh_per_s": fresh_per_s, "bytes_a_turn": bytes_a_turn}


async def _measure(path: Path, size: Size, asked: Sequence[str]) -> dict[str, Any]:
    """Ask all questions of a file.

    Returns:
        Milliseconds of the first question after opening, of recall() with all layers, its stages
        and its layers, which run in parallel, and of the floor: query embedding, sqlite-vec search
        and FTS5 query in sequence. Shares of the exact nearest passages (float32) that the semantic
        layer finds, of all and of the first `FIRST`. Private memory of the process once the file is
        open and after the questions, MiB, models included.
    """
    options = Options(models=ModelOptions(embeddings_cached=0))
    users = [USER if number == 0 else f"{USER}-{number}" for number in range(size.users)]
    at = START + timedelta(days=size.each)
    async with Memory.open(path, options=options) as memory:
        opened_mb = memory_mb()
        milliseconds: list[float] = []
        blocks: list[ContextBlock] = []
        for number, text in enumerate(asked):
            user = users[number % len(users)]
            with timed(milliseconds):
                block = await memory.recall(text, user_id=user, session_id="today", at=at)
            blocks.append(block)
        asked_mb = memory_mb()
        found, nearest_found = await _found(memory, asked, np.load(path.with_suffix(".npy")))
        traces = [block.trace for block in blocks[WARM_UP:]]
    floor = await asyncio.to_thread(_floor, path.with_suffix(".floor"), asked, size.users)
    return {
        "first_ms": milliseconds[0],
        "recall": Times.of(milliseconds[WARM_UP:]),
        "stages": {
            stage: Times.of([trace.stages[stage] for trace in traces]) for stage in traces[0].stages
        },
        "layers": {
            report.layer.value: Times.of([trace.layers[place].ms for trace in traces])
            for place, report in enumerate(traces[0].layers)
        },
        "floor": Times.of(floor),
        "found": found,
        "nearest_found": nearest_found,
        "opened_mb": opened_mb,
        "asked_mb": asked_mb,
    }


async def _found(memory: Memory, asked: Sequence[str], exact: Keys) -> tuple[float, float]:
    """Return the shares of all and of the first nearest passages found by the semantic layer."""
    reader = memory.runtime.recall
    user = await reader.database.read_all(queries.users.find, USER)
    assert user is not None
    shares = []
    for vector, keys in zip(reader.encoder.encode(asked), exact.tolist(), strict=True):
        (nearest,) = await reader.engine.search(
            user, VectorSearch(EvidenceKind.PASSAGE, QueryVectors(vector), MAX_PASSAGES)
        )
        near = {key for key, _ in nearest}
        shares.append(
            [
                len(near.intersection(wanted)) / np.count_nonzero(wanted)
                for wanted in (keys, keys[:FIRST])
            ]
        )
    both, first = np.mean(shares, axis=0).tolist()
    return both, first


def _floor(path: Path, asked: Sequence[str], users: int) -> list[float]:
    encoder = load_encoder(ModelOptions(embeddings_cached=0))
    floor = BaselineSearch(path, encoder.dimension)
    milliseconds: list[float] = []
    for number, text in enumerate(asked):
        with timed(milliseconds):
            floor.search(text, number % users + 1, encoder)
    floor.close()
    return milliseconds[WARM_UP:]


async def _fresh(path: Path) -> float:
    """Return new turns per second, from the first remembered to the last processed."""
    async with Memory.open(path) as memory:
        started = time.perf_counter()
        for session_id, said in groupby(
            SyntheticConversations(seed=FRESH_SEED).turns(FRESH), key=attrgetter("session_id")
        ):
            for turn in said:
                await memory.remember(
                    replace(turn, session_id=f"fresh-{session_id}", id=f"fresh-{turn.id}")
                )
            await memory.end_session(user_id=USER, session_id=f"fresh-{session_id}")
            await memory.settle()
        return FRESH / (time.perf_counter() - started)


def memory_mb(process: int | None = None) -> float:
    """Return the private memory of a process, MiB.

    Pages of the file, which the system shares and can reclaim, are excluded where the platform
    reports them.

    Args:
        process: Its id, where the platform reports the memory of others; None for this one.
    """
    status = Path(f"/proc/{process or 'self'}/status")
    if status.exists():
        sizes = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(sizes["RssAnon"].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1024 if sys.platform != "darwin" else 1024**2
    )
