"""Number extraction: "quarter to ten" and "9:45" give the same numbers."""

import re
from collections.abc import Sequence
from typing import Final

from hotmem.text.numerals import CARDINALS

_ORDINALS: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth "
    "seventeenth eighteenth nineteenth"
)
VALUES: Final = (
    CARDINALS
    | {word: value for value, word in enumerate(_ORDINALS.split(), 1)}
    | {"twentieth": 20, "thirtieth": 30, "twice": 2}
)
"""Values of number words; "one" counts only before another number word."""

_NUMERAL: Final = re.compile(r"(\d{1,18})(?:st|nd|rd|th)?")
_DIGITS: Final = frozenset("0123456789") | frozenset(
    word for word, value in CARDINALS.items() if value < 10
)
_PARTS_OF_AN_HOUR: Final = {"quarter": 15, "half": 30}


def extract_numbers(words: Sequence[str]) -> tuple[frozenset[int], tuple[str, ...]]:
    """Split words into the numbers among them and the remaining words.

    Hours and minutes are separate numbers.

    Args:
        words: Lower-case words, in order.
    """
    found: list[int] = []
    remaining: list[str] = []
    place = 0
    while place < len(words):
        values, after = _parse_clock(words, place)
        if not values:
            values, after = _parse_amount(words, place)
        found += values
        if not values:
            remaining.append(words[place])
        place = max(after, place + 1)
    return frozenset(found), tuple(remaining)


def _parse_clock(words: Sequence[str], place: int) -> tuple[list[int], int]:
    """Parse the hour and minutes of "half past six" or "ten to four"."""
    minutes, after = (
        ([_PARTS_OF_AN_HOUR[words[place]]], place + 1)
        if words[place] in _PARTS_OF_AN_HOUR
        else _parse_below_hundred(words, place)
    )
    if (
        not minutes
        or words[place].isdigit()
        or after + 1 >= len(words)
        or words[after] not in ("past", "to")
    ):
        return [], place
    hour, end = _parse_below_hundred(words, after + 1)
    if not hour or not 0 < hour[0] <= 12 or minutes[0] >= 60:
        return [], place
    return (
        [hour[0], minutes[0]]
        if words[after] == "past"
        else [(hour[0] - 2) % 12 + 1, 60 - minutes[0]]
    ), end


def _parse_amount(words: Sequence[str], place: int) -> tuple[list[int], int]:
    """Parse a number of several words, or spoken digit by digit."""
    run = place
    while run < len(words) and words[run] in _DIGITS:
        run += 1
    if run - place > 2:
        return [int("".join(str(VALUES.get(word, word)) for word in words[place:run]))], run
    values, after = _parse_below_hundred(words, place)
    if not values:
        following = words[place + 1] if place + 1 < len(words) else ""
        if words[place] == "one" and following in ("hundred", "thousand"):
            after = place + 1
        elif words[place] not in ("hundred", "thousand"):
            return [], place
    amount = values[0] if values else 1
    following = words[after] if after < len(words) else ""
    if words[place] in CARDINALS and 13 <= amount <= 20 and VALUES.get(following, 0) >= 10:
        tens, after = _parse_below_hundred(words, after)
        amount = 100 * amount + tens[0]
    if after < len(words) and words[after] == "hundred":
        amount, after = 100 * amount, after + 1
        linked = after + 1 < len(words) and words[after] == "and"
        rest, end = (
            _parse_below_hundred(words, after + linked)
            if after + linked < len(words)
            else ([], after)
        )
        if rest and rest[0] < 100:
            amount, after = amount + rest[0], end
    if after < len(words) and words[after] == "thousand":
        amount, after = 1000 * amount, after + 1
    return [amount], after


def _parse_below_hundred(words: Sequence[str], place: int) -> tuple[list[int], int]:
    """Parse a numeral, or number words below a hundred."""
    word = words[place]
    if numeral := _NUMERAL.fullmatch(word):
        return [int(numeral[1])], place + 1
    if word not in VALUES or word == "one":
        return [], place
    value = VALUES[word]
    ones = VALUES.get(words[place + 1], 0) if place + 1 < len(words) else 0
    return ([value + ones], place + 2) if value >= 20 and 0 < ones < 10 else ([value], place + 1)
