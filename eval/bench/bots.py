"""Bots in real pipelines, driven by scripted frames or recordings, with times of their contexts."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Final

from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import (
    EndFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    ProposedUserStartedSpeakingFrame,
    ProposedUserStoppedSpeakingFrame,
    TranscriptionFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import (
    LLMContext,
    LLMSpecificMessage,
    standard_message_text,
)
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.turns.user_turn_strategies import ExternalUserTurnStrategies
from pipecat.workers.runner import WorkerRunner

from hotmem.block.rendering import OPENING
from pipelines.bot import SAMPLE_RATE
from pipelines.recording import SILENCE, Utterance, read_frames
from pipelines.replay import FRAME_S

WORD_S: Final = 0.2
"""Seconds per word; people speak two to five words per second, so this leaves little time."""

INTERIM_WORDS: Final = 2
"""New words per interim transcript."""

ALL_WORDS_S, SILENCE_S, FINAL_S = 0.15, 0.2, 0.3
"""Seconds after the last word at which an interim transcript holds all words, the end of speech
is noticed, and the final transcript comes."""

PAUSED_S: Final = 0.05
"""Seconds between the last word and its final transcript, where speaking takes no time."""

TURN_S: Final = 1.0
"""Seconds without another context after which a recorded turn is over."""

PATIENCE_S: Final = 20.0
"""Timeout for a context, in seconds."""


class Arrival(FrameProcessor):
    """Records when a frame of a type arrives.

    Args:
        kind: The type.

    Attributes:
        at: When the latest one came, by `time.perf_counter()`; 0 before the first.
    """

    def __init__(self, kind: type[Frame]) -> None:
        super().__init__()
        self.at = 0.0
        self._kind = kind

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Pass every frame on."""
        await super().process_frame(frame, direction)
        if isinstance(frame, self._kind):
            self.at = perf_counter()
        await self.push_frame(frame, direction)


class Model(FrameProcessor):
    """Records when a context arrives; its replies quote the last line of every second block."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: asyncio.Queue[float] = asyncio.Queue()
        self._reads = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Answer contexts and pass every other frame on."""
        await super().process_frame(frame, direction)
        if not isinstance(frame, LLMContextFrame):
            await self.push_frame(frame, direction)
            return
        self.shown.put_nowait(perf_counter())
        for reply in (
            LLMFullResponseStartFrame(),
            LLMTextFrame(self._reply(frame.context)),
            LLMFullResponseEndFrame(),
        ):
            await self.push_frame(reply)

    def _reply(self, context: LLMContext) -> str:
        self._reads = not self._reads
        lines = [
            line for text in blocks(context) for line in text.splitlines() if line.startswith("- ")
        ]
        return f"You said: {lines[-1]}" if lines and self._reads else "I see."


def message_texts(context: LLMContext) -> list[str]:
    """Return the texts of all messages of a context."""
    return [
        standard_message_text(message)
        for message in context.get_messages()
        if not isinstance(message, LLMSpecificMessage)
    ]


def blocks(context: LLMContext) -> list[str]:
    """Return the context blocks in a context."""
    return [text for text in message_texts(context) if text.startswith(OPENING)]


async def say(worker: PipelineWorker, text: str) -> None:
    """Say a text by frames, with all words in one interim transcript."""
    await worker.queue_frame(ProposedUserStartedSpeakingFrame())
    await worker.queue_frame(InterimTranscriptionFrame(text, "user", ""))
    await worker.queue_frame(VADUserStoppedSpeakingFrame())
    await asyncio.sleep(PAUSED_S)
    await worker.queue_frame(TranscriptionFrame(text, "user", "", finalized=True))
    await worker.queue_frame(ProposedUserStoppedSpeakingFrame())


async def ask(worker: PipelineWorker, model: Model, question: str, *, interims: bool) -> float:
    """Speak a question by frames, as a streaming or a segmented speech recogniser sends them.

    Returns:
        Milliseconds from the final transcript to the language model.
    """
    words = question.split()
    await worker.queue_frame(ProposedUserStartedSpeakingFrame())
    if interims:
        for end in range(INTERIM_WORDS, len(words), INTERIM_WORDS):
            await asyncio.sleep(WORD_S * INTERIM_WORDS)
            await worker.queue_frame(
                InterimTranscriptionFrame(" ".join(words[:end]).lower(), "user", "")
            )
        await asyncio.sleep(ALL_WORDS_S)
        await worker.queue_frame(
            InterimTranscriptionFrame(question.lower().rstrip("?."), "user", "")
        )
        await asyncio.sleep(SILENCE_S - ALL_WORDS_S)
    else:
        await asyncio.sleep(WORD_S * len(words) + SILENCE_S)
    await worker.queue_frame(VADUserStoppedSpeakingFrame())
    await asyncio.sleep(FINAL_S - SILENCE_S)
    final = perf_counter()
    await worker.queue_frame(TranscriptionFrame(question, "user", "", finalized=True))
    await worker.queue_frame(ProposedUserStoppedSpeakingFrame())
    return (await asyncio.wait_for(model.shown.get(), PATIENCE_S) - final) * 1000


async def play(worker: PipelineWorker, model: Model, heard: Arrival, utterance: Utterance) -> float:
    """Play a recording as a microphone would, then silence until the model has its context.

    Returns:
        Milliseconds from the final transcript to the language model; for a recording split into
            several turns, those of the last.
    """
    frames = await asyncio.to_thread(lambda: list(read_frames(utterance)))
    due, shown_at = perf_counter(), 0.0
    given_up = due + PATIENCE_S + len(frames) * FRAME_S
    while frames or shown_at < heard.at or not heard.at or perf_counter() - shown_at < TURN_S:
        if perf_counter() > given_up:
            raise TimeoutError(
                f"{utterance.path.name} brought no context. Is the machine too slow "
                "for the recogniser?"
            )
        await worker.queue_frame(
            InputAudioRawFrame(
                audio=frames.pop(0) if frames else SILENCE, sample_rate=SAMPLE_RATE, num_channels=1
            )
        )
        while not model.shown.empty():
            shown_at = model.shown.get_nowait()
        due += FRAME_S
        await asyncio.sleep(max(due - perf_counter(), 0.0))
    waited, heard.at = shown_at - heard.at, 0.0
    return waited * 1000


@asynccontextmanager
async def running(
    ears: Sequence[FrameProcessor], memory: Sequence[FrameProcessor], *, audio: bool
) -> AsyncIterator[tuple[PipelineWorker, Model]]:
    """Run a bot with processors before the user aggregator and before the language model.

    With audio, the bot detects the end of a turn itself.
    """
    hearing = LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    reading = LLMUserAggregatorParams(user_turn_strategies=ExternalUserTurnStrategies())
    user, assistant = LLMContextAggregatorPair(
        LLMContext(), user_params=hearing if audio else reading
    )
    model = Model()
    params = PipelineParams(audio_in_sample_rate=SAMPLE_RATE)
    worker = PipelineWorker(
        Pipeline([*ears, user, *memory, model, assistant]),
        params=params,
        enable_rtvi=False,
        cancel_on_idle_timeout=False,
    )
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    run = asyncio.create_task(runner.run(), name="bot")
    try:
        yield worker, model
    finally:
        await worker.queue_frame(EndFrame())
        await run
