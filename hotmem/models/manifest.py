"""What the published files of a model are.

One list a model, in the form of `sha256sum`, kept beside this module.

Nothing of a model is loaded before its files are compared with their list, and a package that
carries one is never imported, as that would run its code.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Final

from hotmem.models.files import sha256

_LISTS: Final = Path(__file__).with_name("manifests")


def checksum_file(model: str) -> Path:
    """The list of a model's files."""
    return _LISTS / f"{model}.sha256"


def read_checksums(file: Path) -> dict[str, str]:
    """The checksums in a list, by the names of the files."""
    lines = (line.split(maxsplit=1) for line in file.read_text("utf-8").splitlines())
    return {name.strip(): checksum for checksum, name in lines}


def check_files(
    folder: Path, file: Path, *, only: Collection[str] = (), exact: bool = False
) -> list[str]:
    """Which of a model's files are not the published ones, as a reader is told.

    Args:
        folder: The model's folder.
        file: The list of its files.
        only: The files that are compared; none are all.
        exact: Whether a file that is not in the list counts too.
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
        found += [f"{name} does not belong there" for name in sorted(set(there) - checksums.keys())]
    return found
