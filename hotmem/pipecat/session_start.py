"""The opening block: what the bot knows before the user asks.

Injected when the bot speaks first and with the user's first turn; the user's standing instructions
with every later turn.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from hotmem.memory import Memory
from hotmem.pipecat.session_settings import Conversation, ConversationPart, Guests
from hotmem.pipecat.turn_state import TurnState
from hotmem.types import ContextBlock, Item

WARM_UP: Final = "What do you know about me?"
"""A question that searches every layer. Its answer is not used."""

WARM_UP_TIMEOUT_S: Final = 2.0
"""Seconds after which it is given up: on a server that hangs, recalls wait for it."""

SETTLE_TIMEOUT_S: Final = 10.0
"""Seconds to wait for background work before the opening block is made again."""


class SessionStart(ConversationPart):
    """The opening block of one conversation, made in a task.

    Args:
        conversation: The conversation.
    """

    def __init__(self, conversation: Conversation) -> None:
        super().__init__(conversation)
        self._ready = asyncio.Event()
        self._opening: ContextBlock | None = None
        self._instructions: ContextBlock | None = None
        self._delivered: ContextBlock | None = None
        self._first_message: tuple[int, int] | None = None
        self._task: asyncio.Task[None] | None = None
        self._has_waited = False
        self._is_stale = False
        self._is_opening_stale = False

    def prepare(self) -> None:
        """Start to make the block, and make it again once background work is done.

        What recall keeps in memory of the user is loaded meanwhile, before they have spoken.
        """
        memory = self._handle.current
        if memory is not None:
            self._task = self._create_task(self._prepare(memory), "hotmem-opening")

    def refresh(self, memory: Memory, *, whole: bool = False) -> None:
        """Make the block again once background work is done.

        Args:
            memory: The memory.
            whole: Whether more than the user's instructions may have changed, as after a deletion.
        """
        self._is_stale = True
        self._is_opening_stale = self._is_opening_stale or whole
        if self._is_enabled(memory) and (self._task is None or self._task.done()):
            self._task = self._create_task(self._refresh(memory), "hotmem-opening")

    async def wait(self, turn: TurnState | None, timeout_s: float) -> ContextBlock | None:
        """The block for a turn; None if it is not ready in time.

        Args:
            turn: The turn; None where the bot speaks first.
            timeout_s: Maximum time to wait, in seconds; only the first call waits.
        """
        if self._task is None:
            return None
        if not self._ready.is_set() and timeout_s > 0 and not self._has_waited:
            self._has_waited = True
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ready.wait(), timeout_s)
        guest = self._settings.in_room if turn is None else turn.request.guest is not None
        given = self._given(to_guest=guest)
        if turn is None or given is None or given is not self._opening:
            return given
        key = (turn.message.turn, turn.message.number)
        self._first_message = self._first_message or key
        return given if key == self._first_message else self._instructions

    async def ready(self) -> ContextBlock | None:
        """The block of a session whose turns have none, as soon as it is ready; None without."""
        if self._task is None:
            return None
        await self._ready.wait()
        return self._given(to_guest=self._settings.in_room)

    def add_delivered(self, block: ContextBlock) -> bool:
        """Record that the language model was given a block.

        Returns:
            Whether it is a whole opening block that was not given before.
        """
        if not block.text or block is not self._opening or block is self._delivered:
            return False
        self._delivered = block
        return True

    @property
    def delivered_items(self) -> Sequence[Item]:
        """Items of the opening block that the language model was given."""
        return () if self._delivered is None else self._delivered.items

    async def close(self) -> None:
        """Cancel the task."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _given(self, *, to_guest: bool) -> ContextBlock | None:
        """The block for the user; only their instructions where another may be asking."""
        hidden = to_guest and self._settings.guests is not Guests.ALL
        return self._instructions if hidden else self._opening

    def _is_enabled(self, memory: Memory) -> bool:
        tokens = self._settings.opening_tokens
        return (memory.runtime.options.recall.opening_tokens if tokens is None else tokens) > 0

    async def _prepare(self, memory: Memory) -> None:
        enabled = self._is_enabled(memory)
        if enabled:
            await self._update(memory, settle=False)
        else:
            self._ready.set()
        await self._warm_up(memory)
        if enabled:
            await self._refresh(memory)

    async def _warm_up(self, memory: Memory) -> None:
        try:
            await memory.recall(
                WARM_UP, user_id=self._settings.user_id, deadline_ms=WARM_UP_TIMEOUT_S * 1000
            )
        except Exception as error:  # the first recall loads it then
            await self._report_failure("opening", error)

    async def _refresh(self, memory: Memory) -> None:
        self._is_stale = True
        while self._is_stale:
            self._is_stale = False
            await self._update(memory, settle=True)

    async def _update(self, memory: Memory, *, settle: bool) -> None:
        """Make the block.

        Args:
            memory: The memory.
            settle: Whether to wait for background work first. A block made before that is not
                ready if it is incomplete.
        """
        try:
            if settle:
                with suppress(TimeoutError):
                    settled = memory.settle(self._settings.user_id)
                    await asyncio.wait_for(settled, SETTLE_TIMEOUT_S)
            if self._first_message is None or self._is_opening_stale:
                self._is_opening_stale = False
                self._opening = await self._make_block(memory, rules_only=False)
            self._instructions = await self._make_block(memory, rules_only=True)
            if settle or not self._instructions.trace.late:
                self._ready.set()
        except Exception as error:  # the bot speaks without it
            self._ready.set()
            await self._report_failure("opening", error)

    async def _make_block(self, memory: Memory, *, rules_only: bool) -> ContextBlock:
        settings = self._settings
        return await memory.opening(
            user_id=settings.user_id,
            session_id=settings.session_id,
            at=settings.clock(),
            max_tokens=settings.opening_tokens,
            rules_only=rules_only,
        )
