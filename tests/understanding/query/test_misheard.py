"""Known names that a recogniser wrote as other words, in questions and in statements."""

from collections.abc import Sequence
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from hotmem import Memory
from hotmem.models import load_language
from hotmem.text.phonetics import KnownName, encode_sounds
from hotmem.types.understanding import Doc
from hotmem.understanding.facts.corrections import lacks_case, read_corrections
from hotmem.understanding.query.misheard import find_misheard_names
from tests.conversation import START, remember, said
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

NAMES = ("Potola", "Zsofia", "Siobhan", "Thijs", "Mrs. Holloway", "Murdo")
KNOWN = [KnownName(name, encode_sounds(name)) for name in NAMES]


SAID_AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def parse(text: str) -> Doc:
    return load_language().parse([text], names=False)[0]


def found(
    text: str, *, names: Sequence[str] = NAMES, statement: bool = False
) -> list[tuple[str, str]]:
    misheard = find_misheard_names(
        parse(text),
        [KnownName(name, encode_sounds(name)) for name in names],
        parse,
        load_language().is_word,
        cased=not lacks_case(text),
        statement=statement,
        corrections=tuple(read_corrections(parse(text), SAID_AT)),
    )
    return [(text[one.start : one.stop], one.name) for one in misheard]


@scored(("text", "heard", "name"), CASES["a_misheard_name_is_found"], floor=1.0)
def test_a_misheard_name_is_found(text: str, heard: str, name: str) -> None:
    assert found(text) == [(heard, name)]


@scored("text", CASES["words_in_ordinary_use_are_left_alone"], floor=0.85)
def test_words_in_ordinary_use_are_left_alone(text: str) -> None:
    assert found(text) == []


def test_a_name_that_is_introduced_is_new() -> None:
    assert found("The new teacher is called Chevon.") == []


def test_a_capitalised_name_in_a_statement_is_its_own() -> None:
    assert found("Chevon is a nurse.", statement=True) == []


@scored(("text", "name"), CASES["words_of_a_statement_stand_for_themselves"], floor=0.85)
def test_words_of_a_statement_stand_for_themselves(text: str, name: str) -> None:
    assert found(text, names=(name,), statement=True) == []


@scored("text", CASES["a_name_set_apart_from_a_known_one_is_its_own"], floor=1.0)
def test_a_name_set_apart_from_a_known_one_is_its_own(text: str) -> None:
    assert found(text, statement=True) == []


@given(st.text(max_size=60))
def test_what_is_found_lies_in_the_text(text: str) -> None:
    doc = parse(text)
    last = 0
    for one in find_misheard_names(
        doc, KNOWN, parse, load_language().is_word, cased=not lacks_case(text)
    ):
        assert last <= one.start < one.stop <= len(doc.text)
        last = one.stop


async def test_a_misheard_name_recalls_facts_about_the_intended_one(
    memory: Memory,
) -> None:
    await memory.remember(said("My friend Paola is allergic to shellfish.", name="first"))
    for number in range(30):
        await memory.remember(
            said(f"My cousin number {number} is allergic to pollen.", name=f"turn-{number}")
        )
    await memory.settle()
    block = await memory.recall(
        "What is Paula allergic to?", user_id="ana", at=START, max_tokens=200
    )
    assert block.trace.analysis is not None and block.trace.analysis.entities == ("Paula", "Paola")
    assert "shellfish" in block.text


async def test_a_known_name_is_not_replaced(memory: Memory) -> None:
    await remember(memory, "My friend Paola is a nurse. My friend Paula is a pilot.")
    block = await memory.recall("What is Paula?", user_id="ana", at=START)
    assert block.trace.analysis is not None and block.trace.analysis.entities == ("Paula",)


async def test_a_statement_about_a_misheard_name_is_kept_under_the_known_one(
    memory: Memory,
) -> None:
    await remember(memory, said("My dog is called Potola.", name="first"))
    await remember(memory, said("pot hola has a new collar", name="second"))
    kept = [one for one in await memory.memories("ana") if "collar" in one.text]
    assert [one.text for one in kept] == ["Potola has a new collar."]
    block = await memory.recall("What does Potola have?", user_id="ana", at=START)
    assert "collar" in block.text


async def test_a_statement_about_another_name_is_kept_as_it_is(memory: Memory) -> None:
    await remember(memory, said("My sister Maria is a nurse.", name="first"))
    await remember(memory, said("My colleague Mario has a boat.", name="second"))
    texts = [one.text for one in await memory.memories("ana")]
    assert any("Mario" in text for text in texts)
    assert not any("Maria" in text and "boat" in text for text in texts)
