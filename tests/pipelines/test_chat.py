"""The keyboard bot as a subprocess, and the microphone bot without audio devices."""

import os
import subprocess
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from hotmem import ModelMissing
from pipelines.display import failure
from pipelines.local_mic import NoAudioDevice, open_audio
from pipelines.responder import ACKNOWLEDGED, UNKNOWN

WITHOUT_RECOGNISER = """
import runpy, sys
sys.modules["faster_whisper"] = sys.modules["ctranslate2"] = None
runpy.run_module("pipelines.chat", run_name="__main__")
"""
"""The bot without speech recognition."""


def chat(database: Path, *lines: str, start: Sequence[str] = ("-m", "pipelines.chat")) -> list[str]:
    """The bot's replies to lines of standard input."""
    command = [sys.executable, *start, "--database", str(database), "--name", "Daniel"]
    environment = {**os.environ, "HOTMEM_RECALL_DEADLINE_MS": "5000"}
    done = subprocess.run(
        command,
        input="\n".join(lines) + "\n",
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()[1:]


def test_a_second_session_remembers_the_first(tmp_path: Path) -> None:
    database = tmp_path / "memory.db"
    first = chat(database, "I have a dog called Rocky.", "What is my dog called?")
    assert first[0] == ACKNOWLEDGED
    assert "Rocky" in first[1]
    second = chat(
        database,
        "What is my dog called?",
        "What kind of car do I drive?",
        "Forget everything about Rocky.",
        "Yes.",
    )
    assert "Rocky" in second[0]
    assert second[1] == UNKNOWN
    assert "everything about “Rocky”" in second[2] and "deleted" in " ".join(second[3:])
    assert "Rocky" not in chat(database, "What is my dog called?")[0]


def test_speech_recognition_is_not_required(tmp_path: Path) -> None:
    replies = chat(
        tmp_path / "memory.db",
        "I have a dog called Rocky.",
        "What is my dog called?",
        start=("-c", WITHOUT_RECOGNISER),
    )
    assert replies[0] == ACKNOWLEDGED and "Rocky" in replies[1]


def test_missing_pyaudio_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyaudio", None)
    with pytest.raises(NoAudioDevice, match="portaudio19-dev"):
        open_audio(with_output=False)


def test_errors_are_shown_without_markup() -> None:
    screen = Console(file=StringIO(), width=200)
    screen.print(
        failure(ModelMissing("The weights are missing. Run: pip install pipecat-hotmem[whisper]"))
    )
    assert (
        "ModelMissing: The weights are missing. Run: pip install pipecat-hotmem[whisper]"
        in screen.file.getvalue()  # type: ignore[attr-defined]
    )
