"""The door: a memory in one file, with everything that a voice bot asks of it."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from hotmem.core.encryption_key import EncryptionKey
from hotmem.core.logs import log
from hotmem.core.loop_thread import run_off_loop
from hotmem.core.priority import ForegroundPriority
from hotmem.core.validation import validate_number, validate_order
from hotmem.errors import InvalidInput, MemoryClosed, StoreError, StoreLocked, StoreReadOnly
from hotmem.feedback.learning import learn_from_reply
from hotmem.models import Encoder, Language, TokenCounter, load_encoder, load_former, load_language
from hotmem.models.rewriter import Rewriter
from hotmem.operations import caches
from hotmem.operations import search as search_operation
from hotmem.operations import store as store_operation
from hotmem.operations.actor import actor
from hotmem.operations.contextual_search import search_contextual
from hotmem.operations.explain import SearchTrace, TraceOptions, explain
from hotmem.operations.requests import SearchOptions, StoreContext, checked
from hotmem.operations.results import ContextualResult, SearchResult, StoreResult
from hotmem.operations.retention import Retention
from hotmem.operations.suppression import SuppressedTexts, phrase_of
from hotmem.options import MIN_TOKENS, Options, checked_visible
from hotmem.portability import exported, importer
from hotmem.portability.sources import Incoming, own
from hotmem.ranking.relevance import RelevanceModel, fitted_model
from hotmem.recall import RecallContext, late_block, recall
from hotmem.retrieval.context import FormerEncoder, RecallRequest
from hotmem.retrieval.layers import create_layers
from hotmem.session_start import SessionStartRequest, compose_session_start
from hotmem.storage.spool import Record, Removal, Spool, path_of
from hotmem.storage.store import Store
from hotmem.text.names import is_visible_name
from hotmem.text.stemming import stems
from hotmem.text.validation import (
    MAX_ID_CHARACTERS,
    MAX_STATEMENT_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    clean_text,
    validate_id,
    validate_ids,
    validate_text,
)
from hotmem.types import (
    START_WEIGHTS,
    Act,
    Action,
    Actor,
    Category,
    ContextBlock,
    EvolutionResult,
    ForgetResult,
    ImportResult,
    Quality,
    Restorable,
    Role,
    SessionSummary,
    StoredMemory,
    Subcategory,
    Turn,
    Usage,
    UserKey,
    Weights,
    WeightSnapshot,
    aware,
)
from hotmem.worker import Worker
from hotmem.worker_threads import WorkerThreads

NOTHING: Final = ForgetResult(0, 0, 0)

JOURNAL_WAIT_S: Final = 1.0
"""Seconds for which forgetting waits for another program's reading to end, so that the journal
can be emptied."""

LOOKING: Final = (Actor.TOOL, Actor.MCP, Actor.COMMAND_LINE)
"""Who looks at a memory when they recall from it. A bot's recalls are not in the audit trail:
records of use hold them."""

FED_BACK: Final = 256
"""Blocks fed back last that do not count again; of all of them the file tells, with
`Options.learning.analytics`."""


class Memory:
    """The long-term memory of any number of users, in one SQLite file.

    A file that cannot be written, or whose folder cannot, is opened for reading: recalls, searches
    and exports work, and whatever stores raises `StoreReadOnly`.

    Use it as ``async with Memory.open("memory.db") as memory`` or call `start` and `close`
    yourself. One file can be open in several processes; background work should run in one of them.

    Args:
        path: The file; it is made if it is not there. None is that of HOTMEM_DATABASE, else
            memory.db.
        options: How it recalls, learns and works in the background; taken as they are, whatever the
            environment says. None takes the HOTMEM_ variables of the environment, and the defaults
            where there are none; `Settings.of_environment(max_facts=3).options()` changes some of
            them.
        encoder: Another encoder than the one the options name.
        language: Another parser than the installed spaCy model.

    Raises:
        InvalidInput: If a HOTMEM_ variable cannot be used, naming it.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        options: Options | None = None,
        *,
        encoder: Encoder | None = None,
        language: Language | None = None,
    ) -> None:
        self.path, self.options = _configured(path, options)
        self._given_encoder = encoder
        self._given_language = language
        self._precedence = ForegroundPriority()
        self._withheld = SuppressedTexts()
        self._unkept = SuppressedTexts()
        self._forget_version = 0
        self._fed_back: deque[str] = deque(maxlen=FED_BACK)
        self._live: tuple[Store, RecallContext, Worker, WorkerThreads] | None = None
        self._spool: Spool | None = None

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        options: Options | None = None,
        *,
        encoder: Encoder | None = None,
        language: Language | None = None,
    ) -> Self:
        """The memory of a file, to be entered with ``async with``."""
        return cls(path, options, encoder=encoder, language=language)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def start(self) -> None:
        """Opens the file, loads the models and takes up what background work was left.

        Raises:
            StoreError: If the file cannot be used.
            ModelMissing: If a model is not installed.
        """
        if self._live is not None:
            return
        key, store, encoder, language, tokens, model = await asyncio.to_thread(self._load)
        try:
            await store.adopt_encoder(encoder.name, encoder.dimension)
            before = await store.former_encoder()
            if before is not None:
                log.info("being embedded anew", encoder=encoder.name, former=before)
            former = FormerEncoder(
                None
                if before is None
                else await asyncio.to_thread(load_former, before, self.options.models)
            )
            self._forget_version = await store.forget_version()
        except BaseException:  # cancelled or not, no open file is left behind
            await store.close()
            raise
        here = store.here()
        rewriter = Rewriter(self.options.rewriting) if self.options.rewriting.model else None
        reader = RecallContext(
            store=here,
            encoder=encoder,
            language=language,
            tokens=tokens,
            layers=create_layers(here, self.options.recall.layers),
            model=model,
            options=self.options.recall,
            rewriter=rewriter,
            weights=self.options.learning.weights,
            former=former,
        )
        retention = Retention(store, self.options.retention, self.options.audit.days)
        background = Worker(
            store,
            encoder,
            language,
            self.options.background,
            self.options.evolution,
            retention,
            self._precedence,
            former,
        )
        spool = Spool(path_of(self.path.absolute(), self.options.spool_dir), key, self._take)
        if store.read_only:
            log.info("memory opened for reading only")
        else:
            background.start()
            spool.start()
        self._spool = spool
        self._live = (
            store,
            reader,
            background,
            WorkerThreads.open(networked=bool(self.options.rewriting.model)),
        )

    def _load(
        self,
    ) -> tuple[EncryptionKey | None, Store, Encoder, Language, TokenCounter, RelevanceModel]:
        models, model = self.options.models, fitted_model(self.options.models.relevance)
        with ThreadPoolExecutor(thread_name_prefix="hotmem-loading") as threads:
            language = threads.submit(
                lambda: self._given_language or load_language(gc_freeze=models.gc_freeze)
            )
            encoder = threads.submit(lambda: self._given_encoder or load_encoder(models))
            tokens = threads.submit(TokenCounter.load, models.encoding, models.cache_dir)
        loaded = encoder.result(), language.result(), tokens.result()
        key = EncryptionKey.from_source(self.options.key)
        return key, Store.open(self.path, key), *loaded, model

    async def close(self) -> None:
        """Stops the background work and closes the file.

        What was not finished is done on the next open.
        """
        if self._live is None:
            return
        store, reader, background, threads = self._live
        if self._spool is not None:
            await self._spool.close()
        self._live = self._spool = None
        await background.close()
        if reader.rewriter is not None:
            await threads.recalls.run(reader.rewriter.close())
        await threads.close()
        await store.close()

    @property
    def reader(self) -> RecallContext:
        """The live parts of the read path, for measuring it stage by stage."""
        return self._open()[1]

    @property
    def store(self) -> Store:
        """The live store, for the tools that keep it in order."""
        return self._open()[0]

    @property
    def precedence(self) -> ForegroundPriority:
        """Tells long work of the tools when recalls are on their way."""
        return self._precedence

    def blocked(self) -> StoreLocked | None:
        """The error of a write that waits for another program's lock at this moment, if one does."""
        return None if self._live is None else self._live[0].blocked()

    async def remember(self, turn: Turn) -> bool:
        """Keeps a turn word for word.

        Durable on return; what it says is understood in the background.

        What the user had forgotten does not come back by their bot, which may still have it before
        it: until the user speaks of it again, or the session ends, a turn of the bot that tells of
        it is not kept.

        Returns:
            False if the turn with this id was kept before, or tells what was forgotten.

        Raises:
            InvalidInput: If its id belongs to other words.
            StoreError: If it could not be written.
        """
        store, _, background, _ = self._open()
        known = partial(
            self.speaks_of if turn.role == Role.USER else self.withholds,
            turn.text,
            user_id=turn.user_id,
        )
        if await run_off_loop(len(turn.text), known):
            return False
        await self._replay()
        added = await store.add_turn(turn, datetime.now(UTC))
        background.wake()
        return added

    @property
    def spooled(self) -> int:
        """Turns and removals that wait beside the memory file, which could not take them, as far as this program knows."""
        return 0 if self._spool is None else self._spool.waiting

    async def spool(self, record: Turn | Removal) -> None:
        """Keeps a turn beside the memory file, which cannot be written now, until it can.

        In order, and by whichever program has it open then.

        Args:
            record: The turn; or turns that were taken back, which then are not stored, or are
                removed.

        Raises:
            StoreReadOnly: If the memory was opened for reading only: it would never be stored.
            StoreError: If it cannot be kept there either. This process then keeps it, up to a
                thousand, and tries again as long as it runs.
        """
        store, *_ = self._open()
        if store.read_only:
            raise StoreReadOnly(
                f"{self.path} is open for reading only, and nothing waits for it. Make the file and its folder writable."
            )
        if self._spool is not None:
            await self._spool.put(record)

    async def _replay(self) -> None:
        """Stores what waits for the memory file: what comes now is to come after it."""
        if self.spooled and self._spool is not None:
            await self._spool.replay()

    async def _take(self, record: Record) -> None:
        """Brings what waited into the memory file."""
        store, _, background, _ = self._open()
        if isinstance(record, Turn):
            await store.add_turn(record, datetime.now(UTC))
        elif (user := await store.user(record.user_id)) is not None:
            await store.forget(user, turn_ids=record.turn_ids)
            await store.empty_journal(0)  # or the background does
        background.wake()

    def withholds(self, text: str, *, user_id: str) -> bool:
        """Whether a text tells what the user had forgotten, or said off the record, in the session that is going on, and did not speak of again."""
        return self.hides(text, user_id=user_id) or self._unkept.found(user_id, text)

    def outdated(self, block: ContextBlock) -> bool:
        """Whether something was forgotten, by whomever, since a block was read.

        It may hold that.
        """
        return block.forget_version is not None and block.forget_version < self._forget_version

    def hides(self, text: str, *, user_id: str) -> bool:
        """Whether it tells what the user had forgotten.

        Not even their language model is to see it.
        """
        return self._withheld.found(user_id, text)

    async def withhold(self, text: str, *, user_id: str) -> None:
        """Notes what was said off the record.

        No turn of the bot and no tool brings its words into the memory, unless they are there
        already.
        """
        phrases = _singly(await run_off_loop(len(text), partial(stems, text)))
        self._unkept.add(user_id, phrases)
        store, user = await self._of(user_id)
        if user is not None:
            self._unkept.drop(user_id, phrases & _singly((await store.words(user))[1]))

    def speaks_of(self, text: str, *, user_id: str) -> None:
        """Notes what the user says of their own accord: it is withheld no more.

        `remember` does so when it keeps a turn of theirs.
        """
        self._withheld.lift(user_id, text)
        self._unkept.lift(user_id, text)

    async def end_session(self, *, user_id: str, session_id: str) -> bool:
        """Says that a session is over, so that it is summarised now and not after its idle time.

        False if it is unknown.
        """
        store, _, background, _ = self._open()
        user = await store.user(validate_id(user_id, "user_id"))
        self._withheld.clear(user_id)
        self._unkept.clear(user_id)
        ended = user is not None and await store.end_session(
            user, validate_id(session_id, "session_id")
        )
        background.wake()
        return ended

    async def settle(self) -> None:
        """Waits until all background work is done.

        What failed for good is set aside until the next open.

        A file that cannot be written has no background work, and what waits beside it stays there.
        """
        store, _, background, _ = self._open()
        if not store.read_only:
            with suppress(StoreError):
                await self._replay()
            await background.settle()

    async def recall(
        self,
        text: str,
        *,
        user_id: str,
        session_id: str | None = None,
        at: datetime | None = None,
        max_tokens: int | None = None,
        deadline_ms: float | None = None,
        visible: Sequence[str] = (),
    ) -> ContextBlock:
        """The context block for an utterance.

        Args:
            text: What the user said; blank text gives an empty block.
            user_id: Whose memory is asked; an unknown user has none.
            session_id: The live session.
            at: When it was said, in the zone of who asks; now, in the options' zone, if not given.
            max_tokens: Tokens of the block at most; the options' limit, if not given.
            deadline_ms: Milliseconds after which what is not ready is left out; the options', if
                not given.
            visible: Texts the language model already has before it; they are not given again.

        Raises:
            InvalidInput: If an argument cannot be used.
            StoreError: If the file cannot be read.
        """
        _, reader, _, threads = self._open()
        if not isinstance(text, str):
            raise InvalidInput(
                f"The query is {type(text).__name__}, not a string. Pass the words that were said."
            )
        if len(text) > MAX_TEXT_CHARACTERS:
            raise InvalidInput(
                f"The query has {len(text):,} characters, at most {MAX_TEXT_CHARACTERS:,} are read. Pass what was said last."
            )
        request = RecallRequest(
            text=clean_text(text),
            user_id=validate_id(user_id, "user_id"),
            session_id=None if session_id is None else validate_id(session_id, "session_id"),
            at=self.options.now() if at is None else aware(at, "at"),
            max_tokens=self.options.recall.max_tokens
            if max_tokens is None
            else validate_number(max_tokens, "max_tokens", MIN_TOKENS, whole=True),
            deadline_ms=self.options.recall.deadline_ms
            if deadline_ms is None
            else validate_number(deadline_ms, "deadline_ms", 0.0),
            visible=checked_visible(visible),
        )
        known = self._forget_version
        with self._precedence.foreground():
            try:
                block = await threads.recalls.run(recall(reader, request), request.timeout_s)
            except TimeoutError:
                block = late_block(request)
        if (
            block.forget_version is None
        ):  # it was late: what was forgotten before it began is what was known then
            block = replace(block, forget_version=known)
        else:
            self._forget_version = max(self._forget_version, block.forget_version)
        if actor() in LOOKING:
            await self.audit(Act(Action.READ, "recall", memories=len(block.items)), user_id=user_id)
        return block

    async def opening(
        self,
        *,
        user_id: str,
        session_id: str | None = None,
        at: datetime | None = None,
        max_tokens: int | None = None,
        rules_only: bool = False,
    ) -> ContextBlock:
        """What a language model is told without being asked.

        Standing instructions, who the user is, what is at hand, what was left open.

        Args:
            user_id: Whose memory; an unknown user has none.
            session_id: The session that opens; what was left open is looked for in the one before
                it.
            at: When it opens, in the zone of the user; now and here, if not given.
            max_tokens: Tokens of the block at most; the options' limit, if not given. 0 gives an
                empty block.
            rules_only: Whether standing instructions are all that is wanted, as in the later turns
                of a session.

        Raises:
            InvalidInput: If an argument cannot be used.
            StoreError: If the file cannot be read.
        """
        store, reader, *_ = self._open()
        forget_version = await store.forget_version()
        asked = SessionStartRequest(
            user_id=validate_id(user_id, "user_id"),
            session_id=None if session_id is None else validate_id(session_id, "session_id"),
            at=self.options.now() if at is None else aware(at, "at"),
            max_tokens=self.options.recall.opening_tokens
            if max_tokens is None
            else validate_number(max_tokens, "max_tokens", 0, whole=True),
            rules_only=rules_only,
        )
        return replace(
            await compose_session_start(store, reader.language, reader.tokens.count, asked),
            forget_version=forget_version,
        )

    async def store_memory(
        self, content: str, *, user_id: str, context: StoreContext | Mapping[str, Any] | None = None
    ) -> StoreResult:
        """Keeps a statement that nobody said, or that is to be kept as it stands.

        It is filed, tagged, and compared with what is known.

        Args:
            content: The statement.
            user_id: Whose memory.
            context: What is known of it besides its words; what is left out is found.

        Returns:
            Where it was filed and what is like it. If the same is known already, that memory is
            confirmed instead.

        Raises:
            InvalidInput: If an argument cannot be used, naming the field and what it may be.
            StoreError: If it could not be written.
        """
        store, reader, _, threads = self._open()
        given = checked(StoreContext, context)
        content, user_id = (
            validate_text(content, "content", MAX_STATEMENT_CHARACTERS),
            validate_id(user_id, "user_id"),
        )
        with self._precedence.foreground():
            stored = await threads.storing.run(
                store_operation.store(reader, store, user_id, content, given, datetime.now(UTC))
            )
        await self.audit(Act(Action.CHANGE, "store_memory", memories=1), user_id=user_id)
        return stored

    async def search_memory(
        self,
        query: str,
        *,
        user_id: str,
        options: SearchOptions | Mapping[str, Any] | None = None,
        at: datetime | None = None,
    ) -> SearchResult:
        """Finds what is known and what was said, by its relevance, and counts the memories found as accessed.

        Args:
            query: A question, or some words.
            user_id: Whose memory is searched; an unknown user has none.
            options: How it is searched; every option has a default.
            at: When it is asked; now, if not given.

        Raises:
            InvalidInput: If an argument cannot be used, naming the field and what it may be.
            StoreError: If the file cannot be read.
        """
        store, reader, _, threads = self._open()
        wanted = checked(SearchOptions, options)
        request = self._explicit_request(query, user_id, wanted.session, at)
        with self._precedence.foreground():
            found = await threads.recalls.run(
                search_operation.search(reader, request, wanted, self.options.searching)
            )
        try:
            await search_operation.count_access(store, request.user_id, found, datetime.now(UTC))
        except StoreError as error:  # what was found is right all the same
            log.info("accesses not counted", error=type(error).__name__)
        sorts = Counter(one.content_type for one in found.results)
        turns, sessions = sorts["turn"], sorts["summary"]
        act = Act(
            Action.READ,
            "search_memory",
            turns=turns,
            memories=sorts.total() - turns - sessions,
            sessions=sessions,
        )
        await self.audit(act, user_id=user_id)
        return found

    async def search_contextual(
        self, query: str, *, user_id: str, session_id: str | None = None, at: datetime | None = None
    ) -> ContextualResult:
        """Finds the sessions that were about something.

        The best messages of each in their place, and related sessions.

        Args:
            query: A question, or some words.
            user_id: Whose memory is searched.
            session_id: The live session.
            at: When it is asked; now, if not given.

        Raises:
            InvalidInput: If an argument cannot be used.
            StoreError: If the file cannot be read.
        """
        _, reader, _, threads = self._open()
        with self._precedence.foreground():
            found = await threads.recalls.run(
                search_contextual(reader, self._explicit_request(query, user_id, session_id, at))
            )
        turns = sum(len(one.messages) for one in found.sessions)
        await self.audit(
            Act(Action.READ, "search_contextual", turns=turns, sessions=len(found.sessions)),
            user_id=user_id,
        )
        return found

    async def trace_search(
        self,
        query: str,
        *,
        user_id: str,
        options: TraceOptions | Mapping[str, Any] | None = None,
        at: datetime | None = None,
    ) -> SearchTrace:
        """Does a search and tells step by step how it went, and why something expected of it was found or was not; nothing counts as accessed.

        Args:
            query: A question, or some words.
            user_id: Whose memory is searched.
            options: How it is searched, and what is expected.
            at: When it is asked; now, if not given.

        Raises:
            InvalidInput: If an argument cannot be used, naming the field and what it may be.
            StoreError: If the file cannot be read.
        """
        _, reader, _, threads = self._open()
        wanted = checked(TraceOptions, options)
        request = self._explicit_request(query, user_id, wanted.session, at)
        with self._precedence.foreground():
            found = await threads.recalls.run(explain(reader, request, wanted))
        await self.audit(Act(Action.READ, "trace_search"), user_id=user_id)
        return found

    def _explicit_request(
        self, query: str, user_id: str, session_id: str | None, at: datetime | None
    ) -> RecallRequest:
        """The request of a tool: all layers are asked, without a deadline."""
        return RecallRequest(
            text=validate_text(query, "query"),
            user_id=validate_id(user_id, "user_id"),
            session_id=None if session_id is None else validate_id(session_id, "session_id"),
            at=self.options.now() if at is None else aware(at, "at"),
            max_tokens=self.options.recall.max_tokens,
            explicit=True,
        )

    async def feedback(
        self, block: ContextBlock, reply: str, *, interrupted: bool = False
    ) -> Usage:
        """Notes what was heard of the reply to a block, and learns which layers helped.

        A block counts once.

        Args:
            block: The block the language model was given.
            reply: What the user heard of its reply; "" for nothing.
            interrupted: Whether the reply was cut off.

        Raises:
            StoreError: If it could not be written.
        """
        store, reader, *_ = self._open()
        await self._precedence.wait_idle()
        heard, options, again = clean_text(reply), self.options.learning, block.id in self._fed_back

        def recorded() -> bool:
            """The record holds the question."""
            return options.analytics and not self.withholds(block.query, user_id=block.user_id)

        usage = await learn_from_reply(
            store,
            reader.encoder,
            block,
            heard,
            options,
            reader.tokens.count,
            datetime.now(UTC),
            recorded,
            interrupted=interrupted,
            again=again,
        )
        if block.items or heard:
            self._fed_back.append(block.id)
        return usage

    async def quality(
        self, user_id: str, *, since: date | None = None, until: date | None = None
    ) -> Quality:
        """What replies made of the blocks that a user's bot was given, day by day.

        `Options.learning.analytics` records it.

        Args:
            user_id: Whose; an unknown user has none.
            since: The first day, in UTC; None is the earliest that is kept.
            until: The last day.

        Raises:
            InvalidInput: If the last day is before the first.
        """
        validate_order(since, until)
        store, user = await self._of(user_id)
        return (
            Quality() if user is None else Quality(tuple(await store.quality(user, since, until)))
        )

    async def weights(self, user_id: str) -> Weights:
        """The user's layer weights.

        The start weights for an unknown user; those of the options, if they are fixed.
        """
        store, user = await self._of(user_id)
        own = START_WEIGHTS if user is None else (await store.profile(user, ())).weights
        return self.options.learning.weights or own

    async def reset_weights(self, user_id: str) -> Weights:
        """Forgets what was learnt of a user's layer weights; returns those where users begin."""
        store, user = await self._of(user_id)
        return START_WEIGHTS if user is None else await store.reset_weights(user, datetime.now(UTC))

    async def weights_over_time(self, user_id: str, limit: int = 200) -> list[WeightSnapshot]:
        """The user's layer weights after each step of learning, latest first."""
        limit = validate_number(limit, "limit", 0, whole=True)
        store, user = await self._of(user_id)
        return [] if user is None else await store.weights_over_time(user, limit)

    async def memories(self, user_id: str, *, past: bool = False) -> list[StoredMemory]:
        """What is known of a user, latest first; with `past` also what no longer holds."""
        store, user = await self._of(user_id)
        known = [] if user is None else await store.memories(user, datetime.now(UTC), past=past)
        if actor() in LOOKING:
            await self.audit(Act(Action.READ, "memories", memories=len(known)), user_id=user_id)
        return known

    async def vocabulary(self, user_id: str, limit: int = 50) -> list[str]:
        """Names that a user and their bot speak of, for a recogniser's hot words.

        Who speaks first, then what is in most turns.

        Args:
            user_id: Whose.
            limit: Names at most.
        """
        limit = validate_number(limit, "limit", 0, whole=True)
        store, user = await self._of(user_id)
        return [] if user is None else await store.vocabulary(user, limit)

    async def subcategories(self, user_id: str) -> list[Subcategory]:
        """What the user's categories have evolved into, by category, the largest first."""
        store, user = await self._of(user_id)
        return [] if user is None else await store.subcategories(user)

    async def evolve(
        self, user_id: str, *, category: Category | None = None
    ) -> list[EvolutionResult]:
        """Finds a user's subcategories anew now, which the background else does every few hours.

        Args:
            user_id: Whose.
            category: Which category; None is all.

        Raises:
            InvalidInput: If there is no such category.
            ExtraMissing: If scikit-learn is not installed.
            StoreError: If they could not be written; then they are as before.
        """
        store, _, background, _ = self._open()
        if category is not None and category not in tuple(Category):
            raise InvalidInput(f"category is {category!r}. Use one of: {', '.join(Category)}.")
        user = await store.user(validate_id(user_id, "user_id"))
        return (
            []
            if user is None
            else await background.evolve(user, Category if category is None else [category])
        )

    async def summary(self, *, user_id: str, session_id: str) -> SessionSummary | None:
        """What a session was about; None until it has been summarised."""
        store, user = await self._of(user_id)
        return (
            None
            if user is None
            else await store.summary(user, validate_id(session_id, "session_id"))
        )

    async def import_records(
        self,
        source: Path | Incoming,
        progress: Callable[[], None] = lambda: None,
        *,
        with_forgotten: bool = False,
    ) -> ImportResult:
        """Takes in a file that `export` wrote, or one of turns alone, a little at a time.

        What is there already stays as it is.

        What was forgotten stays out, by the ids of turns and memories, and is counted.

        Killed, it goes on where it stopped when the same file is taken in again. Finished, it is
        among the decisions and can be taken back.

        Args:
            source: The file, see `hotmem.portability.jsonl` for its form; or its records, as
                `hotmem.tools.import_export` reads those of others.
            progress: Called after each record.
            with_forgotten: Whether what was forgotten comes back with it.

        Raises:
            InvalidInput: If a line cannot be used, naming it; then nothing of the file is kept.
            StoreLocked: If another program holds the memory or takes in the same file; take it in
                again to go on.
            StoreError: If it could not be written; then nothing of the file is kept.
        """
        store, _, background, _ = self._open()
        incoming = await asyncio.to_thread(own, source) if isinstance(source, Path) else source
        try:
            return await importer.import_records(
                store, self._precedence, incoming, progress, with_forgotten=with_forgotten
            )
        finally:
            background.wake()

    async def take_back(self) -> None:
        """Takes back what came with imports that were undone, in small portions.

        Cut short, it is finished when the memory is next opened.
        """
        store, _, background, _ = self._open()
        await importer.take_back(store, self._precedence)
        background.wake()

    async def export(self, user_id: str) -> AsyncIterator[str]:
        """Everything that is known of a user as lines of JSON; see `hotmem.portability.jsonl`."""
        store, user = await self._of(user_id)
        if user is not None:
            await self.audit(Act(Action.EXPORT, "export"), user_id=user_id)
            async for line in exported(store, user, user_id):
                yield line

    async def forget(
        self,
        *,
        user_id: str,
        memory_id: str | None = None,
        entity: str | None = None,
        session_id: str | None = None,
        turn_ids: Sequence[str] | None = None,
        after: datetime | None = None,
        before: datetime | None = None,
        everything: bool = False,
        dry_run: bool = False,
        grace: timedelta | None = None,
    ) -> ForgetResult:
        """Removes one thing everywhere.

        Turns, memories, summaries, entities, vectors, indexes, records of use, and this process's
        caches.

        On return no byte of it is in the file or in the journal beside it, unless another program
        is reading them; the receipt tells. A turn or memory that was forgotten stays out when an
        older export is imported.

        Args:
            user_id: Whose memory.
            memory_id: A memory, with the turns it was read from.
            entity: A name: all that mentions it, however it is spelled (see `hotmem.text.names`).
                Ids that programs chose are not looked through.
            session_id: A session.
            turn_ids: Turns, with the facts that were read from them alone.
            after: What was said at or after this time; may go with `before`.
            before: What was said before this time.
            everything: All of the user.
            dry_run: Whether it only counts what would go, and changes nothing.
            grace: For how long `restore` can bring it back. Until then it is hidden from
                everything, but its bytes stay in the file, and in copies of it that are made; then
                it is erased. None erases it at once, with what was kept of it before.

        Raises:
            InvalidInput: If not exactly one thing is named, or `before` is earlier than `after`.
            StoreError: If it could not be written.
        """
        span = after is not None or before is not None
        if (
            sum(
                (
                    memory_id is not None,
                    entity is not None,
                    session_id is not None,
                    turn_ids is not None,
                    span,
                    everything,
                )
            )
            != 1
        ):
            raise InvalidInput(
                "forget takes exactly one of memory_id, entity, session_id, turn_ids, after/before, everything=True. Call it once for each."
            )
        if entity is not None and not is_visible_name(clean_text(entity)):
            raise InvalidInput("entity is empty. Name what to forget, or pass everything=True.")
        entity = None if entity is None else validate_text(entity, "entity", MAX_ID_CHARACTERS)
        memory_id = None if memory_id is None else validate_id(memory_id, "memory_id")
        session_id = None if session_id is None else validate_id(session_id, "session_id")
        turn_ids = None if turn_ids is None else validate_ids(turn_ids, "turn_ids")
        after = None if after is None else aware(after, "after")
        before = None if before is None else aware(before, "before")
        validate_order(after, before)
        if grace is not None and grace <= timedelta():
            raise InvalidInput(
                f"grace is {grace}. Pass a time for which it can be brought back, or None to erase it at once."
            )
        store, reader, background, _ = self._open()
        user_id = validate_id(user_id, "user_id")
        await self._replay()
        user = await store.user(user_id)
        remove = partial(
            store.forget,
            memory_id=memory_id,
            entity=entity,
            session_id=session_id,
            turn_ids=turn_ids,
            after=after,
            before=before,
            everything=everything,
            grace=grace,
        )
        if dry_run:
            return NOTHING if user is None else await remove(user, dry_run=True)
        phrases = (
            {phrase_of(entity)}
            if entity is not None
            else _singly(() if user is None else (await store.words(user))[0])
        )
        await asyncio.to_thread(
            self._withheld.add, user_id, phrases
        )  # first, so that nothing that is written meanwhile brings it back
        if user is None:
            return NOTHING
        try:
            removed = await remove(user)
        except BaseException:
            self._withheld.drop(user_id, phrases)
            raise
        if entity is None:
            await asyncio.to_thread(
                self._withheld.drop, user_id, _singly((await store.words(user))[1])
            )
        caches.clear(reader)
        self._forget_version = await store.forget_version()
        try:
            emptied = removed.restorable_until is not None or await store.empty_journal(
                JOURNAL_WAIT_S
            )
        except StoreError as error:  # what was asked is done; a full disk, say, may have room again when it is next tried
            log.warning("journal not emptied", error=type(error).__name__)
            emptied = False
        background.wake()
        kinds = {
            "memory": memory_id,
            "name": entity,
            "session": session_id,
            "turns": turn_ids,
            "everything": everything or None,
        }
        kind = next((name for name, given in kinds.items() if given is not None), "span of time")
        await self._record(
            user, Act(Action.FORGET, kind, removed.turns, removed.memories, removed.sessions)
        )
        log.info(
            "forgotten",
            turns=removed.turns,
            memories=removed.memories,
            sessions=removed.sessions,
            emptied=emptied,
        )
        return replace(removed, emptied=emptied)

    async def restorable(self, user_id: str) -> Restorable | None:
        """The user's latest deletion that can be brought back; None if there is none."""
        store, user = await self._of(user_id)
        return None if user is None else await store.restorable(user)

    async def restore(self, *, user_id: str) -> Restorable | None:
        """Brings back what `forget` removed last with a time of grace that is not over, as it was.

        What was said since stays.

        Returns:
            What it was; None if there is nothing to be brought back.

        Raises:
            StoreError: If it could not be written; then it can be brought back still.
        """
        store, user = await self._of(user_id)
        background = self._open()[2]
        found = None if user is None else await store.restore(user)
        if found is None:
            return None
        restored, texts = found
        await asyncio.to_thread(self._withheld.lift_all, user_id, texts)
        background.wake()
        gone = restored.removed
        await self._record(
            user, Act(Action.CHANGE, "restore", gone.turns, gone.memories, gone.sessions)
        )
        log.info("restored", turns=gone.turns, memories=gone.memories, sessions=gone.sessions)
        return restored

    async def audit(self, act: Act, *, user_id: str | None) -> None:
        """Writes down that something was done, by whom `hotmem.operations.actor` says.

        What is done is right even if that cannot be written.

        Args:
            act: What was done.
            user_id: Whose memory it was done with; None is everybody's.
        """
        store, *_ = self._open()
        user = None if user_id is None else await store.user(user_id)
        if user_id is None or user is not None:
            await self._record(user, act)

    async def _record(self, user: UserKey | None, act: Act) -> None:
        store, *_ = self._open()
        if not self.options.audit.on or store.read_only:
            return
        try:
            await store.audit(user, actor(), act, datetime.now(UTC))
        except StoreError as error:
            log.warning(
                "not in the audit trail",
                action=act.action,
                what=act.what,
                error=type(error).__name__,
            )

    async def _of(self, user_id: str) -> tuple[Store, UserKey | None]:
        """The store, and the user's number in it; None for an unknown user."""
        store, *_ = self._open()
        return store, await store.user(validate_id(user_id, "user_id"))

    def _open(self) -> tuple[Store, RecallContext, Worker, WorkerThreads]:
        if self._live is None:
            raise MemoryClosed(
                "The memory is not open. Use `async with Memory.open(path) as memory`, or await memory.start() first."
            )
        return self._live


def _singly(words: Iterable[str]) -> set[frozenset[str]]:
    """Each word as a phrase of its own."""
    return {frozenset({word}) for word in words}


def _configured(path: str | Path | None, options: Options | None) -> tuple[Path, Options]:
    """File and options as given, and from the environment where they are not."""
    if path is not None and options is not None:
        return Path(path), options
    from hotmem.settings import Settings  # takes a tenth of a second, which who passes both saves

    settings = Settings.from_environment()
    return Path(settings.database if path is None else path), options or settings.options()
