"""Utterances put in other words before facts are read, with the way back to the places in what was said."""

import re
from dataclasses import dataclass, replace
from typing import Final

from hotmem.types import Understanding


@dataclass(frozen=True, slots=True)
class Piece:
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
class Reworded:
    """An utterance in other words.

    Attributes:
        pieces: What it is made of, in order.
    """

    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """Its words."""
        return "".join(piece.text for piece in self.pieces)

    def placed(self, understanding: Understanding) -> Understanding:
        """What was understood of `text`, with places in the utterance."""
        return replace(
            understanding,
            statements=tuple(replace(one, start=self._start(one.start), stop=self._stop(one.stop)) for one in understanding.statements),
            corrections=tuple(replace(one, start=self._start(one.start), stop=self._stop(one.stop)) for one in understanding.corrections),
            happenings=tuple(replace(one, start=self._start(one.start), stop=self._stop(one.stop)) for one in understanding.happenings),
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
_HAS: Final = r"(?:been|got|had|(?:just|already|recently|finally)\s+\w+(?:ed|en|ne|wn|ght|ld|ft|me|un|lt)\b)"
_IS: Final = (
    r"(?:an?|the|in|on|at|from|not|my|our|just|now|still|also|really|very|quite|called|named|allergic|afraid|scared|married|pregnant|retired|divorced"
    r"|diabetic|vegetarian|vegan|\d+|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?|seven|eight|nine|ten|eleven|twelve|\w+teen"
    r"|(?:going|coming|moving|working|living|studying|training|learning|getting|turning)\s+(?:to|in|at|as|for|on|a|with|over|married|back|here|next))"
)
_SHORTENED: Final = re.compile(rf"{_WHOSE}(?P<verb>['’]s)(?=\s+(?:(?P<has>{_HAS})|{_IS})\b)", re.IGNORECASE)


def spelt_out(text: str) -> Reworded | None:
    """The utterance with "is" or "has" in full where the parser would take the "'s" of a noun for an owner's: "my sister's a vet"."""
    pieces, last = [], 0
    for match in _SHORTENED.finditer(text):
        pieces += [Piece(text[last : match.start("verb")], last, match.start("verb"))]
        pieces += [Piece(" has" if match["has"] else " is", *match.span("verb"))]
        last = match.end("verb")
    if not pieces:
        return None
    return Reworded((*pieces, Piece(text[last:], last, len(text))))
