"""Latency of recall() and remember() with a long history, and of the encoder.

The history is synthetic. Questions are asked one after another when all background work is done,
and all layers are searched. Turns are then remembered one at a time.
"""

import asyncio
import time
from collections.abc import Sequence
from datetime import timedelta
from statistics import median
from typing import Annotated, Any, Final

import numpy as np
import typer
from numpy.typing import NDArray
from rich.progress import Progress

from eval.arguments import AsJson
from eval.bench.synthetic import USER, SyntheticConversations
from eval.encoder.export import published_encoder
from eval.encoder.published import published_folder
from eval.memories import temporary_memory
from eval.output import print_figures, print_json, progress_bars
from eval.timing import WARM_UP, Times, timed
from hotmem import Memory
from hotmem.errors import InvalidInput
from hotmem.models import Encoder
from hotmem.models.encoders import SentenceTransformerEncoder
from hotmem.storage import queries
from hotmem.types import ContextBlock, Turn

STRETCH: Final = 50
"""Consecutive texts of one encoder before the other runs."""


def latency(
    turns: Annotated[int, typer.Option(help="Turns in the memory of one user.", min=1)] = 10_000,
    questions: Annotated[
        int, typer.Option(help="Distinct queries measured, and turns remembered.", min=1, max=900)
    ] = 300,
    database: Annotated[
        str | None,
        typer.Option(help="URL of an empty PostgreSQL database; a temporary file by default."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure recall() by stage, remember(), and the encoder against sentence-transformers."""
    talk = SyntheticConversations()
    asked = talk.questions(WARM_UP + questions)
    theirs = SentenceTransformerEncoder(str(published_folder()))
    encoder = compared(published_encoder(), theirs, asked)
    spoken = list(talk.turns(turns + questions))
    with progress_bars() as progress:
        found = asyncio.run(_measure(spoken[:turns], spoken[turns:], asked, database, progress))
    found = {"turns": turns, "questions": questions} | found | {"encoder": encoder}
    print_figures("milliseconds p50 / p95, and seconds of loading", found)
    print_json(found, as_json)


def compared(ours: Encoder, theirs: Encoder, texts: Sequence[str]) -> dict[str, Any]:
    """Encode each text with both encoders, alternating after `STRETCH` texts.

    They do not alternate after each text because torch's threads keep their cores busy for a while,
    which would slow the other encoder.

    Returns:
        Times of each, one text at a time without cache, the ratio of the medians, and the minimum
        and mean cosine similarity of both vectors of a text.
    """
    own_ms: list[float] = []
    their_ms: list[float] = []
    cosines: list[float] = []
    for start in range(0, len(texts), STRETCH):
        stretch = texts[start : start + STRETCH]
        own, their = _encoded(ours, stretch, own_ms), _encoded(theirs, stretch, their_ms)
        cosines += np.vecdot(own, their).tolist()
    return {
        "ours": Times.of(own_ms),
        "theirs": Times.of(their_ms),
        "ratio": median(their_ms) / median(own_ms),
        "least_cosine": min(cosines),
        "mean_cosine": float(np.mean(cosines)),
    }


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


async def _measure(
    history: Sequence[Turn],
    spoken: Sequence[Turn],
    asked: Sequence[str],
    database: str | None,
    progress: Progress,
) -> dict[str, Any]:
    """Load a history, ask, and remember turns one at a time.

    Returns:
        Times of recall() with all layers and of its stages, of remember() one turn at a time and
        while the history was loaded, and the seconds of loading, background work included.

    Raises:
        InvalidInput: If the database holds a memory.
    """
    bulk_ms: list[float] = []
    spoken_ms: list[float] = []
    async with temporary_memory() if database is None else Memory.open(database) as memory:
        if await memory.runtime.database.read_all(queries.users.names, 1):
            place = memory.runtime.database.location
            raise InvalidInput(f"{place} holds a memory. Name an empty database.")
        started = time.perf_counter()
        await _load(memory, history, bulk_ms, progress)
        ingest_s = time.perf_counter() - started
        blocks, recall_ms = await _ask(memory, asked, history[-1], progress)
        for turn in progress.track(spoken, description="remembering"):
            with timed(spoken_ms):
                await memory.remember(turn)
            await memory.settle()
    stages = blocks[0].trace.stages
    return {
        "recall": Times.of(recall_ms),
        "stages": {
            stage: Times.of([block.trace.stages[stage] for block in blocks]) for stage in stages
        },
        "remember": Times.of(spoken_ms),
        "bulk": Times.of(bulk_ms),
        "ingest_s": ingest_s,
    }


async def _load(
    memory: Memory, history: Sequence[Turn], milliseconds: list[float], progress: Progress
) -> None:
    """Remember the history session by session, with the background work of each session."""
    bar = progress.add_task("loading", total=len(history))
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
    return blocks[WARM_UP:], milliseconds[WARM_UP:]
