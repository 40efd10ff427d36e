"""Ambiguous words, and words that only look ambiguous."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.models import Language
from hotmem.understanding.query.ambiguity import find_ambiguous
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)


@scored(("text", "words"), CASES["pointing"])
def test_ambiguous_words_are_found(language: Language, text: str, words: list[str]) -> None:
    assert list(find_ambiguous(language.parse([text])[0])) == words


@scored("text", CASES["clear"])
def test_self_contained_utterances_are_not_ambiguous(language: Language, text: str) -> None:
    assert find_ambiguous(language.parse([text])[0]) == ()


@settings(max_examples=100)
@given(
    words=st.lists(
        st.sampled_from(CASES["words_are_unique_and_from_the_utterance"]),
        max_size=12,
    )
)
def test_words_are_unique_and_from_the_utterance(language: Language, words: list[str]) -> None:
    found = find_ambiguous(language.parse([" ".join(words)])[0])
    assert len(set(found)) == len(found)
    assert all(word in " ".join(words).lower() for word in found)
