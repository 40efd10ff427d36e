"""Latency of recall() and remember() with a long history.

The history is synthetic. Questions are asked one after another when all background work is done,
and all layers are searched. Turns are then remembered one at a time.
"""

import asyncio
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Any

import typer
from rich.progress import Progress

from eval.arguments import AsJson
from eval.bench.synthetic import USER, SyntheticConversations
from eval.memories import temporary_memory
from eval.output import print_figures, print_json, progress_bars
from eval.timing import WARM_UP, Times, timed
from hotmem import Memory
from hotmem.errors import InvalidInput
from hotmem.storage import queries
from hotmem.types import ContextBlock, Turn


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
    """Measure recall() by stage, and remember()."""
    talk = SyntheticConversations()
    asked = talk.questions(WARM_UP + questions)
    spoken = list(talk.turns(turns + questions))
    with progress_bars() as progress:
        found = asyncio.run(_measure(spoken[:turns], spoken[turns:], asked, database, progress))
    found = {"turns": turns, "questions": questions} | found
    print_figures("milliseconds p50 / p95, and seconds of loading", found)
    print_json(found, as_json)


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
