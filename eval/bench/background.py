"""The effect of background work on recalls.

Recalls are timed with and without category evolution and tag consolidation running continuously.
Both arms alternate in short blocks, so that other load on the machine affects them equally.
"""

import asyncio
from asyncio import Event
from collections.abc import Sequence
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Annotated, Any, Final

import numpy as np
import typer

from eval.arguments import AsJson, Keep, working_folder
from eval.bench.synthetic import START, USER, SyntheticConversations
from eval.bench.tools import prepared
from eval.output import print_figures, print_json, tracked
from eval.statistics import RESAMPLES, SEED, Estimate
from eval.timing import WARM_UP, Times, timed
from hotmem import Memory, Turn
from hotmem.tools.editing import OptimizeTagsArguments, optimize_tags
from hotmem.types import Category, Role

BLOCK: Final = 10
"""Recalls per block."""

PAUSE_S: Final = (0.02, 0.12)
"""Range of the random pause between two recalls, in seconds, so that recalls hit the background
work at any stage."""


def background(
    memories: Annotated[
        int, typer.Option(help="Memories stored, evenly over the seven categories.", min=1)
    ] = 14_000,
    recalls: Annotated[int, typer.Option(help="Recalls measured in each arm.", min=1)] = 400,
    keep: Keep = None,
    as_json: AsJson = False,
) -> None:
    """Measure recall() with and without category evolution and tag consolidation running."""
    with working_folder(keep) as folder:
        path = prepared(folder, memories)
        found = asyncio.run(_measure(path, -(-recalls // BLOCK)))
        path.unlink()
    print_figures(f"{memories:,} memories of one user, ms p50 / p95; beside / alone", found)
    print_json({"memories": memories} | found, as_json)


async def _measure(path: Path, pairs: int) -> dict[str, Any]:
    """Measure pairs of blocks of recalls on a file.

    Returns:
        Number of recalls of each arm, their times without and with the work beside them, ratios of
        the medians and of the 95th percentiles, and how often the work was done.
    """
    async with Memory.open(path) as memory:
        upkeep, talk = _Upkeep(memory), _Conversation(memory)
        for _ in range(len(Category) + 1):  # warm up: load libraries and fill caches
            await upkeep.step()
        await talk.block(WARM_UP)
        before = upkeep.evolved, upkeep.consolidated
        alone, beside = [], []
        for _ in tracked(range(pairs), "blocks of each arm"):
            alone.append(await talk.block(BLOCK))
            enough = Event()
            work = asyncio.create_task(upkeep.until(enough))
            beside.append(await talk.block(BLOCK))
            enough.set()
            await work
    return {
        "recalls": pairs * BLOCK,
        "alone": Times.of(np.ravel(alone).tolist()),
        "beside": Times.of(np.ravel(beside).tolist()),
        "p50": ratio(beside, alone, 50),
        "p95": ratio(beside, alone, 95),
        "evolved": upkeep.evolved - before[0],
        "consolidated": upkeep.consolidated - before[1],
    }


def ratio(
    beside: Sequence[Sequence[float]], alone: Sequence[Sequence[float]], percentile: float
) -> Estimate:
    """Return the ratio of a percentile of two arms, with its bootstrap interval over block pairs.

    Args:
        beside: Milliseconds, (pairs, recalls).
        alone: The alternating blocks of the other arm, likewise.
        percentile: 0 to 100.
    """
    times = np.array([beside, alone], dtype=np.float64)
    first, second = np.percentile(times, percentile, axis=(1, 2))
    chosen = np.random.default_rng(SEED).integers(0, times.shape[1], (RESAMPLES, times.shape[1]))
    ones, others = np.percentile(times[:, chosen], percentile, axis=(2, 3))
    low, high = np.percentile(ones / others, [2.5, 97.5])
    return Estimate(float(first / second), float(low), float(high))


class _Conversation:
    """An endless conversation of questions and statements."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._questions = cycle(SyntheticConversations().questions(900))
        self._random = Random(SEED)
        self._turns = 0

    async def block(self, exchanges: int) -> list[float]:
        """Return the milliseconds of each recall over a number of exchanges.

        Facts are extracted from each turn before the next exchange.
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
    """Evolves one category after the other, then consolidates all tags, repeatedly.

    Attributes:
        evolved: Categories evolved so far.
        consolidated: Consolidations so far.
    """

    def __init__(self, memory: Memory) -> None:
        self.evolved = self.consolidated = 0
        self._memory = memory
        self._next = cycle((*Category, None))

    async def step(self) -> None:
        """Evolve one category, or consolidate the tags."""
        category = next(self._next)
        if category is None:
            await optimize_tags(self._memory, USER, OptimizeTagsArguments())
            self.consolidated += 1
        else:
            await self._memory.subcategories.evolve(USER, category=category)
            self.evolved += 1

    async def until(self, enough: Event) -> None:
        """Run steps until the event is set."""
        while not enough.is_set():
            await self.step()
