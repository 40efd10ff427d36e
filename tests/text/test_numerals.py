"""Parsing of English numerals."""

from hotmem.text.numerals import NumeralKind, numbers, parse_digits, parse_numeral
from tests.scored import scored
from tests.tables import tables

CASES = tables(__file__)


@scored(("text", "value"), CASES["cardinals"], floor=0.85)
def test_cardinals(text: str, value: int) -> None:
    words = text.split()
    numeral = parse_numeral(words, 0)
    assert numeral is not None
    assert (numeral.value, numeral.stop, numeral.kind) == (value, len(words), NumeralKind.CARDINAL)


@scored(("text", "value", "kind"), CASES["ordinals_and_plurals"], floor=0.85)
def test_ordinals_and_plurals(text: str, value: int, kind: str) -> None:
    numeral = parse_numeral(text.split(), 0)
    assert numeral is not None
    assert (numeral.value, numeral.stop, numeral.kind) == (
        value,
        len(text.split()),
        NumeralKind(kind),
    )


@scored(
    ("text", "value", "stop"),
    [("ten past four", 10, 1), ("seven thirty", 7, 1), ("thirteen fifty", 13, 1)],
    floor=1.0,
)
def test_neighbouring_numbers_stay_apart(text: str, value: int, stop: int) -> None:
    numeral = parse_numeral(text.split(), 0)
    assert numeral is not None and (numeral.value, numeral.stop) == (value, stop)


def test_other_words_are_no_numerals() -> None:
    assert parse_numeral(["dogs"], 0) is None
    assert parse_numeral(["oh", "five"], 0) is None


def test_digits_spelled_one_by_one() -> None:
    words = ["four", "4", "seven", "two", "please"]
    numeral = parse_digits(words, 0)
    assert numeral is not None and (numeral.value, numeral.stop) == (4472, 4)
    assert parse_digits(words, 2) is None


def test_numbers_of_a_text() -> None:
    text = "On the 3rd, at half past seven, twenty-five people and 007 came."
    assert numbers(text) == {"3", "30", "7", "25"}
