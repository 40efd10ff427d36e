"""Requests to forget a statement that they describe, and utterances that only sound so."""

from hypothesis import given
from hypothesis import strategies as st

from hotmem.understanding.query.voice_commands import (
    DescribedDeletion,
    find_described_deletion,
)
from tests.scored import scored


@scored(
    ("said", "found"),
    [
        ("Forget the dentist appointment.", DescribedDeletion("the dentist appointment")),
        ("please delete my phone number", DescribedDeletion("my phone number")),
        ("Forget that Maria plays chess.", DescribedDeletion("Maria plays chess", states=True)),
        (
            "Forget that I have two cats: I have one cat.",
            DescribedDeletion("I have two cats", states=True, restated="I have one cat."),
        ),
        (
            "Forget that I have two cats, that was wrong.",
            DescribedDeletion("I have two cats", states=True),
        ),
        (
            "Get rid of the bit about my salary, would you?",
            DescribedDeletion("my salary", plain=True),
        ),
        ("Don't remember my door code.", DescribedDeletion("my door code", plain=True)),
        ("My son isn't a vegan, you can drop that.", DescribedDeletion("My son isn't a vegan")),
        ("And the door code, erase that as well.", DescribedDeletion("the door code")),
        (
            "erase what i told you about where the key is",
            DescribedDeletion("where the key is", plain=True),
        ),
    ],
    floor=0.85,
)
def test_a_described_statement_is_found(said: str, found: DescribedDeletion) -> None:
    assert find_described_deletion(said) == found


@scored(
    "said",
    [
        "Forget it, I'll walk.",
        "Forget about the rain, tell me a joke.",
        "I forgot the dentist appointment.",
        "Don't forget the dentist appointment.",
        "Don't know my sister's address.",
        "I don't keep that kind of cheese in the house.",
        "Take out the bins.",
        "Delete the alarm at seven.",
        "Remove the eggs from the list.",
        "I'd like pizza tonight, no, forget that.",
        "Let's forget the radio for now.",
        "Did you forget the milk?",
        "Forget that.",
        "",
    ],
    floor=1.0,
)
def test_other_utterances_describe_nothing_to_forget(said: str) -> None:
    assert find_described_deletion(said) is None


@given(st.text(max_size=200))
def test_any_text_is_accepted(said: str) -> None:
    found = find_described_deletion(said)
    assert found is None or found.about
