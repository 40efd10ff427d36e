"""Jokes yield no facts; the rest of the turn does."""

from datetime import UTC, datetime

from hotmem.models import Language
from hotmem.types import Role
from hotmem.understanding.facts import extract_from_parse
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


def test_a_joke_yields_no_fact(language: Language) -> None:
    doc = language.parse(["I have a lion, just kidding, but I have a dog."])[0]
    found = extract_from_parse(doc, "Ana", Role.USER, datetime(2026, 3, 2, tzinfo=UTC)).statements
    assert [one.object for one in found] == ["dog"]
