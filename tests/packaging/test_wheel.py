"""The built wheel works in an environment that does not have the source tree."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from email import message_from_string
from pathlib import Path
from typing import Final

import httpx
import pytest

from hotmem import __version__
from tests.packaging.child import ROOT, Home, python

SESSION: Final = """
import asyncio, json, sys
from datetime import UTC, datetime
import hotmem

async def main():
    async with hotmem.Memory.open(sys.argv[1]) as memory:
        turn = hotmem.Turn("ana", "monday", "user", "My dog is called Potola.", datetime.now(UTC))
        await memory.remember(turn)
        await memory.settle()
        block = await memory.recall("What's my dog called?", user_id="ana")
    print(json.dumps([hotmem.__file__, hotmem.__version__, block.text, "tests" in sys.modules]))

asyncio.run(main())
"""

DATA: Final = {
    "hotmem/py.typed",
    "hotmem/models/data/texts-1.onnx",
    "hotmem/ranking/relevance.json",
    "hotmem/inspector/templates/base.html",
    "hotmem/replay/report.html",
}
"""Some of the files that are not Python."""


def run(*command: object) -> str:
    """Standard output of a command."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the tree; the build backend comes from the package index."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps"]
    done = subprocess.run(
        [*pip, "--quiet", "--wheel-dir", str(folder), str(ROOT)],
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel, and the dependencies installed here.

    The editable installation of the source tree does not apply there: path files of a folder
    that a path file names are not read.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    paths = {"base": str(folder), "platbase": str(folder)}
    (Path(sysconfig.get_path("purelib", "venv", paths)) / "dependencies.pth").write_text(
        sysconfig.get_path("purelib") + "\n"
    )
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", folder]
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", "--force-reinstall", wheel)
    return folder


def test_the_wheel_has_all_data_and_no_tests(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names >= DATA
    tree = {str(path.relative_to(ROOT)) for path in (ROOT / "hotmem").rglob("*") if path.is_file()}
    assert {name for name in tree if "__pycache__" not in name} <= names
    assert {name.partition("/")[0] for name in names} == {
        "hotmem",
        f"pipecat_hotmem-{__version__}.dist-info",
    }


def test_an_installed_memory_remembers_and_recalls(environment: Path, tmp_path: Path) -> None:
    ended = python(
        SESSION,
        tmp_path / "memory.db",
        home=Home(tmp_path / "home"),
        executable=environment / "bin" / "python",
        PYTHONPATH="",
    )
    assert ended.returncode == 0, ended.stderr
    file, version, text, tests = json.loads(ended.stdout)
    assert Path(file).is_relative_to(environment)
    assert version == __version__ and "Potola" in text and not tests


def test_an_installed_quickstart_mcp_client_and_inspector_run(
    environment: Path, tmp_path: Path
) -> None:
    python_there = environment / "bin" / "python"
    variables = {"PATH": "/usr/bin:/bin"}
    for example, shown in (
        ("quickstart.py", "My dog is called Potola."),
        ("mcp_client.py", "The boiler's serial number is 44 B 19."),
    ):
        program = shutil.copy(ROOT / "examples" / example, tmp_path)
        done = subprocess.run(
            [python_there, program],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            timeout=110,
        )
        assert done.returncode == 0, done.stderr
        assert shown in done.stdout
    with subprocess.Popen(
        [environment / "bin" / "hotmem", "inspect", "--user", "ana"],
        cwd=tmp_path,
        env=variables,
        stdout=subprocess.PIPE,
        text=True,
    ) as inspecting:
        try:
            assert inspecting.stdout is not None
            lines = iter(inspecting.stdout)
            address = next(found[0] for line in lines if (found := re.search(r"http://\S+", line)))
            page = httpx.get(address, follow_redirects=True, timeout=60)
            assert page.status_code == 200 and "Overview" in page.text
        finally:
            inspecting.terminate()


def test_the_metadata_names_the_project_and_shows_the_readme(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (one for one in opened.namelist() if one.endswith(".dist-info/METADATA"))
        metadata = message_from_string(opened.read(name).decode())
    assert metadata["Version"] == __version__
    assert metadata["License-Expression"] == "BSD-2-Clause"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert str(metadata.get_payload()).strip() == (ROOT / "README.md").read_text("utf-8").strip()
    urls = dict(url.split(", ", 1) for url in metadata.get_all("Project-URL", []))
    assert set(urls) == {"Documentation", "Repository", "Changelog", "Issues"}
    assert all(url.startswith("https://") for url in urls.values())


def test_the_source_distribution_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """An installer that wants no wheel gets the archive: it builds, and nothing is missing."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "install", "--quiet", "--target", tmp_path / "backend", "hatchling")
    build = "import sys, hatchling.build as b; print(b.build_sdist(sys.argv[1]))"
    made = subprocess.run(
        [sys.executable, "-c", build, tmp_path],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path / "backend")},
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert made.returncode == 0, made.stderr
    archive = tmp_path / made.stdout.split()[-1]
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {"LICENSE", "README.md", "mkdocs.yml", "docs/index.md", "examples/room_bot.py"} <= names
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert set(re.findall(r"\.ci/\w+\.py", makefile)) <= names, "make audit and make matrix run"
    assert "tests/storage/sqlite/version1.db.xz" in names
    stray = {".env", ".log", ".pyc", ".whl"}
    assert not [name for name in names if stray & set(Path(name).suffixes)]
    run(*pip, "wheel", "--no-deps", "--quiet", "--wheel-dir", tmp_path / "again", archive)
    (again,) = (tmp_path / "again").glob("*.whl")
    assert set(zipfile.ZipFile(again).namelist()) == set(zipfile.ZipFile(wheel).namelist())


def test_the_installed_command_runs(environment: Path) -> None:
    assert run(environment / "bin" / "hotmem", "--version").strip() == f"hotmem {__version__}"
    assert "Usage: hotmem" in run(environment / "bin" / "hotmem", "--help")
