"""Parser of English numerals.

"twenty-two", "three hundred and twenty", "nineteen ninety nine", "22nd", "four four seven two".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

ONES: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
CARDINALS: Final = {word: number for number, word in enumerate(ONES)} | {
    word: 10 * place for place, word in enumerate(TENS, 2)
}
"""Values of the cardinal words below a hundred."""

_FIRST_TO_NINETEENTH: Final = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
    "eighteenth", "nineteenth",
)  # fmt: skip
ORDINALS: Final = {word: number for number, word in enumerate(_FIRST_TO_NINETEENTH, 1)} | {
    f"{word[:-1]}ieth": 10 * place for place, word in enumerate(TENS, 2)
}
"""Values of the ordinal words below a hundred."""

PLURALS: Final = {f"{word[:-1]}ies": 10 * place for place, word in enumerate(TENS, 2)} | {
    "noughties": 2000,
    "naughties": 2000,
}
"""Values of the plural words, which name decades."""

SCALES: Final = ("hundred", "hundreds", "thousand", "thousands")
YEAR_HALVES: Final = range(17, 21)
"""First halves of a year that is spoken in two numbers: "nineteen ninety nine"."""

_FIGURE: Final = re.compile(r"(\d{1,18})(st|nd|rd|th)?")
_DIGITS: Final = {str(digit): digit for digit in range(10)} | {
    word: value for word, value in CARDINALS.items() if value < 10
}
_TOKEN: Final = re.compile(r"\d+|[a-z]+")
_LONGEST_RUNS: Final = (1, 2, 3, 4, 6, 8, 12)
_NUMBERS: Final = frozenset(CARDINALS) | {"oh", "hundred", "double", "treble", "triple"}
_EDGES: Final = re.compile(r"^\W+|\W+$")
_MIXED: Final = re.compile(r"[A-Za-z]\d|[A-Z][a-z]+[A-Z]|[!$_*]\d|\d[!$_*]|\w[!$*_]\w")
"""A word as passwords are: "Harbour77", "Herring_Sunday"."""


class NumeralKind(StrEnum):
    """Grammatical kind of a numeral."""

    CARDINAL = "cardinal"
    ORDINAL = "ordinal"
    PLURAL = "plural"


@dataclass(frozen=True, slots=True)
class Numeral:
    """A numeral in a sequence of words.

    Attributes:
        value: Its value.
        stop: Index of the word after it.
        kind: "two", "second" or "twenties".
    """

    value: int
    stop: int
    kind: NumeralKind = NumeralKind.CARDINAL


def parse_numeral(
    words: Sequence[str], place: int, year_halves: range = YEAR_HALVES
) -> Numeral | None:
    """Parse the longest numeral that begins at a word; None if the word is not a numeral.

    Args:
        words: Lower-case words, without hyphens.
        place: Index of the first word.
        year_halves: Numbers that form one numeral with a following number from 10 to 99, as in
            "nineteen ninety nine".
    """
    head = words[place]
    if head in PLURALS:
        return Numeral(PLURALS[head], place + 1, NumeralKind.PLURAL)
    if head in ("hundred", "thousand"):
        number = Numeral(1, place)
    elif (small := parse_below_hundred(words, place)) is None or small.kind is NumeralKind.ORDINAL:
        return small
    else:
        number = small
    if head in CARDINALS and number.value in year_halves and (year := _year(words, number)):
        return year
    following = _word(words, number.stop)
    if following in ("hundreds", "thousands"):
        scale = 100 if following == "hundreds" else 1000
        return Numeral(scale * number.value, number.stop + 1, NumeralKind.PLURAL)
    if following == "hundred":
        number = _scaled(words, number, 100)
    if number.kind is NumeralKind.CARDINAL and _word(words, number.stop) == "thousand":
        number = _scaled(words, number, 1000)
    return number


def parse_below_hundred(words: Sequence[str], place: int) -> Numeral | None:
    """Parse figures, or a number of one or two words below a hundred."""
    word = words[place]
    if figure := _FIGURE.fullmatch(word):
        kind = NumeralKind.ORDINAL if figure[2] else NumeralKind.CARDINAL
        return Numeral(int(figure[1]), place + 1, kind)
    if word in ORDINALS:
        return Numeral(ORDINALS[word], place + 1, NumeralKind.ORDINAL)
    if word not in CARDINALS:
        return None
    number, following = Numeral(CARDINALS[word], place + 1), _word(words, place + 1)
    if number.value < 20:
        return number
    if 0 < CARDINALS.get(following, 0) < 10:
        return Numeral(number.value + CARDINALS[following], place + 2)
    if ORDINALS.get(following, 10) < 10:
        return Numeral(number.value + ORDINALS[following], place + 2, NumeralKind.ORDINAL)
    return number


def parse_digits(words: Sequence[str], place: int) -> Numeral | None:
    """Parse a number of three or more digits that is spelled out digit by digit."""
    stop = place
    while stop < len(words) and words[stop] in _DIGITS:
        stop += 1
    if stop - place < 3:
        return None
    return Numeral(int("".join(str(_DIGITS[word]) for word in words[place:stop])), stop)


def numbers(text: str) -> frozenset[str]:
    """The numbers in a text as digits, without leading zeros; "half" counts as 30 minutes."""
    words = _TOKEN.findall(text.lower())
    found: set[str] = set()
    place = 0
    while place < len(words):
        numeral = parse_numeral(words, place)
        if numeral:
            found.add(str(numeral.value))
        elif words[place].isdigit():
            found.add(words[place].lstrip("0") or "0")
        elif words[place] == "half":
            found.add("30")
        place = numeral.stop if numeral else place + 1
    return frozenset(found)


def shape_terms(text: str) -> set[str]:
    """The terms of a text: words and shapes of numbers, up to three in a row, and long runs."""
    words = ["<", *map(_shape, text.split()), ">"]
    merged: list[str] = []
    for word in words:
        one = "#" if word.startswith("#") else word
        if not merged or (merged[-1], one) != ("#", "#"):
            merged.append(one)
    run = longest = 0
    for word in words:
        run = run + 1 if word.startswith("#") else 0
        longest = max(longest, run)
    found = {f"run {size}" for size in _LONGEST_RUNS if longest >= size}
    found |= {"password"} if _MIXED.search(text) else set()
    for prefix, row in (("", words), ("merged ", merged)):
        found |= {
            prefix + " ".join(row[start : start + size])
            for size in (1, 2, 3)
            for start in range(len(row) - size + 1)
        }
    return found


def _shape(word: str) -> str:
    """A word in lower case, or the shape of a number or a single letter."""
    word = _EDGES.sub("", word).replace("’", "'")
    lower = word.casefold()
    if word.isdigit():
        return f"#{min(len(word), 5)}"
    if any(map(str.isdigit, word)):
        return "#mixed" if any(map(str.isalpha, word)) else "#number"
    if lower in _NUMBERS:
        return "#word"
    return "#letter" if len(word) == 1 and lower not in ("a", "i") else lower


def _word(words: Sequence[str], place: int) -> str:
    return words[place] if place < len(words) else ""


def _year(words: Sequence[str], first: Numeral) -> Numeral | None:
    """A year whose first half has been read: "nineteen ninety nine", "nineteen oh five"."""
    following = _word(words, first.stop)
    if following in PLURALS and PLURALS[following] < 100:
        value = 100 * first.value + PLURALS[following]
        return Numeral(value, first.stop + 1, NumeralKind.PLURAL)
    if following == "oh" and CARDINALS.get(_word(words, first.stop + 1), 99) < 10:
        value = 100 * first.value + CARDINALS[words[first.stop + 1]]
        return Numeral(value, first.stop + 2)
    second = parse_below_hundred(words, first.stop) if following else None
    if second and second.kind is NumeralKind.CARDINAL and 10 <= second.value < 100:
        return Numeral(100 * first.value + second.value, second.stop)
    return None


def _scaled(words: Sequence[str], number: Numeral, scale: int) -> Numeral:
    """The number times the scale word that follows it, plus the smaller number after that."""
    whole = Numeral(scale * number.value, number.stop + 1)
    start = whole.stop + (_word(words, whole.stop) == "and")
    rest = parse_below_hundred(words, start) if start < len(words) else None
    if rest and scale == 1000 and _word(words, rest.stop) == "hundred":
        rest = _scaled(words, rest, 100)
    if rest and rest.value < scale:
        return replace(rest, value=whole.value + rest.value)
    return whole
