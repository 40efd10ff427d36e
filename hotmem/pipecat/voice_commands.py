"""Carries out what a user asks of the memory itself, in one conversation, and says what to tell them."""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final

from hotmem.block.privacy import is_private
from hotmem.block.rendering import iso_date, render_notice
from hotmem.errors import StoreError
from hotmem.memory import Memory
from hotmem.operations.actor import acting
from hotmem.text.escaping import escape_for_prompt
from hotmem.types import Actor, ContextBlock, ForgetResult, Item, Mark, StoredMemory, Trace
from hotmem.understanding.query.consent import confirms, confirms_deletion
from hotmem.understanding.query.cues import DIRECT_QUESTION
from hotmem.understanding.query.voice_commands import (
    DELETIONS,
    NOT_STORED,
    USER_ONLY,
    Command,
    CommandKind,
    find_command,
)

MOST_SOURCES: Final = 5
"""Items whose source is told."""

MOST_TURNS: Final = 16
"""Turns of the user, the last, that can be taken back by "don't keep that"."""

UNDO_TURNS: Final = 5
"""Turns of the user's within which "undo that" means the deletion that was just done; later it
is asked about first."""

_ASKING_ONLY: Final = DELETIONS | {CommandKind.UNDO, CommandKind.OFF_RECORD, CommandKind.ON_RECORD}
"""What is asked by a turn that tells nothing: "don't keep that" after it means the turn before
it."""

NOT_KEPT: Final = render_notice(
    "The user is off the record: nothing is stored until they ask to remember again. Do not say that you will remember."
)
"""Told with every turn that is off the record: it stays so, and what the model was told of it
before is no longer there."""

THIS_NOT_KEPT: Final = render_notice(
    "What the user says in this turn, and the reply, is not stored, as they seem to ask. Say so in passing."
)


@dataclass(slots=True)
class _Said:
    """A turn of the user's.

    Attributes:
        number: Its place among their turns.
        text: All that was said.
        own: What the user said of it.
        others: What others in the room said of it.
        kept: Whether it and the reply to it are remembered.
        ids: The turns that were remembered of it, the reply's among them.
    """

    number: int
    text: str
    own: str
    others: str = ""
    kept: bool = True
    ids: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Waiting:
    """A deletion, or its undoing, that waits for a yes.

    Attributes:
        command: What the user asked.
        what: What is to go, as `Memory.forget` takes it; None if the last deletion is to be brought
            back.
        block: The id of the block that has the bot ask.
        asked: Whether the language model was given it.
        reply: What was heard of the bot's answer to it.
    """

    command: Command
    what: dict[str, Any] | None
    block: str
    asked: bool = False
    reply: str = ""


