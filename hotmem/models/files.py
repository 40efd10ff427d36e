"""Files of models: where prepared ones are kept, how they are checked, how they come into place whole."""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from platformdirs import user_cache_dir


def cache_folder(path: Path | None = None) -> Path:
    """The folder of prepared models: the path given, or the user's cache folder.

    It need not exist yet.
    """
    return path if path is not None else Path(user_cache_dir("hotmem", appauthor=False))


def package_folder(package: str) -> Path | None:
    """The folder of an installed top-level package, found without importing it.

    None if it is not installed.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])


def sha256(path: Path) -> str:
    """The file's SHA-256 in hexadecimal; "" if there is no such file."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def others_can_write(folder: Path) -> bool:
    """Whether another account than root can put something of its own into a folder, or has put the folder there; False where nobody can tell."""
    if not hasattr(os, "geteuid") or not folder.exists():
        return False
    status = folder.stat()
    return status.st_uid not in (0, os.geteuid()) or bool(status.st_mode & stat.S_IWOTH)


def write_file(path: Path, content: bytes) -> None:
    """Writes a file so that any other process sees all of it or the one before.

    Raises:
        OSError: If the folder cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder beside `folder` that takes its place, whole, when the block ends well.

    Of several processes that make the same folder at once, the first to finish wins and the others'
    work is dropped.

    Raises:
        OSError: If the parent folder cannot be written.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield making
        try:
            making.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(making, ignore_errors=True)


def remove_folder(folder: Path) -> None:
    """Removes a folder in one step for every other process, if it is there."""
    with tempfile.TemporaryDirectory(
        prefix=f".{folder.name}-", dir=folder.parent, ignore_cleanup_errors=True
    ) as aside:
        try:
            folder.rename(Path(aside) / folder.name)
        except FileNotFoundError:
            return
