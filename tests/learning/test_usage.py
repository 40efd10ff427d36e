"""How a reply used an item: a table of replies as bots give them, and what must hold for any."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem.learning.usage import detect
from hotmem.types import Item, UsageKind
from tests.context.test_render import QUOTE

QUOTED, REFERRED, INFLUENCED, UNUSED = UsageKind.QUOTE, UsageKind.REFERENCE, UsageKind.INFLUENCE, UsageKind.UNUSED


def item(text: str, speaker: str | None = "Ana") -> Item:
    return replace(QUOTE, text=text, speaker=speaker)


TABLE = [
    ("My dog is called Potola.", "What's my dog called?", "She's called Potola!", REFERRED),
    ("My dog is called Potola.", "What's my dog called?", "Your dog? You told me, but I would rather hear it from you.", UNUSED),
    ("My dog is called Potola.", "What's my dog called?", "I don't know what your dog is called.", UNUSED),
    ("The ferry to Porto leaves at nine on Sundays.", "When do we go?", "The ferry to Porto leaves at nine on Sundays, so be early.", QUOTED),
    ("The ferry to Porto leaves at nine on Sundays.", "When do we go?", "At nine.", UNUSED),
    ("The ferry to Porto leaves at nine on Sundays.", "When do we go?", "You take the Porto boat.", REFERRED),
    ("My appointment is on 14 May at the dentist.", "When was that again?", "It is on the 14 of the month.", REFERRED),
    ("I painted the kitchen yellow because of the morning light.", "What colour?", "Yellow, for the light in the morning, in the kitchen.", REFERRED),
    ("I am allergic to walnuts, shellfish and strawberries.", "What shall I cook?", "Something without nuts: walnuts are out.", INFLUENCED),
    ("I am allergic to walnuts.", "Tell me a joke.", "Why did the chicken cross the road?", UNUSED),
    ("I would like to go home now.", "And then?", "I would like to help you with that.", UNUSED),
    ("My sister Marta plays the cello.", "Who plays the cello?", "Marta does.", REFERRED),
    ("Ana likes tea.", "What do I drink?", "Ana, you drink water.", UNUSED),
]  # fmt: skip


@pytest.mark.parametrize(("text", "asked", "reply", "kind"), TABLE)
def test_replies_as_bots_give_them(text: str, asked: str, reply: str, kind: UsageKind) -> None:
    (use,) = detect([item(text)], asked, reply)
    assert use.kind is kind
    assert (use.strength > 0) or kind is UNUSED


def test_each_item_is_judged_for_itself_and_in_order() -> None:
    items = [item("My dog is called Potola."), item("My sister lives in Braga."), item("The code is 4711.")]
    assert [use.kind for use in detect(items, "What do you know?", "Potola, and 4711.")] == [REFERRED, UNUSED, REFERRED]
    assert [use.item for use in detect(items, "What do you know?", "")] == items


def test_only_what_was_heard_counts() -> None:
    items = [item("My dog is called Potola."), item("My sister lives in Braga.")]
    whole = "Your dog is Potola, and your sister lives in Braga."
    assert [use.kind is UNUSED for use in detect(items, "Well?", whole)] == [False, False]
    assert [use.kind is UNUSED for use in detect(items, "Well?", whole[: whole.index("and")])] == [False, True]


words = st.text(max_size=80)


@given(words, words, words)
def test_any_words_give_a_use_with_a_strength(text: str, asked: str, reply: str) -> None:
    (use,) = detect([item(text)], asked, reply)
    assert 0 <= use.strength <= 1


@given(words, words)
def test_silence_uses_nothing(text: str, asked: str) -> None:
    (use,) = detect([item(text)], asked, "")
    assert use.kind is UNUSED and use.strength == 0


@given(words)
def test_the_users_own_words_prove_nothing(text: str) -> None:
    (use,) = detect([item(text)], text, text)
    assert use.kind is UNUSED
