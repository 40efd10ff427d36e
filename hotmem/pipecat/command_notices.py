"""Notices for the language model: the outcome of a voice command, and what to ask the user."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from hotmem.block.rendering import render_notice
from hotmem.core.counts import counted
from hotmem.text.escaping import escape_for_prompt
from hotmem.types import ForgetResult, Item, Leftovers, Mark, StoredMemory
from hotmem.understanding.private_statements import is_shown_unasked
from hotmem.understanding.query.commands import CommandKind
from hotmem.understanding.query.cues import DIRECT_QUESTION
from hotmem.understanding.turn_retention import TurnRetention

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
