"""Model files: cache folder, checksums and atomic writes."""

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
    """Return the folder of prepared models: `path`, or the user's cache folder.

    It may not exist yet.
    """
    return path if path is not None else Path(user_cache_dir("hotmem", appauthor=False))


def package_folder(package: str) -> Path | None:
    """Return the folder of an installed top-level package without importing it.

    Returns None if the package is not installed.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])


def sha256(path: Path) -> str:
    """Return the file's SHA-256 as hexadecimal, or "" if it does not exist."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def others_can_write(folder: Path) -> bool:
    """Return whether another account, except root, owns or can write to a folder.

    False if the platform has no such permissions, or the folder does not exist.
    """
    if not hasattr(os, "geteuid") or not folder.exists():
        return False
    status = folder.stat()
    return status.st_uid not in (0, os.geteuid()) or bool(status.st_mode & stat.S_IWOTH)


def write_file(path: Path, content: bytes) -> None:
    """Write a file atomically: other processes see the old content or all of the new.

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
    """Yield a temporary folder that replaces `folder` atomically when the block succeeds.

    If several processes create the same folder, the first to finish wins and the work of the others
    is discarded.

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
    """Remove a folder, if it exists, atomically for other processes."""
    with tempfile.TemporaryDirectory(
        prefix=f".{folder.name}-", dir=folder.parent, ignore_cleanup_errors=True
    ) as aside:
        try:
            folder.rename(Path(aside) / folder.name)
        except FileNotFoundError:
            return
