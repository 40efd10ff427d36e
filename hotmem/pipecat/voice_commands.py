"""Voice commands to the memory: forget, undo, list, explain a source.

A deletion waits until the user has confirmed it.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from hotmem.block.rendering import render_notice
from hotmem.core.validation import counted
from hotmem.errors import DeletionChanged, StoreError
from hotmem.memory import Memory
from hotmem.operations.requested_search import DescribedStatement
from hotmem.operations.results import acting
from hotmem.text.escaping import escape_for_prompt
from hotmem.types import (
    Actor,
    ContextBlock,
    ForgetResult,
    Item,
    Leftovers,
    Mark,
    StoredMemory,
    Trace,
)
from hotmem.understanding.private_statements import is_private, is_shown_unasked
from hotmem.understanding.query.command_rules import (
    DescribedDeletion,
    described_deletion,
    find_period,
    is_conversation,
)
from hotmem.understanding.query.commands import (
    DELETIONS,
    NOT_STORED,
    USER_ONLY,
    Command,
    CommandKind,
)
from hotmem.understanding.query.cues import DIRECT_QUESTION
from hotmem.understanding.query.off_record import asks_about, confirms, confirms_deletion
from hotmem.understanding.turn_retention import TurnRetention, UserTurn

MIN_FIT, MIN_PLAIN_FIT = 0.6, 0.5
"""Fit from which a statement is what the user asks to forget: in general, and where the wording
says that something told is meant, as in "what I said about" (`python -m eval forgetting`)."""

MIN_FIT_IN_OTHER_WORDS: Final = 0.8
"""The same, if the user says what the statement states and it lacks one of the words: "I'm allergic
to milk" is not "I'm allergic to eggs"."""

MIN_LEAD: Final = 0.05
"""How much better a statement must fit than the next one."""

