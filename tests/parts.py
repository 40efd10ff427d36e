"""Which tests only `make test-all` runs, and the files whose change needs them.

`pytest` runs what every push needs. `pytest --all` runs everything; `pytest --parts wheel,engines`
runs these parts alone. Tests that are named on the command line are always run. A part has whole
files, and tests marked `@pytest.mark.part(name)`.

`python -m tests.parts` prints the parts that the latest commits need, for `.ci/run`.
"""

import subprocess
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]

RECENT: Final = timedelta(hours=12)
"""Before the newest commit: how far back commits belong to one push."""


@dataclass(frozen=True)
class Part:
    """Tests that not every push needs.

    Attributes:
        touched: Files, or folders ending in a slash, whose change needs the part.
        files: Its files and folders; marked tests come in addition.
    """

    touched: tuple[str, ...]
    files: tuple[str, ...] = ()


PARTS: Final = {
    "attacks": Part(
        touched=(
            "hotmem/core/", "hotmem/text/escaping.py", "hotmem/storage/", "hotmem/pipecat/",
            "hotmem/understanding/facts/instructions/", "tests/attacks/",
        ),
        files=("tests/attacks/", "tests/storage/sqlite/test_damage.py"),
    ),
    "browser": Part(
        touched=("hotmem/inspector/", "hotmem/replay/", "pipelines/browser.py", "tests/browser/"),
    ),
    "engines": Part(
        touched=("hotmem/storage/", "hotmem/pipecat/", "tests/storage/", "tests/postgres.py"),
        files=(
            "tests/cli/test_copy.py", "tests/pipecat/test_failover.py",
            "tests/pipecat/test_server.py", "tests/pipecat/test_vanishing.py",
            "tests/storage/postgres/test_failures.py", "tests/storage/postgres/test_outages.py",
            "tests/storage/postgres/test_pgbouncer.py", "tests/storage/test_copying.py",
            "tests/test_engines.py", "tests/test_read_only.py", "tests/test_restore_drill.py",
        ),
    ),
    "evaluation": Part(
        touched=("eval/", "tests/eval/"),
        files=("tests/eval/",),
    ),
    "examples": Part(
        touched=(
            "examples/", "pipelines/", "docs/", "README.md", "hotmem/pipecat/", "tests/pipelines/",
        ),
        files=(
            "tests/examples/", "tests/pipelines/", "tests/packaging/test_code_blocks.py",
            "tests/packaging/test_session.py", "tests/packaging/test_websocket.py",
            "tests/pipecat/test_realtime.py", "tests/pipecat/test_realtime_services.py",
        ),
    ),
    "model_calls": Part(
        touched=(
            "hotmem/extractor.py", "hotmem/model_calls.py", "hotmem/storage/", "tests/model_calls/",
            "hotmem/topic_namer.py", "hotmem/understanding/extraction/",
        ),
        files=("tests/model_calls/",),
    ),
    "torch": Part(
        touched=("eval/encoder/", "eval/understanding/", "eval/network.py", "hotmem/models/"),
        files=("tests/eval/test_encoder_alone.py",),
    ),
    "wheel": Part(
        touched=(
            "pyproject.toml", "constraints.txt", "requirements.txt", "Makefile",
            "hotmem/__init__.py", "hotmem/models/",
        ),
        files=("tests/packaging/test_extras.py", "tests/packaging/test_wheel.py"),
    ),
}  # fmt: skip


def needed(changed: set[str]) -> list[str]:
    """The parts that a change of these files needs, paths relative to the repository."""
    return [
        name
        for name, part in PARTS.items()
        if any(path == own or (own.endswith("/") and path.startswith(own))
               for path in changed for own in part.touched)
    ]  # fmt: skip


def changed_recently() -> set[str]:
    """The files that the newest commit and those of the hours before it changed."""
    newest = datetime.fromisoformat(_git("log", "-1", "--format=%cI").strip())
    since = (newest - RECENT).isoformat()
    names = _git("log", f"--since={since}", "--name-only", "--format=")
    return set(names.split("\n")) - {""}


def part_of(path: Path) -> str | None:
    """The part that a test file belongs to as a whole: the one that names it most exactly."""
    name = path.relative_to(ROOT).as_posix()
    naming = {
        file: part for part, own in PARTS.items() for file in own.files if name.startswith(file)
    }
    return naming[max(naming, key=len)] if naming else None


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    print(",".join(needed(changed_recently())))
