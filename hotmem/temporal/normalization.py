"""Utterance → the same words in one spelling.

Lower case, numbers as digits, with the places they come from.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from hotmem.text.numerals import CARDINALS, TENS

_FIRSTS: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth "
    "eighteenth nineteenth"
)
_ORDINALS: Final = {word: number for number, word in enumerate(_FIRSTS.split(), 1)} | {
    f"{word[:-1]}ieth": 10 * place for place, word in enumerate(TENS, 2)
}
_DECADES: Final = {f"{word[:-1]}ies": 10 * place for place, word in enumerate(TENS, 2)} | {
    "noughties": 2000,
    "naughties": 2000,
}
_CENTURIES: Final = range(17, 22)
"""What can begin a year said in two halves: "nineteen ninety nine"."""

_WORD: Final = "|".join(
    sorted(
        (*CARDINALS, *_ORDINALS, *_DECADES, "thousand", "thousands", "hundred", "hundreds", "oh"),
        key=len,
        reverse=True,
    )
)
_NUMBER: Final = re.compile(
    rf"\b(?!oh\b)(?:{_WORD})(?:(?:[ -]+and[ -]+(?={'|'.join(CARDINALS)})|[ -]+)(?:{_WORD}))*\b"
)
_SAME: Final = str.maketrans(
    {"’": "'", "–": "-", "—": "-", "~": "-", "\n": " ", "\t": " ", "\xa0": " "}
)


@dataclass(frozen=True, slots=True)
class NormalizedText:
    """An utterance in one spelling.

    Attributes:
        text: The words.
        edges: Where each stretch begins in `text`, ascending from 0.
        origins: Where the same stretch begins in the utterance.
        lengths: How long it is there; a rewritten number is one stretch.
    """

    text: str
    edges: tuple[int, ...]
    origins: tuple[int, ...]
    lengths: tuple[int, ...]

    def start(self, place: int) -> int:
        """Where in the utterance a match begins that begins here at `place`."""
        stretch = bisect_right(self.edges, place) - 1
        return self.origins[stretch] + min(place - self.edges[stretch], self.lengths[stretch])

    def stop(self, place: int) -> int:
        """Where in the utterance a match ends that ends here before `place`."""
        stretch = bisect_right(self.edges, place - 1) - 1
        end = self.edges[stretch + 1] if stretch + 1 < len(self.edges) else len(self.text)
        return self.origins[stretch] + (
            self.lengths[stretch]
            if place == end
            else min(place - self.edges[stretch], self.lengths[stretch])
        )


def respelt(utterance: str) -> NormalizedText:
    """The utterance in lower case with one sort of dash, numbers as digits ("22th") and years said in two halves joined ("1999")."""
    lower = utterance.lower()
    if len(lower) != len(utterance):
        lower = "".join(
            letter.lower() if len(letter.lower()) == 1 else letter for letter in utterance
        )
    lower = lower.translate(_SAME)
    pieces = list(_stretches(lower))
    edges = tuple(accumulate((len(text) for text, _, _ in pieces), initial=0))[:-1]
    return NormalizedText(
        "".join(text for text, _, _ in pieces),
        edges or (0,),
        tuple(p[1] for p in pieces) or (0,),
        tuple(p[2] for p in pieces) or (0,),
    )


def _stretches(text: str) -> Iterator[tuple[str, int, int]]:
    """Text, place and length of each stretch that is copied or rewritten."""
    done = 0
    for match in _NUMBER.finditer(text):
        words = [
            (word[0], match.start() + word.start(), match.start() + word.end())
            for word in re.finditer(r"[a-z]+", match[0])
        ]
        for digits, first, last in _numbers([word for word, _, _ in words]):
            start, stop = words[first][1], words[last][2]
            if start > done:
                yield text[done:start], done, start - done
            yield digits, start, stop - start
            done = stop
    if done < len(text):
        yield text[done:], done, len(text) - done


def _numbers(words: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """The numbers in a row of number words, each with its first and last word.

    The second of "one second" is none.
    """
    place, digits = 0, ""
    while place < len(words):
        digits, count = (
            ("", 1) if digits.isdigit() and words[place] == "second" else _number(words[place:])
        )
        if digits:
            yield digits, place, place + count - 1
        place += count


def _number(words: Sequence[str]) -> tuple[str, int]:
    """The number at the head of a row, as digits, and how many words it takes.

    "" where a word is none.
    """
    head, tail = words[0], words[1:]
    if head in _DECADES:
        return f"{_DECADES[head]}s", 1
    if head in _ORDINALS:
        return f"{_ORDINALS[head]}th", 1
    if head not in CARDINALS:
        return "", 1
    value = CARDINALS[head]
    if tail and value in _CENTURIES:
        if tail[0] in _DECADES:
            return f"{100 * value + _DECADES[tail[0]]}s", 2
        if tail[0] == "hundreds":
            return f"{100 * value}s", 2
        if tail[0] == "hundred":
            after = 2 if tail[1:2] == ["and"] else 1
            rest, count = _number(tail[after:]) if tail[after:] else ("", 0)
            if rest.isdigit() and int(rest) < 100:
                return str(100 * value + int(rest)), 1 + after + count
            return str(100 * value), 2
        if tail[0] == "oh" and len(tail) > 1 and CARDINALS.get(tail[1], 99) < 10:
            return str(100 * value + CARDINALS[tail[1]]), 3
        rest, count = _number(tail)
        if rest.isdigit() and 10 <= int(rest) < 100:
            return str(100 * value + int(rest)), 1 + count
    if value < 10 and tail[:1] == ["thousands"]:
        return f"{1000 * value}s", 2
    if value < 10 and tail[:1] == ["thousand"]:
        after = 2 if tail[1:2] == ["and"] else 1
        rest, count = _number(tail[after:]) if tail[after:] else ("", 0)
        if rest.isdigit() and int(rest) < 100:
            return str(1000 * value + int(rest)), 1 + after + count
        return str(1000 * value), 2
    if value >= 20 and tail:
        if 0 < CARDINALS.get(tail[0], 0) < 10:
            return str(value + CARDINALS[tail[0]]), 2
        if _ORDINALS.get(tail[0], 10) < 10:
            return f"{value + _ORDINALS[tail[0]]}th", 2
    return str(value), 1
