"""The user's questions and the search for each one's block.

Ahead of the question, in time for it, and kept when it was late.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from time import perf_counter
from typing import Final, TypeAlias

from pipecat.processors.aggregators.llm_context import LLMContext

from hotmem.core.logs import log
from hotmem.memory import Memory
from hotmem.pipecat.context import Question, latest_question, spoken, visible_before, visible_texts
from hotmem.pipecat.prefetch import Ask, Prefetch, Recall
from hotmem.pipecat.transcript import Piece, gist
from hotmem.pipecat.turn_state import Timing, TurnState, now_ms
from hotmem.pipecat.voice_commands import VoiceCommands
from hotmem.types import ContextBlock, Item

MEMORY_SHARE: Final = 0.95
"""Share of the deadline the memory is told, so that a block of what was ready by then still
arrives in time."""

UNHURRIED_MS: Final = 2000.0
"""Deadline of a search that nobody waits for: one ahead of the question, or one for what was
late."""

Spawn: TypeAlias = Callable[[Coroutine[object, object, ContextBlock | None], str], Recall]
"""Makes a named task that the pipeline owns."""

Failed: TypeAlias = Callable[[str, Exception], Awaitable[None]]
"""Told the stage of a failure and its exception."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What is the same for all questions of a conversation.

    Attributes:
        user_id: Whose memory it is.
        session_id: The conversation.
        deadline_ms: Milliseconds a question waits for its block at most; 0 takes only what is
            ready.
        max_tokens: Tokens of a block at most; None takes the memory's own option.
        clock: Tells when something was said.
    """

    user_id: str
    session_id: str
    deadline_ms: float
    max_tokens: int | None
    clock: Callable[[], datetime]

    @property
    def search_ms(self) -> float:
        """Deadline of a search that a question waits for."""
        return self.deadline_ms * MEMORY_SHARE or UNHURRIED_MS


class RecallSession:
    """The questions of one conversation.

    Args:
        terms: What is the same for all of them.
        spawn: Makes a named task that the pipeline owns.
        failed: Told of failures.
        written: Returns once all that was said before is written: what is to be forgotten must not
            be stored afterwards.

    Attributes:
        memory: The memory; None while there is none.
        commands: What the user asked of the memory itself.
        exchanges: The last two questions, oldest first.
        late: Questions whose block was late, or in part.
        opened: Items that the model was given without being asked.
    """

    def __init__(
        self, terms: Terms, spawn: Spawn, failed: Failed, written: Callable[[], Awaitable[None]]
    ) -> None:
        self.memory: Memory | None = None
        self.commands = VoiceCommands(terms.user_id, terms.session_id)
        self.exchanges: deque[TurnState] = deque(maxlen=2)
        self.late = 0
        self.opened: Sequence[Item] = ()
        self._terms = terms
        self._spawn = spawn
        self._failed = failed
        self._written = written
        self._prefetch = Prefetch()
        self._context: LLMContext | None = None
        self._turns = 0

    def prefetch(self, heard: str, *, paused: bool, final: bool) -> None:
        """Searches ahead for what is being said.

        Args:
            heard: All of the turn so far.
            paused: Whether the speaker has paused; otherwise the search waits until the words
                settle.
            final: Whether the question may come any moment, so that a part of the answer in time is
                better than all of it too late.
        """
        memory = self.memory
        if memory is None or (memory.options.rewriting.model and not paused):
            return  # half a sentence is not sent to a language model that may be far away
        ask = Ask(
            spoken(heard),
            () if self._context is None else visible_texts(self._context),
            self._turns + 1,
        )
        search_ms = self._terms.search_ms if final else UNHURRIED_MS
        self._prefetch.hear(
            ask,
            lambda: self._spawn(self._search(memory, ask, search_ms), "hotmem-search"),
            at_once=paused,
        )

    def turn_ended(
        self, text: str, pieces: Sequence[Piece] = (), guests: Collection[str | None] = ()
    ) -> tuple[str, ...]:
        """Notes that a turn of the user is over; the same words after it are another question.

        What a guess asked of the memory itself is done only now that it was really said.

        Args:
            text: What was said.
            pieces: The same, cut up by speaker.
            guests: Speakers that are not the user.

        Returns:
            Ids of turns that the user took back.
        """
        self._turns += 1
        own, others = (
            " ".join(spoken(piece.text) for piece in pieces if (piece.speaker in guests) is theirs)
            for theirs in (False, True)
        )
        going = self.commands.hear(self._turns, spoken(text), others, own=own if pieces else None)
        exchange = self.exchanges[-1] if self.exchanges else None
        if exchange is not None and exchange.guessed and gist(exchange.ask.text) == gist(text):
            exchange.guessed = False
            if self.memory is not None and self.commands.concern(text):
                exchange.unhurried = self._spawn(
                    self._command(self.memory, exchange.ask, self._given()), "hotmem-command"
                )
        return going

    def interrupted(self) -> None:
        """Notes that the user broke into the reply."""
        if self.exchanges:
            self.exchanges[-1].interrupted = True

    def calling(self) -> None:
        """Notes that the model called a tool: the reply goes on once the tool has answered."""
        if self.exchanges:
            self.exchanges[-1].resumed_at = None

    def asked(self, context: LLMContext, *, speculation: bool) -> TurnState | None:
        """The exchange a context belongs to.

        The current one when a tool's result or a confirmed guess comes back, else a new one.

        None if there is nothing to ask or no memory to be asked.
        """
        if not speculation:
            self._context = context
        question = latest_question(context, self._turns + speculation)
        if question is None or self.memory is None:
            return None
        if not self.exchanges or self.exchanges[-1].question != question:
            self._append(
                self._exchange(
                    self.memory, question, visible_before(context, question), guessed=speculation
                )
            )
        elif self.exchanges[-1].resumed_at is None:
            self.exchanges[-1].resumed_at = now_ms()
        return self.exchanges[-1]

    async def block(self, exchange: TurnState) -> tuple[ContextBlock | None, Timing]:
        """The block of an exchange with what is ready by the deadline; None if nothing is.

        What is late is kept for the next question.
        """
        arrived = perf_counter()
        if not exchange.recall.done():
            await asyncio.wait({exchange.recall}, timeout=self._patience_ms(exchange) / 1000)
        block = own = exchange.block
        if not exchange.recall.done() or (
            block is not None and block.trace.late and exchange.unhurried is None
        ):
            self._note_late(exchange)
        if (
            block is not None
            and not block.text
            and block.trace.analysis is not None
            and not block.trace.analysis.needs_memory
        ):
            block = self._left_over() or block
        stages = (
            own.trace.stages
            if own is not None and own is block and exchange.unhurried is None
            else {}
        )
        return block, Timing(
            max(arrived - exchange.began, 0) * 1000, (perf_counter() - arrived) * 1000, stages
        )

    def stop(self) -> None:
        """Begins no search ahead any more."""
        self.memory = None
        self._prefetch.stop()

    async def close(self) -> None:
        """Ends all searches."""
        self.stop()
        searches = [search for exchange in self.exchanges for search in exchange.searches]
        for search in searches:
            search.cancel()
        await asyncio.gather(*searches, return_exceptions=True)

    def _patience_ms(self, exchange: TurnState) -> float:
        """What is asked of the memory itself is worth a pause.

        A deletion that the bot does not ask about is not done.
        """
        deadline = self._terms.deadline_ms
        return max(deadline, UNHURRIED_MS) if deadline and exchange.command else deadline

    def _append(self, exchange: TurnState) -> None:
        """A guess that was withdrawn makes room for what was really said.

        Of the others the oldest goes.
        """
        if self.exchanges and self.exchanges[-1].guessed:
            _give_up(self.exchanges.pop())
        elif len(self.exchanges) == self.exchanges.maxlen:
            _give_up(self.exchanges.popleft())
        self.exchanges.append(exchange)

    def _exchange(
        self, memory: Memory, question: Question, visible: tuple[str, ...], *, guessed: bool
    ) -> TurnState:
        """Takes over the search that was begun ahead, if it was for these words."""
        ask = Ask(question.text, visible, question.turn)
        ahead, command = self._prefetch.take(ask), self.commands.concern(ask.text)
        if ahead is None:
            recall = self._spawn(self._answer(memory, ask, None, guessed=guessed), "hotmem-recall")
            return TurnState(question, ask, recall, perf_counter(), guessed, command=command)
        found = ahead.task.result() if ahead.task.done() else None
        if found is None or memory.outdated(found) or (not guessed and command):
            recall = self._spawn(
                self._answer(memory, ask, ahead.task, guessed=guessed), "hotmem-recall"
            )
        else:
            recall = asyncio.get_running_loop().create_future()
            recall.set_result(replace(found, query=ask.text, at=self._terms.clock()))
        return TurnState(question, ask, recall, ahead.began, guessed, ahead.task, command=command)

    async def _answer(
        self, memory: Memory, ask: Ask, ahead: Recall | None, *, guessed: bool
    ) -> ContextBlock | None:
        """What was asked of the memory itself is done; for anything else there is a search."""
        if not guessed and (done := await self._command(memory, ask, self._given())) is not None:
            return done
        found = None if ahead is None else await asyncio.shield(ahead)
        if found is None or memory.outdated(found):
            return await self._search(memory, ask, self._terms.search_ms)
        return replace(found, query=ask.text, at=self._terms.clock())

    async def _command(
        self, memory: Memory, ask: Ask, given: Sequence[Item]
    ) -> ContextBlock | None:
        terms = self._terms
        try:
            if self.commands.concern(ask.text):
                await self._written()
            return await self.commands.answer(
                memory,
                ask.text,
                terms.clock(),
                given,
                terms.max_tokens or memory.options.recall.max_tokens,
            )
        except Exception as error:  # the turn goes on without a block
            await self._failed("command", error)
            return None

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

    def _given(self) -> Sequence[Item]:
        """The items that the language model was given last."""
        return next(
            (exchange.given.items for exchange in reversed(self.exchanges) if exchange.given),
            self.opened,
        )

    def _note_late(self, exchange: TurnState) -> None:
        """Counts a block that was late, and looks without haste for what it lacks."""
        self.late += 1
        log.warning(
            "recall late", session_id=self._terms.session_id, deadline_ms=self._terms.deadline_ms
        )
        if exchange.recall.done() and self.memory is not None:
            exchange.unhurried = self._spawn(
                self._search(self.memory, exchange.ask, UNHURRIED_MS), "hotmem-search"
            )

    def _left_over(self) -> ContextBlock | None:
        """What came too late for the question before.

        Offered to a turn that asks for nothing itself.
        """
        late = self.exchanges[0].late if len(self.exchanges) == self.exchanges.maxlen else None
        return None if late is None or self.memory is None or self.memory.outdated(late) else late


def _give_up(exchange: TurnState) -> None:
    for search in exchange.searches:
        search.cancel()
