"""The bot by keyboard, as a user starts it, and the microphone bot where there is no sound."""

import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.local_mic import NoMicrophone, open_sound


def chat(database: Path, *lines: str) -> list[str]:
    """What the bot answers to lines piped in."""
    command = [sys.executable, "-m", "pipelines.chat", "--database", str(database), "--name", "Daniel"]
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=100, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()[1:]


def test_a_second_session_knows_the_first(tmp_path: Path) -> None:
    database = tmp_path / "memory.db"
    first = chat(database, "I have a dog called Rocky.", "What is my dog called?")
    assert first == ["Thank you, I'll remember that.", 'You said: "I have a dog called Rocky."']
    second = chat(database, "What is my dog called?", "What kind of car do I drive?")
    assert "Rocky" in second[0]
    assert "don't know" in second[1]


def test_no_pyaudio_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyaudio", None)
    with pytest.raises(NoMicrophone, match="portaudio19-dev"):
        open_sound(speaks=False)
