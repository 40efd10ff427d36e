"""Undo of deletions by voice, within the grace period and only by the user."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from hotmem import Memory, Options
from hotmem.options import BackgroundOptions, ForgettingOptions
from hotmem.pipecat.voice_commands import UNDO_TURNS
from tests.conversation import OpenMemory
from tests.pipecat.daniel import blocks, daniels, tell
from tests.pipecat.scene import scene, turns_in
from tests.storage.test_erasure import whole


def boston(database: Path) -> list[str]:
    return [text for _, text in turns_in(database) if "Boston" in text]


async def delete(
    memory: Memory, *after: str, say: tuple[str, ...] = ("Forget everything about Boston.", "Yes.")
) -> list[str]:
    """The last block of each turn of a session in which Boston is forgotten."""
    async with scene(daniels(memory)) as bot:
        await bot.exchange(*say, *after)
    await memory.settle()
    return ["".join(blocks(messages)[-1:]) for messages in bot.model.shown]


@pytest.mark.parametrize("undo", ["Undo that.", "Oh no, bring it back!", "I want that back."])
@pytest.mark.parametrize(
    "ask", ["Forget all about Boston.", "Delete the bit about where my sister lives."]
)
async def test_a_recent_deletion_is_undone_without_confirmation(
    ask: str, undo: str, told: Memory, database: Path
) -> None:
    before = boston(database)
    said = (ask, "Yes.", undo, "What do you know about Boston?")
    asked, done, undone, _ = await delete(told, say=said)
    assert "for good after 24 hours" in asked
    assert "were deleted, and can be brought back until" in done and "undo that" in done
    assert "are there again" in undone
    assert before and boston(database)[: len(before)] == before
    assert await told.lookup.restorable("daniel") is None


async def test_undo_in_a_later_session_needs_confirmation(told: Memory, database: Path) -> None:
    before = boston(database)
    await delete(told)
    assert not boston(database)
    (asked, _) = await delete(told, say=("Bring it back.", "Delete it."))
    assert "Nothing is done yet" in asked and "1 turn and 1 fact" in asked
    assert not boston(database), "a sentence about deletion does not confirm an undo"
    (asked, done) = await delete(told, say=("I want that back.", "Yes, please."))
    assert "Nothing is done yet" in asked and "are there again" in done
    assert boston(database) == before


async def test_undo_after_many_turns_needs_confirmation(memory: Memory, database: Path) -> None:
    await tell(memory)
    small_talk = tuple(f"I had {number} cups of tea." for number in range(UNDO_TURNS))
    told = await delete(memory, *small_talk, "Undo that.")
    assert "Nothing is done yet" in told[-1] and not boston(database)


async def test_what_was_never_stored_is_not_undone(memory: Memory, database: Path) -> None:
    await tell(memory)
    await delete(memory)
    nothing = ("This is off the record.", "I had tea.", "Don't save that.", "Undo that.")
    told = await delete(memory, say=nothing)
    assert "Nothing is done yet" in told[-1] and not boston(database)


async def test_without_a_deletion_nothing_is_undone(memory: Memory) -> None:
    await tell(memory)
    (told,) = await delete(memory, say=("Undo that.",))
    assert "Done" not in told and "deleted" not in told and "bring back" not in told


async def test_a_guest_cannot_undo(told: Memory, database: Path) -> None:
    await delete(told)
    async with scene(daniels(told, speakers={"d": "Daniel", "g": "Guest"})) as bot:
        for speaker, text in (("g", "Bring it back."), ("d", "Bring it back."), ("g", "Yes.")):
            await bot.speak(final=text, speaker=speaker, pause_s=0.0)
            await bot.reply()
    first, _, third = bot.model.shown
    assert "only the user can" in blocks(first)[-1] and "only the user can" in blocks(third)[-1]
    assert not boston(database)


@pytest.fixture
async def at_once(database: Path, open_memory: OpenMemory) -> AsyncIterator[Memory]:
    options = replace(
        Options(), forgetting=ForgettingOptions(grace_s=0), background=BackgroundOptions(idle_s=0.1)
    )
    async with open_memory(database, options) as opened:
        yield opened


async def test_without_a_grace_period_deletion_is_final(at_once: Memory, database: Path) -> None:
    await tell(at_once)
    asked, done, undone = await delete(at_once, "Undo that.")
    assert "for good:" in asked and "undo" not in asked
    assert "were deleted." in done and "brought back" not in done
    assert "there again" not in undone
    assert b"boston" not in await asyncio.to_thread(whole, database)
