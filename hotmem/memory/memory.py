"""`Memory`: everything a voice bot asks of its long-term memory, in one object."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from hotmem.block.assembly import late_block
from hotmem.core.location import Location, ServerUrl, locate
from hotmem.core.logs import log
from hotmem.core.metrics import count_hits, timed_search
from hotmem.core.threads import run_off_loop
from hotmem.core.validation import validate_number, validate_type
from hotmem.errors import InvalidInput, StoreError
from hotmem.feedback.learning import learn_from_reply
from hotmem.memory import forgetting
from hotmem.memory.learning import Learning
from hotmem.memory.lookup import Lookup
from hotmem.memory.runtime import Runtime
from hotmem.memory.subcategories import Subcategories
from hotmem.models import Encoder, Language
from hotmem.operations import contextual_search, explain, search, store
from hotmem.operations.contextual_results import ContextualResult
from hotmem.operations.requests import SearchOptions, StoreContext, TraceOptions, checked
from hotmem.operations.results import SearchResult, SearchTrace, StoreResult, actor
from hotmem.options import MIN_TOKENS, Options, checked_visible
from hotmem.portability import export_lines, importer
from hotmem.portability.importer import ImportSource, hotmem_source
from hotmem.recall import recall
from hotmem.remember import store_turn
from hotmem.retrieval.context import RecallRequest
from hotmem.session_start import SessionStartRequest, compose_session_start
from hotmem.storage import queries
from hotmem.text.validation import (
    MAX_STATEMENT_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    clean_text,
    validate_id,
    validate_name,
    validate_text,
)
from hotmem.types import (
    Act,
    Action,
    Actor,
    ContextBlock,
    ForgetResult,
    ImportResult,
    Restorable,
    Role,
    StoredMemory,
    Turn,
    Usage,
    aware,
)

AUDITED_READERS: Final = (Actor.TOOL, Actor.MCP, Actor.COMMAND_LINE)
"""Actors whose reads are in the audit trail. A bot's recalls are in the records of use instead."""

REMEMBERED_BLOCKS: Final = 256
"""Blocks with feedback that are remembered, so that a second one does not count."""


