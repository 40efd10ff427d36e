"""Codes and repeated words: a fact has them word for word, or is not extracted."""

from hotmem.models import Language
from tests.scored import scored
from tests.tables import tables
from tests.understanding.facts.test_precision import read

CASES = tables(__file__)


@scored(("said", "code"), CASES["codes_are_kept_word_for_word"], floor=1.0)
def test_codes_are_kept_word_for_word(language: Language, said: str, code: str) -> None:
    (fact,) = read(language, said).statements
    assert (fact.object, fact.text.endswith(f" is {code}.")) == (code, True)


@scored(("said", "kept"), CASES["repeated_numbers_and_names_are_kept"], floor=1.0)
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
