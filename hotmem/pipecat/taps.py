"""Where HotMem listens besides its own place.

After speech recognition, and after the language model.
"""

from collections.abc import Awaitable, Callable

from pipecat.frames.frames import (
    EagerTranscriptionFrame,
    Frame,
    InterimTranscriptionFrame,
    LLMContextFrame,
    TranscriptionFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

HEARD = (
    InterimTranscriptionFrame,
    TranscriptionFrame,
    EagerTranscriptionFrame,
    VADUserStoppedSpeakingFrame,
)


class Listener(FrameProcessor):
    """Tells the memory what is being said.

    Belongs right after speech recognition: the user aggregator keeps transcripts to itself.

    Args:
        heard: Told each transcript, and each end of speech; nothing slow, for the frame waits, and
            nothing is raised.
    """

    def __init__(self, heard: Callable[[Frame], Awaitable[None]]) -> None:
        super().__init__()
        self._heard = heard

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Passes every frame on and tells of those that were heard."""
        await super().process_frame(frame, direction)
        if isinstance(frame, HEARD):
            await self._heard(frame)
        await self.push_frame(frame, direction)


class AfterModel(FrameProcessor):
    """Gives memory to contexts that come to the model from behind, as results of tools do.

    Belongs right after the language model.

    Args:
        with_memory: Makes the frame that the model is to get.
    """

    def __init__(
        self, with_memory: Callable[[LLMContextFrame], Awaitable[LLMContextFrame]]
    ) -> None:
        super().__init__()
        self._with_memory = with_memory

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Adds memory to contexts on their way up and passes every frame on."""
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMContextFrame) and direction is FrameDirection.UPSTREAM:
            frame = await self._with_memory(frame)
        await self.push_frame(frame, direction)
