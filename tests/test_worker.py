"""Failing jobs are set aside and retried at the next open, without delaying others."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from hotmem import Memory, Options
from hotmem.models import CachedEncoder, Language
from hotmem.models.encoder import Vectors
from hotmem.options import BackgroundOptions
from hotmem.storage.sqlite import connection
from hotmem.storage.sqlite.connection import connect
from tests.conversation import START, OpenMemory, remember, said
from tests.letters import LetterEncoder

if TYPE_CHECKING:
    from spacy.tokens import Doc

POISON = "poison"

AT_ONCE = Options(background=BackgroundOptions(pause_s=0.01))
"""Options with which what fails is tried again soon."""


class Choking(Language):
    """spaCy's model, failing on some texts."""

    def __init__(self, language: Language) -> None:
        self._language = language

    def parse(self, texts: Sequence[str], *, names: bool = True) -> "list[Doc]":
        if any(POISON in text for text in texts):
            raise ZeroDivisionError
        return self._language.parse(texts, names=names)

    def is_word(self, word: str) -> bool:
        return self._language.is_word(word)


class Failing(LetterEncoder):
    """A letter encoder that can be made to fail."""

    broken = True

    def encode(self, texts: Sequence[str]) -> Vectors:
        if self.broken and any(POISON in text for text in texts):
            raise MemoryError
        return super().encode(texts)


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


async def test_one_failing_turn_of_a_batch_does_not_affect_the_others(
    database: Path, encoder: CachedEncoder, language: Language
) -> None:
    async with Memory.open(
        database, AT_ONCE, encoder=encoder, language=Choking(language)
    ) as memory:
        await memory.remember(said("My dog is called Potola."))
        await memory.remember(said(f"The {POISON} is blue."))
        await memory.remember(said("I live in Porto."))
        async with asyncio.timeout(30):
            await memory.settle()
        assert {known.object for known in await memory.memories("ana")} == {"Potola", "Porto"}


async def test_a_failing_encoder_does_not_block_settle_and_is_retried(
    database: Path, language: Language
) -> None:
    encoder = Failing()
    async with Memory.open(database, AT_ONCE, encoder=encoder, language=language) as memory:
        await memory.remember(said(f"The {POISON} is blue."))
        async with asyncio.timeout(30):
            await memory.settle()
    encoder.broken = False
    async with Memory.open(database, AT_ONCE, encoder=encoder, language=language) as memory:
        await remember(memory, "My dog is called Potola.")
    with connect(database, read_only=True) as conn:
        assert conn.execute("SELECT count(*) FROM passages WHERE vector IS NULL").fetchone()[0] == 0
    conn.close()


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


async def test_another_encoder_embeds_everything_again(
    database: Path, encoder: CachedEncoder, language: Language
) -> None:
    async with Memory.open(database, encoder=LetterEncoder(), language=language) as memory:
        await remember(memory, "My dog is called Potola.", end="monday")
    async with Memory.open(database, encoder=encoder, language=language) as memory:
        assert "Potola" in (await memory.recall("What's my dog called?", user_id="ana")).text, (
            "while that goes on, words are enough"
        )
        await memory.settle()
    conn = connect(database, read_only=True)
    for table in ("passages", "memories", "summaries"):
        sizes = {len(row[0]) for row in conn.execute(f"SELECT vector FROM {table}")}
        assert sizes == {encoder.dimension}
    stored = np.frombuffer(
        conn.execute("SELECT vector FROM passages").fetchone()[0], dtype=np.int8
    ).astype(np.float32)
    conn.close()
    wanted = encoder.encode(["Ana: My dog is called Potola."])[0]
    assert float(stored @ wanted) / float(np.linalg.norm(stored)) > 0.99


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


@pytest.mark.parametrize(
    "text",
    [
        "my dog is called rex i moved to berlin in march",
        "MY DOG IS CALLED REX I MOVED TO BERLIN IN MARCH",
    ],
)
async def test_facts_are_extracted_from_text_without_capitals(memory: Memory, text: str) -> None:
    await remember(memory, text)
    texts = [known.text for known in await memory.memories("ana")]
    assert "Ana's dog is called Rex." in texts
    assert any("Berlin" in text for text in texts)
