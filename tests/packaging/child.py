"""Child processes of these tests, with a bare environment and empty home folders."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Home:
    """A user's home, cache, configuration, data and temporary folders, all empty."""

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
    code: str,
    *arguments: object,
    home: Home,
    executable: str | Path = sys.executable,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run code in a new process in the home folder, with these environment variables only."""
    return subprocess.run(
        [executable, "-c", code, *map(str, arguments)],
        env=home.environment() | variables,
        cwd=home.path,
        text=True,
        capture_output=True,
        timeout=110,
    )
