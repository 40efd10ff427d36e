"""Spellings of names: which are the same name, and which are not."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hotmem import InvalidInput, Memory
from hotmem.memory.suppression import SuppressedTexts
from hotmem.text.names import name_finder, normalize_name, whole_words
from tests.conversation import said, turns_told
from tests.scored import scored
from tests.tables import attack_cases, tables

CASES = tables(__file__, "names")


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: ascii(f"{case['name']} in {case['text']}")[:80]
)
def test_a_name_matches_its_spellings_only(case: dict[str, Any]) -> None:
    assert name_finder(case["name"])(case["text"]) == case["same"], case["why"]


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["same"] and "@" not in case["text"]],
    ids=lambda case: ascii(case["name"]),
)
def test_a_matching_spelling_is_suppressed_too(case: dict[str, Any]) -> None:
    held = SuppressedTexts()
    held.add("ana", [whole_words(case["name"])])
    assert held.found("ana", case["text"]), case["why"]
    held.lift("ana", case["text"])
    assert not held.found("ana", case["text"])


@example("A\u0345")
@example("a\u1fb3")
@given(st.text())
def test_normalisation_is_idempotent(text: str) -> None:
    assert normalize_name(normalize_name(text)) == normalize_name(text)


@given(
    st.text(min_size=1).filter(lambda text: normalize_name(text)),
    st.sampled_from(["", "\u00ad", "\u200d", "\u2060", "\ufeff"]),
)
def test_invisible_characters_do_not_change_a_name(name: str, unseen: str) -> None:
    assert name_finder(name)(f"{unseen}{name}{unseen}, she said.")


@scored("case", attack_cases("spellings"), floor=0.99)
def test_a_spelling_is_of_the_same_name(case: dict[str, Any]) -> None:
    text = f"I met {case['written']} today"
    assert name_finder(case["name"])(text) is case["same"]


async def test_forgetting_removes_every_spelling_and_no_other_name(memory: Memory) -> None:
    going = (
        "I met Conor O\u2019Brien.",
        "Call conor o'brien!",
        "CONOR  O'BRIEN\u2019S car",
        "Conor\nO'\u00adBrien rang",
        "mail conor.o'brien@example.org",
    )
    staying = ("I met Connor O'Brien.", "Conor and Ann O'Brien came.")
    for text in (*going, *staying):
        await memory.remember(said(text))
    receipt = await memory.forget(user_id="ana", entity="Conor O'Brien")
    assert receipt.turns == len(going)
    assert await turns_told(memory) == list(staying)


async def test_an_invisible_name_is_refused(memory: Memory) -> None:
    await memory.remember(said("I like walnuts."))
    for name in ("\u00ad", "\u200b\u200d", " \u2060 "):
        with pytest.raises(InvalidInput, match="entity is empty"):
            await memory.forget(user_id="ana", entity=name)
    assert await turns_told(memory)


async def test_names_in_other_scripts_are_forgotten(lettered: Memory) -> None:
    for text in ("我和王小明去了北京。", "昨日田中さんと会いました", "민수가 어제 왔다"):
        await lettered.remember(said(text))
    for name in ("王小明", "田中", "민수"):
        assert (await lettered.forget(user_id="ana", entity=name)).turns == 1
        assert lettered.runtime.suppression.hides(f"「{name}」", user_id="ana")
    assert not await turns_told(lettered)
