"""Utterances put in other words before facts are read, with the way back to the places in what was said."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from hotmem.text.numerals import TENS
from hotmem.types import Understanding


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a reworded utterance.

    Attributes:
        text: Its words.
        start: First character of what it stands for in the utterance.
        stop: One past the last.
    """

    text: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Rewrite:
    """An utterance in other words.

    Attributes:
        pieces: What it is made of, in order.
    """

    pieces: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """Its words."""
        return "".join(piece.text for piece in self.pieces)

    def placed(self, understanding: Understanding) -> Understanding:
        """What was understood of `text`, with places in the utterance."""
        return replace(
            understanding,
            statements=tuple(
                replace(one, start=self._start(one.start), stop=self._stop(one.stop))
                for one in understanding.statements
            ),
            corrections=tuple(
                replace(one, start=self._start(one.start), stop=self._stop(one.stop))
                for one in understanding.corrections
            ),
            event_times=tuple(
                replace(one, start=self._start(one.start), stop=self._stop(one.stop))
                for one in understanding.event_times
            ),
        )

    def _start(self, place: int) -> int:
        for piece in self.pieces:
            if place < len(piece.text):
                return min(piece.start + place, max(piece.start, piece.stop - 1))
            place -= len(piece.text)
        return self.pieces[-1].stop

    def _stop(self, place: int) -> int:
        return self._start(place - 1) + 1


_WHOSE: Final = r"\b(?:my|our)(?:\s+(?!not\b)[a-z-]+){1,3}"
_HAS: Final = (
    r"(?:been|got|had|(?:just|already|recently|finally)\s+\w+(?:ed|en|ne|wn|ght|ld|ft|me|un|lt)\b)"
)
_IS: Final = (
    r"(?:an?|the|in|on|at|from|not|my|our|just|now|still|also|really|very|quite|called|named|allergic|afraid|scared|married|pregnant|retired|divorced"
    rf"|diabetic|vegetarian|vegan|\d+|(?:{'|'.join(TENS)})(?:-\w+)?|seven|eight|nine|ten|eleven|twelve|\w+teen"
    r"|(?:going|coming|moving|working|living|studying|training|learning|getting|turning)\s+(?:to|in|at|as|for|on|a|with|over|married|back|here|next))"
)
_SHORTENED: Final = re.compile(
    rf"{_WHOSE}(?P<verb>['’]s)(?=\s+(?:(?P<has>{_HAS})|{_IS})\b)", re.IGNORECASE
)

_CLIPPED: Final = {
    "wanna": "want to", "gonna": "going to", "gotta": "have to", "tryna": "trying to", "finna": "going to", "hafta": "have to", "lemme": "let me",
    "gimme": "give me", "dunno": "don't know", "kinda": "kind of", "sorta": "sort of", "lotta": "lot of", "outta": "out of",
}  # fmt: skip
"""Words run together, as they are spoken; the parser takes them for verbs or names of their own."""

_RUN_TOGETHER: Final = re.compile(
    rf"\b(?P<had>['’]ve\s+|have\s+|['’]s\s+|has\s+)?(?P<word>{'|'.join(_CLIPPED)})\b", re.IGNORECASE
)
_TORN: Final = re.compile(r"(?<=\w)\s+(?=(?:['’](?:m|s|re|ve|ll|d)|n['’]t)\b)", re.IGNORECASE)
"""The gap in "I 'm" and "do n't", as texts cut into words have it."""


_LAST_I: Final = re.compile(r"(?<=\bI)(?=\.\s*(?:$|[A-Z]))")
"""Where "I" ends a sentence; with its full stop it would be taken for an initial."""


def expand_contractions(text: str) -> Rewrite | None:
    """The utterance with contractions as the parser knows them, or None where it needs no change.

    "Is" or "has" stands in full where the "'s" of a noun would be taken for an owner's ("my
    sister's a vet"), "want to" stands for "wanna", and the gap in "I 'm" is closed.
    """
    pieces, last = [], 0
    for (start, stop), word in sorted(_spellings(text)):
        if start < last:
            continue
        pieces += [Segment(text[last:start], last, start), Segment(word, start, stop)]
        last = stop
    if not pieces:
        return None
    return Rewrite((*pieces, Segment(text[last:], last, len(text))))


def _spellings(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Stretches of characters and what is to stand there."""
    for match in _SHORTENED.finditer(text):
        yield match.span("verb"), " has" if match["has"] else " is"
    for match in _RUN_TOGETHER.finditer(text):
        word = match["word"].lower()
        spelt = "got to" if match["had"] and word == "gotta" else _CLIPPED[word]
        yield match.span("word"), spelt.capitalize() if match["word"][0].isupper() else spelt
    for match in _TORN.finditer(text):
        yield match.span(), ""
    for match in _LAST_I.finditer(text):
        yield match.span(), " "
