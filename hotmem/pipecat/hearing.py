"""What has been recognised of the turn that is being spoken, and by whom."""

import re
from dataclasses import dataclass
from itertools import groupby
from typing import Final

HESITATIONS: Final = frozenset({"um", "uh", "uhm", "er", "erm", "hm", "hmm", "mm", "ah"})

_APOSTROPHES: Final = re.compile(r"['’ʼ]")
_WORD: Final = re.compile(r"\w+")


def content(text: str) -> tuple[str, ...]:
    """The words, whatever their case, punctuation and hesitations: recognisers write the final transcript otherwise than the interim ones."""
    return tuple(word for word in _WORD.findall(_APOSTROPHES.sub("", text).casefold()) if word not in HESITATIONS)


@dataclass(frozen=True, slots=True)
class Piece:
    """Words and who said them, as the transport names them; None where that is not known."""

    speaker: str | None
    text: str


class Hearing:
    """The transcripts of one turn: final ones in order, and an interim one that the next takes the place of."""

    def __init__(self) -> None:
        self._finals: list[Piece] = []
        self._interim = ""

    @property
    def text(self) -> str:
        """All that was heard so far."""
        return " ".join((*(piece.text for piece in self._finals), self._interim)).strip()

    def guess(self, text: str) -> None:
        """Notes an interim transcript."""
        self._interim = text.strip()

    def hear(self, text: str, speaker: str | None) -> None:
        """Notes a final transcript."""
        self._interim = ""
        self._finals.append(Piece(speaker or None, text.strip()))

    def turn(self, text: str) -> tuple[Piece, ...]:
        """The turn that has ended with these words, cut up by speaker if they are what was heard; the next begins."""
        finals, self._finals, self._interim = self._finals, [], ""
        pieces = tuple(Piece(speaker, " ".join(piece.text for piece in said)) for speaker, said in groupby(finals, key=lambda piece: piece.speaker))
        if content(" ".join(piece.text for piece in pieces)) != content(text):
            return (Piece(None, text),)
        return pieces if len(pieces) > 1 else (Piece(pieces[0].speaker if pieces else None, text),)
