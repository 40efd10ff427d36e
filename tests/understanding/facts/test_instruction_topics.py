"""The preferred name: never one that is refused or that only others use."""

from hotmem.understanding.facts.instructions.safety import preferred_name
from tests.scored import scored


@scored(
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
    floor=0.85,
)
def test_a_refused_name_is_not_preferred(words: str) -> None:
    assert preferred_name(words) == ""


@scored(
    ("words", "name"),
    [
        ("call me Annie", "Annie"),
        ("please always call me Annie, not Annabel", "Annie"),
        ("Don't call me Bella, call me Annie", "Annie"),
        ("my name is Anna but call me Annie", "Annie"),
        ("my name is Anna", "Anna"),
        ("I go by Sam", "Sam"),
    ],
    floor=1.0,
)
def test_a_form_of_address_takes_precedence_over_the_name(words: str, name: str) -> None:
    assert preferred_name(words) == name
