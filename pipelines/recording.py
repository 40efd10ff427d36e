"""Recorded sessions: a folder or manifest of audio files, read as 20 ms frames."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import numpy as np
import soundfile
import soxr  # type: ignore[import-untyped]  # it has no types
from numpy.typing import NDArray
from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from hotmem.errors import InvalidInput
from pipelines.bot import SAMPLE_RATE

FRAME: Final = SAMPLE_RATE // 50
"""Number of samples in a 20 ms frame."""

SILENCE: Final = bytes(2 * FRAME)
"""A silent frame, 16-bit mono."""

SUFFIXES: Final = (".flac", ".ogg", ".wav")


@dataclass(frozen=True, slots=True)
class Utterance:
    """An audio file.

    Attributes:
        path: The file.
        gap_s: Seconds of silence before it.
    """

    path: Path
    gap_s: float


@dataclass(frozen=True, slots=True)
class Session:
    """A recorded conversation.

    Attributes:
        id: Its id.
        started_at: When it started.
        speaker: The user's name.
        utterances: The user's utterances, in order.
    """

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
    """Load the sessions of a manifest, or of a folder.

    A folder without a `manifest.json` is one session, named after the folder and dated by its
    oldest file.

    Raises:
        InvalidInput: If there are no recordings or the manifest is invalid.
    """
    manifest = source / "manifest.json" if source.is_dir() else source
    if manifest.is_file() and manifest.suffix == ".json":
        return _from_manifest(manifest)
    files = sorted(path for path in source.glob("*") if path.suffix.lower() in SUFFIXES)
    if not files:
        raise InvalidInput(
            f"{source} has no manifest.json and no audio."
            f" Pass a folder of {', '.join(SUFFIXES)} files or a manifest."
        )
    oldest = datetime.fromtimestamp(min(path.stat().st_mtime for path in files)).astimezone()
    utterances = tuple(Utterance(path, gap_s=0.5) for path in files)
    return (Session(source.resolve().name, oldest, None, utterances),)


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
            f"{path} names {len(missing)} files that do not exist, first {missing[0]}."
            " Paths are relative to the manifest."
        )
    return sessions


def read_audio(path: Path) -> NDArray[np.int16]:
    """Read an audio file as mono at `SAMPLE_RATE`, shape (samples,), int16.

    Raises:
        InvalidInput: If it cannot be read as audio.
    """
    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise InvalidInput(f"{path.name} cannot be read as audio. Use WAV, FLAC or OGG.") from error
    mono: NDArray[np.float32] = soxr.resample(samples.mean(axis=1), rate, SAMPLE_RATE)
    return np.asarray(np.clip(mono, -1, 1) * 32767, dtype=np.int16)


def read_frames(utterance: Utterance) -> Iterator[bytes]:
    """Yield 20 ms frames of 16-bit samples: the gap, then the audio, padded with silence."""
    yield from (SILENCE for _ in range(round(utterance.gap_s * 50)))
    audio = read_audio(utterance.path).tobytes()
    for start in range(0, len(audio), len(SILENCE)):
        yield audio[start : start + len(SILENCE)].ljust(len(SILENCE), b"\0")
