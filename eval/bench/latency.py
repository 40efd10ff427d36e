"""Latency of recall() and remember() with a long history, and of the encoder.

The history is synthetic. Questions are asked one after another when all background work is done,
and all layers are searched. Turns are then remembered one at a time.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from eval.bench.synthetic import USER, SyntheticConversations
from eval.encoder.export import published_encoder
from eval.encoder.published import published_folder
from hotmem import Memory, Options
from hotmem.models import Encoder
from hotmem.models.encoders import SentenceTransformerEncoder
from hotmem.types import ContextBlock, Turn

WARM_UP: Final = 10
"""First questions, which are not measured, while models and pages are loaded."""

STRETCH: Final = 50
"""Consecutive texts of one encoder before the other runs."""


@dataclass(frozen=True, slots=True)
class Times:
    """A distribution of milliseconds."""

    p50: float
    p95: float

    @classmethod
    def of(cls, milliseconds: Sequence[float]) -> "Times":
        """Return the median and 95th percentile of at least one time."""
        return cls(float(np.percentile(milliseconds, 50)), float(np.percentile(milliseconds, 95)))


@dataclass(frozen=True, slots=True)
class EncoderComparison:
    """The default encoder against sentence-transformers on the same questions and weights.

    Attributes:
        ours: Times of the default encoder, one question at a time, without cache.
        theirs: Times of sentence-transformers.
        ratio: Median of theirs over median of ours.
        least_cosine: Minimum cosine similarity of both vectors of a question.
        mean_cosine: Mean cosine similarity.
    """

    ours: Times
    theirs: Times
    ratio: float
    least_cosine: float
    mean_cosine: float


@dataclass(frozen=True, slots=True)
class Latency:
    """Results; times in milliseconds.

    Attributes:
        turns: Turns in the memory.
        questions: Questions measured.
        recall: recall(), all layers searched.
        stages: Its stages, in order, from the trace.
        remember: remember(), one turn at a time.
        bulk: remember() while the history was loaded with background work running.
        ingest_s: Seconds to load the history, background work included.
        encoder: The encoder comparison.
    """

    turns: int
    questions: int
    recall: Times
    stages: dict[str, Times]
    remember: Times
    bulk: Times
    ingest_s: float
    encoder: EncoderComparison


def measure(turns: int, questions: int, console: Console) -> Latency:
    """Build a memory, measure and remove it.

    Args:
        turns: Turns of the one user.
        questions: Questions measured, and turns remembered one at a time.
        console: Console for the progress bar.
    """
    talk = SyntheticConversations()
    asked = talk.questions(WARM_UP + questions)
    encoder = compared(
        published_encoder(), SentenceTransformerEncoder(str(published_folder())), asked
    )
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
    ) as progress:
        spoken = list(talk.turns(turns + questions))
        return asyncio.run(_measure(spoken[:turns], spoken[turns:], asked, encoder, progress))


def compared(ours: Encoder, theirs: Encoder, texts: Sequence[str]) -> EncoderComparison:
    """Encode each text with both encoders, alternating after `STRETCH` texts.

    They do not alternate after each text because torch's threads keep their cores busy for a while,
    which would slow the other encoder.
    """
    own_ms: list[float] = []
    their_ms: list[float] = []
    cosines: list[float] = []
    for start in range(0, len(texts), STRETCH):
        stretch = texts[start : start + STRETCH]
        own, their = _encoded(ours, stretch, own_ms), _encoded(theirs, stretch, their_ms)
        cosines += np.vecdot(own, their).tolist()
    return EncoderComparison(
        Times.of(own_ms),
        Times.of(their_ms),
        median(their_ms) / median(own_ms),
        min(cosines),
        float(np.mean(cosines)),
    )


def _encoded(
    encoder: Encoder, texts: Sequence[str], milliseconds: list[float]
) -> NDArray[np.float32]:
    """Encode each text alone; record times after `WARM_UP` texts.

    Returns:
        Unit vectors, float32 (texts, dimension).
    """
    for text in texts[:WARM_UP]:
        encoder.encode([text])
    rows = []
    for text in texts:
        with timed(milliseconds):
            rows.append(encoder.encode([text])[0])
    return np.stack(rows)


def show(result: Latency, console: Console) -> None:
    """Print the results as a table."""
    table = Table(
        title=f"{result.turns:,} turns of one user, {result.questions} questions",
        title_justify="left",
    )
    for heading in ("milliseconds", "p50", "p95"):
        table.add_column(heading, justify="left" if heading == "milliseconds" else "right")
    rows = {"recall()": result.recall} | {
        f"  {name}": times for name, times in result.stages.items()
    }
    rows |= {
        "remember(), one turn at a time": result.remember,
        "remember(), loading the history": result.bulk,
    }
    rows |= {"encoder": result.encoder.ours, "sentence-transformers": result.encoder.theirs}
    for name, times in rows.items():
        table.add_row(name, f"{times.p50:.2f}", f"{times.p95:.2f}")
    console.print(table)
    encoder = result.encoder
    console.print(
        f"encoder {encoder.ratio:.1f}x as fast, cosine at least "
        f"{encoder.least_cosine:.4f}, mean {encoder.mean_cosine:.4f}"
    )
    console.print(
        f"history loaded in {result.ingest_s:.0f} s "
        f"({1000 * result.ingest_s / result.turns:.1f} ms a turn, background work "
        "included)"
    )


def figures(result: Latency) -> dict[str, Any]:
    """Return the results as plain values."""
    return asdict(result)


async def _measure(
    history: Sequence[Turn],
    spoken: Sequence[Turn],
    asked: Sequence[str],
    encoder: EncoderComparison,
    progress: Progress,
) -> Latency:
    bulk_ms: list[float] = []
    spoken_ms: list[float] = []
    options = Options()
    with tempfile.TemporaryDirectory(prefix="hotmem-bench-") as folder:
        async with Memory.open(Path(folder) / "memory.db", options=options) as memory:
            started = time.perf_counter()
            await _load(memory, history, bulk_ms, progress)
            ingest_s = time.perf_counter() - started
            blocks, recall_ms = await _ask(memory, asked, history[-1], progress)
            for turn in progress.track(spoken, description="remembering"):
                with timed(spoken_ms):
                    await memory.remember(turn)
                await memory.settle()
    return Latency(
        turns=len(history),
        questions=len(recall_ms),
        recall=Times.of(recall_ms),
        stages=_stages(blocks),
        remember=Times.of(spoken_ms),
        bulk=Times.of(bulk_ms),
        ingest_s=ingest_s,
        encoder=encoder,
    )


async def _load(
    memory: Memory, history: Sequence[Turn], milliseconds: list[float], progress: Progress
) -> None:
    """Remember the history session by session, with the background work of each session."""
    bar: TaskID = progress.add_task("loading", total=len(history))
    for place, turn in enumerate(history):
        with timed(milliseconds):
            await memory.remember(turn)
        if place + 1 == len(history) or history[place + 1].session_id != turn.session_id:
            await memory.end_session(user_id=USER, session_id=turn.session_id)
            await memory.settle()
        progress.advance(bar)


async def _ask(
    memory: Memory, asked: Sequence[str], last: Turn, progress: Progress
) -> tuple[list[ContextBlock], list[float]]:
    """Return blocks and times of the questions after the warm-up."""
    blocks: list[ContextBlock] = []
    milliseconds: list[float] = []
    for text in progress.track(asked, description="asking"):
        with timed(milliseconds):
            block = await memory.recall(
                text, user_id=USER, session_id="today", at=last.spoken_at + timedelta(days=1)
            )
        blocks.append(block)
    return list(islice(blocks, WARM_UP, None)), milliseconds[WARM_UP:]


def _stages(blocks: Sequence[ContextBlock]) -> dict[str, Times]:
    by_stage: dict[str, list[float]] = {}
    for block in blocks:
        for stage, ms in block.trace.stages.items():
            by_stage.setdefault(stage, []).append(ms)
    return {stage: Times.of(times) for stage, times in by_stage.items()}


@contextmanager
def timed(milliseconds: list[float]) -> Iterator[None]:
    """Append the duration of its block."""
    started = time.perf_counter()
    yield
    milliseconds.append(1000 * (time.perf_counter() - started))
