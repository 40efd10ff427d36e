"""One run: every conversation into a fresh memory, every question to HotMem and to the references.

Conversations are spread over processes. Each is ingested session by session through the public API,
in order, and asked about after `settle`. Rows come back in the order of the dataset, so the same
run gives the same file.
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

from eval.cache import Shelf, ShelvedEncoder, ShelvedLanguage
from eval.datasets import Conversation, Question
from eval.evidence import Shown, score
from eval.references import Index, Reference, fill
from eval.rows import HOTMEM, Row
from hotmem import Mark, Memory, Options
from hotmem.models import Encoder, Language, TokenCounter, load_encoder, load_language
from hotmem.models.onnx import OnnxEncoder
from hotmem.models.preparation import PUBLISHED
from hotmem.settings import Settings

SESSION: Final = "evaluation"
"""The session in which questions are asked; no conversation has it."""

STORED_AS: Final = "statement "
"""Begins the note of a statement that is stored outright; the dataset's id follows."""


@dataclass(frozen=True, slots=True)
class Models:
    """What a process loads once.

    The models, the same behind the run's cache, and the published encoder that the references
    search with.
    """

    encoder: Encoder
    language: Language
    shelved_encoder: ShelvedEncoder
    shelved_language: ShelvedLanguage
    tokens: TokenCounter
    reference_encoder: ShelvedEncoder


@dataclass(frozen=True, slots=True)
class Task:
    """One conversation for one process.

    Attributes:
        number: Its place in the dataset.
        conversation: The conversation.
        budget: Tokens of a block at most.
        shelf: The run's cache file.
        encoder: As `HOTMEM_ENCODER` names one; "" is what that says.
    """

    number: int
    conversation: Conversation
    budget: int
    shelf: Path
    encoder: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a task.

    Attributes:
        number: The conversation's place in the dataset.
        rows: Its rows: all of HotMem's, then each reference's.
        turns: Turns ingested.
        skipped: Pieces of evidence that point nowhere.
        ingest_s: Seconds from the first turn to the end of all background work.
    """

    number: int
    rows: tuple[Row, ...]
    turns: int
    skipped: int
    ingest_s: float


def run(
    conversations: Iterator[Conversation], budget: int, jobs: int, folder: Path, console: Console
) -> list[Outcome]:
    """Runs conversations in processes and shows the progress.

    Args:
        conversations: What to run; read only as fast as processes are free.
        budget: Tokens of a block at most.
        jobs: Processes.
        folder: Where the run's cache lies.
        console: Where the progress bar goes.

    Returns:
        One outcome a conversation, in the order given.
    """
    tasks = [
        Task(number, conversation, budget, folder / "shelf.db")
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


def measured(task: Task) -> Outcome:
    """Runs one conversation; the body of a process."""
    loaded = models(task.shelf, task.encoder)
    rows, ingest_s = asyncio.run(_hotmem(task, loaded))
    rows += _references(task, loaded)
    return Outcome(
        task.number, tuple(rows), len(task.conversation.turns), task.conversation.skipped, ingest_s
    )


@cache
def models(shelf: Path, encoder_name: str = "") -> Models:
    """The models of this process, loaded at the first call.

    Args:
        shelf: The run's cache file.
        encoder_name: As `HOTMEM_ENCODER` names one; "" is what that says.
    """
    options = replace(Options().models, encoder=encoder_name or Settings().encoder)
    kept = Shelf(shelf)
    encoder, language = load_encoder(options), load_language()
    tokens = TokenCounter.load(options.encoding, options.cache_dir)
    published = OnnxEncoder.load(options.cache_dir, PUBLISHED)
    return Models(
        encoder,
        language,
        ShelvedEncoder(encoder, kept),
        ShelvedLanguage(language, kept),
        tokens,
        ShelvedEncoder(published, kept),
    )


@asynccontextmanager
async def ingested(conversation: Conversation, models: Models) -> AsyncIterator[Memory]:
    """A fresh memory, in a temporary file, that holds a conversation; all background work is done.

    The sessions are remembered in order through the public API, or imported; then what is to be
    stored outright is. Then the file is opened anew, without the run's cache.
    """
    with tempfile.TemporaryDirectory(prefix="hotmem-eval-") as folder:
        file = Path(folder) / "memory.db"
        async with Memory.open(
            file, encoder=models.shelved_encoder, language=models.shelved_language
        ) as memory:
            if conversation.imported:
                await memory.import_records(_written(conversation, Path(folder) / "turns.jsonl"))
            for session in () if conversation.imported else conversation.sessions:
                for turn in session.turns:
                    await memory.remember(turn)
                await memory.end_session(user_id=conversation.user, session_id=session.id)
            for turn in conversation.stored:
                await memory.store_memory(
                    turn.text, user_id=conversation.user, context={"note": f"{STORED_AS}{turn.id}"}
                )
            await memory.settle()
        async with Memory.open(file, encoder=models.encoder, language=models.language) as memory:
            yield memory


async def stored_ids(memory: Memory, user: str) -> dict[str, str]:
    """The dataset's id of each statement that `ingested` stored outright, by its memory's id."""
    noted = {
        record["id"]: record["note"]
        async for line in memory.export(user)
        if (record := json.loads(line))["type"] == "memory"
    }
    return {
        name: note.removeprefix(STORED_AS)
        for name, note in noted.items()
        if note and note.startswith(STORED_AS)
    }


def _written(conversation: Conversation, file: Path) -> Path:
    """A file of the turns, as they are imported."""
    with file.open("w", encoding="utf-8") as out:
        for turn in (turn for session in conversation.sessions for turn in session.turns):
            record = {"type": "turn", **asdict(turn), "spoken_at": turn.spoken_at.isoformat()}
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
    return file


def _spread(pool: ProcessPoolExecutor, tasks: Sequence[Task], ahead: int) -> Iterator[Outcome]:
    """Outcomes as they come, with at most `ahead` tasks on their way."""
    left = iter(tasks)
    running: set[Future[Outcome]] = {pool.submit(measured, task) for task in islice(left, ahead)}
    while running:
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield future.result()
            if (task := next(left, None)) is not None:
                running.add(pool.submit(measured, task))


async def _hotmem(task: Task, models: Models) -> tuple[list[Row], float]:
    """HotMem's rows and the seconds of ingestion."""
    started = time.perf_counter()
    async with ingested(task.conversation, models) as memory:
        ingest_s = time.perf_counter() - started
        return [
            await _asked(memory, task, question) for question in task.conversation.questions
        ], ingest_s


async def _asked(memory: Memory, task: Task, question: Question) -> Row:
    """HotMem's row for one question."""
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
    """The rows of every reference."""
    conversation = task.conversation
    rows = []
    index = Index(conversation.turns, models.reference_encoder)
    for reference in Reference:
        for question in conversation.questions:
            asked = time.perf_counter()
            block = fill(
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
    items: Sequence[Shown],
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