class Memory:
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

    Attributes:
        subcategories: Common topics of a category.
        learning: Layer weights, and how replies used the blocks.
        lookup: Summaries of sessions, names for a recogniser, and what can be restored.
        runtime: The live parts, for HotMem's own programs. They may change any time.

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
        self.runtime = Runtime(*_configured(location, options), encoder, language)
        self.subcategories = Subcategories(self.runtime)
        self.learning = Learning(self.runtime)
        self.lookup = Lookup(self.runtime)
        self._fed_back: deque[str] = deque(maxlen=REMEMBERED_BLOCKS)

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
        await self.runtime.start()

    async def close(self) -> None:
        """Stops the background jobs and closes the file; unfinished jobs run on the next open."""
        await self.runtime.close()

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
        runtime, storage = self.runtime, self.runtime.storage
        validate_type(turn, Turn, "turn", "Pass Turn(user_id, session_id, role, text, spoken_at).")
        suppression = runtime.suppression
        check = suppression.speaks_of if turn.role == Role.USER else suppression.withholds
        if await run_off_loop(len(turn.text), partial(check, turn.text, user_id=turn.user_id)):
            return False
        await runtime.replay_spool()
        added = await store_turn(storage, turn, datetime.now(UTC))
        runtime.worker.wake()
        return added

    async def set_user_name(self, user_id: str, name: str) -> None:
        """Says under which name (`Turn.speaker`) a user speaks; other speakers are other people.

        Without it, the only speaker is the user, and nobody is while several people speak.
        """
        user_id, name = validate_id(user_id, "user_id"), validate_name(name, "name")
        await self.runtime.database.write_all(queries.users.set_speaker, user_id, name)

    async def end_session(self, *, user_id: str, session_id: str) -> bool:
        """Ends a session, so that it is summarised now and not after its idle time.

        Returns:
            False if the session is unknown.
        """
        runtime = self.runtime
        user = await runtime.find_user(user_id)
        session_id = validate_id(session_id, "session_id")
        runtime.suppression.clear(user_id)
        end = queries.sessions.end
        ended = user is not None and await runtime.database.write(end, user, session_id)
        runtime.worker.wake()
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
            if user_id is not None:
                validate_id(user_id, "user_id")
            await runtime.settle(user_id)

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
        runtime, defaults = self.runtime, self.runtime.options.recall
        validate_type(text, str, "The query", "Pass the words that were said.")
        if len(text) > MAX_TEXT_CHARACTERS:
            most = f"at most {MAX_TEXT_CHARACTERS:,} are read. Pass what was said last."
            raise InvalidInput(f"The query has {len(text):,} characters, {most}")
        validate_type(asked_by, str | None, "asked_by", 'Pass a name, "" or None.')
        request = RecallRequest(
            text=clean_text(text),
            user_id=validate_id(user_id, "user_id"),
            session_id=_optional_id(session_id),
            at=self._time(at),
            max_tokens=defaults.max_tokens
            if max_tokens is None
            else validate_number(max_tokens, "max_tokens", MIN_TOKENS, whole=True),
            deadline_ms=defaults.deadline_ms
            if deadline_ms is None
            else validate_number(deadline_ms, "deadline_ms", 0.0),
            visible=checked_visible(visible),
            asked_by=asked_by,
        )
        suppression = runtime.suppression
        version = suppression.version
        with timed_search("recall"):
            try:
                block = await runtime.search(recall(runtime.recall, request), request.timeout_s)
            except TimeoutError:
                block = late_block(request)
        if block.forget_version is None:  # it was late: what was known when it began counts
            block = replace(block, forget_version=version)
        else:
            suppression.version = max(suppression.version, block.forget_version)
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
        version = await runtime.database.read_all(queries.deletion_marks.number)
        asked = SessionStartRequest(
            user_id=validate_id(user_id, "user_id"),
            session_id=_optional_id(session_id),
            at=self._time(at),
            max_tokens=runtime.options.recall.opening_tokens
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
        runtime, options = self.runtime, self.runtime.options.learning
        validate_type(block, ContextBlock, "block", "Pass what recall returned.")
        validate_type(reply, str, "reply", "Pass what the user heard.")
        await runtime.priority.wait_idle()
        heard, again = clean_text(reply), block.id in self._fed_back

        def may_record() -> bool:
            """Whether the record, which holds the question, may be written."""
            withheld = runtime.suppression.withholds(block.query, user_id=block.user_id)
            return options.analytics and not withheld

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

    async def store_memory(
        self, content: str, *, user_id: str, context: StoreContext | Mapping[str, Any] | None = None
    ) -> StoreResult:
        """Stores a statement verbatim, without a conversation.

        It is classified, tagged and compared with the user's memories.

        Args:
            content: The statement.
            user_id: Whose memory.
            context: What is known of it besides its words; the rest is determined.

        Returns:
            How it was classified and which memories are similar. If it is known already,
            that memory is confirmed instead.

        Raises:
            InvalidInput: If an argument cannot be used, naming the field and what it may be.
            StoreError: If it could not be written.
        """
        runtime = self.runtime
        given = checked(StoreContext, context)
        content = validate_text(content, "content", MAX_STATEMENT_CHARACTERS)
        user_id = validate_id(user_id, "user_id")
        with runtime.priority.foreground():
            stored = await runtime.storing.run(
                store.store_statement(
                    runtime.recall, runtime.write, user_id, content, given, datetime.now(UTC)
                )
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
        """Searches memories and conversations by relevance.

        Counts an access of each memory that fits the query (`MEDIUM_RELEVANCE` or above).

        Args:
            query: A question, or some words.
            user_id: Whose memory; an unknown user has none.
            options: How to search; every option has a default.
            at: When it is asked; now, if not given.

        Raises:
            InvalidInput: If an argument cannot be used, naming the field and what it may be.
            StoreError: If the database cannot be read.
        """
        runtime = self.runtime
        wanted = checked(SearchOptions, options)
        request = self._explicit_request(query, user_id, wanted.session, at)
        with timed_search("search_memory"):
            found = await runtime.search(search.search(runtime.recall, request, wanted))
        try:
            await search.count_access(runtime.storage, request.user_id, found, datetime.now(UTC))
        except StoreError as error:  # the result is right all the same
            log.info("accesses not counted", error=type(error).__name__)
        counts = Counter(result.content_type for result in found.results)
        count_hits("search_memory", counts)
        await self.audit(_read_act("search_memory", counts), user_id=user_id)
        return found

    async def search_contextual(
        self,
        query: str,
        *,
        user_id: str,
        session_id: str | None = None,
        at: datetime | None = None,
        max_tokens: int | None = None,
    ) -> ContextualResult:
        """Finds the sessions about something, the best messages of each, and related sessions.

        If no session is about it, the whole memory is searched, and the result says so.

        Args:
            query: A question, or some words.
            user_id: Whose memory.
            session_id: The live session.
            at: When it is asked; now, if not given.
            max_tokens: Token budget of the result's `text` for a prompt; none is made without it.

        Raises:
            InvalidInput: If an argument cannot be used.
            StoreError: If the database cannot be read.
        """
        runtime = self.runtime
        request = self._explicit_request(query, user_id, session_id, at)
        if max_tokens is not None:
            validate_number(max_tokens, "max_tokens", MIN_TOKENS, whole=True)
        with timed_search("search_contextual"):
            found = await runtime.search(
                contextual_search.search_contextual(runtime.recall, request, max_tokens)
            )
        counts = Counter(one.content_type for one in found.elsewhere)
        counts["turn"] += sum(len(session.messages) for session in found.sessions)
        counts["summary"] += len(found.sessions)
        count_hits("search_contextual", {"turn": counts["turn"], "session": counts["summary"]})
        await self.audit(_read_act("search_contextual", counts), user_id=user_id)
        return found

    async def trace_search(
        self,
        query: str,
        *,
        user_id: str,
        options: TraceOptions | Mapping[str, Any] | None = None,
        at: datetime | None = None,
    ) -> SearchTrace:
        """Runs a search and explains each step, and why an expected result was found or not.

        No access is counted.

        Args:
            query: A question, or some words.
            user_id: Whose memory.
            options: How to search, and what is expected.
            at: When it is asked; now, if not given.

        Raises:
            InvalidInput: If an argument cannot be used, naming the field and what it may be.
            StoreError: If the database cannot be read.
        """
        runtime = self.runtime
        wanted = checked(TraceOptions, options)
        request = self._explicit_request(query, user_id, wanted.session, at)
        found = await runtime.search(explain.explain(runtime.recall, request, wanted))
        await self.audit(Act(Action.READ, "trace_search"), user_id=user_id)
        return found

    async def memories(
        self, user_id: str, *, past: bool = False, own: bool = False
    ) -> list[StoredMemory]:
        """The user's current memories, latest first.

        Args:
            user_id: Whose.
            past: Also those that ended.
            own: Without those that only others stated, if it is known under which name the user
                speaks.
        """
        now, load = datetime.now(UTC), queries.memories.of_user
        known = await self.runtime.read(user_id, [], load, now, past=past, own=own)
        if actor() in AUDITED_READERS:
            await self.audit(Act(Action.READ, "memories", memories=len(known)), user_id=user_id)
        return known

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
        confirmed: Collection[str] | None = None,
    ) -> ForgetResult:
        """Removes one target everywhere.

        Turns, memories, summaries, entities, vectors, indexes, records of use and this process's
        caches. On return no byte of it is in the memory file or its journal, unless another program
        is reading them; the result says so. Forgotten turns and memories stay out when an older
        export is imported.

        Args:
            user_id: Whose memory.
            memory_id: A memory, with the turns it was read from.
            entity: A name: everything that mentions it, however it is spelled (see
                `hotmem.text.names`). Ids that programs chose are not searched.
            session_id: A session.
            turn_ids: Turns, with the facts that were read from them alone.
            after: What was said at or after this time; may be combined with `before`.
            before: What was said before this time.
            everything: The whole user.
            dry_run: Only counts what would be removed.
            grace: How long `restore` can undo it. Until then it is hidden from everything, but its
                bytes stay in the file and in copies of it; then it is erased. None erases it at
                once, along with earlier deletions that hold something of it.
            confirmed: The `ids` of a preview (`dry_run`) that a person confirmed: nothing else is
                removed. Facts that were read from its turns since go with them.

        Raises:
            InvalidInput: If not exactly one target is given, `before` is earlier than `after`, or
                an argument cannot be used.
            DeletionChanged: If something else than `confirmed` would be removed; nothing is.
            StoreError: If it could not be written.
        """
        target = forgetting.chosen_target(
            memory_id, entity, session_id, turn_ids, after, before, everything
        )
        return await forgetting.forget(
            self.runtime, user_id, target, dry_run=dry_run, grace=grace, confirmed=confirmed
        )

    async def restore(self, *, user_id: str) -> Restorable | None:
        """Restores what `forget` removed last, within its time of grace; later turns stay.

        Returns:
            What it was; None if there is nothing to restore.

        Raises:
            StoreError: If it could not be written; it can still be restored.
        """
        return await forgetting.restore(self.runtime, user_id)

    async def export(self, user_id: str) -> AsyncIterator[str]:
        """Everything known of a user as lines of JSON (`hotmem.portability.jsonl`)."""
        user = await self.runtime.find_user(user_id)
        if user is not None:
            await self.audit(Act(Action.EXPORT, "export"), user_id=user_id)
            async for line in export_lines(self.runtime.storage, user, user_id):
                yield line

    async def import_records(
        self,
        source: str | Path | ImportSource,
        progress: Callable[[], None] = lambda: None,
        *,
        with_forgotten: bool = False,
    ) -> ImportResult:
        """Imports a file that `export` wrote, or one of turns alone, in small transactions.

        What is there already stays as it is. Forgotten turns and memories stay out, by their ids,
        and are counted. An interrupted import continues when the same file is imported again. A
        finished one is listed among the decisions and can be undone.

        Args:
            source: The file (form: `hotmem.portability.jsonl`), or records of other programs as
                `hotmem.tools.files` reads them.
            progress: Called after each record.
            with_forgotten: Whether forgotten turns and memories are imported as well.

        Raises:
            InvalidInput: If the source has another type, or a line cannot be used, naming it;
                nothing of the file is kept.
            StoreLocked: If another program holds the database or imports the same file; import it
                again to continue.
            StoreError: If it could not be written; nothing of the file is kept.
        """
        runtime = self.runtime
        validate_type(source, str | Path | ImportSource, "source", "Pass the path of a file.")
        incoming = (
            source
            if isinstance(source, ImportSource)
            else await asyncio.to_thread(hotmem_source, Path(source))
        )
        try:
            return await importer.import_records(
                runtime.storage,
                runtime.priority,
                incoming,
                progress,
                with_forgotten=with_forgotten,
            )
        finally:
            runtime.worker.wake()

    async def audit(self, act: Act, *, user_id: str | None) -> None:
        """Records in the audit trail what the current actor did (`hotmem.operations.results`).

        A failure to write it is logged and not raised.

        Args:
            act: What was done.
            user_id: Whose memory; None for an act on the whole database.
        """
        runtime = self.runtime
        user = None
        if user_id is not None:
            user = await runtime.database.read_all(queries.users.find, user_id)
        if user_id is None or user is not None:
            await runtime.record(user, act)

    def _time(self, at: datetime | None) -> datetime:
        """The time that is given, or the current one in the user's time zone."""
        return self.runtime.options.now() if at is None else aware(at, "at")

    def _explicit_request(
        self, query: str, user_id: str, session_id: str | None, at: datetime | None
    ) -> RecallRequest:
        """The request of a tool: searches all layers, without a deadline."""
        return RecallRequest(
            text=validate_text(query, "query"),
            user_id=validate_id(user_id, "user_id"),
            session_id=_optional_id(session_id),
            at=self._time(at),
            max_tokens=self.runtime.options.recall.max_tokens,
            explicit=True,
        )


def _read_act(what: str, counts: Counter[str]) -> Act:
    """The audit entry of a search, given how many results of each content type it had."""
    turns, sessions = counts["turn"], counts["summary"]
    return Act(Action.READ, what, turns, counts.total() - turns - sessions, sessions)


def _optional_id(session_id: str | None) -> str | None:
    """The id of a session, if one is given."""
    return None if session_id is None else validate_id(session_id, "session_id")


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
