"""Codes and repeated words: a fact has them word for word, or is not extracted."""

from datetime import UTC, datetime

from hotmem.models import Language
from hotmem.types import Role, Understanding
from hotmem.understanding.facts import extract_facts
from tests.scored import scored

MONDAY = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


def read(language: Language, text: str) -> Understanding:
    return extract_facts(
        language.parse([text])[0], lambda said: language.parse([said])[0], "Jo", Role.USER, MONDAY
    )


@scored(
    ("said", "code"),
    [
        ("my pin is four four seven two", "four four seven two"),
        ("my pin is 4 4 7 2", "4 4 7 2"),
        ("My phone number is 0113 224 4567.", "0113 224 4567"),
        ("my password is l s six six d d", "l s six six d d"),
        ("my locker number is two two", "two two"),
        ("my pin is one nine nine nine", "one nine nine nine"),
        ("my number is oh seven seven double four six", "oh seven seven double four six"),
        ("my code is a a seven b", "a a seven b"),
        ("my pin is twenty twenty", "twenty twenty"),
        ("My PIN is 1987.", "1987"),
        ("my locker number is 2024", "2024"),
        ("my password is tiger 7 7", "tiger 7 7"),
        ("my password is fox 9 9", "fox 9 9"),
        ("My wifi password is pancake seven seven.", "pancake seven seven"),
        ("The alarm code is four four seven one", "four four seven one"),
        ("The alarm code is 4471", "4471"),
    ],
    floor=1.0,
)
def test_codes_are_kept_word_for_word(language: Language, said: str, code: str) -> None:
    (fact,) = read(language, said).statements
    assert (fact.object, fact.text.endswith(f" is {code}.")) == (code, True)


@scored(
    ("said", "kept"),
    [
        ("i take two two milligram tablets", "Jo takes two two milligram tablets."),
        (
            "I take two two-milligram tablets every morning.",
            "Jo takes two two-milligram tablets every morning.",
        ),
        ("i love duran duran", "Jo loves duran duran."),
        ("my pin is not 4 4 7 2", "Jo's pin is not 4 4 7 2."),
    ],
    floor=1.0,
)
def test_repeated_numbers_and_names_are_kept(language: Language, said: str, kept: str) -> None:
    assert [fact.text for fact in read(language, said).statements] == [kept]


def test_a_code_of_something_unknown_is_not_extracted(language: Language) -> None:
    assert not read(language, "the code is 4471").statements


def test_stutters_are_removed(language: Language) -> None:
    assert [fact.text for fact in read(language, "my sister is a a nurse").statements] == [
        "Jo's sister is a nurse."
    ]


@scored("said", ["my blood pressure was one twenty twenty", "my code is 12 2020 33"], floor=1.0)
def test_a_number_in_a_sequence_is_no_time(language: Language, said: str) -> None:
    assert not read(language, said).event_times