class VoiceCommands:
    """The commands of one conversation: what waits for a yes, and whether anything is kept.

    Args:
        user_id: Whose memory it is.
        session_id: The conversation.
    """

    def __init__(self, user_id: str, session_id: str) -> None:
        self._user_id = user_id
        self._session_id = session_id
        self._waiting: _Waiting | None = None
        self._off_record = False
        self._command: Command | None = None
        self._last: _Said | None = None
        self._said: deque[_Said] = deque(maxlen=MOST_TURNS)
        self._going: set[str] = set()
        self._deleted_at: int | None = None

    def hear(
        self, number: int, text: str, others: str = "", *, own: str | None = None
    ) -> tuple[str, ...]:
        """Notes a turn that has ended, and decides whether it is remembered.

        Not off the record, nor if it asks to forget and names what is to go.

        Args:
            number: Its place among the user's turns.
            text: All that was said.
            others: What others in the room said of it.
            own: What the user said of it; all, if not given.

        Returns:
            Ids of turns that are taken back with it, to be removed at once.
        """
        said = _Said(number, text, text if own is None else own, others)
        command, theirs = self._understood(said.own), find_command(others)
        wanted = {one.kind for one in (command, theirs) if one is not None}
        back_on = command is not None and command.kind is CommandKind.ON_RECORD and self._off_record
        if back_on:
            self._off_record = False
        elif CommandKind.OFF_RECORD in wanted:
            self._off_record = True
        resumes = back_on and command is not None and command.continues
        said.kept = resumes or not (
            self._off_record or back_on or wanted & (NOT_STORED | DELETIONS)
        )
        going: tuple[str, ...] = ()
        if command is not None and command.kind is CommandKind.SKIP_LAST:
            going = tuple(
                one
                for before in islice(reversed(self._said), command.turns)
                for one in self._take_back(before)
            )
            self._going = set(going)
        elif said.kept or not wanted & _ASKING_ONLY:
            self._said.append(said)
        self._command, self._last = command, said
        return going

    def _understood(self, text: str) -> Command | None:
        """What an utterance asks; what was said before it, where nothing was, is what comes now."""
        command = find_command(text)
        before = command is not None and command.kind is CommandKind.SKIP_LAST and not self._said
        return Command(CommandKind.OFF_RECORD) if before else command

    def _take_back(self, said: _Said) -> Iterator[str]:
        said.kept = False
        yield from said.ids
        said.ids.clear()

    def noted(self, turn_id: str, number: int | None = None) -> None:
        """Notes that a turn is remembered, of the user or in reply to theirs of that number.

        The last one's, if not given.
        """
        said = self._of(number)
        if said is not None:
            said.ids.append(turn_id)

    @property
    def keeps(self) -> bool:
        """Whether the user's last turn is to be remembered."""
        return self._last is None or self._last.kept

    def keeps_reply(self, number: int | None = None) -> bool:
        """Whether the reply to the user's turn of that number is to be remembered.

        To the last one, if not given.
        """
        said = self._of(number)
        return said.kept if said is not None else self._last is None

    def _of(self, number: int | None) -> _Said | None:
        if number is None or self._last is None:
            return self._last
        return next((said for said in (self._last, *self._said) if said.number == number), None)

    @property
    def notice(self) -> str:
        """What the language model is told with every turn that is not kept, and with no other."""
        if self._off_record:
            return NOT_KEPT
        return THIS_NOT_KEPT if self._last is not None and _not_this(self._last) else ""

    def concern(self, text: str) -> bool:
        """Whether an utterance asks something of the memory itself, or answers what it asked."""
        return self._waiting is not None or find_command(text) is not None

    def told(self, block: ContextBlock) -> None:
        """Notes that the language model was given a block.

        Only what the bot was told to ask can be answered with a yes.
        """
        if self._waiting is not None and self._waiting.block == block.id:
            self._waiting.asked = True

    def replied(self, text: str) -> None:
        """Notes what was heard of a reply.

        A yes to another question than the one that waits is none.
        """
        if self._waiting is not None and self._waiting.asked:
            self._waiting.reply = f"{self._waiting.reply} {text}".strip()

    async def take_back(self, memory: Memory, turn_ids: Sequence[str]) -> None:
        """Removes turns that were taken back, and what was read from them.

        Raises:
            StoreError: If it could not be done.
        """
        with acting(Actor.VOICE):
            await memory.forget(user_id=self._user_id, turn_ids=turn_ids)
        self._going.difference_update(turn_ids)

    async def answer(
        self, memory: Memory, text: str, at: datetime, given: Sequence[Item], max_tokens: int
    ) -> ContextBlock | None:
        """Does what the utterance asks of the memory.

        Args:
            memory: The memory.
            text: What the user said.
            at: When, in the user's zone.
            given: The items that the language model was given last.
            max_tokens: Tokens of the block at most.

        Returns:
            A block that tells the language model what was done, or what to ask; None for any other
            utterance.

        Raises:
            StoreError: If it could not be done.
        """
        said = (
            self._last
            if self._last is not None and self._last.text == text
            else _Said(-1, text, text)
        )
        command = self._command if said is self._last else self._understood(text)
        waiting, self._waiting = self._waiting, None
        count = memory.runtime.recall.tokens.count
        about = waiting.command.about if waiting is not None else ""
        if waiting is not None and waiting.asked and not said.others:
            agreed = (
                confirms(said.own) if waiting.what is None else confirms_deletion(said.own, about)
            )
            if (
                agreed and waiting.reply and not _ASKED.search(waiting.reply)
            ):  # a yes to another question
                return await self._asking(memory, text, at, waiting.command, waiting.what)
            if waiting.what is None and confirms(said.own):
                return self._block(text, at, await self._brought_back(memory), count)
            if waiting.what is not None and confirms_deletion(said.own, about):
                try:
                    told = await self._forgotten(memory, waiting.what, said.number, at)
                except StoreError:
                    self._waiting = waiting
                    told = _NOT_NOW
                return self._block(text, at, told, count)
        if command is None and said.others:
            theirs = find_command(said.others)
            owners = (
                theirs is not None
                and theirs.kind in USER_ONLY
                and (theirs.kind is not CommandKind.UNDO or await memory.restorable(self._user_id))
            )
            if owners or (waiting is not None and confirms_deletion(said.others, about)):
                return self._block(text, at, NOT_THEIRS, count)
            command = theirs
        if command is None:
            return None
        match command.kind:
            case CommandKind.FORGET_LAST | CommandKind.FORGET_ABOUT | CommandKind.FORGET_ALL:
                return await self._asking(memory, text, at, command)
            case CommandKind.UNDO:
                return await self._undoing(memory, text, at, command, said.number)
            case CommandKind.LIST_ALL:
                known = await memory.memories(self._user_id)
                return self._block(
                    text, at, await asyncio.to_thread(_known, known, max_tokens, count), count
                )
            case CommandKind.EXPLAIN_SOURCE:
                return self._block(text, at, _sources(given), count)
            case CommandKind.SKIP_LAST:
                return self._block(text, at, _NOT_REMOVED if self._going else _REMOVED, count)
            case CommandKind.REMEMBER:
                return self._block(text, at, _OFF if self._off_record else _KEPT, count)
            case CommandKind.OFF_RECORD | CommandKind.ON_RECORD:
                return self._block(text, at, _RECORD[command.kind], count)
        return None

    async def _asking(
        self,
        memory: Memory,
        text: str,
        at: datetime,
        command: Command,
        again: dict[str, Any] | None = None,
    ) -> ContextBlock | None:
        """Has the bot ask, maybe again, whether what it is told of is to go.

        None if there is nothing that could be meant.
        """
        if command.kind is CommandKind.UNDO:
            return await self._undoing(memory, text, at, command, -1)
        what, named = self._meant(command)
        what = again or what
        if not what:
            return None
        count = memory.runtime.recall.tokens.count
        going = await memory.forget(user_id=self._user_id, dry_run=True, **what)
        if not (going.turns or going.memories):
            return self._block(
                text,
                at,
                f"The user asks to forget {named}. Nothing of it is stored: say so.",
                count,
            )
        grace = _grace(memory)
        for_good = (
            "for good"
            if grace is None
            else f"for good after {_length(grace)}, until when they can undo it"
        )
        asks = (
            f"The user asks to forget {named}. Nothing is deleted yet. It would delete {_much(going)}, {for_good}:"
            " name this and ask whether they are sure. Only a plain yes deletes it."
        )
        block = self._block(text, at, asks, count)
        self._waiting = _Waiting(command, what, block.id)
        return block

    async def _forgotten(
        self, memory: Memory, what: dict[str, Any], number: int, at: datetime
    ) -> str:
        """Deletes what the user agreed to; what to tell them."""
        with acting(Actor.VOICE):
            receipt = await memory.forget(user_id=self._user_id, grace=_grace(memory), **what)
        self._deleted_at = number if receipt.restorable_until is not None else None
        return _deleted(receipt, at)

    async def _undoing(
        self, memory: Memory, text: str, at: datetime, command: Command, number: int
    ) -> ContextBlock | None:
        """Brings back what was deleted just now; asks about what was deleted before.

        None if nothing can be: something else is meant.
        """
        found = await memory.restorable(self._user_id)
        if found is None:
            return None
        count = memory.runtime.recall.tokens.count
        if self._deleted_at is not None and 0 <= number - self._deleted_at <= UNDO_TURNS:
            return self._block(text, at, await self._brought_back(memory), count)
        asks = (
            f"The user seems to ask to bring back what they had deleted {iso_date(found.asked_at.astimezone(at.tzinfo))}: {_much(found.removed)}."
            " Nothing is done yet: ask whether they mean this. Only a plain yes brings it back."
        )
        block = self._block(text, at, asks, count)
        self._waiting = _Waiting(command, None, block.id)
        return block

    async def _brought_back(self, memory: Memory) -> str:
        with acting(Actor.VOICE):
            restored = await memory.restore(user_id=self._user_id)
        self._deleted_at = None
        if restored is None:
            return "The user asks to bring back what was deleted, but its time is over and it is gone. Say so."
        return f"Done: {_much(restored.removed)} that the user had deleted are there again. Say so briefly."

    def _meant(self, command: Command) -> tuple[dict[str, Any], str]:
        """What a command would delete, as `Memory.forget` takes it, and in words."""
        match command.kind:
            case CommandKind.FORGET_ABOUT:
                return {
                    "entity": command.about
                }, f"everything about “{escape_for_prompt(command.about)}”"
            case CommandKind.FORGET_ALL:
                return {"everything": True}, "everything that is known of them"
            case _:
                last = next((said for said in reversed(self._said) if said.own.strip()), None)
                return (
                    ({}, "")
                    if last is None
                    else ({"turn_ids": tuple(last.ids)}, "what they said last, and the reply to it")
                )

    def _block(
        self, text: str, at: datetime, told: str, count: Callable[[str], int]
    ) -> ContextBlock:
        told = render_notice(told)
        return ContextBlock(
            told,
            count(told),
            (),
            Trace(reason="the user asked something of the memory"),
            self._user_id,
            self._session_id,
            text,
            at,
        )


