"""One long conversation in a pipeline, to detect growth.

Turns follow each other without pauses; the memory's clock is virtual and advances by `TURN_S` per
turn. Statements and questions alternate, and half of the replies quote the block. Latency, memory,
tasks and threads are recorded per tenth of the conversation.
"""

import asyncio
import gc
import threading
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import numpy as np
import typer

from eval.arguments import AsJson
from eval.bench.bots import PATIENCE_S, running, say
from eval.bench.scale import memory_mb
from eval.bench.synthetic import USER, SyntheticConversations
from eval.memories import temporary_memory
from eval.output import print_json, print_table, tracked
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


def soak(
    minutes: Annotated[
        float, typer.Option(help="Minutes of conversation, about thirty times real time.", min=1)
    ] = 30,
    as_json: AsJson = False,
) -> None:
    """Run one long conversation and watch latency, memory, tasks and threads for growth."""
    parts = asyncio.run(_measure(minutes))
    headings = ("minutes", "waited p95, ms", "recall p50, ms", "memory, MiB", "tasks", "threads")
    print_table("a long conversation", headings, map(astuple, parts))
    print_json(parts, as_json)


async def _measure(minutes: float) -> list[Part]:
    turns = max(round(minutes * 60 / TURN_S), PARTS)
    parts: list[Part] = []
    async with temporary_memory() as memory:
        now = BEGAN
        processor = HotMemProcessor(memory, user_id=USER, clock=lambda: now)
        waited: list[float] = []
        recalls: list[float] = []

        def note(_: HotMemProcessor, __: ContextBlock, timing: RecallTiming) -> None:
            waited.append(timing.waited_ms)
            recalls.append(sum(timing.stages_ms.values()))

        processor.add_event_handler("on_memory_recalled", note)
        async with running([processor.listener], [processor], audio=False) as (worker, model):
            for number, text in enumerate(tracked(list(_said(turns)), "talking"), 1):
                now += timedelta(seconds=TURN_S)
                await say(worker, text)
                await asyncio.wait_for(model.shown.get(), PATIENCE_S)
                if number % (turns // PARTS) == 0:
                    await memory.settle()
                    gc.collect()
                    parts.append(_part(number * TURN_S / 60, waited, recalls))
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
