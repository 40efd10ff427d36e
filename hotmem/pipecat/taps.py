"""Taps outside the processor's own place: after speech recognition and after the LLM."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

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
