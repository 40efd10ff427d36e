"""Jokes yield no facts; the rest of the turn does."""

from datetime import UTC, datetime

from hotmem.models import Language
from hotmem.types import Role
from hotmem.understanding.facts import extract_from_parse
from hotmem.understanding.facts.assertion import joke_spans, retracts_previous_turn
from tests.scored import scored


@scored(
    ("said", "jest"),
    [
        ("I live on a boat, just kidding.", "I live on a boat, "),
        ("I own three castles. Only joking!", "I own three castles. "),
        ("I paint. I own a lion, I'm kidding of course. I bake.", "I own a lion, "),
        ("I have a zebra, that was just a joke.", "I have a zebra, "),
        ("i have a zebra haha kidding", "i have a zebra "),
        ("I live in Evora, I'm not kidding.", None),
        ("I live in Evora, haha.", None),
        ("My brother is always joking.", "My brother is always "),
    ],
    floor=0.85,
)
def test_the_span_of_a_joke(said: str, jest: str | None) -> None:
    assert [said[start:stop] for start, stop in joke_spans(said)] == (
        [] if jest is None else [jest]
    )


@scored(
    ("said", "back"),
    [
        ("Just kidding!", True),
        ("No, I didn't, that was a joke.", True),
        ("i was joking", True),
        ("Don't believe that one, I was only joking.", True),
        ("I own a lion, just kidding.", False),
        ("I'm not kidding.", False),
        ("He told a joke.", False),
    ],
    floor=0.85,
)
def test_a_remark_about_the_previous_turn(said: str, back: bool) -> None:
    assert retracts_previous_turn(said) is back


def test_a_joke_yields_no_fact(language: Language) -> None:
    doc = language.parse(["I have a lion, just kidding, but I have a dog."])[0]
    found = extract_from_parse(doc, "Ana", Role.USER, datetime(2026, 3, 2, tzinfo=UTC)).statements
    assert [one.object for one in found] == ["dog"]
