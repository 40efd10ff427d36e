"""The live parts of a memory: database, models, threads and worker."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, ParamSpec, TypeVar

from hotmem.core.location import EncryptionKey, Location, ServerUrl
from hotmem.core.logs import log
from hotmem.core.threads import ForegroundPriority, LoopThread, new_process_id
from hotmem.core.validation import validate_type
from hotmem.errors import MemoryClosed, StoreError, StoreLocked, StoreReadOnly
from hotmem.memory.suppression import Suppression
from hotmem.models import (
    Encoder,
    Language,
    TokenCounter,
    load_encoder,
    load_former,
    load_language,
    load_reader,
)
from hotmem.operations.results import actor
from hotmem.operations.retention import Retention
from hotmem.options import BackgroundMode, ExtractionOptions, Options
from hotmem.ranking.relevance import fitted_model
from hotmem.recall import RecallContext
from hotmem.remember import WriteContext, store_turn
from hotmem.retrieval.context import FormerEncoder
from hotmem.retrieval.layers import create_layers
from hotmem.storage import Storage, open_storage, queries, steps
from hotmem.storage.copying import check_finished
from hotmem.storage.database import Database, OfUser
from hotmem.storage.spool import Record, Spool, path_of
from hotmem.text.validation import validate_id
from hotmem.types import Act, Turn, UserKey
from hotmem.types.maintenance import ForgetTurns
from hotmem.understanding.query.rewriter import Rewriter
from hotmem.understanding.turn_reader import TurnReader
from hotmem.worker import Worker

P = ParamSpec("P")
T = TypeVar("T")

MAX_CONCURRENT_RECALLS: Final = 2
"""Recalls that run at once: while one waits for the encoder, the next one starts. More would wait
for each other's parses."""

SETTLE_CHECK_S: Final = 0.2
"""Seconds between two looks whether another process has done all jobs."""


@dataclass(frozen=True, slots=True)
class OpenParts:
    """What is there while a memory is open.

    Attributes:
        storage: The database and what belongs to it.
        recall: What the read path works with.
        write: What the write path works with.
        worker: Runs background jobs.
        recalls: The thread of recalls and searches.
        storing: The thread of explicit stores, which no recall waits for.
        spool: Turns and removals that wait beside the database.
    """

    storage: Storage
    recall: RecallContext
    write: WriteContext
    worker: Worker
    recalls: LoopThread
    storing: LoopThread
    spool: Spool


