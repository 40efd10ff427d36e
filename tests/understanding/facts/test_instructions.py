"""Standing instructions are distinguished from one-time requests, with and without punctuation."""

import re
from pathlib import Path
from typing import Final

import pytest

from hotmem import Memory
from hotmem.models import Language
from hotmem.types import Category, Kind, StoredMemory
from hotmem.understanding.facts.instructions import find_instructions, is_instruction
from hotmem.understanding.facts.instructions.safety import (
    exclusive_topics,
    preferred_name,
    refused_name,
)
from tests.conversation import said
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

UTTERANCES: Final = tables(__file__, "instructions")
"""Standing instructions and other utterances, which nothing was trained on."""

KEPT = CASES["kept"]
ONCE = CASES["once"]


def bare(text: str) -> str:
    """The text as many speech recognisers write it."""
    return re.sub(r"[^\w\s'’-]", "", text).lower()


async def understood(memory: Memory, texts: list[str]) -> dict[str, list[StoredMemory]]:
    """The instructions extracted from each text, each in its own session."""
    for number, text in enumerate(texts):
        await memory.remember(
            said(text, session=f"session {number}", minutes=number, name=str(number))
        )
    await memory.settle()
    found: dict[str, list[StoredMemory]] = {text: [] for text in texts}
    for known in await memory.memories("ana", past=True):
        for turn in known.turn_ids if known.relation == "asks" else ():
            found[texts[int(turn)]].append(known)
    return found


@pytest.mark.parametrize("form", [str, bare])
async def test_standing_instructions_and_one_time_requests(memory: Memory, form: type[str]) -> None:
    texts = [form(text) for text in (*KEPT, *ONCE)]
    found = await understood(memory, texts)
    words_of = {text: [known.object for known in found[form(text)]] for text in KEPT}
    if form is str:
        assert all(words in ([], [KEPT[text]]) for text, words in words_of.items())
    assert sum(not words for words in words_of.values()) <= 2
    assert [text for text in ONCE if found[form(text)]] == []
    assert {
        (known.kind, known.category, known.importance)
        for wishes in found.values()
        for known in wishes
    } == {(Kind.RULE, Category.SYSTEM, 5)}


@pytest.mark.parametrize("form", [str, bare])
async def test_precision_and_recall_over_many_wordings(memory: Memory, form: type[str]) -> None:
    standing, other = (
        list(dict.fromkeys(map(form, UTTERANCES[name]))) for name in ("standing", "other")
    )
    found = await understood(memory, [*standing, *other])
    right = sum(bool(found[text]) for text in standing)
    wrong = sum(bool(found[text]) for text in other)
    assert right / len(standing) >= 0.7
    assert right / (right + wrong) >= 0.85


@scored(("note", "rule"), CASES["a_note_that_is_an_instruction"], floor=0.85)
def test_a_note_that_is_an_instruction(language: Language, note: str, rule: bool) -> None:
    assert is_instruction(language.parse([note])[0]) is rule


WISHES: Final = [
    (text, label == "wish")
    for _, text, label in (
        line.split("\t")
        for line in Path(__file__).with_name("wishes.tsv").read_text("utf-8").splitlines()
    )
]


@scored("text", [text for text, wish in WISHES if wish], floor=0.8)
def test_a_wish_is_an_instruction(language: Language, text: str) -> None:
    assert list(find_instructions(language.parse([text])[0]))


@scored("text", [text for text, wish in WISHES if not wish], floor=0.92)
def test_what_looks_like_a_wish_is_none(language: Language, text: str) -> None:
    assert not list(find_instructions(language.parse([text])[0]))


def test_spans_cover_the_words(language: Language) -> None:
    text = "I'm off on Monday. By the way, never mention my ex, please."
    (found,) = find_instructions(language.parse([text])[0])
    assert text[slice(*found.span)] == "By the way, never mention my ex, please."
    assert found.words == "never mention my ex"


@pytest.mark.parametrize(
    "text",
    [
        "when i say " * 90,
        "please never " * 80,
        "a, " * 330,
        "if i tell you don't " * 50,
        "and always call me " * 60,
    ],
)
def test_long_sentences_do_not_backtrack(language: Language, text: str) -> None:
    (doc,) = language.parse([text])
    list(find_instructions(doc))


@scored(("words", "name", "refused"), CASES["preferred_and_refused_names"], floor=0.85)
def test_preferred_and_refused_names(words: str, name: str, refused: str) -> None:
    assert (preferred_name(words), refused_name(words)) == (name, refused)


def test_exclusive_topics() -> None:
    assert exclusive_topics("call me Annie") == {"name"}
    assert exclusive_topics("don't call me Bob") == set()
    assert exclusive_topics("distances in miles, but the temperature in Celsius") == {
        "distance",
        "temperature",
    }
    assert exclusive_topics("never mention my ex") == set()
