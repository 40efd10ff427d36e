"""The preferred name: never one that is refused or that only others use."""

from hotmem.understanding.facts.instructions.safety import preferred_name
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)


@scored("words", CASES["a_refused_name_is_not_preferred"], floor=0.85)
def test_a_refused_name_is_not_preferred(words: str) -> None:
    assert preferred_name(words) == ""


@scored(("words", "name"), CASES["a_form_of_address_takes_precedence_over_the_name"], floor=1.0)
def test_a_form_of_address_takes_precedence_over_the_name(words: str, name: str) -> None:
    assert preferred_name(words) == name
