"""Checksums of the published model files, one list per model in the format of `sha256sum`.

Files are checked before a model is loaded, and packages that contain models are never imported,
because importing would run their code.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Final

from hotmem.models.files import sha256

_LISTS: Final = Path(__file__).with_name("manifests")


def checksum_file(model: str) -> Path:
    """Return the checksum file of a model."""
    return _LISTS / f"{model}.sha256"


def read_checksums(file: Path) -> dict[str, str]:
    """Read a checksum file: file name → SHA-256."""
    lines = (line.split(maxsplit=1) for line in file.read_text("utf-8").splitlines())
    return {name.strip(): checksum for checksum, name in lines}


def check_files(
    folder: Path, file: Path, *, only: Collection[str] = (), exact: bool = False
) -> list[str]:
    """Compare a model's files with their published checksums.

    Args:
        folder: The model's folder.
        file: The checksum file.
        only: Names of the files to check; all if empty.
        exact: Whether files without a checksum are reported too.

    Returns:
        One problem per file, for an error message.
    """
    checksums = read_checksums(file)
    wrong = [name for name in only or checksums if sha256(folder / name) != checksums[name]]
    found = [f"{name} {'differs' if (folder / name).is_file() else 'is missing'}" for name in wrong]
    if exact:
        there = (
            path.relative_to(folder).as_posix()
            for path in folder.rglob("*")
            if not path.is_dir() or path.is_symlink()
        )
        found += [
            f"{name} is not a published file" for name in sorted(set(there) - checksums.keys())
        ]
    return found
