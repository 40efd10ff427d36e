"""Jokes yield no facts; the rest of the turn does."""

from hotmem.understanding.facts.assertion import joke_spans, retracts_previous_turn
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)


@scored(("said", "jest"), CASES["the_span_of_a_joke"], floor=0.85)
def test_the_span_of_a_joke(said: str, jest: str | None) -> None:
    assert [said[start:stop] for start, stop in joke_spans(said)] == (
        [] if jest is None else [jest]
    )


@scored(("said", "back"), CASES["a_remark_about_the_previous_turn"], floor=0.85)
def test_a_remark_about_the_previous_turn(said: str, back: bool) -> None:
    assert retracts_previous_turn(said) is back
