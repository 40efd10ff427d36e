"""The user's questions and the search for each one's block: ahead of the question, in time for it, and kept when it was late."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from time import perf_counter
from typing import Final, TypeAlias

import structlog
from pipecat.processors.aggregators.llm_context import LLMContext

from hotmem.commands import Commands
from hotmem.memory import Memory
from hotmem.pipecat.context import Question, latest_question, spoken, visible_before, visible_texts
from hotmem.pipecat.exchange import Exchange, Timing
from hotmem.pipecat.prefetch import Ask, Prefetch, Recall, Search
from hotmem.types import ContextBlock, Item

MEMORY_SHARE: Final = 0.95
"""Share of the deadline the memory is told, so that a block of what was ready by then still arrives in time."""

UNHURRIED_MS: Final = 2000.0
"""Deadline of a search that nobody waits for: one ahead of the question, or one for what was late."""

Failed: TypeAlias = Callable[[str, Exception], Awaitable[None]]
"""Told the stage of a failure and its exception."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Terms:
    """What is the same for all questions of a conversation.

    Attributes:
        user_id: Whose memory it is.
        session_id: The conversation.
        deadline_ms: Milliseconds a question waits for its block at most; 0 takes only what is ready.
        max_tokens: Tokens of a block at most; None takes the memory's own option.
        clock: Tells when something was said.
    """

    user_id: str
    session_id: str
    deadline_ms: float
    max_tokens: int | None
    clock: Callable[[], datetime]


class Questions:
    """The questions of one conversation.

    Args:
        terms: What is the same for all of them.
        spawn: Makes a named task that the pipeline owns.
        failed: Told of failures.

    Attributes:
        memory: The memory; None while there is none.
        commands: What the user asked of the memory itself.
        exchanges: The last two questions, oldest first.
        late: Blocks that missed the deadline.
    """

    def __init__(self, terms: Terms, spawn: Callable[[Coroutine[object, object, ContextBlock | None], str], Recall], failed: Failed) -> None:
        self.memory: Memory | None = None
        self.commands = Commands(terms.user_id, terms.session_id)
        self.exchanges: deque[Exchange] = deque(maxlen=2)
        self.late = 0
        self._terms = terms
        self._spawn = spawn
        self._failed = failed
        self._prefetch = Prefetch(lambda ask: self._searching(ask, UNHURRIED_MS))
        self._context: LLMContext | None = None
        self._turns = 0

    def foresee(self, heard: str, *, whole: bool) -> None:
        """Searches ahead for what is being said.

        Args:
            heard: All of the turn so far.
            whole: Whether the speaker has paused; otherwise the search waits until the words settle.
        """
        if self.memory is None:
            return
        ask = Ask(spoken(heard), () if self._context is None else visible_texts(self._context))
        if whole:
            self._prefetch.finish(ask)
        else:
            self._prefetch.hear(ask)

    def turn_ended(self) -> None:
        """Notes that a turn of the user is over; the same words after it are another question."""
        self._turns += 1

    def interrupted(self) -> None:
        """Notes that the user broke into the reply."""
        if self.exchanges:
            self.exchanges[-1].interrupted = True

    def asked(self, context: LLMContext, *, speculation: bool) -> Exchange | None:
        """The exchange a context belongs to: the current one when a tool's result or a confirmed guess comes back, else a new one.

        None if there is nothing to ask or no memory to be asked.
        """
        if not speculation:
            self._context = context
        question = latest_question(context, self._turns + speculation)
        if question is None or self.memory is None:
            return None
        if not self.exchanges or self.exchanges[-1].question != question:
            if len(self.exchanges) == self.exchanges.maxlen:
                _give_up(self.exchanges[0])
            self.exchanges.append(self._exchange(self.memory, question, Ask(question.text, visible_before(context, question))))
        return self.exchanges[-1]

    async def block(self, exchange: Exchange) -> tuple[ContextBlock | None, Timing]:
        """The block of an exchange with what is ready by the deadline; None if nothing is. What is late is kept for the next question."""
        arrived = perf_counter()
        await asyncio.wait({exchange.recall}, timeout=self._terms.deadline_ms / 1000)
        block = exchange.block
        if block is None and not exchange.recall.done():
            self.late += 1
            log.warning("recall late", session_id=self._terms.session_id, deadline_ms=self._terms.deadline_ms)
        if block is not None and block.trace.late and exchange.unhurried is None:
            exchange.unhurried = self._searching(exchange.ask, UNHURRIED_MS)
        if block is not None and not block.text:
            block = self._left_over() or block
        stages = {} if block is None else block.trace.stages
        return block, Timing(max(arrived - exchange.began, 0) * 1000, (perf_counter() - arrived) * 1000, stages)

    async def close(self, cancel: Callable[[Recall], Awaitable[None]]) -> None:
        """Ends all searches."""
        self._prefetch.stop()
        for exchange in self.exchanges:
            for search in exchange.searches:
                await cancel(search)

    def _exchange(self, memory: Memory, question: Question, ask: Ask) -> Exchange:
        """Takes over the search that was begun ahead, if it was for these words."""
        ahead = self._prefetch.found(ask)
        if ahead is None:
            self._prefetch.stop()
        given = next((exchange.given.items for exchange in reversed(self.exchanges) if exchange.given), ())
        recall = self._spawn(self._answer(memory, ask, given, ahead), "hotmem-recall")
        return Exchange(question, ask, recall, perf_counter() if ahead is None else ahead.began)

    async def _answer(self, memory: Memory, ask: Ask, given: Sequence[Item], ahead: Search | None) -> ContextBlock | None:
        """What was asked of the memory itself is done; for anything else there is a search."""
        terms = self._terms
        try:
            at, most = terms.clock(), terms.max_tokens or memory.options.recall.max_tokens
            if (done := await self.commands.answer(memory, ask.text, at, given, most)) is not None:
                return done
        except Exception as error:  # the turn goes on without a block
            await self._failed("recall", error)
            return None
        if ahead is None:
            return await self._search(memory, ask, terms.deadline_ms * MEMORY_SHARE or UNHURRIED_MS)
        found = await asyncio.shield(ahead.task)
        return found and replace(found, query=ask.text, at=at)

    def _searching(self, ask: Ask, deadline_ms: float) -> Recall:
        assert self.memory is not None
        return self._spawn(self._search(self.memory, ask, deadline_ms), "hotmem-search")

    async def _search(self, memory: Memory, ask: Ask, deadline_ms: float) -> ContextBlock | None:
        terms = self._terms
        try:
            return await memory.recall(
                ask.text,
                user_id=terms.user_id,
                session_id=terms.session_id,
                at=terms.clock(),
                max_tokens=terms.max_tokens,
                deadline_ms=deadline_ms,
                visible=(*ask.visible, ask.text),
            )
        except Exception as error:  # the turn goes on without a block
            await self._failed("recall", error)
            return None

    def _left_over(self) -> ContextBlock | None:
        """What came too late for the question before; offered to a turn that asks for nothing itself."""
        return self.exchanges[0].late if len(self.exchanges) == self.exchanges.maxlen else None


def _give_up(exchange: Exchange) -> None:
    for search in exchange.searches:
        search.cancel()
