"""Recorded sessions: a folder or manifest of audio files, read as the 20 ms frames a microphone would give."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import numpy as np
import soundfile
import soxr  # type: ignore[import-untyped]  # it ships no types
from numpy.typing import NDArray
from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from hotmem.errors import InvalidInput
from pipelines.bot import SAMPLE_RATE

FRAME: Final = SAMPLE_RATE // 50
"""Samples of a 20 ms frame."""

SILENCE: Final = bytes(2 * FRAME)
"""A frame in which nobody speaks, 16-bit mono."""

SUFFIXES: Final = (".flac", ".ogg", ".wav")


@dataclass(frozen=True, slots=True)
class Utterance:
    """One audio file and the seconds of silence before it."""

    path: Path
    gap: float


@dataclass(frozen=True, slots=True)
class Session:
    """One recorded conversation: its id, when it began, who speaks, and what is said in order."""

    id: str
    started_at: datetime
    speaker: str | None
    utterances: tuple[Utterance, ...]


class _Utterance(BaseModel, extra="forbid"):
    file: str
    gap: float = Field(default=0.5, ge=0, le=60)


class _Session(BaseModel, extra="forbid"):
    id: str = Field(min_length=1)
    started_at: AwareDatetime
    speaker: str | None = None
    utterances: list[_Utterance] = Field(min_length=1)


class _Manifest(BaseModel, extra="forbid"):
    sessions: list[_Session] = Field(min_length=1)


def load_sessions(source: Path) -> tuple[Session, ...]:
    """The sessions of a manifest, of a folder with a `manifest.json`, or of a bare folder of audio files as one session.

    A bare folder's session is named after it and dated by its oldest file.

    Raises:
        InvalidInput: If there is nothing to play or the manifest cannot be read.
    """
    manifest = source / "manifest.json" if source.is_dir() else source
    if manifest.is_file() and manifest.suffix == ".json":
        return _from_manifest(manifest)
    files = sorted(path for path in source.glob("*") if path.suffix.lower() in SUFFIXES)
    if not files:
        raise InvalidInput(
            f"{source} holds no manifest.json and no audio. Pass a folder of {', '.join(SUFFIXES)} files or a manifest."
        )
    began = datetime.fromtimestamp(min(path.stat().st_mtime for path in files)).astimezone()
    return (
        Session(
            source.resolve().name, began, None, tuple(Utterance(path, gap=0.5) for path in files)
        ),
    )


def _from_manifest(path: Path) -> tuple[Session, ...]:
    try:
        manifest = _Manifest.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except (ValidationError, ValueError) as error:
        raise InvalidInput(f"{path} is not a manifest of recordings: {error}") from error
    sessions = tuple(
        Session(
            session.id,
            session.started_at,
            session.speaker,
            tuple(
                Utterance(path.parent / utterance.file, utterance.gap)
                for utterance in session.utterances
            ),
        )
        for session in manifest.sessions
    )
    missing = [
        utterance.path.name
        for session in sessions
        for utterance in session.utterances
        if not utterance.path.is_file()
    ]
    if missing:
        raise InvalidInput(
            f"{path} names {len(missing)} files that do not exist, first {missing[0]}. Paths are relative to the manifest."
        )
    return sessions


def read_audio(path: Path) -> NDArray[np.int16]:
    """The samples of an audio file: mono at `SAMPLE_RATE`, shape (samples,).

    Raises:
        InvalidInput: If it is not readable audio.
    """
    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise InvalidInput(f"{path.name} cannot be read as audio. Use WAV, FLAC or OGG.") from error
    mono: NDArray[np.float32] = soxr.resample(samples.mean(axis=1), rate, SAMPLE_RATE)
    return np.asarray(np.clip(mono, -1, 1) * 32767, dtype=np.int16)


def frames_of(utterance: Utterance) -> Iterator[bytes]:
    """The utterance as 20 ms frames of 16-bit samples, after its gap.

    The last frame is filled up with silence.
    """
    yield from (SILENCE for _ in range(round(utterance.gap * 50)))
    audio = read_audio(utterance.path).tobytes()
    for start in range(0, len(audio), len(SILENCE)):
        yield audio[start : start + len(SILENCE)].ljust(len(SILENCE), b"\0")
