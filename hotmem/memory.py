"""`Memory`: everything a voice bot asks of its long-term memory, in one object."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from hotmem.block.assembly import late_block
from hotmem.core.location import EncryptionKey, Location, ServerUrl, locate
from hotmem.core.metrics import timed_search
from hotmem.core.threads import run_off_loop
from hotmem.core.validation import validate_number, validate_type
from hotmem.errors import InvalidInput, StoreError, StoreLocked, StoreReadOnly
from hotmem.facade.forgetting import ForgettingMethods
from hotmem.facade.knowledge import KnowledgeMethods
from hotmem.facade.search import AUDITED_READERS, SearchMethods
from hotmem.feedback.learning import learn_from_reply
from hotmem.models import Encoder, Language
from hotmem.operations.results import actor
from hotmem.options import MIN_TOKENS, Options, checked_visible
from hotmem.recall import recall
from hotmem.remember import store_turn
from hotmem.retrieval.context import RecallRequest
from hotmem.runtime import open_runtime, open_spool
from hotmem.session_start import SessionStartRequest, compose_session_start
from hotmem.storage import queries
from hotmem.storage.spool import Record, Removal, Spool
from hotmem.text.validation import MAX_TEXT_CHARACTERS, clean_text, validate_id, validate_name
from hotmem.types import Act, Action, ContextBlock, Role, Turn, Usage, aware
from hotmem.types.maintenance import ForgetTurns


class Memory(SearchMethods, KnowledgeMethods, ForgettingMethods):
    """The long-term memory of any number of users, in one SQLite file or PostgreSQL database.

    Use it as ``async with Memory.open("memory.db") as memory``, or call `start` and `close`. A file
    can be open in several processes. A file that cannot be written is opened read-only: recalls,
    searches and exports work, and every write raises `StoreReadOnly`.

    Args:
        location: The file, created if missing, or a URL such as postgresql://user@host/database.
            None is HOTMEM_DATABASE, else memory.db.
        options: Options, used as they are. None reads the HOTMEM_ variables of the environment;
            `Settings.from_environment(opening_tokens=3).options()` changes some of them.
        encoder: An encoder instead of the one that the options name.
        language: A parser instead of the installed spaCy model.

    Raises:
        InvalidInput: If a HOTMEM_ variable cannot be used, naming it.
    """

    def __init__(
        self,
        location: str | Path | ServerUrl | None = None,
        options: Options | None = None,
        *,
        encoder: Encoder | None = None,
        language: Language | None = None,
    ) -> None:
        super().__init__(*_configured(location, options))
        self._given_encoder = encoder
        self._given_language = language

    @classmethod
    def open(
        cls,
        location: str | Path | ServerUrl | None = None,
        options: Options | None = None,
        *,
        encoder: Encoder | None = None,
        language: Language | None = None,
    ) -> Self:
        """The memory of a file, to be entered with ``async with``; arguments as for the class."""
        return cls(location, options, encoder=encoder, language=language)

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
        """Opens the file, loads the models and resumes the background jobs.

        Raises:
            StoreError: If the file cannot be used.
            ModelMissing: If a model is not installed.
        """
        if self._runtime is not None:
            return
        key = EncryptionKey.from_source(self.options.key)
        runtime = await open_runtime(
            self.location,
            self.options,
            key,
            self._given_encoder,
            self._given_language,
            self._priority,
            self._opened_spool(key),
        )
        try:
            self._forget_version = await runtime.database.read_all(queries.deletion_marks.number)
        except BaseException:
            await runtime.close()
            raise
        self._runtime = runtime
        runtime.start()

    async def close(self) -> None:
        """Stops the background jobs and closes the file; unfinished jobs run on the next open."""
        if self._runtime is not None:
            runtime, self._runtime, self._spool = self._runtime, None, None
            await runtime.close()
        elif self._spool is not None:
            spool, self._spool = self._spool, None
            await spool.close()

    def blocked(self) -> StoreLocked | None:
        """The error of a write that waits for another program's lock now, if one does."""
        return None if self._runtime is None else self._runtime.database.blocked()

    async def remember(self, turn: Turn) -> bool:
        """Stores a turn verbatim; durable on return, understood in the background.

        A turn of the bot that repeats what the user had forgotten is not stored, for the rest of
        the session or until the user speaks of it again: the bot may still have it in its context.

        Returns:
            False if a turn with this id was stored before, or the turn is not stored.

        Raises:
            InvalidInput: If it is no Turn, or its id belongs to a turn with other words.
            StoreError: If it could not be written.
        """
        runtime = self.runtime
        validate_type(turn, Turn, "turn", "Pass Turn(user_id, session_id, role, text, spoken_at).")
        check = self.speaks_of if turn.role == Role.USER else self.withholds
        if await run_off_loop(len(turn.text), partial(check, turn.text, user_id=turn.user_id)):
            return False
        await runtime.replay_spool()
        added = await store_turn(runtime.storage, turn, datetime.now(UTC))
        runtime.worker.wake()
        return added

    @property
    def spooled(self) -> int:
        """Turns and removals in the spool of this process, which the database could not take."""
        return 0 if self._spool is None else self._spool.waiting

    async def spool(self, record: Turn | Removal) -> None:
        """Spools a record beside the memory file, until the file can be written again.

        Records are stored in order, by whichever process has the file open then. For a database on
        a server this also works before the memory is open.

        Args:
            record: A turn, or turns that were taken back: they are removed, or not stored.

        Raises:
            MemoryClosed: If the memory is a file and not open.
            StoreReadOnly: If the memory was opened read-only: it would never be stored.
            StoreError: If it cannot be written there either. This process then holds up to a
                thousand records and tries again as long as it runs.
        """
        if self._runtime is None and isinstance(self.location, ServerUrl):
            await self._opened_spool(EncryptionKey.from_source(self.options.key)).put(record)
            return
        if self._database.read_only:
            fix = "Make it writable."
            raise StoreReadOnly(f"{self.location} is open read-only: nothing can be stored. {fix}")
        await self.runtime.spool.put(record)

    def _opened_spool(self, key: EncryptionKey | None) -> Spool:
        """The spool, which is there before the database is open and until the memory is closed."""
        if self._spool is None:
            self._spool = open_spool(self.location, self.options, key, self._replay)
        return self._spool

    async def _replay(self, record: Record) -> None:
        """Stores a record of the spool."""
        runtime = self.runtime
        if isinstance(record, Turn):
            await store_turn(runtime.storage, record, datetime.now(UTC))
        elif (user := await self._find_user(record.user_id)) is not None:
            await runtime.storage.forgetting.forget(user, ForgetTurns(tuple(record.turn_ids)))
            await self._database.purge(0)  # or the worker does
        runtime.worker.wake()

    async def set_user_name(self, user_id: str, name: str) -> None:
        """Says under which name (`Turn.speaker`) a user speaks; other speakers are other people.

        Without it, the only speaker is the user, and nobody is while several people speak.
        """
        user_id, name = validate_id(user_id, "user_id"), validate_name(name, "name")
        await self._database.write_all(queries.users.set_speaker, user_id, name)

    async def end_session(self, *, user_id: str, session_id: str) -> bool:
        """Ends a session, so that it is summarised now and not after its idle time.

        Returns:
            False if the session is unknown.
        """
        user = await self._find_user(user_id)
        session_id = validate_id(session_id, "session_id")
        self._suppressed.clear(user_id)
        self._off_record.clear(user_id)
        end = queries.sessions.end
        ended = user is not None and await self._database.write(end, user, session_id)
        self.runtime.worker.wake()
        return ended

    async def settle(self, user_id: str | None = None) -> None:
        """Waits until all background jobs are done; those that were set aside do not count.

        Where they run elsewhere, it waits for the other process. A read-only file has none.

        Args:
            user_id: Whose jobs to wait for on a server; in a file, and without it, everyone's.
        """
        runtime = self.runtime
        if not runtime.database.read_only:
            with suppress(StoreError):
                await runtime.replay_spool()
            if user_id is None:
                await runtime.settle()
            else:
                await runtime.settle_user(validate_id(user_id, "user_id"))

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
        asked_by: str | None = None,
    ) -> ContextBlock:
        """The context block for an utterance.

        Args:
            text: What the user said; blank text gives an empty block.
            user_id: Whose memory; an unknown user has none.
            session_id: The live session.
            at: When it was said, in the user's time zone; now, in the options' zone, if not given.
            max_tokens: Tokens of the block at most; the options', if not given.
            deadline_ms: Milliseconds after which what is not ready is left out; the options' too.
            visible: Texts that the language model's context holds already; they are not repeated.
            asked_by: Another speaker who asks: they are told what was said in this session or by
                them, and no secret; "" for one who is told all but secrets; None for the user.

        Raises:
            InvalidInput: If an argument cannot be used.
            StoreError: If the file cannot be read.
        """
        runtime, defaults = self.runtime, self.options.recall
        validate_type(text, str, "The query", "Pass the words that were said.")
        if len(text) > MAX_TEXT_CHARACTERS:
            most = f"at most {MAX_TEXT_CHARACTERS:,} are read. Pass what was said last."
            raise InvalidInput(f"The query has {len(text):,} characters, {most}")
        validate_type(asked_by, str | None, "asked_by", 'Pass a name, "" or None.')
        request = RecallRequest(
            text=clean_text(text),
            user_id=validate_id(user_id, "user_id"),
            session_id=None if session_id is None else validate_id(session_id, "session_id"),
            at=self.options.now() if at is None else aware(at, "at"),
            max_tokens=defaults.max_tokens
            if max_tokens is None
            else validate_number(max_tokens, "max_tokens", MIN_TOKENS, whole=True),
            deadline_ms=defaults.deadline_ms
            if deadline_ms is None
            else validate_number(deadline_ms, "deadline_ms", 0.0),
            visible=checked_visible(visible),
            asked_by=asked_by,
        )
        version = self._forget_version
        with self._priority.foreground(), timed_search("recall"):
            try:
                work = recall(runtime.recall, request)
                block = await runtime.threads.recalls.run(work, request.timeout_s)
            except TimeoutError:
                block = late_block(request)
        if block.forget_version is None:  # it was late: what was known when it began counts
            block = replace(block, forget_version=version)
        else:
            self._forget_version = max(self._forget_version, block.forget_version)
        if actor() in AUDITED_READERS:
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
        """The context block at the start of a session, before anything is asked.

        Standing instructions, who the user is, upcoming events, open loops.

        Args:
            user_id: Whose memory; an unknown user has none.
            session_id: The session that starts; open loops are those of the one before it.
            at: When it starts, in the user's time zone; now, if not given.
            max_tokens: Tokens of the block at most; the options' limit, if not given. 0 gives an
                empty block.
            rules_only: Only standing instructions, as for the later turns of a session.

        Raises:
            InvalidInput: If an argument cannot be used.
            StoreError: If the file cannot be read.
        """
        runtime = self.runtime
        version = await self._database.read_all(queries.deletion_marks.number)
        asked = SessionStartRequest(
            user_id=validate_id(user_id, "user_id"),
            session_id=None if session_id is None else validate_id(session_id, "session_id"),
            at=self.options.now() if at is None else aware(at, "at"),
            max_tokens=self.options.recall.opening_tokens
            if max_tokens is None
            else validate_number(max_tokens, "max_tokens", 0, whole=True),
            rules_only=rules_only,
        )
        context = runtime.recall
        block = await compose_session_start(
            runtime.storage, context.language, context.tokens.count, asked
        )
        return replace(block, forget_version=version)

    async def feedback(
        self, block: ContextBlock, reply: str, *, interrupted: bool = False
    ) -> Usage:
        """Records which items of a block a reply used; a block counts once.

        With `LearningOptions.adaptive`, the layer weights are updated as well.

        Args:
            block: The block that the language model was given.
            reply: What the user heard of its reply; "" for nothing.
            interrupted: Whether the reply was cut off.

        Raises:
            InvalidInput: If an argument has another type.
            StoreError: If it could not be written.
        """
        runtime, options = self.runtime, self.options.learning
        validate_type(block, ContextBlock, "block", "Pass what recall returned.")
        validate_type(reply, str, "reply", "Pass what the user heard.")
        await self._priority.wait_idle()
        heard, again = clean_text(reply), block.id in self._fed_back

        def may_record() -> bool:
            """Whether the record, which holds the question, may be written."""
            return options.analytics and not self.withholds(block.query, user_id=block.user_id)

        usage = await learn_from_reply(
            runtime.storage,
            runtime.recall.encoder,
            block,
            heard,
            options,
            runtime.recall.tokens.count,
            datetime.now(UTC),
            may_record,
            interrupted=interrupted,
            again=again,
        )
        if block.items or heard:
            self._fed_back.append(block.id)
        return usage


def _configured(
    location: str | Path | ServerUrl | None, options: Options | None
) -> tuple[Location, Options]:
    """The location and options as given; what is None is read from the environment."""
    if location is not None and options is not None:
        return locate(location), options
    from hotmem.settings import Settings  # imported late: it takes a tenth of a second

    settings = Settings.from_environment()
    where = settings.database if location is None else location
    return locate(where), settings.options() if options is None else options
