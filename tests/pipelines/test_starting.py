"""Error messages of the bots for missing packages and keys, and their help."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines import browser
from pipelines.browser import NoBrowser, serve
from pipelines.display import wide_console


def test_the_browser_example_names_missing_keys(tmp_path: Path) -> None:
    bare = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")} | {
        "PYTHONPATH": str(Path.cwd())
    }
    done = subprocess.run(
        [sys.executable, Path("examples/browser_bot.py").absolute()],
        env=bare,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "Missing: DEEPGRAM_API_KEY, OPENAI_API_KEY, CARTESIA_API_KEY." in done.stderr


@pytest.mark.parametrize("program", ["examples/browser_bot.py", "pipelines/chat.py"])
def test_a_settings_file_that_is_not_utf8_is_a_one_line_error(program: str, tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"OPENAI_API_KEY=\xe9\xff\n")
    bot = Path(shutil.copy(program, tmp_path))
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(
        [sys.executable, bot.name],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        input="",
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "is not UTF-8. Save it as UTF-8." in done.stdout + done.stderr


async def test_browser_bot_names_missing_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "REQUIRED", ("rich", "a_package_that_is_not_there"))
    with pytest.raises(
        NoBrowser,
        match=r"a_package_that_is_not_there cannot be imported."
        r' Run: pip install "pipecat-hotmem\[browser',
    ):
        await serve(tmp_path / "memory.db", "me", None, 7860, wide_console())


@pytest.mark.parametrize("module", ["browser", "chat", "local_mic", "replay"])
def test_help(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"pipelines.{module}", "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "Usage" in done.stdout and "--help" in done.stdout