_ASKED: Final = re.compile(
    r"\b(?:delet|forg[eo]t|eras|remov|wip|sure|gone|good|permanent|bring|back|restor|undo)",
    re.IGNORECASE,
)
"""What a question whether something is to be deleted, or brought back, has in it."""

_NOT_NOW: Final = (
    "The user agreed to the deletion, but it could not be done: another program holds the memory. Nothing is deleted."
    " Say so, and ask them to say yes again later."
)

NOT_THEIRS: Final = "Somebody else than the user asks this of the user's memory, and only the user can. Nothing was done: say so, and tell nothing of what is known."
_KEPT: Final = "The user asks to remember this. It is kept, word for word. Say so briefly."
_OFF: Final = "The user asks to remember this, but they are off the record and it is not kept. Ask whether to go back on the record first."
_REMOVED: Final = "The user asks that what they said before is not kept. It is removed, with the reply to it. Say so briefly, without repeating it."
_NOT_REMOVED: Final = (
    "The user asks that what they said before is not kept, but it could not be removed. Say so."
)
_RECORD: Final = {
    CommandKind.OFF_RECORD: "The user asks that this is not kept. Nothing is stored from here on until they ask to remember again. Say so briefly.",
    CommandKind.ON_RECORD: "What is said is kept again from here on. Say so briefly.",
}


