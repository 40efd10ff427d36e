"""Carries out what a user asks of the memory itself, in one conversation, and says what to tell them."""

import asyncio
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from hotmem.analysis.commands import FORGETTING, RECORD, Command, Order, assents, find_command
from hotmem.context.privacy import is_private
from hotmem.context.render import day, notice
from hotmem.escaping import shown
from hotmem.memory import Memory
from hotmem.types import ContextBlock, Forgotten, Item, Mark, StoredMemory, Trace

MOST_SOURCES: Final = 5
"""Items whose source is told."""


NOT_KEPT: Final = notice("The user is off the record: nothing is stored until they ask to remember again. Do not say that you will remember.")
"""Told with every turn that is off the record: it stays so, and what the model was told of it before is no longer there."""


class Commands:
    """The commands of one conversation: what waits for a yes, and whether anything is kept.

    Args:
        user_id: Whose memory it is.
        session_id: The conversation.
    """

    def __init__(self, user_id: str, session_id: str) -> None:
        self._user_id = user_id
        self._session_id = session_id
        self._waiting: Command | None = None
        self._said_at: datetime | None = None
        self._off_record = False
        self._unkept_reply = False

    def keeps(self, text: str, at: datetime) -> bool:
        """Whether a turn of the user is to be remembered: not off the record, nor if it asks to forget, for it names what is to go."""
        command = find_command(text)
        order = None if command is None else command.order
        if order in RECORD:
            self._off_record = order is Order.OFF_RECORD
        self._unkept_reply = order in RECORD | FORGETTING
        if self._off_record or self._unkept_reply:
            return False
        if not (self._waiting and assents(text)):
            self._said_at = at
        return True

    @property
    def keeps_reply(self) -> bool:
        """Whether the reply to the user's last turn is to be remembered."""
        return not (self._off_record or self._unkept_reply)

    @property
    def off_record(self) -> bool:
        """Whether nothing is kept until the user says otherwise."""
        return self._off_record

    def concern(self, text: str) -> bool:
        """Whether an utterance asks something of the memory itself, or answers what it asked."""
        return self._waiting is not None or find_command(text) is not None

    async def answer(self, memory: Memory, text: str, at: datetime, given: Sequence[Item], max_tokens: int) -> ContextBlock | None:
        """Does what the utterance asks of the memory.

        Args:
            memory: The memory.
            text: What the user said.
            at: When, in the user's zone.
            given: The items that the language model was given last.
            max_tokens: Tokens of the block at most.

        Returns:
            A block that tells the language model what was done, or what to ask; None for any other utterance.

        Raises:
            StoreError: If it could not be done.
        """
        waiting, self._waiting = self._waiting, None
        if waiting is not None and assents(text):
            return self._block(text, at, _forgotten(await self._forget(memory, waiting)), memory.reader.tokens.count)
        command = find_command(text)
        if command is None or (command.order is Order.FORGET_LAST and self._said_at is None):
            return None
        if command.order in FORGETTING:
            self._waiting = command
        told = {
            Order.KEEP: _OFF if self._off_record else "The user asks to remember this. It is kept, word for word. Say so briefly.",
            Order.OFF_RECORD: "The user asks that this is not kept. Nothing is stored from here on until they ask to remember again. Say so briefly.",
            Order.ON_RECORD: "What is said is kept again from here on. Say so briefly.",
            Order.FORGET_LAST: _asking("what they said last"),
            Order.FORGET_ABOUT: _asking(f"everything about “{command.about}”"),
            Order.FORGET_ALL: _asking("everything that is known of them, for good"),
            Order.TELL_SOURCE: _sources(given),
        }
        count = memory.reader.tokens.count
        if command.order is Order.TELL_ALL:
            known = await memory.memories(self._user_id)
            return self._block(text, at, await asyncio.to_thread(_known, known, max_tokens, count), count)
        return self._block(text, at, told[command.order], count)

    async def _forget(self, memory: Memory, command: Command) -> Forgotten:
        match command.order:
            case Order.FORGET_ABOUT:
                return await memory.forget(user_id=self._user_id, entity=command.about)
            case Order.FORGET_LAST:
                return await memory.forget(user_id=self._user_id, after=self._said_at)
            case _:
                return await memory.forget(user_id=self._user_id, everything=True)

    def _block(self, text: str, at: datetime, told: str, count: Callable[[str], int]) -> ContextBlock:
        told = notice(told)
        return ContextBlock(told, count(told), (), Trace(reason="the user asked something of the memory"), self._user_id, self._session_id, text, at)


_ASKS: Final = re.compile(
    r"\?\s*$|^\W*(?:(?:so|and|hey|well|um)\s+)*(?:what|when|where|who|whose|which|why|how|(?:do|does|did|is|are|was|were|can|could|will|would|have|has)\s+"
    r"(?:you|i|we|he|she|it|they|my|our|the))\b",
    re.IGNORECASE,
)
"""A question tells nothing, and is the source of nothing; it may be spoken without a mark."""

_OFF: Final = "The user asks to remember this, but they are off the record and it is not kept. Ask whether to go back on the record first."


def _asking(what: str) -> str:
    return f"The user asks to forget {shown(what)}. Nothing is deleted yet: ask whether they are sure."


def _forgotten(removed: Forgotten) -> str:
    return f"Done: {removed.turns} turns and {removed.memories} facts are deleted. Say so, without repeating what they were about."


def _sources(given: Sequence[Item]) -> str:
    stated = [item for item in given if not _ASKS.search(item.text) and not is_private(item.text)]
    trusted = [item for item in stated if item.mark is not Mark.LOW]
    best = sorted(trusted or stated, key=lambda item: -item.relevance)[:MOST_SOURCES]
    if not best:
        return "The user asks how something is known. Nothing from earlier conversations was used just now."
    lines = (f"- “{shown(item.text)}”, from what {shown(item.speaker or 'the user')} said on {day(item.said_at)}" for item in best)
    return "\n".join(("The user asks how it is known. What was used just now:", *lines))


def _known(memories: Sequence[StoredMemory], max_tokens: int, count: Callable[[str], int]) -> str:
    """The most important facts first, as many as fit."""
    if not memories:
        return "Nothing is known of the user yet."
    told = ["What is known of the user from what they said:"]
    left = max_tokens - count(notice(told[0]))
    for memory in sorted(memories, key=lambda one: (-one.importance, -one.said_at.timestamp())):
        line = f"- {shown(memory.text)} ({day(memory.said_at)})"
        left -= count(f"{line}\n")
        if left < 0:
            break
        told.append(line)
    return "\n".join(told)
