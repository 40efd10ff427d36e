"""Child processes of these tests: a bare environment, the folders of a user who has none."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Home:
    """The folders of a user, all empty and all in one place."""

    path: Path

    def environment(self) -> dict[str, str]:
        folders = {
            "HOME": "",
            "XDG_CACHE_HOME": "cache",
            "XDG_CONFIG_HOME": "config",
            "XDG_DATA_HOME": "data",
            "TMPDIR": "tmp",
        }
        for folder in folders.values():
            (self.path / folder).mkdir(parents=True, exist_ok=True)
        return {name: str(self.path / folder) for name, folder in folders.items()} | {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def files(self) -> list[str]:
        return sorted(
            str(path.relative_to(self.path)) for path in self.path.rglob("*") if path.is_file()
        )


def python(
    code: str, *arguments: object, home: Home, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs code in a process of its own, in the home folder, with nothing of this process's environment."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=home.environment() | variables,
        cwd=home.path,
        text=True,
        capture_output=True,
        timeout=110,
    )
