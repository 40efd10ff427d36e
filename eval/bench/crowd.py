"""Many concurrent users in one process: late recalls, event loop delays and memory growth.

Each user speaks every `PAUSE_S` seconds in real time, with statements and questions alternating.
Each utterance is recalled for; both turns are remembered when the reply is over, and feedback
follows. Results are reported per tenth of the duration.
"""

import asyncio
import gc
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Final

import numpy as np
import typer

from eval.arguments import AsJson
from eval.bench.scale import memory_mb
from eval.bench.synthetic import SyntheticConversations
from eval.memories import temporary_memory
from eval.output import print_json, print_table, progress_bars
from hotmem.types import Role, Turn

PAUSE_S: Final = 9.0
"""Seconds between two utterances of a user: a question of three seconds and a reply of six."""

REPLY_S: Final = 4.0
"""Seconds until the reply is over and both turns are remembered."""

TICK_S: Final = 0.005
"""Interval of event loop checks, in seconds."""

PARTS: Final = 10

DEADLINE_MS: Final = 150.0
"""Deadline of each recall in milliseconds, as in a pipeline."""

GRACE_MS: Final = 10.0
"""Milliseconds after its deadline in which a recall counts as in time."""


@dataclass(slots=True)
class Part:
    """One tenth of the duration.

    Attributes:
        recalls: Duration of each recall, ms.
        remembers: Duration of remembering each exchange, ms.
        gaps: Delay of each event loop check, ms.
        late: Recalls that left out a layer because it was not ready.
        overdue: Recalls that returned more than `GRACE_MS` after their deadline.
        memory_mb: Private memory of the process at the end, MiB.
    """

    recalls: list[float] = field(default_factory=list)
    remembers: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    late: int = 0
    overdue: int = 0
    memory_mb: float = 0.0


def crowd(
    users: Annotated[int, typer.Option(help="Concurrent users.", min=1)] = 50,
    minutes: Annotated[float, typer.Option(help="Duration in minutes.", min=0.01)] = 30,
    as_json: AsJson = False,
) -> None:
    """Run many users in one process; count late recalls, event loop delays and memory growth."""
    parts, settled_s = asyncio.run(_measure(users, minutes))
    rows = [_figures(part) for part in parts]
    headings = [name.replace("_", " ") for name in rows[0]]
    print_table("many users at once", headings, [list(row.values()) for row in rows])
    print(f"Everything was understood {settled_s:.1f} s after the last word.")
    print_json(rows, as_json)


async def _measure(users: int, minutes: float) -> tuple[list[Part], float]:
    """Run a number of users for a number of minutes.

    Returns:
        The tenths, and the seconds from the last utterance to the end of all background work.
    """
    parts = [Part()]
    exchanges = max(round(minutes * 60 / PAUSE_S), PARTS)
    scripts = [_script(number, exchanges) for number in range(users)]
    with progress_bars() as progress:
        async with temporary_memory() as memory, _watched(parts):
            await memory.recall("Are you ready?", user_id="nobody")
            bar = progress.add_task(f"{users} users at once", total=users * exchanges)

            async def talk(number: int) -> None:
                user, session = f"user-{number}", f"session-{number}"
                said, asked, replied = scripts[number]
                await asyncio.sleep(PAUSE_S * number / users)
                start = time.monotonic()
                for place in range(exchanges):
                    await asyncio.sleep(max(start + place * PAUSE_S - time.monotonic(), 0))
                    text = asked[place // 2] if place % 2 else said[place // 2]
                    part = parts[-1]
                    began = time.perf_counter()
                    block = await memory.recall(
                        text, user_id=user, session_id=session, deadline_ms=DEADLINE_MS
                    )
                    took = (time.perf_counter() - began) * 1000
                    part.recalls.append(took)
                    part.late += block.trace.late
                    part.overdue += took > DEADLINE_MS + GRACE_MS
                    await asyncio.sleep(REPLY_S)
                    now = datetime.now(UTC)
                    began = time.perf_counter()
                    await memory.remember(Turn(user, session, Role.USER, text, now))
                    await memory.remember(Turn(user, session, Role.ASSISTANT, replied[place], now))
                    part.remembers.append((time.perf_counter() - began) * 1000)
                    await memory.feedback(block, replied[place])
                    progress.advance(bar)

            async def turn_over() -> None:
                for _ in range(PARTS - 1):
                    await asyncio.sleep(exchanges * PAUSE_S / PARTS)
                    parts[-1].memory_mb = memory_mb()
                    parts.append(Part())

            await asyncio.gather(turn_over(), *(talk(number) for number in range(users)))
            parts[-1].memory_mb = memory_mb()
            gc.collect()
            began = time.perf_counter()
            await memory.settle()
            return parts, time.perf_counter() - began


def _script(number: int, exchanges: int) -> tuple[list[str], list[str], list[str]]:
    talk = SyntheticConversations(user=f"user-{number}")
    turns = list(talk.turns(4 * exchanges))
    said = [turn.text for turn in turns if turn.role is Role.USER]
    replied = [turn.text for turn in turns if turn.role is Role.ASSISTANT]
    return said, talk.questions(number + exchanges)[number:], replied


@asynccontextmanager
async def _watched(parts: list[Part]) -> AsyncIterator[None]:
    """Check the delay of the event loop repeatedly within this block."""

    async def watch() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(TICK_S)
            parts[-1].gaps.append((time.perf_counter() - began - TICK_S) * 1000)

    watcher = asyncio.create_task(watch(), name="watch the loop")
    try:
        yield
    finally:
        watcher.cancel()
        await asyncio.gather(watcher, return_exceptions=True)


def _figures(part: Part) -> dict[str, float | None]:
    """Return the summary of a tenth; None for what did not happen in it."""
    return {
        "recalls": len(part.recalls),
        "recall_p50_ms": _percentile(part.recalls, 50),
        "recall_p95_ms": _percentile(part.recalls, 95),
        "recall_max_ms": max(part.recalls, default=None),
        "late": part.late,
        "overdue": part.overdue,
        "remember_p50_ms": _percentile(part.remembers, 50),
        "remember_max_ms": max(part.remembers, default=None),
        "gap_p99_ms": _percentile(part.gaps, 99),
        "gap_max_ms": max(part.gaps, default=None),
        "memory_mb": part.memory_mb,
    }


def _percentile(values: list[float], share: float) -> float | None:
    return float(np.percentile(values, share)) if values else None
