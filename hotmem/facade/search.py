"""`Memory.store_memory` and the searches: what tools, MCP and the command line offer."""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from hotmem.core.location import Location
from hotmem.core.logs import log
from hotmem.core.metrics import count_hits, timed_search
from hotmem.core.threads import ForegroundPriority
from hotmem.core.validation import validate_number, validate_type
from hotmem.errors import InvalidInput, MemoryClosed, StoreError
from hotmem.operations import contextual_search, explain, requested_search, search, store
from hotmem.operations.contextual_results import ContextualResult
from hotmem.operations.requested_search import DescribedStatement
from hotmem.operations.requests import SearchOptions, StoreContext, TraceOptions, checked
from hotmem.operations.results import SearchResult, SearchTrace, StoreResult, actor
from hotmem.operations.suppression import SuppressedTexts
from hotmem.options import MIN_TOKENS, Options
from hotmem.retrieval.context import RecallRequest
from hotmem.runtime import Runtime
from hotmem.storage import queries
from hotmem.storage.database import Database
from hotmem.storage.spool import Spool
from hotmem.text.validation import MAX_STATEMENT_CHARACTERS, validate_id, validate_text
from hotmem.types import Act, Action, Actor, Category, EvolutionResult, Subcategory, UserKey, aware

AUDITED_READERS: Final = (Actor.TOOL, Actor.MCP, Actor.COMMAND_LINE)
"""Actors whose reads are in the audit trail. A bot's recalls are in the records of use instead."""

REMEMBERED_BLOCKS: Final = 256
"""Blocks with feedback that are remembered, so that a second one does not count."""


class MemoryBase:
    """State that the groups of methods share.

    Args:
        location: The memory file, or the URL of the database.
        options: The memory's options.

    Raises:
        InvalidInput: If the options have another type.
    """

    def __init__(self, location: Location, options: Options) -> None:
        fix = "Pass Options(...), or Settings.from_environment(opening_tokens=3).options()."
        validate_type(options, Options, "options", fix)
        self.location = location
        self.options = options
        self._priority = ForegroundPriority()
        self._suppressed = SuppressedTexts()
        self._off_record = SuppressedTexts()
        self._forget_version = 0
        self._fed_back: deque[str] = deque(maxlen=REMEMBERED_BLOCKS)
        self._runtime: Runtime | None = None
        self._spool: Spool | None = None

    @property
    def path(self) -> Path:
        """The memory file.

        Raises:
            InvalidInput: If the memory is a database on a server.
        """
        if isinstance(self.location, Path):
            return self.location
        raise InvalidInput(f"{self.location} is no file. Use the server's own tools for it.")

    @property
    def runtime(self) -> Runtime:
        """The live parts, for HotMem's own tools and measurements. They may change any time.

        Raises:
            MemoryClosed: If the memory is not open.
        """
        if self._runtime is None:
            raise MemoryClosed(
                "The memory is not open. Use `async with Memory.open(path) as memory`, or await"
                " memory.start() first."
            )
        return self._runtime

    @property
    def priority(self) -> ForegroundPriority:
        """Lets recalls go before the long work of HotMem's own tools."""
        return self._priority

    async def audit(self, act: Act, *, user_id: str | None) -> None:
        """Records in the audit trail what the current actor did (`hotmem.operations.results`).

        A failure to write it is logged and not raised.

        Args:
            act: What was done.
            user_id: Whose memory; None for an act on the whole database.
        """
        user = (
            None if user_id is None else await self._database.read_all(queries.users.find, user_id)
        )
        if user_id is None or user is not None:
            await self._record(user, act)

    async def _record(self, user: UserKey | None, act: Act) -> None:
        if not self.options.audit.on or self._database.read_only:
            return
        try:
            now = datetime.now(UTC)
            if user is None:
                await self._database.write_all(queries.retention.record, None, actor(), act, now)
            else:
                await self._database.write(queries.retention.record, user, actor(), act, now)
        except StoreError as error:
            log.warning(
                "audit entry not written",
                action=act.action,
                what=act.what,
                error=type(error).__name__,
            )

    @property
    def _database(self) -> Database:
        return self.runtime.storage.database

    async def _find_user(self, user_id: str) -> UserKey | None:
        """The user's row number; None for an unknown user."""
        return await self._database.read_all(queries.users.find, validate_id(user_id, "user_id"))


MAX_NAME_CHARACTERS: Final = 80


