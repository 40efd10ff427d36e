"""Numbers of a statement, in one form whether spelled or in figures.

"quarter to ten" equals "9:45", "three hundred and twenty" equals "320".
"""

from collections.abc import Sequence
from typing import Final

from hotmem.text.numerals import PLURALS, Numeral, parse_below_hundred, parse_digits, parse_numeral

_PARTS_OF_AN_HOUR: Final = {"quarter": 15, "half": 30}
_PRICE_HALVES: Final = range(13, 21)
"""First halves of a year or price that is spoken in two numbers: "thirteen fifty"."""


def extract_numbers(words: Sequence[str]) -> tuple[frozenset[int], tuple[str, ...]]:
    """Split words into the numbers among them and the other words.

    Args:
        words: Lower-case words, in order.

    Returns:
        The numbers, with hours and minutes apart, and the words that are not part of one.
    """
    found: set[int] = set()
    others: list[str] = []
    place = 0
    while place < len(words):
        if clock := _parse_clock(words, place):
            hour, minute, place = clock
            found |= {hour, minute}
        elif numeral := _parse_number(words, place):
            found.add(numeral.value)
            place = numeral.stop
        else:
            others.append(words[place])
            place += 1
    return frozenset(found), tuple(others)


def _parse_clock(words: Sequence[str], place: int) -> tuple[int, int, int] | None:
    """Hour, minute and stop of "half past six" or "ten to four"."""
    if words[place] in _PARTS_OF_AN_HOUR:
        minutes: Numeral | None = Numeral(_PARTS_OF_AN_HOUR[words[place]], place + 1)
    else:
        minutes = None if words[place].isdigit() else _parse_below_hundred(words, place)
    if minutes is None or minutes.value >= 60 or minutes.stop + 1 >= len(words):
        return None
    side = words[minutes.stop]
    hour = _parse_below_hundred(words, minutes.stop + 1) if side in ("past", "to") else None
    if hour is None or not 0 < hour.value <= 12:
        return None
    if side == "past":
        return hour.value, minutes.value, hour.stop
    return (hour.value - 2) % 12 + 1, 60 - minutes.value, hour.stop


def _parse_number(words: Sequence[str], place: int) -> Numeral | None:
    """A number, digit by digit or as a numeral; not the pronoun "one", nor a decade."""
    if words[place] == "twice":
        return Numeral(2, place + 1)
    if words[place] in PLURALS:
        return None
    numeral = parse_digits(words, place) or parse_numeral(words, place, _PRICE_HALVES)
    return None if numeral and _is_pronoun(words[place], numeral) else numeral


def _parse_below_hundred(words: Sequence[str], place: int) -> Numeral | None:
    numeral = parse_below_hundred(words, place)
    return None if numeral and _is_pronoun(words[place], numeral) else numeral


def _is_pronoun(word: str, numeral: Numeral) -> bool:
    return word == "one" and numeral.value == 1
