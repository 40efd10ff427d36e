"""Coreference resolution in conversations."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.models import Language
from hotmem.understanding.query.ambiguity import find_ambiguous
from hotmem.understanding.query.antecedents import RecentTurn
from hotmem.understanding.query.coreference import (
    MAX_PHRASES,
    MAX_TURNS,
    expand,
    resolve_by_rules,
)
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)

MEANT = CASES["meant"]


@scored(("recent", "text", "phrases"), MEANT.values(), floor=0.85)
def test_expansion(language: Language, recent: list[str], text: str, phrases: list[str]) -> None:
    *before, doc = language.parse([*recent, text])
    assert list(resolve_by_rules(doc, find_ambiguous(doc), before)) == phrases


def test_turns_beyond_the_limit_are_ignored(language: Language) -> None:
    first, other, doc = language.parse(["What is throat cancer?", "Well.", "Is it treatable?"])
    assert resolve_by_rules(doc, ("it",), [first, *[other] * (MAX_TURNS - 1)]) == ("throat cancer",)
    assert resolve_by_rules(doc, ("it",), [first, *[other] * MAX_TURNS]) == ()


@settings(max_examples=60)
@given(texts=st.lists(st.text(max_size=60), min_size=1, max_size=4))
def test_expansion_is_short_and_from_the_conversation(language: Language, texts: list[str]) -> None:
    *before, doc = language.parse(texts)
    phrases = expand(
        doc, ("it",), [RecentTurn(turn, place % 2 == 0) for place, turn in enumerate(before)]
    )
    assert len(phrases) <= MAX_PHRASES
    assert all(word in " ".join(texts[:-1]) for phrase in phrases for word in phrase.split())


TOLD = CASES["told"]


@scored(("recent", "text", "any_of", "none_of"), TOLD.values(), floor=1.0)
def test_references_to_what_was_told(
    language: Language, recent: list[str], text: str, any_of: list[str], none_of: list[str]
) -> None:
    *before, doc = language.parse([*recent, text])
    turns = [RecentTurn(turn, place % 2 == 0) for place, turn in enumerate(before)]
    phrases = expand(doc, find_ambiguous(doc), turns)
    assert set(any_of) & set(phrases), phrases
    assert not set(none_of) & set(phrases), phrases


def test_a_verb_taken_for_a_noun_is_not_ambiguous(language: Language) -> None:
    (doc,) = language.parse(["What does agility cost?"])
    assert find_ambiguous(doc) == ()
