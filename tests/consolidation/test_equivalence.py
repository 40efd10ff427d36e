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


def sayings(encoder: CachedEncoder, one: str, other: str) -> StatementPair:
    kept, new = encoder.encode([one, other])
    return StatementPair(one, other, float(kept @ new))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My cat is called Minka.", "The user's cat is named Minka."),
        ("I'm allergic to penicillin.", "User has a penicillin allergy."),
        ("The tent is in the attic.", "the tent's up in the attic"),
        ("Karin paid for the ladder.", "The ladder was paid for by Karin."),
        ("The recycling truck comes at quarter to seven.", "At 6:45 the recycling truck comes."),
    ],
)
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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The gym code is 2231.", "The gym code is 7713."),
        ("My uncle Rolf lives in Bremen.", "My aunt Heike lives in Bern."),
        ("I lent Karin my ladder.", "I want to buy a new ladder."),
        ("The garage door is broken.", "The garage is rented from Mr Brandt."),
        ("I moved to Lyon.", "I now live in Marseille, I moved from Lyon in May."),
        ("My niece keeps bees.", "I keep bees."),
        ("My loom is from Finland.", "Her loom is from Finland."),
        ("I have to water the cactus.", "I watered the cactus."),
        ("Karin pays Rolf for the ladder.", "Rolf pays Karin for the ladder."),
        ("The attic is always locked.", "The attic is never locked."),
        ("Switch on the heater at ten.", "Switch off the heater at ten."),
        ("Only the attic is heated.", "The attic is heated."),
        ("I take the tram from Altona to Eppendorf.", "I take the tram from Eppendorf to Altona."),
    ],
)
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


@pytest.mark.parametrize(
    ("words", "found", "left"),
    [
        ("quarter to ten", {9, 45}, ()),
        ("half past six", {6, 30}, ()),
        ("ten past four", {4, 10}, ()),
        ("three hundred and twenty euros", {320}, ("euros",)),
        ("nineteen thirty six", {1936}, ()),
        ("two thousand", {2000}, ()),
        ("code four four seven one", {4471}, ("code",)),
        ("the twenty first of june", {21}, ("the", "of", "june")),
        ("on the 3rd", {3}, ("on", "the")),
        ("the left one", set(), ("the", "left", "one")),
        ("one hundred", {100}, ()),
        ("eleven hundred", {1100}, ()),
        ("hundred", {100}, ()),
        ("hundred and", {100}, ("and",)),
        ("half", set(), ("half",)),
        ("ten to", {10}, ("to",)),
    ],
)
def test_spoken_numbers(words: str, found: set[int], left: tuple[str, ...]) -> None:
    assert extract_numbers(words.split()) == (frozenset(found), left)


@given(
    st.lists(
        st.sampled_from(
            [
                "one",
                "two",
                "ten",
                "twenty",
                "first",
                "half",
                "quarter",
                "past",
                "to",
                "hundred",
                "thousand",
                "and",
                "7",
                "12",
                "3rd",
                "the",
            ]
        ),
        max_size=9,
    )
)
def test_any_words_are_accepted(words: list[str]) -> None:
    _, left = extract_numbers(words)
    assert not set(left) & {"two", "ten", "twenty", "first", "7", "12", "3rd"}


words = st.text(max_size=60).filter(str.strip)


@settings(max_examples=40, deadline=None)
@given(words, words, st.floats(-1, 1))
def test_any_two_texts_have_a_probability(one: str, other: str, cosine: float) -> None:
    seen = StatementPair(one, other, cosine)
    assert pair_features(seen).shape == (len(FEATURES),) and np.isfinite(pair_features(seen)).all()
    assert 0 <= equivalence_probability(seen) <= 1


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([text for pair in pairs() for text in (pair.one, pair.other)]))
def test_no_differences_from_itself(text: str) -> None:
    found = find_differences(statement_features(text), statement_features(text))
    assert not (found.dropped or found.added or found.other_differences)


@settings(max_examples=60, deadline=None)
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


@pytest.mark.parametrize(
    ("one", "other", "differs"),
    [
        ("I take oat milk in my coffee.", "I take soy milk in my coffee.", True),
        ("The timeout is 30 seconds.", "The timeout is 30 minutes.", True),
        ("Mira studies in Lyon.", "Mira studies in Paris", True),
        ("I take oat milk in my coffee.", "i take oat milk in my coffee", False),
        ("Trash day is Monday.", "The trash goes out Mondays.", False),
        ("My train leaves from platform nine.", "My train leaves from platform 9.", False),
    ],
)
def test_differs_in_one_word(one: str, other: str, *, differs: bool) -> None:
    assert differs_in_one_word(one, other) is differs
