"""Transcripts of the turn being spoken, by speaker, and the taps that observe frames."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import accumulate, chain, groupby
from typing import Final

from pipecat.frames.frames import (
    EagerTranscriptionFrame,
    Frame,
    InterimTranscriptionFrame,
    LLMContextFrame,
    LLMMessagesAppendFrame,
    LLMRunFrame,
    TranscriptionFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from hotmem.text.passages import truncate_middle

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


SPEECH_FRAMES = (
    InterimTranscriptionFrame,
    TranscriptionFrame,
    EagerTranscriptionFrame,
    VADUserStoppedSpeakingFrame,
)


@dataclass
class MemoryAppendFrame(LLMMessagesAppendFrame):
    """Appends memory to the conversation of a speech-to-speech service."""

    interruptible: bool = field(default=False, init=False)


class Listener(FrameProcessor):
    """Passes transcripts to the prefetch.

    Belongs right after speech recognition, as the user aggregator consumes transcripts.

    Args:
        on_speech: Called with each frame of `SPEECH_FRAMES`. The frame waits for it, so it must be
            fast; it must not raise.
    """

    def __init__(self, on_speech: Callable[[Frame], Awaitable[None]]) -> None:
        super().__init__()
        self._on_speech = on_speech

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Report speech frames and push every frame."""
        await super().process_frame(frame, direction)
        if isinstance(frame, SPEECH_FRAMES):
            await self._on_speech(frame)
        await self.push_frame(frame, direction)


class AfterModel(FrameProcessor):
    """Injects memory into contexts that reach the LLM from downstream, as tool results do.

    Belongs right after the LLM. Memory that was appended to the conversation of a speech-to-speech
    service stays out of the context: only its request for a response goes on.

    Args:
        inject: Makes the frame with memory.
        observe: Called with each frame that comes from the LLM; must be fast and not raise.
    """

    def __init__(
        self,
        inject: Callable[[LLMContextFrame], Awaitable[LLMContextFrame]],
        observe: Callable[[Frame], None],
    ) -> None:
        super().__init__()
        self._inject = inject
        self._observe = observe

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Inject memory into upstream context frames and push every frame."""
        await super().process_frame(frame, direction)
        if direction is FrameDirection.DOWNSTREAM:
            self._observe(frame)
            if isinstance(frame, MemoryAppendFrame):
                if not frame.run_llm:
                    return
                frame = LLMRunFrame()
        elif isinstance(frame, LLMContextFrame):
            frame = await self._inject(frame)
        await self.push_frame(frame, direction)
