"""What the user asks of the memory is carried out in the pipeline, and told in the block; deleting waits for a yes."""

from contextlib import closing
from pathlib import Path

import pytest

from hotmem import Memory
from hotmem.pipecat import outbox
from hotmem.store.driver import connect
from tests.pipecat.daniel import blocks, daniels, tell
from tests.pipecat.scene import scene, turns_in


async def test_forgetting_waits_for_a_yes_and_leaves_no_trace(memory: Memory, database: Path) -> None:
    await tell(memory)
    async with scene(daniels(memory), ["Forget all about Boston, are you sure?", "It is gone."]) as bot:
        await bot.exchange("Please forget everything about Boston.")
        assert any("Boston" in text for _, text in turns_in(database)), "nothing goes before the yes"
        await bot.exchange("Yes.")
    asked, done = (blocks(messages)[0] for messages in bot.model.shown)
    assert "are sure" in asked and "Boston" in asked
    assert "deleted" in done and "Boston" not in done
    assert not [text for _, text in turns_in(database) if "Boston" in text]
    assert not [known for known in await memory.memories("daniel", past=True) if "Boston" in known.text]
    assert [known for known in await memory.memories("daniel") if "Rocky" in known.text]


async def test_without_a_yes_nothing_goes(memory: Memory, database: Path) -> None:
    await tell(memory)
    async with scene(daniels(memory)) as bot:
        await bot.exchange("Forget everything you know about me.")
        await bot.exchange("No, wait.")
        await bot.exchange("Yes.")
    assert "for good" in blocks(bot.model.shown[0])[0]
    assert not any("are deleted" in block for messages in bot.model.shown[1:] for block in blocks(messages))
    assert any("Boston" in text for _, text in turns_in(database))


async def test_what_was_said_last_can_be_taken_back(memory: Memory, database: Path) -> None:
    await tell(memory)
    async with scene(daniels(memory)) as bot:
        await bot.exchange("My code word is Oleander.")
        await bot.exchange("Forget that.")
        await bot.exchange("Yes please.")
    assert not [text for _, text in turns_in(database) if "Oleander" in text]
    assert any("Rocky" in text for _, text in turns_in(database))


async def test_off_the_record_nothing_is_kept(memory: Memory, database: Path) -> None:
    async with scene(daniels(memory), ["Fine.", "I see.", "Back again.", "Noted."]) as bot:
        await bot.exchange("This is off the record.")
        await bot.exchange("I am planning a surprise for Ines.")
        await bot.exchange("OK, we're back on the record.")
        await bot.exchange("I bought a kite.")
    assert turns_in(database) == [("user", "I bought a kite."), ("assistant", "Noted.")]


async def test_off_the_record_no_question_is_kept_either(memory: Memory, database: Path) -> None:
    await tell(memory)
    async with scene(daniels(memory), ["Rocky.", "Fine.", "In Boston."]) as bot:
        await bot.exchange("What is my dog called?")
        await bot.exchange("This is off the record.")
        await bot.exchange("Where does my sister live?")
    assert "Boston" in blocks(bot.model.shown[-1])[0], "what is known is still used"
    with closing(connect(database, read_only=True)) as conn:
        assert conn.execute("SELECT query FROM recalls").fetchall() == [("What is my dog called?",)]


async def test_what_is_known_and_where_it_comes_from_is_told(memory: Memory) -> None:
    await tell(memory)
    async with scene(daniels(memory)) as bot:
        await bot.exchange("What do you know about me?")
        await bot.exchange("What is my dog called?")
        await bot.exchange("How do you know that?")
    every, _, source = (blocks(messages)[0] for messages in bot.model.shown)
    assert all(word in every for word in ("Rocky", "Boston", "peanuts", "2026-03-02"))
    assert "dog is called Rocky." in source and "2026-03-02" in source


async def test_a_stranger_is_told_that_nothing_is_known(memory: Memory) -> None:
    async with scene(daniels(memory)) as bot:
        await bot.exchange("What do you know about me?")
        await bot.exchange("How do you know that?")
    assert "Nothing is known" in blocks(bot.model.shown[0])[0]
    assert "Nothing from earlier" in blocks(bot.model.shown[1])[0]


async def test_what_is_forgotten_is_not_written_afterwards(memory: Memory, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "AFTER_S", 0.3)
    await tell(memory)
    async with scene(daniels(memory)) as bot:
        await bot.exchange("My code word is Oleander.")
        await bot.exchange("Forget everything about me.")
        await bot.exchange("Yes.")
    assert not [text for _, text in turns_in(database) if "Oleander" in text or "Rocky" in text]
