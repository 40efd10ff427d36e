"""One long conversation in a pipeline, to detect growth.

Turns follow each other without pauses; the memory's clock is virtual and advances by `TURN_S` per
turn. Statements and questions alternate, and half of the replies quote the block. Latency, memory,
tasks and threads are recorded per tenth of the conversation.
"""

import asyncio
import gc
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from eval.bench.bots import PATIENCE_S, running, say
from eval.bench.scale import memory_mb
from eval.bench.synthetic import USER, SyntheticConversations
from hotmem import Memory
from hotmem.pipecat import HotMemProcessor
from hotmem.pipecat.turn_state import RecallTiming
from hotmem.types import ContextBlock, Role

TURN_S: Final = 6.0
"""Seconds per turn with its reply."""

PARTS: Final = 10

BEGAN: Final = datetime(2026, 3, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Part:
    """One tenth of the conversation.

    Attributes:
        minutes: Minutes of conversation at its end.
        waited: 95th percentile of the wait of contexts for their blocks, ms.
        recall: Median duration of a recall, ms.
        memory_mb: Private memory of the process, MiB.
        tasks: Number of live tasks.
        threads: Number of live threads.
    """

    minutes: float
    waited: float
    recall: float
    memory_mb: float
    tasks: int
    threads: int


async def measure(minutes: float, console: Console) -> list[Part]:
    """Run a conversation of a number of minutes."""
    turns = max(round(minutes * 60 / TURN_S), PARTS)
    parts: list[Part] = []
    with (
        tempfile.TemporaryDirectory(prefix="hotmem-soak-") as folder,
        Progress(console=console) as progress,
    ):
        async with Memory.open(Path(folder) / "memory.db") as memory:
            now = BEGAN
            processor = HotMemProcessor(memory, user_id=USER, clock=lambda: now)
            waited: list[float] = []
            recalls: list[float] = []

            def note(_: HotMemProcessor, __: ContextBlock, timing: RecallTiming) -> None:
                waited.append(timing.waited_ms)
                recalls.append(sum(timing.stages_ms.values()))

            processor.add_event_handler("on_memory_recalled", note)
            async with running([processor.listener], [processor], audio=False) as (worker, model):
                for number, text in enumerate(
                    progress.track(list(_said(turns)), description="talking")
                ):
                    now += timedelta(seconds=TURN_S)
                    await say(worker, text)
                    await asyncio.wait_for(model.shown.get(), PATIENCE_S)
                    if (number + 1) % (turns // PARTS) == 0:
                        await memory.settle()
                        gc.collect()
                        parts.append(_part((number + 1) * TURN_S / 60, waited, recalls))
                        waited.clear()
                        recalls.clear()
    return parts


def _said(turns: int) -> Iterator[str]:
    talk = SyntheticConversations()
    told = (turn.text for turn in talk.turns(10 * turns) if turn.role is Role.USER)
    for question in talk.questions(turns // 2 + 1):
        yield next(told)
        yield question


def _part(minutes: float, waited: list[float], recalls: list[float]) -> Part:
    return Part(
        minutes,
        float(np.percentile(waited, 95)) if waited else 0.0,
        float(np.median(recalls)) if recalls else 0.0,
        memory_mb(),
        len(asyncio.all_tasks()),
        threading.active_count(),
    )


def show(parts: list[Part], console: Console) -> None:
    """Print a row for each tenth."""
    columns = ("minutes", "waited p95, ms", "recall p50, ms", "memory, MiB", "tasks", "threads")
    table = Table(*columns, title="a long conversation", title_justify="left")
    for part in parts:
        cells = (
            f"{part.minutes:.0f}",
            f"{part.waited:.1f}",
            f"{part.recall:.1f}",
            f"{part.memory_mb:,.0f}",
            str(part.tasks),
            str(part.threads),
        )
        table.add_row(*cells)
    console.print(table)
