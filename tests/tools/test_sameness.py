"""Which statements say the same: by cases that are not among the fitted ones, and by properties."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotmem.consolidation.sameness import MERGES_FROM, SIGNS, SUGGESTED_FROM, Sayings, same, signs
from hotmem.models import CachedEncoder, Reading, read


def sayings(encoder: CachedEncoder, one: str, other: str) -> Sayings:
    return Sayings(one, other, *read(encoder, [one, other]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My cat is called Minka.", "The user's cat is named Minka."),
        ("The recycling goes out on Thursday.", "Recycling is collected on Thursdays."),
        ("I'm allergic to penicillin.", "User has a penicillin allergy."),
        ("The tent is in the attic.", "the tent's up in the attic"),
    ],
)
def test_the_same_is_at_least_suggested(encoder: CachedEncoder, one: str, other: str) -> None:
    assert same(sayings(encoder, one, other)) >= SUGGESTED_FROM


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The gym code is 2231.", "The gym code is 7713."),
        ("My uncle Rolf lives in Bremen.", "My aunt Heike lives in Bern."),
        ("I lent Karin my ladder.", "I want to buy a new ladder."),
        ("The garage door is broken.", "The garage is rented from Mr Brandt."),
        ("I moved to Lyon.", "I now live in Marseille, I moved from Lyon in May."),
    ],
)
def test_what_differs_is_never_merged(encoder: CachedEncoder, one: str, other: str) -> None:
    assert same(sayings(encoder, one, other)) < MERGES_FROM


words = st.text(max_size=60).filter(str.strip)


@settings(max_examples=40, deadline=None)
@given(words, words)
def test_any_two_texts_have_a_probability(encoder: CachedEncoder, one: str, other: str) -> None:
    seen = sayings(encoder, one, other)
    assert signs(seen).shape == (len(SIGNS),)
    assert 0 <= same(seen) <= 1


def test_the_shape_of_an_apostrophe_tells_nothing(encoder: CachedEncoder) -> None:
    one, other = "I don't eat the fish of Ana's shop.", "I eat fish of any shop."
    read_alike = read(encoder, [one, other])
    straight, curly = (signs(Sayings(text, other, *read_alike)) for text in (one, one.replace("'", "’")))
    assert (straight == curly).all()


def test_an_encoder_without_word_pieces_will_do(encoder: CachedEncoder) -> None:
    one, other = encoder.encode(["I have a cat.", "I have a cat."])
    assert 0 <= same(Sayings("I have a cat.", "I have a cat.", Reading.of_row(one), Reading.of_row(other))) <= 1
