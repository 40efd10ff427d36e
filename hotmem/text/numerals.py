"""Numbers in a text, written as digits or as words."""

import re
from typing import Final

_UNITS: Final = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"

ONES: Final = tuple(_UNITS.split())
TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
CARDINALS: Final = {word: number for number, word in enumerate(ONES)} | {
    word: 10 * place for place, word in enumerate(TENS, 2)
}
"""Numbers of one word below a hundred."""

NUMBER_WORDS: Final = {word: str(number) for word, number in CARDINALS.items() if number <= 60} | {
    "first": "1",
    "second": "2",
    "third": "3",
    "fourth": "4",
    "fifth": "5",
    "half": "30",
}
"""Numbers as they are said; "half" is that of an hour."""

_NUMBERS: Final = re.compile(r"\d+|[a-z]+")


def numbers(text: str) -> frozenset[str]:
    """The numbers of a text as digits, each once, without leading zeros."""
    words = _NUMBERS.findall(text.lower())
    return frozenset(
        word.lstrip("0") or "0" if word.isdigit() else NUMBER_WORDS[word]
        for word in words
        if word.isdigit() or word in NUMBER_WORDS
    )
