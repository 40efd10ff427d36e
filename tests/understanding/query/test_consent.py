"""Consent to a deletion needs every word of the answer to be part of a yes."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.understanding.query.off_record import confirms_deletion
from tests.scored import scored
from tests.tables import tables

ANSWERS = tables(__file__, "consent")
"""Answers to a deletion's confirmation question, from a separate author."""


@scored("case", [case for case in ANSWERS if not case["yes"]], floor=1.0)
def test_nothing_else_is_a_yes(case: dict[str, Any]) -> None:
    assert not confirms_deletion(case["answer"], "Tom")


@scored(
    ("said", "yes"),
    [
        ("Yes.", True),
        ("yes please", True),
        ("Go ahead.", True),
        ("Sure, do it", True),
        ("um ok yes", True),
        ("That's right.", True),
        ("Yes, delete everything about Tom Miller.", True),
        ("Alright, go ahead and delete it.", True),
        ("Yes, I'd like you to delete it.", True),
        ("Yes, forget Tom Miller.", True),
        ("Yes, delete the turns and the facts.", True),
        ("Yes, delete the facts.", False),
        ("Yes, except the dentist.", False),
        ("Yes, but wait", False),
        ("No.", False),
        ("Okay.", False),
        ("sure", False),
        ("Right.", False),
        ("Yeah, right.", False),
        ("okay sure", False),
        ("Yes?", False),
        ("Yes...", False),
        ("yes and", False),
        ("Yes, no.", False),
        ("Forget it.", False),
        ("Everything.", False),
        ("Yes, forget everything about Ana.", False),
        ("Yes do not", False),
        ("", False),
    ],
    floor=1.0,
)
def test_confirms_deletion(said: str, yes: bool) -> None:
    assert confirms_deletion(said, "Tom Miller") is yes


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=20))
def test_any_words_can_be_an_answer(said: str, about: str) -> None:
    assert not confirms_deletion(f"{said} no", about)
