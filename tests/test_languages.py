"""A memory of people who speak other languages than English."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path

import pytest

from hotmem import InvalidInput, Memory, Options, StoreError
from hotmem.models import CachedEncoder
from hotmem.storage.database import Connection
from hotmem.tools.maintenance import NoArguments, repair_index
from hotmem.understanding.query.command_finder import CommandFinder
from hotmem.understanding.query.commands import CommandKind
from tests.conversation import START, OpenMemory, said
from tests.languages import Sample, load_samples
from tests.tables import tables

CASES = tables(__file__)

LATER = START + timedelta(days=1)
SAMPLES = {sample.language: sample for sample in load_samples()}

Open = Callable[[str | None], AbstractAsyncContextManager[Memory]]

UNUSUAL = CASES["unusual"]
"""Scripts written from right to left, scripts without a stemmer, emoji and combining marks."""


@pytest.fixture
def open_in(database: Path, open_memory: OpenMemory) -> Open:
    """Opens the test's file in a language; None for the one that it has."""

    def opened(code: str | None) -> Memory:
        return open_memory(database, Options(language=code))

    return opened


async def tell(memory: Memory, *texts: str) -> None:
    for number, text in enumerate(texts):
        await memory.remember(said(text, speaker=None, minutes=number, name=f"t{number}"))
    await memory.end_session(user_id="ana", session_id="monday")
    await memory.settle()


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
async def test_statements_are_found_and_nothing_is_invented(sample: Sample, open_in: Open) -> None:
    async with open_in(sample.language) as memory:
        await tell(memory, *sample.statements)
        found = 0
        for one in sample.questions:
            block = await memory.recall(one.text, user_id="ana", at=LATER)
            found += any(f"t{one.answer}" in item.turn_ids for item in block.items)
            assert block.items
        assert found >= len(sample.questions) - 2
        assert not await memory.memories("ana", past=True)
        summary = await memory.lookup.summary(user_id="ana", session_id="monday")
        assert summary is None or not (summary.topics or summary.narrative)
        assert not await memory.runtime.database.read_all(names)


def names(conn: Connection) -> list[str]:
    return conn.column("SELECT name FROM entities")


@pytest.mark.parametrize("code", ["en", "de", "ja", "ar", "hi", "th"])
async def test_any_script_is_stored_and_searched(code: str, open_in: Open) -> None:
    async with open_in(code) as memory:
        await tell(memory, *UNUSUAL)
        for number, text in enumerate(UNUSUAL):
            block = await memory.recall(text, user_id="ana", at=LATER)
            shown = {one for item in block.items for one in item.turn_ids}
            assert f"t{number}" in shown or not any(map(str.isalpha, text))
        assert not await memory.memories("ana", past=True)


async def test_english_is_understood_in_a_memory_of_another_language(open_in: Open) -> None:
    async with open_in("de") as memory:
        await tell(
            memory,
            "My dog is called Potola.",
            "Mein Hund heißt Potola.",
        )
        (known,) = await memory.memories("ana")
        assert known.text == "The user's dog is called Potola."
        block = await memory.recall("What is my dog called?", user_id="ana", at=LATER)
        assert "My dog is called Potola." in block.text


async def test_german_in_an_english_memory_states_nothing(memory: Memory) -> None:
    await tell(
        memory,
        "Ich bin gestern nach Ulm gezogen.",
        "Ich heiße Ben und nicht Anna.",
        "I live in Porto.",
        "Nein, nicht in Porto, ich wohne in Ulm.",
    )
    (known,) = await memory.memories("ana", past=True)
    assert known.text == "The user lives in Porto." and known.valid_until is None
    block = await memory.recall("Wohin bin ich gestern gezogen?", user_id="ana", at=LATER)
    assert "Ich bin gestern nach Ulm gezogen." in block.text


async def test_nothing_is_said_to_be_unknown_of_a_question_in_another_language(
    open_in: Open,
) -> None:
    async with open_in("es") as memory:
        await tell(memory, "Mi perro se llama Trueno.")
        block = await memory.recall("¿Cuándo sale el tren a Sevilla?", user_id="ana", at=LATER)
    assert "nothing" not in block.text.lower()


async def test_a_statement_stored_in_another_language(open_in: Open) -> None:
    async with open_in("de") as memory:
        stored = [
            await memory.store_memory(text, user_id="ana")
            for text in (
                "Mein Bruder wohnt in Ulm.",
                "Mein Bruder wohnt in Köln.",
                "mein Bruder wohnt in Ulm",
            )
        ]
        assert [one.merged for one in stored] == [False, False, True]
        known = {one.text for one in await memory.memories("ana")}
        assert known == {"Mein Bruder wohnt in Ulm.", "Mein Bruder wohnt in Köln."}
        block = await memory.recall("Wo wohnen meine Brüder?", user_id="ana", at=LATER)
        assert {one.text for one in block.items} == known


async def test_forgotten_words_are_withheld_in_another_language(open_in: Open) -> None:
    async with open_in("de") as memory:
        await tell(memory, "Die Passwörter liegen im Tresor.", "Der Hund heißt Balu.")
        await memory.forget(user_id="ana", turn_ids=["t0"])
        assert memory.runtime.suppression.hides("Die Passwörter sind im Tresor.", user_id="ana")
        assert not memory.runtime.suppression.hides("Der Hund heißt Balu.", user_id="ana")


async def test_another_language_is_refused_until_words_are_indexed_anew(open_in: Open) -> None:
    async with open_in("de") as memory:
        await tell(memory, "Die alten Häuser am Fluss.")
    async with open_in(None) as memory:
        assert memory.runtime.database.language == "de"
        assert (await repair_index(memory, "ana", NoArguments())).faults == ()
        block = await memory.recall("Welches Haus?", user_id="ana", at=LATER)
        assert block.items
    with pytest.raises(StoreError, match="hotmem language fr"):
        async with open_in("fr"):
            pass


def test_only_supported_languages() -> None:
    with pytest.raises(InvalidInput, match="language is 'xx'"):
        Options(language="xx")


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_no_command_is_found_in_another_language(sample: Sample, encoder: CachedEncoder) -> None:
    find = CommandFinder(lambda: encoder)
    for text in (*sample.statements, *(one.text for one in sample.questions)):
        assert find(text) is None


def test_commands_of_somebody_who_speaks_two_languages(encoder: CachedEncoder) -> None:
    find = CommandFinder(lambda: encoder)
    for text, kind in (
        ("Forget that.", CommandKind.FORGET_LAST),
        ("This is off the record.", CommandKind.OFF_RECORD),
        ("Forget everything about Jürgen Müller.", CommandKind.FORGET_ABOUT),
    ):
        command = find(text)
        assert command is not None and command.kind is kind
