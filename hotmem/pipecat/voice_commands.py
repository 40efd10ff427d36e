"""Voice commands to the memory: forget, undo, list, explain a source.

A deletion waits until the user has confirmed it.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from hotmem.block.rendering import render_notice
from hotmem.errors import DeletionChanged, StoreError
from hotmem.memory import Memory
from hotmem.operations.actor import acting
from hotmem.pipecat import command_notices as notices
from hotmem.pipecat.deletion_targets import (
    DeletionTarget,
    find_statements,
    find_target,
    preview,
    quoted,
)
from hotmem.text.escaping import escape_for_prompt
from hotmem.types import Actor, ContextBlock, ForgetResult, Item, Trace
from hotmem.understanding.query.commands import (
    DELETIONS,
    NOT_STORED,
    USER_ONLY,
    Command,
    CommandKind,
)
from hotmem.understanding.query.consent import asks_about, confirms, confirms_deletion
from hotmem.understanding.query.described_deletions import (
    described_deletion,
    find_period,
    is_conversation,
)
from hotmem.understanding.turn_retention import TurnRetention, UserTurn

MAX_QUOTES: Final = 3
"""Number of statements that a question about a deletion quotes."""

UNDO_TURNS: Final = 5
"""Number of user turns within which "undo that" needs no confirmation."""

_ANSWERED_BY_ANY_REPLY: Final = NOT_STORED | {CommandKind.REMEMBER, CommandKind.ON_RECORD}


_ASKED: Final = re.compile(
    r"^(?!\s*(?:wh|how)|.*[.!]\s+(?:wh|how)|.*\b(?:or(?! no)|keep|mind|remember|why|who|did|does"
    r"|never|question|do you (?!(?:\w+ )?(?:want|wish|mean))|(?:do|is|wo)n['’]t|exactly"
    r"|and (?:do|shall|would|can|what))\b)[^?]*\b(?:delet|forg[eo]t|eras|remov|wip|gone\b|bring"
    r"|sure(?=(?: about \w+)?\s*\?)|permanent|restor|undo|drop|get rid|take)[^.!?]*\?[^?]*$",
    re.IGNORECASE | re.DOTALL,
)
"""A reply as it was heard that asks one question: whether to delete, or to undo it. It
holds no word that makes it another question, to which a plain yes means something else."""


_OTHERWISE: Final = re.compile(
    r"(?i)\b(?:can(?:no|['’])t|(?:un|not )able to) (?:delete|forget|remove|erase)"
    r"|\b(?:not|before|how|rather|instead|did (?:i|you))\b[^.!?]*\?"
)
"""Words by which a question is another one than whether to delete."""

_QUOTED: Final = re.compile(r"“[^”]*”|\"[^\"]*\"")
"""What the bot quotes in its question, whatever it says."""


@dataclass(frozen=True, slots=True)
class CommandRequest:
    """An utterance that may be a voice command.

    Attributes:
        memory: The memory.
        text: The utterance.
        at: Its time, in the user's time zone.
        items: The items of the block the language model was given last.
        max_tokens: Maximum number of tokens of the answer.
    """

    memory: Memory
    text: str
    at: datetime
    items: Sequence[Item]
    max_tokens: int


@dataclass(slots=True)
class _Pending:
    """A deletion, or its undoing, that the user has to confirm.

    Attributes:
        target: What would be deleted; None to undo the last deletion.
        block_id: The id of the block that has the bot ask.
        ids: The ids that the deletion would remove.
        delivered: Whether the language model was given that block.
        reply: The spoken part of the bot's reply to it.
    """

    target: DeletionTarget | None
    block_id: str
    ids: frozenset[str] = frozenset()
    delivered: bool = False
    reply: str = ""

    def is_confirmed_by(self, answer: str) -> bool:
        """Whether the bot asked, as it was heard, and the answer is a plain yes."""
        reply, named = _QUOTED.sub("", self.reply), " ".join(_QUOTED.findall(self.reply))
        if not (self.delivered and _ASKED.search(reply)) or _OTHERWISE.search(reply):
            return False
        if (target := self.target) is None:
            return confirms(answer)
        about = f"{target.description} {target.topic}"
        return asks_about(reply, about, named) and confirms_deletion(answer, target.topic)


class VoiceCommands:
    """Executes the voice commands of one conversation.

    Args:
        user_id: The user.
        session_id: The conversation.
        retention: The user's turns.
    """

    def __init__(self, user_id: str, session_id: str, retention: TurnRetention) -> None:
        self._user_id = user_id
        self._session_id = session_id
        self._retention = retention
        self._pending: _Pending | None = None
        self._deleted_in: int | None = None

    @property
    def awaits_confirmation(self) -> bool:
        """Whether a deletion, or its undoing, waits for the user to confirm it."""
        return self._pending is not None

    def handles(self, text: str) -> bool:
        """Whether an utterance is a voice command, or may answer a confirmation question."""
        command = self._retention.find(text)
        return self.awaits_confirmation or bool(command or described_deletion(text, command))

    def needs_response(self, text: str) -> bool:
        """Whether the outcome of an utterance must be spoken, if the bot has replied without it.

        False for commands to which any reply will do, as "remember that".
        """
        command = self._retention.find(text)
        return command is None or command.kind not in _ANSWERED_BY_ANY_REPLY

    def withhold_consent(self, text: str) -> None:
        """Do not store the latest turn, nor the reply, if it confirms a deletion."""
        turn = self._retention.turn_of(text)
        if self._pending and not turn.others and self._pending.is_confirmed_by(turn.own):
            turn.stored = False

    def add_delivered(self, block: ContextBlock) -> None:
        """Record that the language model was given a block.

        Only a question the bot was told to ask can be confirmed.
        """
        if self._pending is not None and self._pending.block_id == block.id:
            self._pending.delivered = True

    def add_reply(self, text: str) -> None:
        """Record the spoken part of a reply, to check that the bot asked for confirmation."""
        if self._pending is not None and self._pending.delivered:
            self._pending.reply = f"{self._pending.reply} {text}".strip()

    async def remove_turns(self, memory: Memory, turn_ids: Sequence[str]) -> None:
        """Remove withdrawn turns, and the memories extracted from them.

        Raises:
            StoreError: If they could not be removed.
        """
        grace = _grace(memory)
        with acting(Actor.VOICE):
            result = await memory.forget(user_id=self._user_id, turn_ids=turn_ids, grace=grace)
        self._retention.confirm_removed(turn_ids)
        self._note_deletion(result)

    def _note_deletion(self, result: ForgetResult) -> None:
        """Record the turn after which "undo that" means this deletion, if it can be undone."""
        self._deleted_in = self._retention.number if result.restorable_until else None

    async def execute(self, request: CommandRequest) -> ContextBlock | None:
        """Execute the voice command of an utterance.

        Returns:
            A block with the outcome or a question; None if the utterance is no command.

        Raises:
            StoreError: If the command failed.
        """
        turn = self._retention.turn_of(request.text)
        pending, self._pending = self._pending, None
        if pending is not None and not turn.others and pending.is_confirmed_by(turn.own):
            return await self._confirm(request, pending)
        command = turn.command
        if command is None and turn.others:
            if await self._is_reserved(request.memory, turn, pending):
                return self._block(request, notices.USER_ONLY_COMMAND)
            command = turn.by_others
        elif (described := described_deletion(turn.own, command)) is None:
            pass
        elif is_conversation(described.about) or find_period(described.about, request.at):
            command = Command(CommandKind.FORGET_ABOUT, described.about)
        else:
            target = await find_statements(request.memory, self._user_id, described, turn)
            if target is not None:
                return await self._ask_confirmation(request, target)
            if command is not None and command.kind is CommandKind.FORGET_LAST:
                about = f"“{escape_for_prompt(described.about)}”"
                return self._block(request, notices.nothing_to_delete(about))
        return None if command is None else await self._execute(request, command)

    async def _confirm(self, request: CommandRequest, pending: _Pending) -> ContextBlock:
        target = pending.target
        if target is None:
            return await self._undo(request)
        try:
            with acting(Actor.VOICE):
                if target.turn is not None and (asking := target.turn.stored_ids):
                    await request.memory.forget(user_id=self._user_id, turn_ids=asking)
                result = await request.memory.forget(
                    user_id=self._user_id,
                    grace=_grace(request.memory),
                    confirmed=pending.ids | self._retention.stored_ids(),
                    **target.arguments,
                )
        except DeletionChanged:
            return await self._ask_confirmation(request, target)
        except StoreError:
            self._pending = pending
            return self._block(request, notices.DELETION_FAILED)
        self._note_deletion(result)
        return self._block(request, notices.deletion_done(result, request.at))

    async def _is_reserved(self, memory: Memory, turn: UserTurn, pending: _Pending | None) -> bool:
        """Whether another speaker gives a command that only the user may give."""
        command = turn.by_others
        kind = None if command is None else command.kind
        if kind is CommandKind.UNDO and await memory.restorable(self._user_id) is None:
            kind = None
        return kind in USER_ONLY or (pending is not None and pending.is_confirmed_by(turn.others))

    async def _execute(self, request: CommandRequest, command: Command) -> ContextBlock | None:
        retention = self._retention
        match command.kind:
            case kind if kind in DELETIONS:
                return await self._ask_about(request, command)
            case CommandKind.UNDO:
                return await self._undo_or_ask(request)
            case CommandKind.LIST_ALL:
                memories = await request.memory.memories(self._user_id, own=True)
                count = request.memory.runtime.recall.tokens.count
                listed = notices.stored_facts
                notice = await asyncio.to_thread(listed, memories, request.max_tokens, count)
            case CommandKind.EXPLAIN_SOURCE:
                notice = notices.sources(request.items)
            case CommandKind.SKIP_LAST:
                notice = notices.TURNS_NOT_REMOVED if retention.removing else notices.TURNS_REMOVED
            case CommandKind.REMEMBER:
                notice = notices.STORED_OFF_RECORD if retention.off_record else notices.STORED
            case kind if kind in notices.RECORD_CHANGED:
                notice = notices.RECORD_CHANGED[kind]
            case _:
                return None
        return self._block(request, notice)

    async def _ask_about(self, request: CommandRequest, command: Command) -> ContextBlock | None:
        """Have the bot ask the user to confirm a command; None if it can mean nothing."""
        if command.kind is CommandKind.FORGET_LAST:
            last = self._retention.last_own_turn()
            if last is None:
                return None
            words = f"what they said last, {quoted([last.own])}, and the reply to it"
            target = DeletionTarget({"turn_ids": tuple(last.stored_ids)}, words)
            return await self._ask_confirmation(request, target)
        found = await find_target(
            request.memory, self._user_id, self._session_id, command, request.at
        )
        if found is None:
            about = f"everything about “{escape_for_prompt(command.about)}”"
            return self._block(request, notices.nothing_to_delete(about))
        return await self._ask_confirmation(request, found)

    async def _ask_confirmation(
        self, request: CommandRequest, target: DeletionTarget
    ) -> ContextBlock:
        """Have the bot ask the user to confirm a deletion, naming what will go."""
        memory = request.memory
        found = await preview(memory, self._user_id, target)
        if not (found.turns or found.memories):
            return self._block(request, notices.nothing_to_delete(target.description))
        description = target.description
        if "entity" in target.arguments:
            near = await memory.find_described(target.topic, user_id=self._user_id)
            named = [one.text for one in near if found.ids.issuperset(one.turn_ids)][:MAX_QUOTES]
            description += f", such as {quoted(named)}" if named else ""
        question = notices.deletion_question(description, found, _grace(memory))
        block = self._block(request, question)
        self._pending = _Pending(target, block.id, found.ids)
        return block

    async def _undo_or_ask(self, request: CommandRequest) -> ContextBlock | None:
        """Undo a recent deletion; ask for confirmation of an earlier one.

        None if there is no deletion to undo.
        """
        deletion = await request.memory.restorable(self._user_id)
        if deletion is None:
            return None
        turns = self._retention.number - (self._deleted_in or 0)
        if self._deleted_in is not None and turns <= UNDO_TURNS:
            return await self._undo(request)
        asked_at = deletion.asked_at.astimezone(request.at.tzinfo)
        block = self._block(request, notices.undo_question(deletion.removed, asked_at))
        self._pending = _Pending(None, block.id)
        return block

    async def _undo(self, request: CommandRequest) -> ContextBlock:
        with acting(Actor.VOICE):
            restored = await request.memory.restore(user_id=self._user_id)
        self._deleted_in = None
        notice = notices.UNDO_EXPIRED if restored is None else notices.undo_done(restored.removed)
        return self._block(request, notice)

    def _block(self, request: CommandRequest, notice: str) -> ContextBlock:
        text = render_notice(notice)
        return ContextBlock(
            text,
            request.memory.runtime.recall.tokens.count(text),
            (),
            Trace(reason="the utterance is a voice command"),
            self._user_id,
            self._session_id,
            request.text,
            request.at,
        )


def _grace(memory: Memory) -> timedelta | None:
    """How long the user's own deletions can be undone; None if they cannot."""
    return timedelta(seconds=memory.options.forgetting.grace_s) or None
