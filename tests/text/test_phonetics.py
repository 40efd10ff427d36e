"""Phonetic matching of misheard names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem import Memory
from hotmem.text.phonetics import phonetic_key, similar_name
from tests.conversation import START, said


@pytest.mark.parametrize(
    ("heard", "meant"),
    [
        ("Patola", "Potola"),
        ("Bottola", "Potola"),
        ("Paula", "Paola"),
        ("John", "Jon"),
        ("Johanna", "Johana"),
    ],
)
def test_similar_names_match(heard: str, meant: str) -> None:
    assert similar_name(heard, ["Rocky", meant, "Lisbon"]) == meant


@pytest.mark.parametrize("heard", ["Boris", "Berlin", "Gordon", "X", "", "李雷"])
def test_other_names_do_not_match(heard: str) -> None:
    assert similar_name(heard, ["Paris", "Brazil", "Garfield", "Rocky"]) is None


def test_the_most_similar_name_is_chosen() -> None:
    assert similar_name("Jonn", ["Joan", "Jon", "Jean"]) == "Jon"


@given(st.text(max_size=40))
def test_every_text_matches_itself(name: str) -> None:
    assert phonetic_key(name) == phonetic_key(name.upper().lower()) or not name.isascii()
    assert similar_name(name, [name]) == name or not phonetic_key(name)


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
    await memory.remember(said("My friend Paola is a nurse. My friend Paula is a pilot."))
    await memory.settle()
    block = await memory.recall("What is Paula?", user_id="ana", at=START)
    assert block.trace.analysis is not None and block.trace.analysis.entities == ("Paula",)
