"""Failing jobs are set aside and retried at the next open, without delaying others."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from hotmem import Memory, Options
from hotmem.models import CachedEncoder, Language
from hotmem.options import BackgroundOptions
from hotmem.storage.sqlite import connection
from hotmem.storage.sqlite.connection import connect
from tests.conversation import START, OpenMemory, remember, said
from tests.test_job_fairness import POISON, Choking


async def test_a_turn_that_cannot_be_parsed_is_retried_on_the_next_open(
    database: Path, encoder: CachedEncoder, language: Language
) -> None:
    options = Options(background=BackgroundOptions(batch=1, pause_s=0.01))
    async with Memory.open(
        database, options, encoder=encoder, language=Choking(language)
    ) as memory:
        await memory.remember(said(f"I live in Porto. The {POISON} is blue."))
        await memory.remember(said("My dog is called Potola."))
        async with asyncio.timeout(30):
            await memory.settle()
        assert [known.text for known in await memory.memories("ana")] == [
            "Ana's dog is called Potola."
        ]
        assert POISON in (await memory.recall("Who lives in Porto?", user_id="ana")).text, (
            "its words are found all the same"
        )
    async with Memory.open(database, options, encoder=encoder, language=language) as memory:
        await memory.settle()
        assert "Ana lives in Porto." in [known.text for known in await memory.memories("ana")]


async def test_a_temporarily_locked_file_does_not_block_settle(
    database: Path, open_memory: OpenMemory, monkeypatch: "pytest.MonkeyPatch"
) -> None:
    monkeypatch.setattr(connection, "LOCK_WAIT_S", 0.05)
    async with open_memory(database) as memory:
        await memory.remember(said("My dog is called Potola."))
        other = connect(database)
        other.execute("BEGIN IMMEDIATE")
        async with asyncio.timeout(30):
            await memory.settle()
        other.execute("ROLLBACK")
        other.close()
        await memory.settle()
        assert [known.object for known in await memory.memories("ana")] == ["Potola"]


async def test_closing_during_background_work_loses_nothing(
    database: Path, open_memory: OpenMemory
) -> None:
    async with open_memory(database) as memory:
        for number in range(20):
            await memory.remember(said(f"I like walnuts with number {number}.", name=str(number)))
    async with open_memory(database) as memory:
        await memory.settle()
        assert len(await memory.memories("ana")) == 20
    assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


async def test_a_busy_memory_still_answers(memory: Memory) -> None:
    for number in range(30):
        await memory.remember(
            said(
                f"Number {number}: "
                + "we talked for a long time about the garden and the ferry. " * 20
            )
        )
    ticks, settling = 0, asyncio.create_task(memory.settle())
    while not settling.done():
        await memory.recall("What about the ferry?", user_id="ana", at=START + timedelta(days=1))
        ticks += 1
    await settling
    assert ticks >= 2


async def test_facts_of_a_joke_are_removed_and_facts_it_ended_hold_again(memory: Memory) -> None:
    for minutes, text in enumerate(
        (
            "My dog is called Rex. I live in Porto.",
            "I live in Beja. I have a lion.",
            "Just kidding!",
        )
    ):
        await remember(memory, said(text, minutes=minutes))
    assert {known.text for known in await memory.memories("ana", past=True)} == {
        "Ana's dog is called Rex.",
        "Ana lives in Porto.",
    }
    assert all(known.current for known in await memory.memories("ana", past=True))
