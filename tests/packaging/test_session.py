"""A session writes only its memory file and prepared models, and uses no network."""

import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.version import Version

from tests.packaging.child import Home, python

RUN = (
    "import runpy, sys; sys.argv[0] = 'session'; runpy.run_module('tests.packaging.session', "
    "run_name='__main__')"
)
GUARDED = (
    "import sys; from pathlib import Path; from tests.packaging.guard import forbid_network; "
    "forbid_network(Path(sys.argv[1]));"
)
BELOW_PYTHON = "import ctypes; ctypes.CDLL(None).connect(0, 0, 0)"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "attempts"


def test_a_session_writes_only_models_and_memory_and_uses_no_network(
    home: Home, record: Path, tmp_path: Path
) -> None:
    (tmp_path / "memories").mkdir()
    ended: subprocess.CompletedProcess[str] = python(RUN, tmp_path / "memories", record, home=home)
    assert (ended.returncode, ended.stdout.splitlines()[-1:]) == (0, ["done"]), (
        ended.stderr + record.read_text()
    )
    assert record.read_text() == ""
    assert [file for file in home.files() if not file.startswith("cache/hotmem/")] == []
    assert {path.name.partition(".db")[0] for path in (tmp_path / "memories").iterdir()} == {
        "by_hand",
        "pipeline",
    }


def test_the_guard_records_and_refuses_python_s_network_calls(home: Home, record: Path) -> None:
    ended = python(
        f"{GUARDED} import socket; socket.getaddrinfo('example.org', 443)", record, home=home
    )
    assert ended.returncode == 1 and "No network here" in ended.stderr
    assert "socket.getaddrinfo" in record.read_text()


def test_the_guard_ends_a_process_on_a_native_network_call(home: Home, record: Path) -> None:
    ended = python(f"{GUARDED} {BELOW_PYTHON}", record, home=home)
    assert ended.returncode == (-signal.SIGSYS if sys.platform == "linux" else 0)


def test_onnxruntime_alone_writes_a_device_id(home: Home) -> None:
    """It does from 1.29 on. If this fails, `hotmem.core.logs` needs a review."""
    assert python("import onnxruntime", home=home).returncode == 0
    written = any("onnxruntime" in file for file in home.files())
    assert written == (Version(version("onnxruntime")) >= Version("1.29"))


def test_importing_onnxruntime_before_hotmem_is_logged(home: Home) -> None:
    ended = python("import onnxruntime, hotmem", home=home)
    assert "onnxruntime was imported before hotmem" in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    "bot",
    [
        *("pipelines.chat", "pipelines.replay", "pipelines.browser", "pipelines.local_mic"),
        *("examples.browser_bot", "examples.keyboard_bot", "examples.telephone_bot"),
        *("examples.room_bot", "examples.tools_bot", "examples.realtime_bot"),
    ],
)
def test_our_bots_import_hotmem_first(home: Home, bot: str) -> None:
    ended = python(f"import sys, {bot}; print('onnxruntime' in sys.modules)", home=home)
    assert ended.returncode == 0, ended.stderr
    assert home.files() == []


def test_a_telemetry_setting_of_the_environment_is_kept(home: Home) -> None:
    ended = python(
        "import os, hotmem; print(os.environ['ORT_DISABLE_TELEMETRY'])",
        home=home,
        ORT_DISABLE_TELEMETRY="0",
    )
    assert ended.stdout.strip() == "0"
