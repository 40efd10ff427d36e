"""What a voice command would delete: the arguments of `Memory.forget`, and words for them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from hotmem.memory import Memory
from hotmem.operations.described import DescribedStatement
from hotmem.text.escaping import escape_for_prompt
from hotmem.types import ForgetResult
from hotmem.understanding.private_statements import is_private
from hotmem.understanding.query.commands import Command, CommandKind
from hotmem.understanding.query.described_deletions import (
    DescribedDeletion,
    find_period,
    is_conversation,
)
from hotmem.understanding.turn_retention import UserTurn

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
        found = await memory.find_described(part, user_id=user_id)
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
