"""What is left of scripted turns: current and past memories of one user for each case."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from eval.output import tracked
from hotmem import Memory, Turn
from hotmem.types import StoredMemory

START: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""When the first turn of every case is said; a Monday."""


async def memories_of(
    memory: Memory, told: Sequence[Iterable[Turn]]
) -> list[tuple[list[StoredMemory], list[StoredMemory]]]:
    """Remember the turns of every case, each of a user of its own.

    Returns:
        Current and past memories of each case, after all background work.
    """
    users = []
    for turns in tracked(told, "telling"):
        for turn in turns:
            await memory.remember(turn)
        users.append(turn.user_id)
    await memory.settle()
    return [divided(await memory.memories(user, past=True)) for user in users]


def divided(
    memories: Iterable[StoredMemory],
) -> tuple[list[StoredMemory], list[StoredMemory]]:
    """Return the current memories and the past ones."""
    every = list(memories)
    return [one for one in every if one.current], [one for one in every if not one.current]


def has_words(words: str, text: str) -> bool:
    """Whether a text contains whole words, whatever their case."""
    return bool(re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE))


def holds(value: str, facts: Iterable[StoredMemory]) -> bool:
    """Whether a fact contains the words of a value."""
    return any(has_words(value, fact.text) for fact in facts)
