"""Parsing of English numerals."""

from hotmem.text.numerals import NumeralKind, numbers, parse_digits, parse_numeral
from tests.scored import scored


@scored(
    ("text", "value"),
    [
        ("seven", 7),
        ("twenty two", 22),
        ("320", 320),
        ("hundred", 100),
        ("three hundred and twenty", 320),
        ("nineteen hundred", 1900),
        ("nineteen ninety nine", 1999),
        ("nineteen oh five", 1905),
        ("twenty twenty", 2020),
        ("two thousand and twenty", 2020),
        ("five thousand one hundred and ninety nine", 5199),
        ("4 thousand", 4000),
    ],
    floor=0.85,
)
def test_cardinals(text: str, value: int) -> None:
    words = text.split()
    numeral = parse_numeral(words, 0)
    assert numeral is not None
    assert (numeral.value, numeral.stop, numeral.kind) == (value, len(words), NumeralKind.CARDINAL)


@scored(
    ("text", "value", "kind"),
    [
        ("third", 3, NumeralKind.ORDINAL),
        ("twenty second", 22, NumeralKind.ORDINAL),
        ("22nd", 22, NumeralKind.ORDINAL),
        ("hundred and first", 101, NumeralKind.ORDINAL),
        ("seventies", 70, NumeralKind.PLURAL),
        ("nineteen seventies", 1970, NumeralKind.PLURAL),
        ("eighteen hundreds", 1800, NumeralKind.PLURAL),
    ],
    floor=0.85,
)
def test_ordinals_and_plurals(text: str, value: int, kind: NumeralKind) -> None:
    numeral = parse_numeral(text.split(), 0)
    assert numeral is not None
    assert (numeral.value, numeral.stop, numeral.kind) == (value, len(text.split()), kind)


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
