"""What a voice command would delete: the arguments of `Memory.forget`, and words for them."""

import re
from dataclasses import dataclass
from typing import Any, Final

from hotmem.memory import Memory
from hotmem.pipecat.turn_retention import UserTurn
from hotmem.text.escaping import escape_for_prompt
from hotmem.text.language_detection import is_english
from hotmem.understanding.query.described_deletions import (
    DescribedDeletion,
    find_described_deletion,
)
from hotmem.understanding.query.voice_commands import Command, CommandKind

MIN_FIT, MIN_PLAIN_FIT = 0.6, 0.5
"""Fit from which a statement is what the user asks to forget: in general, and where the wording
says that something told is meant, as in "what I said about" (`python -m eval forgetting`)."""

MIN_FIT_IN_OTHER_WORDS: Final = 0.8
"""The same, if the user says what the statement states and it lacks one of the words: "I'm allergic
to milk" is not "I'm allergic to eggs"."""

MIN_LEAD: Final = 0.05
"""How much better a statement must fit than the next one."""

_MAY_DESCRIBE: Final = frozenset(
    {None, CommandKind.FORGET_FACT, CommandKind.FORGET_LAST, CommandKind.SKIP_TURN}
)
"""Commands that may mean a statement which the same utterance describes: "I am not vegan, forget
that". None: no command was found."""

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


def described_deletion(text: str, command: Command | None) -> DescribedDeletion | None:
    """The statement that an English utterance may ask to forget.

    Args:
        text: The utterance.
        command: The command that was found in it.
    """
    if (None if command is None else command.kind) not in _MAY_DESCRIBE or not is_english(text):
        return None
    found = find_described_deletion(text)
    if found is None and command is not None and command.kind is CommandKind.FORGET_FACT:
        return DescribedDeletion(command.about, states=True)
    return found


async def find_statement(
    memory: Memory, user_id: str, described: DescribedDeletion, turn: UserTurn | None = None
) -> DeletionTarget | None:
    """The statement that somebody asks to forget; None if no statement clearly fits best.

    If they say what it states, it is every turn that states it.

    Args:
        memory: The memory.
        user_id: The user.
        described: What they ask to forget.
        turn: The turn in which they do. It stays if it says what holds instead.
    """
    found = await memory.find_described(described.about, user_id=user_id)
    if not found or found[0].fit < _min_fit(described, complete=found[0].complete):
        return None
    best, *others = found
    if described.states and _denies(described.about) and not _denies(best.text):
        return None
    same = [
        one
        for one in others
        if described.states and one.complete and one.fit >= MIN_FIT_IN_OTHER_WORDS
    ]
    if any(best.fit - one.fit < MIN_LEAD for one in others if one not in same):
        return None
    turns = tuple(dict.fromkeys(turn for one in (best, *same) for turn in one.turn_ids))
    return DeletionTarget(
        {"turn_ids": turns} if turns else {"memory_id": best.memory_id},
        f"“{escape_for_prompt(best.text)}”, with what was said in the same turn",
        described.about,
        None if described.corrected else turn,
    )


def _denies(text: str) -> bool:
    """Whether a statement denies something: "I'm not allergic" is not "I'm allergic"."""
    return _DENIAL.search(text) is not None


def _min_fit(described: DescribedDeletion, *, complete: bool) -> float:
    if described.states and not complete:
        return MIN_FIT_IN_OTHER_WORDS
    return MIN_PLAIN_FIT if described.plain else MIN_FIT


def command_target(command: Command, last: UserTurn | None) -> DeletionTarget | None:
    """What a command asks to delete; None if it can mean nothing.

    A fact that is in no statement found may be one that ended: what contains its words.

    Args:
        command: A command that deletes.
        last: The user's last turn before it.
    """
    about, words = command.about, escape_for_prompt(command.about)
    match command.kind:
        case CommandKind.FORGET_FACT:
            return DeletionTarget({"entity": about}, f"that “{words}”", about)
        case CommandKind.FORGET_ABOUT:
            return DeletionTarget({"entity": about}, f"everything about “{words}”", about)
        case CommandKind.FORGET_ALL:
            return DeletionTarget({"everything": True}, "everything that is known of them")
        case _:
            if last is None:
                return None
            ids = tuple(last.stored_ids)
            return DeletionTarget({"turn_ids": ids}, "what they said last, and the reply to it")
