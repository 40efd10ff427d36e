"""Read recorded sessions."""

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
import soundfile

from hotmem import InvalidInput
from pipelines.recording import SILENCE, Utterance, load_sessions, read_audio, read_frames
from pipelines.replay import DEMO


def test_the_demo_sessions_are_days_apart() -> None:
    monday, thursday = load_sessions(DEMO)
    assert (monday.id, thursday.id) == ("monday", "thursday")
    assert monday.started_at == datetime(2026, 3, 2, 18, tzinfo=UTC)
    assert (thursday.started_at - monday.started_at).days >= 2
    assert (
        sum(
            utterance.path.stat().st_size
            for session in (monday, thursday)
            for utterance in session.utterances
        )
        < 400_000
    )


@pytest.mark.parametrize(
    ("suffix", "rate", "channels"), [(".wav", 44_100, 2), (".flac", 8_000, 1), (".ogg", 16_000, 1)]
)
def test_audio_of_any_rate_and_channels_is_read_as_20_ms_frames(
    tmp_path: Path, suffix: str, rate: int, channels: int
) -> None:
    path = tmp_path / f"tone{suffix}"
    tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(rate) / rate)
    soundfile.write(path, np.column_stack([tone] * channels), rate)
    samples = read_audio(path)
    assert samples.dtype == np.int16
    assert abs(len(samples) - 16_000) <= 16
    assert 14_000 < np.abs(samples).max() < 19_000
    frames = list(read_frames(Utterance(path, gap_s=0.1)))
    assert frames[:5] == [SILENCE] * 5
    assert {len(frame) for frame in frames} == {640}
    assert 54 <= len(frames) <= 57


def test_a_folder_without_manifest_is_one_session(tmp_path: Path) -> None:
    for name in ("b.wav", "a.wav"):
        soundfile.write(tmp_path / name, np.zeros(160), 16_000)
    (session,) = load_sessions(tmp_path)
    assert session.id == tmp_path.name
    assert [utterance.path.name for utterance in session.utterances] == ["a.wav", "b.wav"]
    assert session.started_at.tzinfo is not None


def manifest(**changes: object) -> dict[str, object]:
    session = {
        "id": "one",
        "started_at": "2026-03-02T18:00:00Z",
        "utterances": [{"file": "gone.wav"}],
        **changes,
    }
    return {"sessions": [session]}


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        (json.dumps(manifest()), "do not exist"),
        (json.dumps(manifest(started_at="2026-03-02T18:00:00")), "timezone"),
        (json.dumps(manifest(utterances=[])), "at least 1"),
        (json.dumps(manifest(speed=2)), "Extra inputs"),
        ("not json", "not a manifest"),
    ],
)
def test_invalid_manifests(tmp_path: Path, content: str, fact: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(content)
    with pytest.raises(InvalidInput, match=fact):
        load_sessions(path)


def test_missing_and_invalid_audio(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no audio"):
        load_sessions(tmp_path)
    noise = tmp_path / "noise.wav"
    noise.write_text("not audio")
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_audio(noise)