class Runtime:
    """The live parts of a memory, for HotMem's own programs and measurements.

    They may change any time. Those that are there only while the memory is open raise
    `MemoryClosed` else.

    Args:
        location: The memory file, or the URL of the database.
        options: The memory's options.
        encoder: An encoder instead of the one that the options name.
        language: A parser instead of the installed one.

    Attributes:
        location: The memory file, or the URL of the database.
        options: The memory's options.
        priority: Lets recalls go before long work.
        suppression: What the user had forgotten or said off the record.

    Raises:
        InvalidInput: If the options have another type.
    """

    def __init__(
        self,
        location: Location,
        options: Options,
        encoder: Encoder | None,
        language: Language | None,
    ) -> None:
        fix = "Pass Options(...), or Settings.from_environment(opening_tokens=3).options()."
        validate_type(options, Options, "options", fix)
        self.location = location
        self.options = options
        self.priority = ForegroundPriority()
        self.suppression = Suppression(lambda: self.database)
        self._encoder = encoder
        self._language = language
        self._parts: OpenParts | None = None
        self._spool: Spool | None = None

    @property
    def _open_parts(self) -> OpenParts:
        if self._parts is None:
            raise MemoryClosed(
                "The memory is not open. Use `async with Memory.open(path) as memory`, or await"
                " memory.start() first."
            )
        return self._parts

    @property
    def storage(self) -> Storage:
        """The database and what belongs to it."""
        return self._open_parts.storage

    @property
    def database(self) -> Database:
        """The database."""
        return self.storage.database

    @property
    def recall(self) -> RecallContext:
        """What the read path works with."""
        return self._open_parts.recall

    @property
    def write(self) -> WriteContext:
        """What the write path works with."""
        return self._open_parts.write

    @property
    def worker(self) -> Worker:
        """Runs background jobs."""
        return self._open_parts.worker

    @property
    def storing(self) -> LoopThread:
        """The thread of explicit stores, which no recall waits for."""
        return self._open_parts.storing

    @property
    def spool(self) -> Spool:
        """Turns and removals that wait beside the database until it can be written.

        They are stored in order, by whichever process has it open then. For a database on a server
        it is there before the memory is open.

        Raises:
            MemoryClosed: If the memory is a file and not open.
            StoreReadOnly: If the memory was opened read-only: they would never be stored.
        """
        if self._parts is None and isinstance(self.location, ServerUrl):
            return self._opened_spool(EncryptionKey.from_source(self.options.key))
        if self.database.read_only:
            fix = "Make it writable."
            raise StoreReadOnly(f"{self.location} is open read-only: nothing can be stored. {fix}")
        return self._open_parts.spool

    @property
    def spooled(self) -> int:
        """Number of turns and removals in the spool that this process knows of."""
        return 0 if self._spool is None else self._spool.waiting

    def blocked(self) -> StoreLocked | None:
        """The error of a write that waits for another program's lock now, if one does."""
        return None if self._parts is None else self.database.blocked()

    async def start(self) -> None:
        """Opens the database, loads the models and resumes the background jobs.

        Raises:
            StoreError: If the database cannot be used.
            ModelMissing: If a model is not installed.
        """
        if self._parts is not None:
            return
        key = EncryptionKey.from_source(self.options.key)
        spool = self._opened_spool(key)
        self._parts = await self._open(key, spool)
        if self.database.read_only:
            log.info("memory opened read-only")
            return
        if self.options.background.mode is BackgroundMode.HERE:
            self.worker.start()
        spool.start()

    async def _open(self, key: EncryptionKey | None, spool: Spool) -> OpenParts:
        options = self.options
        here = options.background.mode is BackgroundMode.HERE
        relevance = await asyncio.to_thread(fitted_model, options.models.relevance)
        language, encoder, tokens, reader = await asyncio.gather(
            asyncio.to_thread(
                lambda: self._language or load_language(gc_freeze=options.models.gc_freeze)
            ),
            asyncio.to_thread(lambda: self._encoder or load_encoder(options.models)),
            asyncio.to_thread(TokenCounter.load, options.models.encoding),
            asyncio.to_thread(lambda: load_reader() if here else None),
        )
        storage = await asyncio.to_thread(open_storage, self.location, key, options.language)
        try:
            await check_finished(storage.database)
            await steps.record_language(storage.database)
            former = await _adopt_encoder(storage, encoder)
            await storage.forgetting.now()  # jumps of the clock are noticed from here on
            self.suppression.version = await storage.database.read_all(
                queries.deletion_marks.number
            )
        except BaseException:  # no open file is left behind, cancelled or not
            await storage.database.close()
            raise
        rewriter = Rewriter(options.rewriting) if options.rewriting.model else None
        recall = RecallContext(
            database=storage.inline,
            engine=storage.engine,
            encoder=encoder,
            language=language,
            expected_language=storage.database.language,
            tokens=tokens,
            layers=create_layers(storage.engine, options.recall.layers),
            model=relevance,
            options=options.recall,
            rewriter=rewriter,
            weights=options.learning.weights,
            former=former,
        )
        write = WriteContext(
            storage=storage,
            encoder=encoder,
            encoder_id=queries.reembedding.identified(encoder.name, encoder.dimension),
            reader=TurnReader(
                encoder,
                language,
                self.priority,
                reader,
                expected=storage.database.language,
            ),
            former=former,
            worker_id=new_process_id(),
            extracts=bool(options.extraction.model),
            summarises=bool(options.extraction.model) and options.extraction.summaries,
        )
        retention = Retention(storage, options.retention, options.audit.days)
        extraction = options.extraction if here else ExtractionOptions()
        worker = Worker(
            write, options.background, options.evolution, extraction, retention, self.priority
        )
        # A recall that waits for a network must not delay the others.
        recalls = LoopThread("hotmem-loop-recalls", None if rewriter else MAX_CONCURRENT_RECALLS)
        storing = LoopThread("hotmem-loop-storing")
        return OpenParts(storage, recall, write, worker, recalls, storing, spool)

    def _opened_spool(self, key: EncryptionKey | None) -> Spool:
        """The spool, which is there before the database is open and until the memory is closed."""
        if self._spool is None:
            folder = self.options.spool_dir
            self._spool = Spool(
                path_of(self.location, folder),
                key,
                self._replay,
                creates_folder=isinstance(self.location, ServerUrl) or folder is not None,
            )
        return self._spool

    async def _replay(self, record: Record) -> None:
        """Stores a record of the spool."""
        if isinstance(record, Turn):
            await store_turn(self.storage, record, datetime.now(UTC))
        elif (user := await self.find_user(record.user_id)) is not None:
            await self.storage.forgetting.forget(user, ForgetTurns(tuple(record.turn_ids)))
            await self.database.purge(0)  # or the worker does
        self.worker.wake()

    async def replay_spool(self) -> None:
        """Stores what waits in the spool, so that what comes now is stored after it.

        Raises:
            StoreError: If it could not be stored; it still waits.
        """
        if self._spool is not None and self._spool.waiting:
            await self._spool.replay()

    async def find_user(self, user_id: str) -> UserKey | None:
        """The key of a user; None for an unknown one."""
        return await self.database.read_all(queries.users.find, validate_id(user_id, "user_id"))

    async def read(
        self,
        user_id: str,
        absent: T,
        operation: OfUser[P, T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Runs a query function about a user.

        Args:
            user_id: The user.
            absent: What an unknown user has.
            operation: Takes the connection and the user, then its other arguments.
            args: Its other arguments.
            kwargs: The same, by name.
        """
        user = await self.find_user(user_id)
        if user is None:
            return absent
        return await self.database.read(operation, user, *args, **kwargs)

    async def search(self, work: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """Runs a recall or a search on its thread, before long work.

        Args:
            work: The search.
            timeout_s: Seconds to wait for it; None to wait without limit.

        Raises:
            TimeoutError: If the timeout expires.
        """
        with self.priority.foreground():
            return await self._open_parts.recalls.run(work, timeout_s)

    async def record(self, user: UserKey | None, act: Act) -> None:
        """Records an act of the current actor in the audit trail.

        A failure to write it is logged and not raised.

        Args:
            user: Whose memory; None for an act on the whole database.
            act: What was done.
        """
        if not self.options.audit.on or self.database.read_only:
            return
        try:
            now = datetime.now(UTC)
            if user is None:
                await self.database.write_all(queries.retention.record, None, actor(), act, now)
            else:
                await self.database.write(queries.retention.record, user, actor(), act, now)
        except StoreError as error:
            log.warning(
                "audit entry not written",
                action=act.action,
                what=act.what,
                error=type(error).__name__,
            )

    async def settle(self, user_id: str | None = None) -> None:
        """Waits until no background job is left; returns at once if they are off.

        Args:
            user_id: Whose jobs to wait for on a server; in a file, and without it, everyone's.
        """
        mode = self.options.background.mode
        if mode is BackgroundMode.OFF:
            return
        if user_id is not None and isinstance(self.location, ServerUrl):
            user = await self.find_user(user_id)
            while user is not None and await self.database.read(queries.jobs.any_of, user):  # noqa: ASYNC110 - another process does them
                await asyncio.sleep(SETTLE_CHECK_S)
        elif mode is BackgroundMode.HERE:
            await self.worker.settle()
        else:
            while await self._any_job():  # noqa: ASYNC110 - another process does them
                await asyncio.sleep(SETTLE_CHECK_S)

    async def _any_job(self) -> bool:
        """Whether a job waits, or pauses between two attempts."""
        waiting = await self.database.read_all(queries.jobs.waiting_counts)
        if any(waiting.values()):
            return True
        now = await self.database.read_all(queries.times.now)
        return await self.database.read_all(queries.job_failures.next_retry, now) is not None

    async def close(self) -> None:
        """Stops the background jobs and closes everything; unfinished jobs stay in the database."""
        parts, spool = self._parts, self._spool
        self._parts = self._spool = None
        if spool is not None:
            await spool.close()
        if parts is None:
            return
        await parts.worker.close()
        if parts.recall.rewriter is not None:
            await parts.recalls.run(parts.recall.rewriter.close())
        await parts.recalls.close()
        await parts.storing.close()
        await parts.storage.database.close()


async def _adopt_encoder(storage: Storage, encoder: Encoder) -> FormerEncoder:
    """Makes an encoder the database's own; returns the former one, while its vectors are needed."""
    await steps.adopt_encoder(storage.database, encoder.name, encoder.dimension)
    name = await storage.database.read_all(queries.reembedding.former_encoder)
    if name is None:
        return FormerEncoder()
    log.info("change of encoder in progress", encoder=encoder.name, former=name)
    return FormerEncoder(await asyncio.to_thread(load_former, name))
