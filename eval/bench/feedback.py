"""The duration of feedback(): usage detection, storage and learning.

History and replies are synthetic: two or three sentences of the bot, and in every second reply a
quoted item. CPU time is that of the whole process. Detection is also measured alone, with an
encoder that has cached only the query.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Annotated, Any, Final

import typer

from eval.arguments import AsJson, working_folder
from eval.bench.synthetic import START, USER, SyntheticConversations, sentences
from eval.bench.tools import fill
from eval.output import print_figures, print_json, tracked
from eval.statistics import SEED
from eval.timing import WARM_UP, Times, timed
from hotmem import ContextBlock, Memory
from hotmem.feedback.usage import detect_usage
from hotmem.models import CachedEncoder, load_encoder
from hotmem.options import ModelOptions
from hotmem.types import Role

MEMORIES: Final = 3500
"""Default memories of the one user."""


def feedback(
    replies: Annotated[int, typer.Option(help="Replies measured.", min=1, max=800)] = 300,
    memories: Annotated[int, typer.Option(help="Memories of one user.", min=1)] = MEMORIES,
    as_json: AsJson = False,
) -> None:
    """Measure the time that a reply costs: usage detection, storage and learning."""
    with working_folder(None) as folder:
        path = folder / "memory.db"
        fill(path, memories)
        found = asyncio.run(_measure(path, replies))
    print_figures(f"{replies} replies, milliseconds p50 / p95", found)
    print_json(found, as_json)


async def _measure(path: Path, replies: int) -> dict[str, Any]:
    """Ask, reply and measure: times, mean items of a block, and mean words of a reply."""
    random, supply = Random(SEED), sentences(SyntheticConversations().seed, Role.ASSISTANT)
    names = ("feedback", "processor", "detection", "detection_processor")
    times: dict[str, list[float]] = {name: [] for name in names}
    items: list[int] = []
    words: list[int] = []
    async with Memory.open(path) as memory:
        fresh = load_encoder(ModelOptions())
        asked = SyntheticConversations().questions(WARM_UP + replies)
        for place, question in enumerate(tracked(asked, "replying")):
            at = START + timedelta(days=365, minutes=place)
            block = await memory.recall(question, user_id=USER, session_id="today", at=at)
            said = random.sample(supply, random.choice((2, 2, 3)))
            if place % 2 and block.items:
                said.insert(0, random.choice(block.items).text)
            reply = " ".join(said)
            fresh.encode([question])
            with _processor_timed(times["detection_processor"]), timed(times["detection"]):
                await asyncio.to_thread(_detect, fresh, block, reply)
            with _processor_timed(times["processor"]), timed(times["feedback"]):
                await memory.feedback(block, reply)
            items.append(len(block.items))
            words.append(len(reply.split()))
    return {
        "replies": replies,
        "items": sum(items[WARM_UP:]) / replies,
        "words": sum(words[WARM_UP:]) / replies,
    } | {name: Times.of(milliseconds[WARM_UP:]) for name, milliseconds in times.items()}


@contextmanager
def _processor_timed(milliseconds: list[float]) -> Iterator[None]:
    """Append the CPU time of its block."""
    began = time.process_time()
    yield
    milliseconds.append(1000 * (time.process_time() - began))


def _detect(encoder: CachedEncoder, block: ContextBlock, reply: str) -> None:
    detect_usage(encoder, block.items, block.query, reply, block.visible)
