"""One run: ingest every conversation into a new memory, and ask HotMem and the baselines.

Conversations are distributed over processes. Each is ingested session by session through the public
API and queried after `settle`. Rows are in the order of the dataset, so a repeated run gives the
same file.
"""

import asyncio
import json
import multiprocessing
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from eval.baselines import Baseline, Index, fill_block
from eval.cache import CACHE_FILE, DiskCache, DiskCachedEncoder, DiskCachedLanguage
from eval.datasets import Conversation, Question
from eval.encoder.export import published_encoder
from eval.evidence import BlockItem, score
from eval.rows import HOTMEM, Row
from hotmem import Mark, Memory, Options
from hotmem.models import Encoder, Language, TokenCounter, load_encoder, load_language
from hotmem.settings import Settings

SESSION: Final = "evaluation"
"""Session in which questions are asked; no conversation uses this id."""

STORED_NOTE: Final = "statement "
"""Prefix of the note of a stored statement, followed by the dataset's id."""


@dataclass(frozen=True, slots=True)
class Models:
    """Models of a process: plain, with the disk cache, and the encoder of the baselines."""

    encoder: Encoder
    language: Language
    cached_encoder: DiskCachedEncoder
    cached_language: DiskCachedLanguage
    tokens: TokenCounter
    baseline_encoder: DiskCachedEncoder


@dataclass(frozen=True, slots=True)
class Task:
    """One conversation for one process.

    Attributes:
        number: Its index in the dataset.
        conversation: The conversation.
        budget: Maximum tokens of a block.
        cache: Folder of the disk cache.
    """

    number: int
    conversation: Conversation
    budget: int
    cache: Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a task.

    Attributes:
        number: Index of the conversation in the dataset.
        rows: Rows of HotMem, then of each baseline.
        turns: Number of turns ingested.
        skipped: Number of evidence references without a turn.
        ingest_s: Seconds from the first turn to the end of all background work.
    """

    number: int
    rows: tuple[Row, ...]
    turns: int
    skipped: int
    ingest_s: float


def run_conversations(
    conversations: Iterator[Conversation], budget: int, jobs: int, folder: Path, console: Console
) -> list[Outcome]:
    """Run conversations in processes and show the progress.

    Args:
        conversations: The conversations; read only as fast as processes are free.
        budget: Maximum tokens of a block.
        jobs: Number of processes.
        folder: Folder of the disk cache.
        console: Console for the progress bar.

    Returns:
        One outcome per conversation, in order.
    """
    tasks = [
        Task(number, conversation, budget, folder)
        for number, conversation in enumerate(conversations)
    ]
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    outcomes: list[Outcome] = []
    with (
        ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool,
        Progress(*columns, console=console) as progress,
    ):
        bar = progress.add_task("conversations", total=len(tasks))
        for outcome in _spread(pool, tasks, 2 * jobs):
            outcomes.append(outcome)
            progress.advance(bar)
    return sorted(outcomes, key=lambda outcome: outcome.number)


def run_task(task: Task) -> Outcome:
    """Run one conversation; runs in a process."""
    loaded = models(task.cache)
    rows, ingest_s = asyncio.run(_hotmem(task, loaded))
    rows += _references(task, loaded)
    return Outcome(
        task.number, tuple(rows), len(task.conversation.turns), task.conversation.skipped, ingest_s
    )


@cache
def models(cache: Path) -> Models:
    """Return the models of this process; loaded on the first call.

    Args:
        cache: Folder of the disk cache.
    """
    options = replace(Options().models, encoder=Settings().encoder)
    disk_cache = DiskCache(cache / CACHE_FILE)
    encoder, language = load_encoder(options), load_language()
    tokens = TokenCounter.load(options.encoding)
    published = published_encoder()
    return Models(
        encoder,
        language,
        DiskCachedEncoder(encoder, disk_cache),
        DiskCachedLanguage(language, disk_cache),
        tokens,
        DiskCachedEncoder(published, disk_cache),
    )


@asynccontextmanager
async def ingested(
    conversation: Conversation, models: Models, server: str | None = None
) -> AsyncIterator[Memory]:
    """Yield a memory that holds a conversation, after all background work.

    Turns are remembered in order or imported, then statements are stored. The memory is then
    reopened without the disk cache.

    Args:
        conversation: The conversation.
        models: The models.
        server: URL of a PostgreSQL database, from which the user is erased at the end; None for a
            temporary file.
    """
    with tempfile.TemporaryDirectory(prefix="hotmem-eval-") as folder:
        place = server or str(Path(folder) / "memory.db")
        async with Memory.open(
            place, encoder=models.cached_encoder, language=models.cached_language
        ) as memory:
            if conversation.imported:
                await memory.import_records(_written(conversation, Path(folder) / "turns.jsonl"))
            for session in () if conversation.imported else conversation.sessions:
                for turn in session.turns:
                    await memory.remember(turn)
                await memory.end_session(user_id=conversation.user, session_id=session.id)
            for turn in conversation.stored:
                await memory.store_memory(
                    turn.text,
                    user_id=conversation.user,
                    context={"note": f"{STORED_NOTE}{turn.id}"},
                )
            await memory.settle()
        async with Memory.open(place, encoder=models.encoder, language=models.language) as memory:
            yield memory
            if server is not None:
                await memory.forget(user_id=conversation.user, everything=True)


async def stored_ids(memory: Memory, user: str) -> dict[str, str]:
    """Return the dataset's id of each statement stored by `ingested`, by memory id."""
    noted = {
        record["id"]: record["note"]
        async for line in memory.export(user)
        if (record := json.loads(line))["type"] == "memory"
    }
    return {
        name: note.removeprefix(STORED_NOTE)
        for name, note in noted.items()
        if note and note.startswith(STORED_NOTE)
    }


