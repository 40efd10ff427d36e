"""Consent to a deletion needs every word of the answer to be part of a yes."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hotmem.understanding.query.off_record import confirms_deletion
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

ANSWERS = tables(__file__, "consent")
"""Answers to a deletion's confirmation question, from a separate author."""


@scored("case", [case for case in ANSWERS if not case["yes"]], floor=1.0)
def test_nothing_else_is_a_yes(case: dict[str, Any]) -> None:
    assert not confirms_deletion(case["answer"], "Tom")


@scored(("said", "yes"), CASES["confirms_deletion"], floor=1.0)
def test_confirms_deletion(said: str, yes: bool) -> None:
    assert confirms_deletion(said, "Tom Miller") is yes


@given(st.text(max_size=200), st.text(max_size=20))
def test_any_words_can_be_an_answer(said: str, about: str) -> None:
    assert not confirms_deletion(f"{said} no", about)