_DENIAL: Final = re.compile(r"\b(?:not|never|cannot|no longer)\b|n['’]t\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DeletionTarget:
    """What would be deleted.

    Attributes:
        arguments: The arguments of `Memory.forget`.
        description: What that is, in words for a prompt.
        topic: The topic of it, which a confirmation may name; "" if there is none.
        turn: The turn that asks for it and is removed with it, as it repeats what is to be
            forgotten; None to keep it.
    """

    arguments: dict[str, Any]
    description: str
    topic: str = ""
    turn: UserTurn | None = None


async def find_statements(
    memory: Memory, user_id: str, described: DescribedDeletion, turn: UserTurn | None = None
) -> DeletionTarget | None:
    """The statements that somebody asks to forget; None if none clearly fits best.

    Of "my locker number and where I parked" it is one of each. If they say what a statement states,
    it is every turn that states it.

    Args:
        memory: The memory.
        user_id: The user.
        described: What they ask to forget.
        turn: The turn in which they do. It stays if it says what holds instead.
    """
    chosen: list[DescribedStatement] = []
    for part in described.parts:
        found = await memory.lookup.described(part, user_id=user_id)
        chosen += _meant(found, replace(described, about=part)) if found else []
    if not chosen:
        return None
    turns = tuple(dict.fromkeys(turn for one in chosen for turn in one.turn_ids))
    return DeletionTarget(
        {"turn_ids": turns} if turns else {"memory_id": chosen[0].memory_id},
        f"{quoted([one.text for one in chosen])}, with what was said in the same turn",
        described.about,
        None if described.restated else turn,
    )


def quoted(texts: Sequence[str]) -> str:
    """Statements as quotations in a prompt; of a secret, only that it is one."""
    return ", ".join(
        "a secret" if is_private(text) else f"“{escape_for_prompt(text)}”"
        for text in dict.fromkeys(texts)
    )


def _meant(
    found: Sequence[DescribedStatement], described: DescribedDeletion
) -> list[DescribedStatement]:
    """The statements that are described: the best, and others that hold all words of it."""
    best, *others = found
    least = MIN_PLAIN_FIT if described.plain else MIN_FIT
    if described.states and not best.complete:
        least = MIN_FIT_IN_OTHER_WORDS
    inverted = described.states and _denies(described.about) and not _denies(best.text)
    if best.fit < least or inverted:
        return []
    least = MIN_FIT_IN_OTHER_WORDS if described.states else max(MIN_FIT, best.fit - 2 * MIN_LEAD)
    same = [one for one in others if best.complete and one.complete and one.fit >= least]
    if any(best.fit - one.fit < MIN_LEAD for one in others if one not in same):
        return []
    return [best, *same]


def _denies(text: str) -> bool:
    """Whether a statement denies something: "I'm not allergic" is not "I'm allergic"."""
    return _DENIAL.search(text) is not None


async def find_target(
    memory: Memory, user_id: str, session_id: str, command: Command, at: datetime
) -> DeletionTarget | None:
    """What a command that names something asks to delete; None if nothing of it is stored.

    Args:
        memory: The memory.
        user_id: The user.
        session_id: The conversation.
        command: A command that deletes.
        at: When it was said, in the user's time zone.
    """
    about = command.about
    if command.kind is CommandKind.FORGET_ALL:
        return DeletionTarget({"everything": True}, "everything that is known of them")
    if is_conversation(about):
        return DeletionTarget({"session_id": session_id}, "all of this conversation", about)
    if (period := find_period(about, at)) is not None:
        arguments = {"after": period.start, "before": min(period.end, at)}
        return DeletionTarget(arguments, f"what was said then: “{about}”", about)
    states = command.kind is CommandKind.FORGET_FACT
    described = DescribedDeletion(about, plain=not states, states=states)
    named = [DeletionTarget({"entity": name}, "", about) for name in described.names]
    previews = [await preview(memory, user_id, target) for target in named]
    words = f"everything about “{escape_for_prompt(about)}”"
    if len(named) == 1 and previews[0].anything:
        return replace(named[0], description=words)
    if all(found.anything for found in previews):
        ids = tuple(sorted(frozenset[str]().union(*(found.ids for found in previews))))
        return DeletionTarget({"turn_ids": ids}, words, about)
    return await find_statements(memory, user_id, described)


async def preview(memory: Memory, user_id: str, target: DeletionTarget) -> ForgetResult:
    """What a deletion would remove."""
    return await memory.forget(user_id=user_id, dry_run=True, **target.arguments)


MAX_SOURCES: Final = 5
"""Maximum number of items in the answer to "how do you know that?"."""

OFF_RECORD_TURN: Final = render_notice(
    "The user is off the record: nothing is stored until they ask to remember again, or until the"
    " time that they named is over."
    " Do not say that you will remember."
)
"""Injected on every turn off the record, as blocks of earlier turns leave the context."""

SKIPPED_TURN: Final = render_notice(
    "What the user says in this turn, and the reply, is not stored, as they seem to ask."
    " Say so in passing."
)

DELETION_FAILED: Final = (
    "The user agreed to the deletion, but it could not be done: another program holds the memory."
    " Nothing is deleted. Say so, and ask them to say yes again later."
)
USER_ONLY_COMMAND: Final = (
    "Somebody else than the user asks this of the user's memory, and only the user can."
    " Nothing was done: say so, and tell nothing of what is known."
)
STORED: Final = "The user asks to remember this. It is kept, word for word. Say so briefly."
STORED_OFF_RECORD: Final = (
    "The user asks to remember this, but they are off the record and it is not kept."
    " Ask whether to go back on the record first."
)
TURNS_REMOVED: Final = (
    "The user asks that what they said before is not kept. It is removed, with the reply to it."
    " Say so briefly, without repeating it."
)
TURNS_NOT_REMOVED: Final = (
    "The user asks that what they said before is not kept, but it could not be removed. Say so."
)
RECORD_CHANGED: Final = {
    CommandKind.OFF_RECORD: (
        "The user asks that this is not kept."
        " Nothing is stored from here on until they ask to remember again, or until the time that"
        " they named is over. Say so briefly."
    ),
    CommandKind.LEAVE_OUT: (
        "The user asks that something is never kept. You cannot tell what that covers, and it is"
        " kept as before: say so, and that they can say “off the record” when they speak of it."
    ),
    CommandKind.ON_RECORD: "What is said is kept again from here on. Say so briefly.",
}
UNDO_EXPIRED: Final = (
    "The user asks to bring back what was deleted, but its time is over and it is gone. Say so."
)


def retention_notice(retention: TurnRetention) -> str:
    """Notice to inject if the latest turn is not stored, else ""."""
    return OFF_RECORD_TURN if retention.off_record else SKIPPED_TURN * retention.skips_turn


def nothing_to_delete(target: str) -> str:
    """Notice that nothing clearly matches a deletion; it may be stored in other words."""
    return f"The user asks to forget {target}. Nothing found fits: say so, and ask for their words."


def deletion_question(target: str, preview: ForgetResult, grace: timedelta | None) -> str:
    """Notice to ask for confirmation of a deletion.

    Args:
        target: What the user asks to forget, in words.
        preview: What the deletion would remove.
        grace: How long the deletion can be undone; None if it cannot.
    """
    permanence = (
        "for good"
        if grace is None
        else f"for good after {_duration(grace)}, until when they can undo it"
    )
    return (
        f"The user asks to forget {target}. Nothing is deleted yet."
        f" It would delete {_counts(preview)}, {permanence}:"
        " name this and ask whether they are sure: “Shall I delete it?” Only a plain yes deletes."
    )


def deletion_done(result: ForgetResult, at: datetime) -> str:
    """Notice that a deletion was made.

    Args:
        result: The deletion.
        at: The time of the utterance, in the user's time zone.
    """
    notice = f"Done: {_counts(result)} were deleted"
    if result.restorable_until is not None:
        until = result.restorable_until.astimezone(at.tzinfo)
        notice += f", and can be brought back until {until:%Y-%m-%d}, {until:%H:%M},"
        notice += " if they say “undo that”"
    elif result.leftovers is Leftovers.JOURNAL:
        notice += ", but another program reads the file, and copies stay in its journal"
        notice += " until it ends"
    return f"{notice}. Say so, without repeating what they were about."


def undo_question(deleted: ForgetResult, at: datetime) -> str:
    """Notice to ask whether to undo a deletion.

    Args:
        deleted: What it removed.
        at: The time of the deletion, in the user's time zone.
    """
    return (
        f"The user seems to ask to bring back what they had deleted {at:%Y-%m-%d}:"
        f" {_counts(deleted)}."
        " Nothing is done yet: ask whether they mean this. Only a plain yes brings it back."
    )


def undo_done(restored: ForgetResult) -> str:
    """Notice that a deletion was undone."""
    return f"Done: {_counts(restored)} that the user had deleted are there again. Say so briefly."


def sources(items: Sequence[Item]) -> str:
    """Sources of the most relevant items, without questions and private data."""
    statements = [
        item
        for item in items
        if not DIRECT_QUESTION.search(item.text) and is_shown_unasked(item.text)
    ]
    reliable = [item for item in statements if item.mark is not Mark.LOW]
    best = sorted(reliable or statements, key=lambda item: -item.relevance)[:MAX_SOURCES]
    if not best:
        return (
            "The user asks how something is known."
            " Nothing from earlier conversations was used just now."
        )
    lines = (
        f"- “{escape_for_prompt(item.text)}”, from what"
        f" {escape_for_prompt(item.speaker or 'the user')} said on {item.said_at:%Y-%m-%d}"
        for item in best
    )
    return "\n".join(("The user asks how it is known. What was used just now:", *lines))


def stored_facts(
    memories: Sequence[StoredMemory], max_tokens: int, count: Callable[[str], int]
) -> str:
    """The most important memories that fit the token limit.

    Args:
        memories: The user's memories.
        max_tokens: Maximum number of tokens.
        count: Counts the tokens of a text.
    """
    if not memories:
        return "Nothing is known of the user yet."
    lines = ["What is known of the user from what they said:"]
    remaining = max_tokens - count(render_notice(lines[0]))
    shown = [memory for memory in memories if is_shown_unasked(memory.text)]
    for memory in sorted(shown, key=lambda one: (-one.importance, -one.said_at.timestamp())):
        line = f"- {escape_for_prompt(memory.text)} ({memory.said_at:%Y-%m-%d})"
        remaining -= count(f"{line}\n")
        if remaining < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def _counts(result: ForgetResult) -> str:
    return f"{counted(result.turns, 'turn')} and {counted(result.memories, 'fact')}"


def _duration(grace: timedelta) -> str:
    hours = round(grace / timedelta(hours=1))
    minutes = max(round(grace / timedelta(minutes=1)), 1)
    return f"{hours} hours" if hours > 1 else counted(minutes, "minute")


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
                return self._block(request, USER_ONLY_COMMAND)
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
                return self._block(request, nothing_to_delete(about))
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
            return self._block(request, DELETION_FAILED)
        self._note_deletion(result)
        return self._block(request, deletion_done(result, request.at))

    async def _is_reserved(self, memory: Memory, turn: UserTurn, pending: _Pending | None) -> bool:
        """Whether another speaker gives a command that only the user may give."""
        command = turn.by_others
        kind = None if command is None else command.kind
        if kind is CommandKind.UNDO and await memory.lookup.restorable(self._user_id) is None:
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
                listed = stored_facts
                notice = await asyncio.to_thread(listed, memories, request.max_tokens, count)
            case CommandKind.EXPLAIN_SOURCE:
                notice = sources(request.items)
            case CommandKind.SKIP_LAST:
                notice = TURNS_NOT_REMOVED if retention.removing else TURNS_REMOVED
            case CommandKind.REMEMBER:
                notice = STORED_OFF_RECORD if retention.off_record else STORED
            case kind if kind in RECORD_CHANGED:
                notice = RECORD_CHANGED[kind]
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
            return self._block(request, nothing_to_delete(about))
        return await self._ask_confirmation(request, found)

    async def _ask_confirmation(
        self, request: CommandRequest, target: DeletionTarget
    ) -> ContextBlock:
        """Have the bot ask the user to confirm a deletion, naming what will go."""
        memory = request.memory
        found = await preview(memory, self._user_id, target)
        if not (found.turns or found.memories):
            return self._block(request, nothing_to_delete(target.description))
        description = target.description
        if "entity" in target.arguments:
            near = await memory.lookup.described(target.topic, user_id=self._user_id)
            named = [one.text for one in near if found.ids.issuperset(one.turn_ids)][:MAX_QUOTES]
            description += f", such as {quoted(named)}" if named else ""
        question = deletion_question(description, found, _grace(memory))
        block = self._block(request, question)
        self._pending = _Pending(target, block.id, found.ids)
        return block

    async def _undo_or_ask(self, request: CommandRequest) -> ContextBlock | None:
        """Undo a recent deletion; ask for confirmation of an earlier one.

        None if there is no deletion to undo.
        """
        deletion = await request.memory.lookup.restorable(self._user_id)
        if deletion is None:
            return None
        turns = self._retention.number - (self._deleted_in or 0)
        if self._deleted_in is not None and turns <= UNDO_TURNS:
            return await self._undo(request)
        asked_at = deletion.asked_at.astimezone(request.at.tzinfo)
        block = self._block(request, undo_question(deletion.removed, asked_at))
        self._pending = _Pending(None, block.id)
        return block

    async def _undo(self, request: CommandRequest) -> ContextBlock:
        with acting(Actor.VOICE):
            restored = await request.memory.restore(user_id=self._user_id)
        self._deleted_in = None
        notice = UNDO_EXPIRED if restored is None else undo_done(restored.removed)
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
    return timedelta(seconds=memory.runtime.options.forgetting.grace_s) or None
