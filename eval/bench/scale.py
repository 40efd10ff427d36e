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
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from operator import attrgetter
from pathlib import Path
from shutil import copyfile
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from eval.bench.baseline import NEAREST, BaselineSearch
from eval.bench.history import Keys, Nearest, SentenceCache, build, spoken
from eval.bench.latency import Times
from eval.bench.synthetic import SESSION_TURNS, START, USER, SyntheticConversations
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


@dataclass(frozen=True, slots=True)
class Scale:
    """Results at one size.

    Attributes:
        users: Users of the file.
        each: Turns of each user.
        first_ms: Duration of the first question after opening.
        recall: recall(), all layers searched, ms.
        stages: Its stages, ms.
        layers: Its layers, ms, from the trace; they run in parallel.
        floor: Query embedding, sqlite-vec search and FTS5 query in sequence, ms.
        found: Share of the exact nearest passages (float32) among those of the semantic layer.
        nearest_found: The same for the first `FIRST` of them.
        fresh_per_s: New turns per second, background work included.
        bytes_a_turn: File size per turn.
        opened_mb: Private memory of the process once the file is open, MiB, including models.
        asked_mb: The same after the questions, MiB.
    """

    users: int
    each: int
    first_ms: float
    recall: Times
    stages: dict[str, Times]
    layers: dict[str, Times]
    floor: Times
    found: float
    nearest_found: float
    fresh_per_s: float
    bytes_a_turn: float
    opened_mb: float
    asked_mb: float


def measure(sizes: Sequence[Size], questions: int, folder: Path, console: Console) -> list[Scale]:
    """Build the files that the folder does not contain, and measure each.

    Args:
        sizes: Sizes of the files.
        questions: Questions measured at each size.
        folder: Folder of the files.
        console: Console for the progress bar.
    """
    asked = SyntheticConversations().questions(WARM_UP + questions)
    reading = SentenceCache(OnnxEncoder.load(), load_language())
    measured = []
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        for size in sizes:
            path = stored(size, folder, reading, asked, progress)
            bar = progress.add_task(f"{size.name}: measuring", total=1)
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                measured.append(process.submit(_measured, path, size, asked).result())
            progress.advance(bar)
    return measured


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


def show(results: Sequence[Scale], console: Console) -> None:
    """Print a column for each size."""
    table = Table(
        title="turns of one user, or users x turns; milliseconds p50 / p95", title_justify="left"
    )
    table.add_column("")
    for result in results:
        table.add_column(Size(result.users, result.each).name, justify="right")
    rows = {
        "recall()": [_spread(one.recall) for one in results],
        "floor by hand": [_spread(one.floor) for one in results],
    }
    rows |= {
        "  times the floor": [
            f"{one.recall.p50 / one.floor.p50:.1f} / {one.recall.p95 / one.floor.p95:.1f}"
            for one in results
        ]
    }
    rows |= {
        f"  {stage}": [_spread(one.stages[stage]) for one in results] for stage in results[0].stages
    }
    rows |= {
        f"    {layer}": [_spread(one.layers[layer]) for one in results]
        for layer in results[0].layers
    }
    rows |= {
        "first question": [f"{one.first_ms:.0f}" for one in results],
        f"exact nearest {FIRST} found": [f"{one.nearest_found:.2%}" for one in results],
        f"exact nearest {NEAREST} found": [f"{one.found:.2%}" for one in results],
        "new turns a second": [f"{one.fresh_per_s:.0f}" for one in results],
        "file, bytes a turn": [f"{one.bytes_a_turn:,.0f}" for one in results],
        "memory open / asked, MiB": [
            f"{one.opened_mb:,.0f} / {one.asked_mb:,.0f}" for one in results
        ],
    }
    for name, cells in rows.items():
        table.add_row(name, *cells)
    console.print(table)


def figures(results: Sequence[Scale]) -> dict[str, Any]:
    """Return the results as plain values, by size."""
    return {Size(result.users, result.each).name: asdict(result) for result in results}


def _spread(times: Times) -> str:
    return f"{times.p50:.1f} / {times.p95:.1f}"


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


def _measured(path: Path, size: Size, asked: Sequence[str]) -> Scale:
    measured = asyncio.run(_measure(path, size, asked, path.stat().st_size))
    copy = path.with_suffix(".fresh")
    copyfile(path, copy)
    fresh_per_s = asyncio.run(_fresh(copy))
    copy.unlink()
    return replace(measured, fresh_per_s=fresh_per_s)


async def _measure(path: Path, size: Size, asked: Sequence[str], stored: int) -> Scale:
    options = Options(models=ModelOptions(embeddings_cached=0))
    users = [USER if number == 0 else f"{USER}-{number}" for number in range(size.users)]
    at = START + timedelta(days=size.each)
    async with Memory.open(path, options=options) as memory:
        opened_mb = memory_mb()
        milliseconds: list[float] = []
        blocks: list[ContextBlock] = []
        for number, text in enumerate(asked):
            started = time.perf_counter()
            blocks.append(
                await memory.recall(
                    text, user_id=users[number % len(users)], session_id="today", at=at
                )
            )
            milliseconds.append(1000 * (time.perf_counter() - started))
        asked_mb = memory_mb()
        found, nearest_found = await _found(memory, asked, np.load(path.with_suffix(".npy")))
        traces = [block.trace for block in blocks[WARM_UP:]]
    floor = await asyncio.to_thread(_floor, path.with_suffix(".floor"), asked, size.users)
    return Scale(
        users=size.users,
        each=size.each,
        first_ms=milliseconds[0],
        recall=Times.of(milliseconds[WARM_UP:]),
        stages={
            stage: Times.of([trace.stages[stage] for trace in traces]) for stage in traces[0].stages
        },
        layers={
            report.layer: Times.of([trace.layers[place].ms for trace in traces])
            for place, report in enumerate(traces[0].layers)
        },
        floor=Times.of(floor),
        found=found,
        nearest_found=nearest_found,
        fresh_per_s=0.0,
        bytes_a_turn=stored / size.turns,
        opened_mb=opened_mb,
        asked_mb=asked_mb,
    )


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
    milliseconds = []
    for number, text in enumerate(asked):
        started = time.perf_counter()
        floor.search(text, number % users + 1, encoder)
        milliseconds.append(1000 * (time.perf_counter() - started))
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
