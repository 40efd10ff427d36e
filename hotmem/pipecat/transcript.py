"""What has been recognised of the turn that is being spoken, and by whom."""

import re
from dataclasses import dataclass
from itertools import accumulate, chain, groupby
from typing import Final

from hotmem.text.truncation import truncate_middle

HESITATIONS: Final = frozenset({"um", "uh", "uhm", "erm", "hmm", "mm"})

MOST_FINALS: Final = 40
"""Final transcripts of a turn that are told apart; a turn of more is remembered as one, and
searched for when it has ended."""

_APOSTROPHES: Final = re.compile(r"['’ʼ]")
_WORD: Final = re.compile(r"\w+")


def content(text: str) -> tuple[str, ...]:
    """The words, whatever their case, punctuation and hesitations.

    Recognisers write the final transcript otherwise than the interim ones.
    """
    return tuple(
        word
        for word in _WORD.findall(_APOSTROPHES.sub("", text).casefold())
        if word not in HESITATIONS
    )


def gist(text: str) -> tuple[str, ...]:
    """The same of both ends of a long text: enough to tell it from another."""
    return content(truncate_middle(text))


@dataclass(frozen=True, slots=True)
class Piece:
    """Words and who said them, as the transport names them; None where that is not known."""

    speaker: str | None
    text: str


class Transcript:
    """The transcripts of one turn.

    Final ones in order, and an interim one that the next takes the place of.
    """

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
        self._finals = [*self._finals[1 - MOST_FINALS :], Piece(speaker or None, text.strip())]

    def turn(self, text: str) -> tuple[Piece, ...]:
        """The turn that has ended with these words, cut up by speaker where they were heard here.

        What was heard before them was not meant for the bot, and what was heard after them belongs
        to the next turn.
        """
        words, heard = content(text), [content(piece.text) for piece in self._finals]
        flat, edges = tuple(chain.from_iterable(heard)), [0, *accumulate(map(len, heard))]
        pieces = {edge: number for number, edge in enumerate(edges)}
        spans = ((number, edge, edge + len(words)) for number, edge in enumerate(edges))
        start, stop = next(
            (
                (number, pieces[end])
                for number, edge, end in spans
                if end in pieces and flat[edge:end] == words
            ),
            (0, 0),
        )
        said, self._finals = self._finals[start:stop], self._finals[stop:] if stop else []
        self._interim = ""
        if len({piece.speaker for piece in said}) < 2:
            return (Piece(said[0].speaker if said else None, text),)
        groups = groupby(said, key=lambda piece: piece.speaker)
        return tuple(
            Piece(speaker, " ".join(piece.text for piece in part)) for speaker, part in groups
        )
