"""What one conversation is told without asking.

Prepared when it opens, whole at its start, the user's wishes ever after.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, TypeAlias

from hotmem.memory import Memory
from hotmem.pipecat.context import Question
from hotmem.pipecat.recall_session import Failed, Terms
from hotmem.types import ContextBlock

SETTLED_S: Final = 10.0
"""Seconds for which what was said is waited to be understood before it is read again."""

Spawn: TypeAlias = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]
"""Makes a named task that the pipeline owns."""


class SessionStart:
    """The opening of one conversation.

    It is read in a task of its own; nobody waits for it longer than they wish.

    Args:
        terms: What is the same for the whole conversation.
        max_tokens: Tokens of the block at most; None takes the memory's own option, 0 switches it
            off.
        spawn: Makes a task that the pipeline owns.
        failed: Told of failures.

    Attributes:
        whole: All of it, once it was read.
    """

    def __init__(self, terms: Terms, max_tokens: int | None, spawn: Spawn, failed: Failed) -> None:
        self._terms = terms
        self._max_tokens = max_tokens
        self._spawn = spawn
        self._failed = failed
        self._read = asyncio.Event()
        self.whole: ContextBlock | None = None
        self._wishes: ContextBlock | None = None
        self._first: tuple[int, int] | None = None
        self._task: asyncio.Task[None] | None = None
        self._awaited = False
        self._stale = False
        self._whole_stale = False

    def prepare(self, memory: Memory) -> None:
        """Begins to read it; a second time once all that was said before is understood."""
        if self._switched_on(memory):
            self._task = self._spawn(self._prepare(memory), "hotmem-opening")

    def refresh(self, memory: Memory, *, whole: bool = False) -> None:
        """Reads again what may have changed, once what was said is understood.

        Args:
            memory: The memory.
            whole: Whether more than wishes may have changed, as when something was forgotten.
        """
        self._stale = True
        self._whole_stale = self._whole_stale or whole
        if self._switched_on(memory) and (self._task is None or self._task.done()):
            self._task = self._spawn(self._refresh(memory), "hotmem-opening")

    async def block(self, question: Question | None, wait_s: float) -> ContextBlock | None:
        """What the model is to be told besides the block of its question.

        None if nothing is there in time.

        Args:
            question: What is asked; None where the bot speaks first.
            wait_s: Seconds it is waited for at most.
        """
        if self._task is None:
            return None
        if not self._read.is_set() and wait_s > 0 and not self._awaited:
            self._awaited = True
            with suppress(TimeoutError):
                await asyncio.wait_for(self._read.wait(), wait_s)
        if self.whole is None:
            return None
        turn = None if question is None else (question.turn, question.number)
        if turn is not None and self._first is None:
            self._first = turn
        return self.whole if turn in (None, self._first) else self._wishes

    async def close(self) -> None:
        """Ends the reading."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _switched_on(self, memory: Memory) -> bool:
        return (
            memory.options.recall.opening_tokens if self._max_tokens is None else self._max_tokens
        ) > 0

    async def _prepare(self, memory: Memory) -> None:
        await self._update(memory, settled=False)
        await self._refresh(memory)

    async def _refresh(self, memory: Memory) -> None:
        self._stale = True
        while self._stale:
            self._stale = False
            await self._update(memory, settled=True)

    async def _update(self, memory: Memory, *, settled: bool) -> None:
        """Reads it as it is, or once all is understood.

        While something is not, the second reading is worth waiting for.
        """
        try:
            if settled:
                with suppress(TimeoutError):
                    await asyncio.wait_for(memory.settle(), SETTLED_S)
            if self._first is None or self._whole_stale:
                self._whole_stale = False
                self.whole = await self._opening(memory, rules_only=False)
            self._wishes = await self._opening(memory, rules_only=True)
            if settled or not self._wishes.trace.late:
                self._read.set()
        except Exception as error:  # the bot speaks without it
            self._read.set()
            await self._failed("opening", error)

    async def _opening(self, memory: Memory, *, rules_only: bool) -> ContextBlock:
        terms = self._terms
        return await memory.opening(
            user_id=terms.user_id,
            session_id=terms.session_id,
            at=terms.clock(),
            max_tokens=self._max_tokens,
            rules_only=rules_only,
        )
