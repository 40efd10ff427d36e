"""Statement equivalence: cases that were not used for fitting, and properties."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.tools.equivalence import Pair, pairs
from hotmem.consolidation.equivalence import (
    FEATURES,
    MERGE_THRESHOLD,
    NEGATIVE_FEATURES,
    POSITIVE_FEATURES,
    SUGGESTION_THRESHOLD,
    StatementPair,
    coefficients,
    differs_in_one_word,
    equivalence_probability,
    extract_numbers,
    find_differences,
    pair_features,
    statement_features,
)
from hotmem.models import CachedEncoder
from tests.tables import tables

CASES = tables(__file__)


def sayings(encoder: CachedEncoder, one: str, other: str) -> StatementPair:
    kept, new = encoder.encode([one, other])
    return StatementPair(one, other, float(kept @ new))


@pytest.mark.parametrize(("one", "other"), CASES["close_paraphrases_are_merged"])
def test_close_paraphrases_are_merged(encoder: CachedEncoder, one: str, other: str) -> None:
    assert equivalence_probability(sayings(encoder, one, other)) >= MERGE_THRESHOLD


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The recycling goes out on Thursday.", "Recycling is collected on Thursdays."),
        ("My niece lives in a flat in Bremen.", "The user's niece has an apartment in Bremen."),
    ],
)
def test_paraphrases_are_at_least_suggested(encoder: CachedEncoder, one: str, other: str) -> None:
    assert equivalence_probability(sayings(encoder, one, other)) >= SUGGESTION_THRESHOLD


@pytest.mark.parametrize(("one", "other"), CASES["different_statements_are_never_merged"])
def test_different_statements_are_never_merged(
    encoder: CachedEncoder, one: str, other: str
) -> None:
    assert equivalence_probability(sayings(encoder, one, other)) < MERGE_THRESHOLD


def test_signs_of_coefficients() -> None:
    _, weights = coefficients()
    values = dict(zip(FEATURES, weights, strict=True))
    assert all(values[name] >= 0 for name in POSITIVE_FEATURES) and all(
        values[name] <= 0 for name in NEGATIVE_FEATURES
    )


@pytest.mark.parametrize(("words", "found", "left"), CASES["spoken_numbers"])
def test_spoken_numbers(words: str, found: list[int], left: list[str]) -> None:
    assert extract_numbers(words.split()) == (frozenset(found), tuple(left))


@given(
    st.lists(
        st.sampled_from(CASES["any_words_are_accepted"]),
        max_size=9,
    )
)
def test_any_words_are_accepted(words: list[str]) -> None:
    _, left = extract_numbers(words)
    assert not set(left) & {"two", "ten", "twenty", "first", "7", "12", "3rd"}


words = st.text(max_size=60).filter(str.strip)


@settings(max_examples=40)
@given(words, words, st.floats(-1, 1))
def test_any_two_texts_have_a_probability(one: str, other: str, cosine: float) -> None:
    seen = StatementPair(one, other, cosine)
    assert pair_features(seen).shape == (len(FEATURES),) and np.isfinite(pair_features(seen)).all()
    assert 0 <= equivalence_probability(seen) <= 1


@settings(max_examples=60)
@given(st.sampled_from([text for pair in pairs() for text in (pair.one, pair.other)]))
def test_no_differences_from_itself(text: str) -> None:
    found = find_differences(statement_features(text), statement_features(text))
    assert not (found.dropped or found.added or found.other_differences)


@settings(max_examples=60)
@given(st.sampled_from(pairs()))
def test_differences_are_symmetric(pair: Pair) -> None:
    one, other = statement_features(pair.one), statement_features(pair.other)
    forth, back = find_differences(one, other), find_differences(other, one)
    assert (forth.dropped, forth.added, forth.other_differences) == (
        back.added,
        back.dropped,
        back.other_differences,
    )


def test_apostrophes_are_equivalent() -> None:
    straight = StatementPair("I don't eat the fish of Ana's shop.", "I eat fish of any shop.", 0.8)
    curly = replace(straight, one=straight.one.replace("'", "’"))
    assert (pair_features(straight) == pair_features(curly)).all()


@pytest.mark.parametrize(("one", "other", "differs"), CASES["differs_in_one_word"])
def test_differs_in_one_word(one: str, other: str, *, differs: bool) -> None:
    assert differs_in_one_word(one, other) is differs
