"""How the user is to be called: a wish, and never what they refuse or what others say."""

import pytest

from hotmem.understanding.facts.instructions.topics import preferred_name


@pytest.mark.parametrize(
    "words",
    [
        "I'd rather you didn't call me love",
        "call me anything but Annabel",
        "only my mother calls me Annabel",
        "nobody calls me Bob",
        "My mother used to call me Pumpkin",
        "stop calling me Sir Basil",
        "you can stop calling me Sir Basil",
        "I would not like to be called Nell",
    ],
)
def test_a_name_that_is_refused_is_no_wish(words: str) -> None:
    assert preferred_name(words) == ""


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("call me Annie", "Annie"),
        ("please always call me Annie, not Annabel", "Annie"),
        ("Don't call me Bella, call me Annie", "Annie"),
        ("my name is Anna but call me Annie", "Annie"),
        ("my name is Anna", "Anna"),
        ("I go by Sam", "Sam"),
    ],
)
def test_a_wish_comes_before_the_name_one_bears(words: str, name: str) -> None:
    assert preferred_name(words) == name
