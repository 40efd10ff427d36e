"""The duration of feedback(): usage detection, storage and learning.

History and replies are synthetic: two or three sentences of the bot, and in every second reply a
quoted item. CPU time is that of the whole process. Detection is also measured alone, with an
encoder that has cached only the query.
"""

import asyncio
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from eval.bench.latency import WARM_UP, Times, timed
from eval.bench.synthetic import START, USER, SyntheticConversations, sentences
from eval.bench.tools import fill
from eval.statistics import SEED
from hotmem import ContextBlock, Memory
from hotmem.feedback.usage import detect_usage
from hotmem.models import CachedEncoder, load_encoder
from hotmem.options import ModelOptions
from hotmem.types import Role

MEMORIES: Final = 3500
"""Default memories of the one user."""


@dataclass(frozen=True, slots=True)
class FeedbackTimes:
    """Times of feedback in milliseconds.

    Attributes:
        replies: Replies measured.
        items: Mean items of a block.
        words: Mean words of a reply.
        feedback: Duration of feedback().
        processor: CPU time of feedback().
        detection: Duration of usage detection.
        detection_processor: CPU time of usage detection.
    """

    replies: int
    items: float
    words: float
    feedback: Times
    processor: Times
    detection: Times
    detection_processor: Times


def measure(replies: int, memories: int, console: Console) -> FeedbackTimes:
    """Build a memory, ask, reply and measure.

    Args:
        replies: Replies measured.
        memories: Memories of the one user.
        console: Console for the progress bar.
    """
    with tempfile.TemporaryDirectory(prefix="hotmem-feedback-") as folder:
        path = Path(folder) / "memory.db"
        fill(path, memories, console)
        return asyncio.run(_measure(path, replies, console))


async def _measure(path: Path, replies: int, console: Console) -> FeedbackTimes:
    random, supply = Random(SEED), sentences(SyntheticConversations().seed, Role.ASSISTANT)
    waited: list[float] = []
    processor: list[float] = []
    detection: list[float] = []
    detection_processor: list[float] = []
    items: list[int] = []
    words: list[int] = []
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    async with Memory.open(path) as memory:
        fresh = load_encoder(ModelOptions())
        with Progress(*columns, console=console) as progress:
            for place, question in enumerate(
                progress.track(
                    SyntheticConversations().questions(WARM_UP + replies), description="replying"
                )
            ):
                block = await memory.recall(
                    question,
                    user_id=USER,
                    session_id="today",
                    at=START + timedelta(days=365, minutes=place),
                )
                said = random.sample(supply, random.choice((2, 2, 3)))
                if place % 2 and block.items:
                    said.insert(0, random.choice(block.items).text)
                reply = " ".join(said)
                fresh.encode([question])
                began = time.process_time()
                with timed(detection):
                    await asyncio.to_thread(_detect, fresh, block, reply)
                detection_processor.append(1000 * (time.process_time() - began))
                began = time.process_time()
                with timed(waited):
                    await memory.feedback(block, reply)
                processor.append(1000 * (time.process_time() - began))
                items.append(len(block.items))
                words.append(len(reply.split()))
    return FeedbackTimes(
        replies=replies,
        items=sum(items[WARM_UP:]) / replies,
        words=sum(words[WARM_UP:]) / replies,
        feedback=Times.of(waited[WARM_UP:]),
        processor=Times.of(processor[WARM_UP:]),
        detection=Times.of(detection[WARM_UP:]),
        detection_processor=Times.of(detection_processor[WARM_UP:]),
    )


def _detect(encoder: CachedEncoder, block: ContextBlock, reply: str) -> None:
    detect_usage(encoder, block.items, block.query, reply, block.visible)


def show(result: FeedbackTimes, console: Console) -> None:
    """Print the times as a table."""
    title = (
        f"{result.replies} replies of {result.words:.0f} words to blocks of "
        f"{result.items:.0f} items"
    )
    table = Table("milliseconds", "p50", "p95", title=title, title_justify="left")
    rows = {
        "feedback()": result.feedback,
        "  processor": result.processor,
        "  of it detection": result.detection,
        "    processor": result.detection_processor,
    }
    for name, times in rows.items():
        table.add_row(name, f"{times.p50:.1f}", f"{times.p95:.1f}")
    console.print(table)


def figures(result: FeedbackTimes) -> dict[str, Any]:
    """Return the times as plain values."""
    return asdict(result)