def _not_this(said: _Said) -> bool:
    return any(
        one is not None and one.kind is CommandKind.SKIP_TURN
        for one in (find_command(said.own), find_command(said.others))
    )


def _much(going: ForgetResult) -> str:
    turns = f"{going.turns} turn{'s' * (going.turns != 1)}"
    return f"{turns} and {going.memories} fact{'s' * (going.memories != 1)}"


def _deleted(receipt: ForgetResult, at: datetime) -> str:
    told = f"Done: {_much(receipt)} were deleted"
    if receipt.restorable_until is not None:
        until = receipt.restorable_until.astimezone(at.tzinfo)
        told += f", and can be brought back until {iso_date(until)}, {until:%H:%M}, if they say “undo that”"
    elif not receipt.emptied:
        told += ", but another program reads the file, and copies stay in its journal until it ends"
    return f"{told}. Say so, without repeating what they were about."


def _grace(memory: Memory) -> timedelta | None:
    """How long the user's own deletions can be brought back."""
    return timedelta(seconds=memory.options.forgetting.grace_s) or None


def _length(grace: timedelta) -> str:
    hours = round(grace / timedelta(hours=1))
    if hours == 24:
        return "a day"
    return (
        f"{hours} hours" if hours > 1 else f"{max(round(grace / timedelta(minutes=1)), 1)} minutes"
    )


def _sources(given: Sequence[Item]) -> str:
    stated = [
        item
        for item in given
        if not DIRECT_QUESTION.search(item.text) and not is_private(item.text)
    ]
    trusted = [item for item in stated if item.mark is not Mark.LOW]
    best = sorted(trusted or stated, key=lambda item: -item.relevance)[:MOST_SOURCES]
    if not best:
        return "The user asks how something is known. Nothing from earlier conversations was used just now."
    lines = (
        f"- “{escape_for_prompt(item.text)}”, from what {escape_for_prompt(item.speaker or 'the user')} said on {iso_date(item.said_at)}"
        for item in best
    )
    return "\n".join(("The user asks how it is known. What was used just now:", *lines))


def _known(memories: Sequence[StoredMemory], max_tokens: int, count: Callable[[str], int]) -> str:
    """The most important facts first, as many as fit."""
    if not memories:
        return "Nothing is known of the user yet."
    told = ["What is known of the user from what they said:"]
    left = max_tokens - count(render_notice(told[0]))
    for memory in sorted(memories, key=lambda one: (-one.importance, -one.said_at.timestamp())):
        line = f"- {escape_for_prompt(memory.text)} ({iso_date(memory.said_at)})"
        left -= count(f"{line}\n")
        if left < 0:
            break
        told.append(line)
    return "\n".join(told)
