"""Normalization of an utterance: lower case, numbers as digits, with a map to the original."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from hotmem.text.numerals import (
    CARDINALS,
    ORDINALS,
    PLURALS,
    SCALES,
    Numeral,
    NumeralKind,
    parse_numeral,
)

_WORD: Final = "|".join(
    sorted(
        (*CARDINALS, *ORDINALS, *PLURALS, *SCALES, "oh"),
        key=len,
        reverse=True,
    )
)
_NUMBER: Final = re.compile(
    rf"\b(?!oh\b)(?:{_WORD})(?:(?:[ -]+and[ -]+(?={'|'.join(CARDINALS)})|[ -]+)(?:{_WORD}))*\b"
)
_HESITATION: Final = re.compile(r"(?<!\w)(?:u+[hm]+|e+r+m?|h+m+|m{2,})(?!\w)[\s,.]*")
_EQUIVALENTS: Final = str.maketrans(
    {"’": "'", "–": "-", "—": "-", "~": "-", "\n": " ", "\t": " ", "\xa0": " "}
)


@dataclass(frozen=True, slots=True)
class NormalizedText:
    """Normalized text and the positions its parts have in the utterance.

    Attributes:
        text: The normalized text.
        edges: Start of each segment in `text`, ascending from 0. A rewritten number is one segment.
        origins: Start of the same segment in the utterance.
        lengths: Length of the segment in the utterance.
    """

    text: str
    edges: tuple[int, ...]
    origins: tuple[int, ...]
    lengths: tuple[int, ...]

    def original_start(self, place: int) -> int:
        """Position in the utterance of a match that starts at `place`."""
        segment = bisect_right(self.edges, place) - 1
        return self.origins[segment] + min(place - self.edges[segment], self.lengths[segment])

    def original_stop(self, place: int) -> int:
        """Position in the utterance of a match that stops before `place`."""
        segment = bisect_right(self.edges, place - 1) - 1
        end = self.edges[segment + 1] if segment + 1 < len(self.edges) else len(self.text)
        length = self.lengths[segment]
        offset = length if place == end else min(place - self.edges[segment], length)
        return self.origins[segment] + offset


@dataclass(frozen=True, slots=True)
class _Segment:
    text: str
    origin: int
    length: int


def normalize(utterance: str) -> NormalizedText:
    """Normalize an utterance.

    Lower case, one kind of dash, numbers as digits ("22th"), years joined ("1999"), no hesitations.
    """
    lower = utterance.lower()
    if len(lower) != len(utterance):
        lower = "".join(
            letter.lower() if len(letter.lower()) == 1 else letter for letter in utterance
        )
    segments = list(_segments(lower.translate(_EQUIVALENTS))) or [_Segment("", 0, 0)]
    return NormalizedText(
        "".join(segment.text for segment in segments),
        tuple(accumulate((len(segment.text) for segment in segments), initial=0))[:-1],
        tuple(segment.origin for segment in segments),
        tuple(segment.length for segment in segments),
    )


def _segments(text: str) -> Iterator[_Segment]:
    """Segments of the text that are copied, or rewritten as digits, without hesitations."""
    done = 0
    for start, stop, rewritten in sorted((*_hesitations(text), *_written_numbers(text))):
        if start > done:
            yield _Segment(text[done:start], done, start - done)
        if rewritten:
            yield _Segment(rewritten, start, stop - start)
        done = stop
    if done < len(text):
        yield _Segment(text[done:], done, len(text) - done)


def _hesitations(text: str) -> Iterator[tuple[int, int, str]]:
    """Spans of hesitations, which are rewritten as nothing."""
    for match in _HESITATION.finditer(text):
        yield match.start(), match.end(), ""


def _written_numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """Spans of numbers in words, and their digits."""
    for match in _NUMBER.finditer(text):
        spans = [
            (match.start() + word.start(), match.start() + word.end())
            for word in re.finditer(r"[a-z]+", match[0])
        ]
        for digits, first, last in _numbers([text[start:stop] for start, stop in spans]):
            yield spans[first][0], spans[last][1], digits


def _numbers(words: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """The numerals in a run of number words, as digits, with the first and last word of each.

    The "second" of "one second" is a unit, and the "one" of "the second one" is no number.
    """
    place = 0
    previous: Numeral | None = None
    while place < len(words):
        word, before = words[place], previous.kind if previous else None
        is_unit = word == "second" and before is NumeralKind.CARDINAL
        is_pronoun = word == "one" and before is NumeralKind.ORDINAL
        previous = None if is_unit or is_pronoun else parse_numeral(words, place)
        if previous:
            yield f"{previous.value}{_SUFFIXES[previous.kind]}", place, previous.stop - 1
        place = previous.stop if previous else place + 1


_SUFFIXES: Final = {NumeralKind.CARDINAL: "", NumeralKind.ORDINAL: "th", NumeralKind.PLURAL: "s"}