class SubcategoryMethods(MemoryBase):
    """Subcategories of the categories."""

    async def subcategories(self, user_id: str) -> list[Subcategory]:
        """The user's subcategories, by category, the largest first."""
        user = await self._find_user(user_id)
        if user is None:
            return []
        return await self._database.read(queries.subcategories.of_user, user)

    async def evolve(
        self, user_id: str, *, category: Category | None = None
    ) -> list[EvolutionResult]:
        """Finds a user's subcategories again now; the worker does so every few hours.

        Args:
            user_id: Whose memory.
            category: Which category; None for all.

        Raises:
            InvalidInput: If there is no such category.
            StoreError: If they could not be written; they stay as they were.
        """
        if category is not None:
            validate_category(category)
        user = await self._find_user(user_id)
        if user is None:
            return []
        return await self.runtime.worker.evolve(user, Category if category is None else [category])

    async def rename_subcategory(
        self, user_id: str, category: Category, name: str, new_name: str
    ) -> str:
        """Renames and pins a subcategory. Line breaks and tabs in the new name become spaces.

        Returns:
            The decision's id.

        Raises:
            InvalidInput: If there is no such subcategory, or another has the new name.
            StoreError: If it could not be written.
        """
        user = await self._of(user_id, category, name)
        new_name = " ".join(validate_text(new_name, "new_name", MAX_NAME_CHARACTERS).split())
        return await self._database.write(
            queries.subcategories.rename, user, category, name, new_name, datetime.now(UTC)
        )

    async def merge_subcategories(
        self, user_id: str, category: Category, into: str, others: Sequence[str]
    ) -> str:
        """Moves the memories of subcategories into another one, which is pinned.

        Returns:
            The decision's id.

        Raises:
            InvalidInput: If one of them does not exist, or is named twice.
            StoreError: If it could not be written.
        """
        user = await self._of(user_id, category, into)
        return await self._database.write(
            queries.subcategories.merge, user, category, into, others, datetime.now(UTC)
        )

    async def split_subcategory(self, user_id: str, category: Category, name: str) -> str:
        """Splits a subcategory by topic into two or three, which are pinned.

        Returns:
            The decision's id.

        Raises:
            InvalidInput: If there is no such subcategory, or its memories share one topic.
            StoreError: If it could not be written.
        """
        user = await self._of(user_id, category, name)
        return await self.runtime.worker.split(user, category, name)

    async def pin_subcategory(
        self, user_id: str, category: Category, name: str, *, pinned: bool = True
    ) -> str:
        """Keeps a subcategory as it is when its category evolves, or lets it change again.

        Returns:
            The decision's id.

        Raises:
            InvalidInput: If there is no such subcategory.
            StoreError: If it could not be written.
        """
        user = await self._of(user_id, category, name)
        return await self._database.write(
            queries.subcategories.pin, user, category, name, pinned, datetime.now(UTC)
        )

    async def _of(self, user_id: str, category: Category, name: str) -> UserKey:
        """The user's row number, for a change of a subcategory of this name."""
        validate_category(category)
        user = await self._find_user(user_id)
        if user is None:
            raise queries.subcategories.missing(category, name)
        return user


def validate_category(category: str) -> None:
    """Check that there is a category of this name.

    Raises:
        InvalidInput: If there is none.
    """
    if category not in tuple(Category):
        raise InvalidInput(f"category is {category!r}. Use one of: {', '.join(Category)}.")


class SearchMethods(MemoryBase):
    """Explicit stores and searches."""

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
        with self._priority.foreground():
            stored = await runtime.threads.storing.run(
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
        with self._priority.foreground(), timed_search("search_memory"):
            found = await runtime.threads.recalls.run(
                search.search(runtime.recall, request, wanted)
            )
        try:
            await search.count_access(runtime.storage, request.user_id, found, datetime.now(UTC))
        except StoreError as error:  # the result is right all the same
            log.info("accesses not counted", error=type(error).__name__)
        counts = Counter(result.content_type for result in found.results)
        count_hits("search_memory", counts)
        turns, sessions = counts["turn"], counts["summary"]
        memories = counts.total() - turns - sessions
        act = Act(Action.READ, "search_memory", turns=turns, memories=memories, sessions=sessions)
        await self.audit(act, user_id=user_id)
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
        with self._priority.foreground(), timed_search("search_contextual"):
            found = await runtime.threads.recalls.run(
                contextual_search.search_contextual(runtime.recall, request, max_tokens)
            )
        elsewhere = Counter(one.content_type for one in found.elsewhere)
        turns = sum(len(session.messages) for session in found.sessions) + elsewhere["turn"]
        sessions = len(found.sessions) + elsewhere["summary"]
        memories = elsewhere.total() - elsewhere["turn"] - elsewhere["summary"]
        count_hits("search_contextual", {"turn": turns, "session": sessions})
        act = Act(
            Action.READ, "search_contextual", turns=turns, memories=memories, sessions=sessions
        )
        await self.audit(act, user_id=user_id)
        return found

    async def find_described(
        self, description: str, *, user_id: str
    ) -> tuple[DescribedStatement, ...]:
        """Statements that may be what somebody describes, the one that fits best first.

        Args:
            description: A statement in the user's words, or words for one: "the dentist
                appointment".
            user_id: Whose memory; an unknown user has none.

        Raises:
            InvalidInput: If an argument cannot be used.
            StoreError: If the database cannot be read.
        """
        runtime, description = self.runtime, validate_text(description, "description")
        user = await self._find_user(user_id)
        if user is None:
            return ()
        with self._priority.foreground():
            return await runtime.threads.recalls.run(
                requested_search.find_described(runtime.recall, user, description)
            )

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
        with self._priority.foreground():
            found = await runtime.threads.recalls.run(
                explain.explain(runtime.recall, request, wanted)
            )
        await self.audit(Act(Action.READ, "trace_search"), user_id=user_id)
        return found

    def _explicit_request(
        self, query: str, user_id: str, session_id: str | None, at: datetime | None
    ) -> RecallRequest:
        """The request of a tool: searches all layers, without a deadline."""
        return RecallRequest(
            text=validate_text(query, "query"),
            user_id=validate_id(user_id, "user_id"),
            session_id=None if session_id is None else validate_id(session_id, "session_id"),
            at=self.options.now() if at is None else aware(at, "at"),
            max_tokens=self.options.recall.max_tokens,
            explicit=True,
        )
