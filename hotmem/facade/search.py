"""`Memory.store_memory` and the searches: what tools, MCP and the command line offer."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from hotmem.core.logs import log
from hotmem.core.metrics import count_hits, timed_search
from hotmem.core.validation import validate_number
from hotmem.errors import StoreError
from hotmem.facade.base import MemoryBase
from hotmem.operations import contextual_search, described, explain, search, store
from hotmem.operations.contextual_results import ContextualResult
from hotmem.operations.described import DescribedStatement
from hotmem.operations.requests import SearchOptions, StoreContext, TraceOptions, checked
from hotmem.operations.results import SearchResult, SearchTrace, StoreResult
from hotmem.options import MIN_TOKENS
from hotmem.retrieval.context import RecallRequest
from hotmem.text.validation import MAX_STATEMENT_CHARACTERS, validate_id, validate_text
from hotmem.types import Act, Action, aware


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
                described.find_described(runtime.recall, user, description)
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
