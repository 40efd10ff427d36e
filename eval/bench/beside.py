"""What the work in the background costs a conversation.

Recalls timed while categories evolve and tags are consolidated, and while they do not.

The conversation goes on in short blocks that take turns, so that whatever else the machine does
hits both arms alike. Beside every second block one category after the other evolves anew and all
tags are consolidated, without a pause; in use that happens once in six hours.
"""

import asyncio
from asyncio import Event
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from eval.bench.latency import WARM_UP, Times, timed
from eval.bench.talk import START, USER, Talk
from eval.bench.tools import prepared
from eval.statistics import RESAMPLES, SEED, Estimate
from hotmem import Memory, Turn
from hotmem.tools.maintenance import OptimizeTagsArguments, optimize_tags
from hotmem.types import Category, Role

BLOCK: Final = 10
"""Recalls of a block."""

PAUSE_S: Final = (0.02, 0.12)
"""Seconds between two recalls, from and to, by chance: the background may be anywhere in its
work when the next one comes."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What was measured, in milliseconds.

    Attributes:
        memories: Memories of the one user.
        recalls: Recalls of each arm.
        alone: recall() with nothing beside it.
        beside: recall() with evolution and consolidation beside it.
        p50: Median beside over median alone.
        p95: 95th percentile beside over that alone.
        evolved: Categories that evolved beside the conversation.
        consolidated: Times that all tags were consolidated beside it.
    """

    memories: int
    recalls: int
    alone: Times
    beside: Times
    p50: Estimate
    p95: Estimate
    evolved: int
    consolidated: int


async def measure(memories: int, recalls: int, folder: Path, console: Console) -> Beside:
    """Fills a store, kept in the folder for another time, and talks to a copy of it.

    Args:
        memories: Memories of the one user, spread evenly over the seven categories.
        recalls: Recalls counted in each arm; made up to whole blocks.
        folder: Where the store is, or will be.
        console: Where the progress bar goes.
    """
    measured = await asyncio.to_thread(prepared, folder, memories, console)
    pairs = -(-recalls // BLOCK)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    async with Memory.open(measured) as memory:
        upkeep, talk = _Upkeep(memory), _Conversation(memory)
        for _ in range(len(Category) + 1):  # libraries are loaded, and all has been done once
            await upkeep.step()
        await talk.block(WARM_UP)
        before = upkeep.evolved, upkeep.consolidated
        alone, beside = [], []
        with Progress(*columns, console=console) as progress:
            for _ in progress.track(range(pairs), description="blocks of each arm"):
                alone.append(await talk.block(BLOCK))
                enough = Event()
                work = asyncio.create_task(upkeep.until(enough))
                beside.append(await talk.block(BLOCK))
                enough.set()
                await work
    measured.unlink()
    return Beside(
        memories=memories,
        recalls=pairs * BLOCK,
        alone=Times.of(np.ravel(alone).tolist()),
        beside=Times.of(np.ravel(beside).tolist()),
        p50=ratio(beside, alone, 50),
        p95=ratio(beside, alone, 95),
        evolved=upkeep.evolved - before[0],
        consolidated=upkeep.consolidated - before[1],
    )


def ratio(
    beside: Sequence[Sequence[float]], alone: Sequence[Sequence[float]], percentile: float
) -> Estimate:
    """A percentile of the one arm over that of the other, with its bootstrap interval over the pairs of blocks (Efron 1979).

    Args:
        beside: Milliseconds, (pairs, recalls).
        alone: The blocks that took turns with them, likewise.
        percentile: 0 to 100.
    """
    times = np.array([beside, alone], dtype=np.float64)
    first, second = np.percentile(times, percentile, axis=(1, 2))
    chosen = np.random.default_rng(SEED).integers(0, times.shape[1], (RESAMPLES, times.shape[1]))
    ones, others = np.percentile(times[:, chosen], percentile, axis=(2, 3))
    low, high = np.percentile(ones / others, [2.5, 97.5])
    return Estimate(float(first / second), float(low), float(high))


def show(result: Beside, console: Console) -> None:
    """Prints both arms and their ratio."""
    title = f"{result.memories:,} memories of one user, {result.recalls} recalls in each arm"
    table = Table("recall(), milliseconds", "p50", "p95", title=title, title_justify="left")
    table.add_row("alone", f"{result.alone.p50:.1f}", f"{result.alone.p95:.1f}")
    table.add_row(
        "evolution and consolidation beside it",
        f"{result.beside.p50:.1f}",
        f"{result.beside.p95:.1f}",
    )
    table.add_row(
        "beside / alone",
        *(f"{one.mean:.2f} ({one.low:.2f} to {one.high:.2f})" for one in (result.p50, result.p95)),
    )
    console.print(table)
    console.print(
        f"{result.evolved} evolutions of a category and {result.consolidated} consolidations of all tags went beside them",
        highlight=False,
    )


def figures(result: Beside) -> dict[str, Any]:
    """The same as plain values."""
    return asdict(result)


class _Conversation:
    """Asks and tells, one exchange after the other, as long as it is wanted."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._questions = cycle(Talk().questions(900))
        self._random = Random(SEED)
        self._turns = 0

    async def block(self, exchanges: int) -> list[float]:
        """Milliseconds of the recalls of so many exchanges.

        What is said is understood before the next one.
        """
        milliseconds: list[float] = []
        for _ in range(exchanges):
            await asyncio.sleep(self._random.uniform(*PAUSE_S))
            self._turns += 1
            said = Turn(
                USER,
                "today",
                Role.USER,
                next(self._questions),
                START + timedelta(days=365, minutes=self._turns),
                id=f"asked-{self._turns}",
            )
            with timed(milliseconds):
                await self._memory.recall(
                    said.text, user_id=USER, session_id="today", at=said.spoken_at
                )
            await self._memory.remember(said)
            await self._memory.settle()
        return milliseconds


class _Upkeep:
    """Lets one category after the other evolve and then consolidates all tags, again and again.

    Attributes:
        evolved: Categories that evolved so far.
        consolidated: Consolidations so far.
    """

    def __init__(self, memory: Memory) -> None:
        self.evolved = self.consolidated = 0
        self._memory = memory
        self._next = cycle((*Category, None))

    async def step(self) -> None:
        """One category, or the tags."""
        category = next(self._next)
        if category is None:
            await optimize_tags(self._memory, USER, OptimizeTagsArguments())
            self.consolidated += 1
        else:
            await self._memory.evolve(USER, category=category)
            self.evolved += 1

    async def until(self, enough: Event) -> None:
        """One step after the other until it is enough."""
        while not enough.is_set():
            await self.step()