def _written(conversation: Conversation, file: Path) -> Path:
    """Write the turns to a file for import."""
    with file.open("w", encoding="utf-8") as out:
        for turn in (turn for session in conversation.sessions for turn in session.turns):
            record = {"type": "turn", **asdict(turn), "spoken_at": turn.spoken_at.isoformat()}
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
    return file


def _spread(pool: ProcessPoolExecutor, tasks: Sequence[Task], ahead: int) -> Iterator[Outcome]:
    """Yield outcomes as they complete, with at most `ahead` tasks submitted."""
    left = iter(tasks)
    running: set[Future[Outcome]] = {pool.submit(run_task, task) for task in islice(left, ahead)}
    while running:
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield future.result()
            if (task := next(left, None)) is not None:
                running.add(pool.submit(run_task, task))


async def _hotmem(task: Task, models: Models) -> tuple[list[Row], float]:
    """Return HotMem's rows and the seconds of ingestion."""
    started = time.perf_counter()
    async with ingested(task.conversation, models) as memory:
        ingest_s = time.perf_counter() - started
        return [
            await _asked(memory, task, question) for question in task.conversation.questions
        ], ingest_s


async def _asked(memory: Memory, task: Task, question: Question) -> Row:
    """Return HotMem's row for one question."""
    user = task.conversation.user
    started = time.perf_counter()
    block = await memory.recall(
        question.text,
        user_id=user,
        session_id=SESSION,
        at=question.asked_at,
        max_tokens=task.budget,
    )
    ms = 1000 * (time.perf_counter() - started)
    unknown = all(item.mark is Mark.LOW for item in block.items)
    return _row(
        HOTMEM,
        task.conversation,
        question,
        block.text,
        block.tokens,
        block.items,
        ms,
        unknown=unknown,
    )


def _references(task: Task, models: Models) -> list[Row]:
    """Return the rows of every baseline."""
    conversation = task.conversation
    rows = []
    index = Index(conversation.turns, models.baseline_encoder)
    for reference in Baseline:
        for question in conversation.questions:
            asked = time.perf_counter()
            block = fill_block(
                conversation.turns,
                index.scores(reference, question.text),
                task.budget,
                models.tokens.count,
            )
            ms = 1000 * (time.perf_counter() - asked)
            rows.append(
                _row(
                    reference.value,
                    conversation,
                    question,
                    block.text,
                    block.tokens,
                    block.lines,
                    ms,
                    unknown=not block.lines,
                )
            )
    index.close()
    return rows


def _row(
    system: str,
    conversation: Conversation,
    question: Question,
    text: str,
    tokens: int,
    items: Sequence[BlockItem],
    ms: float,
    *,
    unknown: bool,
) -> Row:
    found = score(question, conversation, text, items)
    return Row(
        conversation=conversation.user,
        question=question.id,
        category=question.category,
        abstain=question.abstain,
        system=system,
        delivered=found.delivered,
        all=found.all,
        answer=found.answer,
        sessions=found.sessions,
        tokens=tokens,
        ms=round(ms, 3),
        items=len(items),
        relevance=max((item.relevance for item in items), default=0.0),
        unknown=unknown,
    )
