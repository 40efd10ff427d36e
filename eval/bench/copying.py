"""Seconds of `hotmem copy` from a file to a server and back, and whether nothing is different."""

import asyncio
from datetime import timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.progress import Progress

from eval.arguments import AsJson, working_folder
from eval.bench.history import SentenceCache
from eval.bench.loading import copy_memory, load, opened
from eval.bench.synthetic import SyntheticConversations
from eval.output import print_figures, print_json, progress_bars
from eval.timing import timed
from hotmem import Memory, Options
from hotmem.models import load_language
from hotmem.models.encoders import OnnxEncoder
from hotmem.options import BackgroundMode, BackgroundOptions

OFF: Final = Options(background=BackgroundOptions(mode=BackgroundMode.OFF))


def copy(
    url: Annotated[str, typer.Argument(help="URL of an empty PostgreSQL database.")],
    turns: Annotated[int, typer.Option(help="Turns of the one user.", min=1)] = 100_000,
    questions: Annotated[
        int, typer.Option(help="Queries asked of the memory and its copies.", min=1, max=500)
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """Measure `hotmem copy` from a file to a server and back, and compare the three memories."""
    with progress_bars() as progress, working_folder(None) as folder:
        found = asyncio.run(_measure(url, folder, turns, questions, progress))
    print_figures("a memory copied to a server and back", found)
    print_json(found, as_json)


async def _measure(
    url: str, folder: Path, turns: int, questions: int, progress: Progress
) -> dict[str, Any]:
    first, back = str(folder / "memory.db"), str(folder / "back.db")
    talk = SyntheticConversations()
    reading = await asyncio.to_thread(lambda: SentenceCache(OnnxEncoder.load(), load_language()))
    bar = progress.add_task("loading", total=turns)
    async with opened(first) as database:
        await load(database, talk.turns(turns), reading, partial(progress.advance, bar))
    milliseconds: list[float] = []
    for source, target in ((first, url), (url, back)):
        with timed(milliseconds):
            rows = await copy_memory(source, target, progress)
    *_, last = talk.turns(turns)
    exports, blocks_of = [], []
    for location in (first, url, back):
        async with Memory.open(location, OFF) as memory:
            export = sha256()
            async for line in memory.export(talk.user):
                export.update(line.encode())
            exports.append(export.hexdigest())
            at = last.spoken_at + timedelta(days=1)
            blocks_of.append(
                [
                    (await memory.recall(text, user_id=talk.user, session_id="today", at=at)).text
                    for text in talk.questions(questions)
                ]
            )
    there_ms, back_ms = milliseconds
    return {
        "turns": turns,
        "rows": sum(rows.values()),
        "there_s": there_ms / 1000,
        "back_s": back_ms / 1000,
        "equal_exports": len(set(exports)) == 1,
        "equal": sum(len(set(same)) == 1 for same in zip(*blocks_of, strict=True)),
        "asked": questions,
    }
