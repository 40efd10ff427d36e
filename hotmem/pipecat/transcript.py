"""Transcripts of the turn being spoken, by speaker."""

import re
from dataclasses import dataclass
from itertools import accumulate, chain, groupby
from typing import Final

from hotmem.text.truncation import truncate_middle

HESITATIONS: Final = frozenset({"um", "uh", "uhm", "erm", "hmm", "mm"})

MAX_FINALS: Final = 40
"""Maximum number of final transcripts kept for a turn.

A turn with more is stored as one segment, and is not prefetched.
"""

_APOSTROPHES: Final = re.compile(r"['’ʼ]")
_WORD: Final = re.compile(r"\w+")


def normalized_words(text: str) -> tuple[str, ...]:
    """The words without case, punctuation and hesitations.

    Interim and final transcripts of the same speech differ in these.
    """
    return tuple(
        word
        for word in _WORD.findall(_APOSTROPHES.sub("", text).casefold())
        if word not in HESITATIONS
    )


def speech_key(text: str) -> tuple[str, ...]:
    """Equal for two transcripts of the same speech; of a long text, only both ends count."""
    return normalized_words(truncate_middle(text))


@dataclass(frozen=True, slots=True)
class SpeakerSegment:
    """A part of a turn by one speaker.

    Attributes:
        speaker: The transport's id of the speaker; None if not known.
        text: The text.
    """

    speaker: str | None
    text: str


class Transcript:
    """The transcripts of one turn: the final ones in order, and the latest interim one."""

    def __init__(self) -> None:
        self._finals: list[SpeakerSegment] = []
        self._interim = ""

    @property
    def text(self) -> str:
        """The whole text so far."""
        return " ".join((*(segment.text for segment in self._finals), self._interim)).strip()

    @property
    def final_text(self) -> str:
        """The text of the final transcripts."""
        return " ".join(segment.text for segment in self._finals).strip()

    def set_interim(self, text: str) -> None:
        """Replace the interim transcript."""
        self._interim = text.strip()

    def add_final(self, text: str, speaker: str | None) -> None:
        """Add a final transcript."""
        self._interim = ""
        self._finals = [
            *self._finals[1 - MAX_FINALS :],
            SpeakerSegment(speaker or None, text.strip()),
        ]

    def end_turn(self, text: str) -> tuple[SpeakerSegment, ...]:
        """Split a turn that has ended by speaker, and drop its transcripts.

        Final transcripts before the turn were not meant for the bot and are dropped too; those
        after it belong to the next turn.

        Args:
            text: The text of the turn.

        Returns:
            The segments; one without a speaker if the text is not that of final transcripts.
        """
        words = normalized_words(text)
        heard = [normalized_words(segment.text) for segment in self._finals]
        flat, edges = tuple(chain.from_iterable(heard)), [0, *accumulate(map(len, heard))]
        final_at = {edge: index for index, edge in enumerate(edges)}
        spans = ((index, edge, edge + len(words)) for index, edge in enumerate(edges))
        start, stop = next(
            (
                (index, final_at[end])
                for index, edge, end in spans
                if end in final_at and flat[edge:end] == words
            ),
            (0, 0),
        )
        turn, self._finals = self._finals[start:stop], self._finals[stop:] if stop else []
        self._interim = ""
        if len({segment.speaker for segment in turn}) < 2:
            return (SpeakerSegment(turn[0].speaker if turn else None, text),)
        groups = groupby(turn, key=lambda segment: segment.speaker)
        return tuple(
            SpeakerSegment(speaker, " ".join(segment.text for segment in segments))
            for speaker, segments in groups
        )
