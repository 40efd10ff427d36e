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
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

from eval.baselines import Baseline, Block, Index, fill_block
from eval.cache import CACHE_FILE, DiskCache, DiskCachedEncoder, DiskCachedLanguage
from eval.datasets import Conversation, Question
from eval.encoder.export import published_encoder
from eval.evidence import BlockItem, repeated, score, turns_delivered
from eval.output import tracked
from eval.rows import HOTMEM, Row
from hotmem import Mark, Memory, Options
from hotmem.models import Encoder, Language, TokenCounter, load_encoder, load_language
from hotmem.settings import Settings
from hotmem.types import ContextBlock

Given = TypeVar("Given")
Found = TypeVar("Found")

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
        cache: Folder of the disk cache.
        budgets: Maximum tokens of the blocks; 0 is the default, for which a baseline gets the
            tokens that HotMem used.
    """

    number: int
    conversation: Conversation
    cache: Path
    budgets: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a task.

    Attributes:
        rows: Rows of HotMem, then of each baseline.
        turns: Number of turns ingested.
        skipped: Number of evidence references without a turn.
        ingest_s: Seconds from the first turn to the end of all background work.
    """

    rows: tuple[Row, ...]
    turns: int
    skipped: int
    ingest_s: float


def held_out(number: int) -> bool:
    """Return whether the conversation at this index is excluded from fitting."""
    return number % 2 == 1


def numbered(
    conversations: Iterable[Conversation],
    folder: Path,
    budgets: Sequence[int] = (),
    *,
    fitted_too: bool = True,
) -> list[Task]:
    """Return a task for each conversation, or only for those held out."""
    return [
        Task(number, one, folder, tuple(budgets))
        for number, one in enumerate(conversations)
        if fitted_too or held_out(number)
    ]


def spread(
    work: Callable[[Given], Found], tasks: Sequence[Given], jobs: int, name: str
) -> Iterator[Found]:
    """Yield the result of each task, in order, computed in processes."""
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from tracked(pool.map(work, tasks), name, len(tasks))


def run_task(task: Task) -> Outcome:
    """Run one conversation; runs in a process."""
    loaded = models(task.cache)
    rows, ingest_s = asyncio.run(_hotmem(task, loaded))
    rows += _references(task, loaded, rows)
    return Outcome(tuple(rows), len(task.conversation.turns), task.conversation.skipped, ingest_s)


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
            else:
                await remember_all(memory, conversation)
            for turn in conversation.stored:
                note = {"note": f"{STORED_NOTE}{turn.id}"}
                await memory.store_memory(turn.text, user_id=conversation.user, context=note)
            await memory.settle()
        async with Memory.open(place, encoder=models.encoder, language=models.language) as memory:
            yield memory
            if server is not None:
                await memory.forget(user_id=conversation.user, everything=True)


async def remember_all(memory: Memory, conversation: Conversation) -> None:
    """Remember the sessions of a conversation in order."""
    for session in conversation.sessions:
        for turn in session.turns:
            await memory.remember(turn)
        await memory.end_session(user_id=conversation.user, session_id=session.id)


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


async def _hotmem(task: Task, models: Models) -> tuple[list[Row], float]:
    """Return HotMem's rows and the seconds of ingestion."""
    started = time.perf_counter()
    async with ingested(task.conversation, models) as memory:
        ingest_s = time.perf_counter() - started
        return [
            await _asked(memory, task.conversation, question, budget)
            for question in task.conversation.questions
            for budget in task.budgets
        ], ingest_s


async def _asked(
    memory: Memory, conversation: Conversation, question: Question, budget: int
) -> Row:
    """Return HotMem's row for one question."""
    started = time.perf_counter()
    block = await memory.recall(
        question.text,
        user_id=conversation.user,
        session_id=SESSION,
        at=question.asked_at,
        max_tokens=budget or None,
    )
    ms = 1000 * (time.perf_counter() - started)
    unknown = all(item.mark is Mark.LOW for item in block.items)
    row = _row(HOTMEM, budget, conversation, question, block, block.items, ms)
    right = [any(turns_delivered(question, conversation, [item]).values()) for item in block.items]
    marked = {
        level.value: (
            sum(item.mark is level for item in block.items),
            sum(one and item.mark is level for one, item in zip(right, block.items, strict=True)),
        )
        for level in (Mark.HIGH, Mark.MEDIUM)
    }
    same = repeated([item.text for item in block.items])
    return replace(row, unknown=unknown, right=sum(right), repeated=same, marked=marked)


def _references(task: Task, models: Models, own: Sequence[Row]) -> list[Row]:
    """Return the rows of every baseline; `own` are HotMem's."""
    conversation = task.conversation
    rows = []
    index = Index(conversation.turns, models.baseline_encoder)
    used = {(row.question, row.budget): row.budget or row.tokens for row in own}
    for reference in Baseline:
        for question in conversation.questions:
            asked = time.perf_counter()
            scores = index.scores(reference, question.text)
            scored_s = time.perf_counter() - asked
            for budget in task.budgets:
                tokens = used[question.id, budget]
                asked = time.perf_counter()
                block = fill_block(conversation.turns, scores, tokens, models.tokens.count)
                ms = 1000 * (scored_s + time.perf_counter() - asked)
                rows.append(
                    _row(reference.value, budget, conversation, question, block, block.lines, ms)
                )
    index.close()
    return rows


def _row(
    system: str,
    budget: int,
    conversation: Conversation,
    question: Question,
    block: ContextBlock | Block,
    items: Sequence[BlockItem],
    ms: float,
) -> Row:
    found = score(question, conversation, block.text, items)
    return Row(
        conversation=conversation.user,
        question=question.id,
        category=question.category,
        abstain=question.abstain,
        system=system,
        budget=budget,
        delivered=found.delivered,
        all=found.all,
        answer=found.answer,
        sessions=found.sessions,
        tokens=block.tokens,
        ms=round(ms, 3),
        items=len(items),
        relevance=max((item.relevance for item in items), default=0.0),
        unknown=not items,
    )
