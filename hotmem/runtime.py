"""The live parts of an open memory: database, models, threads and worker."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from hotmem.core.location import EncryptionKey, Location, ServerUrl
from hotmem.core.logs import log
from hotmem.core.threads import ForegroundPriority, new_process_id
from hotmem.models import (
    Encoder,
    Language,
    Reader,
    TokenCounter,
    load_encoder,
    load_former,
    load_language,
    load_reader,
)
from hotmem.models.rewriter import Rewriter
from hotmem.operations.retention import Retention
from hotmem.options import BackgroundMode, ExtractionOptions, Options
from hotmem.ranking.relevance import RelevanceModel, fitted_model
from hotmem.recall import RecallContext
from hotmem.remember import WriteContext
from hotmem.retrieval.context import FormerEncoder
from hotmem.retrieval.layers import create_layers
from hotmem.storage import Storage, open_storage, queries, steps
from hotmem.storage.copying import check_finished
from hotmem.storage.database import Database
from hotmem.storage.spool import Record, Spool, path_of
from hotmem.understanding.turn_reader import TurnReader
from hotmem.worker import MemoryThreads, Worker

SETTLE_CHECK_S: Final = 0.2
"""Seconds between two looks whether another process has done all jobs."""


@dataclass(frozen=True, slots=True)
class Models:
    """The loaded models."""

    encoder: Encoder
    language: Language
    tokens: TokenCounter
    relevance: RelevanceModel
    reader: Reader | None

    @classmethod
    def load(cls, options: Options, encoder: Encoder | None, language: Language | None) -> "Models":
        """Loads what is not given, side by side. Blocking.

        Raises:
            ModelMissing: If a model is not installed.
        """
        models = options.models
        relevance = fitted_model(models.relevance)
        with ThreadPoolExecutor(thread_name_prefix="hotmem-loading") as threads:
            parser = threads.submit(lambda: language or load_language(gc_freeze=models.gc_freeze))
            encoding = threads.submit(lambda: encoder or load_encoder(models))
            tokens = threads.submit(TokenCounter.load, models.encoding)
            here = options.background.mode is BackgroundMode.HERE
            reader = threads.submit(load_reader) if here else None
        return cls(
            encoding.result(),
            parser.result(),
            tokens.result(),
            relevance,
            reader.result() if reader else None,
        )


@dataclass(frozen=True, slots=True)
class Runtime:
    """The live parts of an open memory.

    Attributes:
        storage: The database and what belongs to it.
        recall: What the read path works with.
        write: What the write path works with.
        worker: Runs background jobs.
        threads: Run recalls and explicit stores, one at a time each.
        spool: Turns that the database could not take yet.
        background: Where background jobs run.
        shared: Whether other processes on other machines may use the database.
    """

    storage: Storage
    recall: RecallContext
    write: WriteContext
    worker: Worker
    threads: MemoryThreads
    spool: Spool
    background: BackgroundMode
    shared: bool

    @property
    def database(self) -> Database:
        """The database."""
        return self.storage.database

    def start(self) -> None:
        """Starts the spool and, if they run here, the background jobs; neither if read-only."""
        if self.database.read_only:
            log.info("memory opened read-only")
            return
        if self.background is BackgroundMode.HERE:
            self.worker.start()
        self.spool.start()

    async def settle(self) -> None:
        """Waits until no background job is left; returns at once if they are off."""
        match self.background:
            case BackgroundMode.HERE:
                await self.worker.settle()
            case BackgroundMode.ELSEWHERE:
                while await self._any_job():  # noqa: ASYNC110 - another process does them
                    await asyncio.sleep(SETTLE_CHECK_S)

    async def settle_user(self, user_id: str) -> None:
        """Waits until no job of a user is left on a server; in a file, until no job is left."""
        if not self.shared or self.background is BackgroundMode.OFF:
            await self.settle()
            return
        user = await self.database.read_all(queries.users.find, user_id)
        while user is not None and await self.database.read(queries.jobs.any_of, user):  # noqa: ASYNC110 - another process does them
            await asyncio.sleep(SETTLE_CHECK_S)

    async def _any_job(self) -> bool:
        """Whether a job waits, or pauses between two attempts."""
        waiting = await self.database.read_all(queries.jobs.waiting_counts)
        if any(waiting.values()):
            return True
        now = await self.database.read_all(queries.times.now)
        return await self.database.read_all(queries.job_failures.next_retry, now) is not None

    async def replay_spool(self) -> None:
        """Stores what waits in the spool, so that what comes now is stored after it.

        Raises:
            StoreError: If it could not be stored; it still waits.
        """
        if self.spool.waiting:
            await self.spool.replay()

    async def close(self) -> None:
        """Stops the background jobs and closes everything; unfinished jobs stay in the database."""
        await self.spool.close()
        await self.worker.close()
        if self.recall.rewriter is not None:
            await self.threads.recalls.run(self.recall.rewriter.close())
        await self.threads.close()
        await self.database.close()


async def open_runtime(
    location: Location,
    options: Options,
    key: EncryptionKey | None,
    encoder: Encoder | None,
    language: Language | None,
    priority: ForegroundPriority,
    spool: Spool,
) -> Runtime:
    """Opens the database, and loads the models; `Runtime.start` resumes the background jobs.

    Args:
        location: The memory file, or the URL of the database.
        options: The memory's options.
        key: Its encryption key.
        encoder: An encoder instead of the one that the options name.
        language: A parser instead of the installed one.
        priority: Lets recalls go before background jobs.
        spool: Turns that the database could not take yet.

    Raises:
        StoreError: If the database cannot be used.
        ModelMissing: If a model is not installed.
    """
    models = await asyncio.to_thread(Models.load, options, encoder, language)
    storage = await asyncio.to_thread(open_storage, location, key, options.language)
    try:
        await check_finished(storage.database)
        await steps.record_language(storage.database)
        former = await _adopt_encoder(storage, models.encoder, options)
        await storage.forgetting.now()  # jumps of the clock are noticed from here on
    except BaseException:  # no open file is left behind, cancelled or not
        await storage.database.close()
        raise
    rewriter = Rewriter(options.rewriting) if options.rewriting.model else None
    recall = RecallContext(
        database=storage.inline,
        engine=storage.engine,
        encoder=models.encoder,
        language=models.language,
        expected_language=storage.database.language,
        tokens=models.tokens,
        layers=create_layers(storage.engine, options.recall.layers),
        model=models.relevance,
        options=options.recall,
        rewriter=rewriter,
        weights=options.learning.weights,
        former=former,
    )
    write = WriteContext(
        storage=storage,
        encoder=models.encoder,
        encoder_id=queries.reembedding.identified(models.encoder.name, models.encoder.dimension),
        reader=TurnReader(
            models.encoder,
            models.language,
            priority,
            models.reader,
            expected=storage.database.language,
        ),
        former=former,
        worker_id=new_process_id(),
        extracts=bool(options.extraction.model),
        summarises=bool(options.extraction.model) and options.extraction.summaries,
    )
    retention = Retention(storage, options.retention, options.audit.days)
    here = options.background.mode is BackgroundMode.HERE
    extraction = options.extraction if here else ExtractionOptions()
    worker = Worker(write, options.background, options.evolution, extraction, retention, priority)
    threads = MemoryThreads.open(networked=rewriter is not None)
    return Runtime(
        storage,
        recall,
        write,
        worker,
        threads,
        spool,
        options.background.mode,
        shared=isinstance(location, ServerUrl),
    )


async def _adopt_encoder(storage: Storage, encoder: Encoder, options: Options) -> FormerEncoder:
    """Makes an encoder the database's own; returns the former one, while its vectors are needed."""
    await steps.adopt_encoder(storage.database, encoder.name, encoder.dimension)
    name = await storage.database.read_all(queries.reembedding.former_encoder)
    if name is None:
        return FormerEncoder()
    log.info("change of encoder in progress", encoder=encoder.name, former=name)
    return FormerEncoder(await asyncio.to_thread(load_former, name))


def open_spool(
    location: Location,
    options: Options,
    key: EncryptionKey | None,
    replay: Callable[[Record], Awaitable[None]],
) -> Spool:
    """The spool of a memory, whose file is created with its first record."""
    return Spool(
        path_of(location, options.spool_dir),
        key,
        replay,
        creates_folder=isinstance(location, ServerUrl) or options.spool_dir is not None,
    )
