"""Model files: those that are shipped, those of installed packages, and their checksums."""

import hashlib
import io
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from hotmem.errors import ModelMissing

FOLDER: Final = Path(__file__).with_name("data")
"""The shipped files; `README.md` there tells where each comes from, with its licence."""


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


def read_checksums(file: Path) -> dict[str, str]:
    """Read a checksum file: file name → SHA-256."""
    lines = (line.split(maxsplit=1) for line in file.read_text("utf-8").splitlines())
    return {name.strip(): checksum for checksum, name in lines}


def check_files(folder: Path, file: Path, *, exact: bool = False) -> list[str]:
    """Compare a model's files with their published checksums.

    Args:
        folder: The model's folder.
        file: The checksum file.
        exact: Whether files without a checksum are reported too.

    Returns:
        One problem per file, for an error message.
    """
    checksums = read_checksums(file)
    wrong = [name for name, checksum in checksums.items() if sha256(folder / name) != checksum]
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


def read_shipped(name: str) -> bytes:
    """Read a shipped file; blocking.

    Raises:
        ModelMissing: If it is missing, or not the published one.
    """
    file = FOLDER / name
    content = file.read_bytes() if file.is_file() else None
    if content is None or hashlib.sha256(content).hexdigest() != _shipped_checksums()[name]:
        raise ModelMissing(
            f"{file} {'is missing' if content is None else 'differs from the published file'}. "
            "Reinstall it: pip install --force-reinstall pipecat-hotmem"
        )
    return content


def load_shipped(name: str) -> dict[str, NDArray[np.generic]]:
    """Load the arrays of a shipped file (.npz) by name; blocking.

    Raises:
        ModelMissing: If it is missing, or not the published one.
    """
    with np.load(io.BytesIO(read_shipped(name))) as arrays:
        return dict(arrays)


def load_tokenizer(max_tokens: int) -> Tokenizer:
    """Load the tokenizer of all shipped encoders; blocking.

    Args:
        max_tokens: Tokens after which it cuts a text off, including special ones.

    Raises:
        ModelMissing: If it is missing, or not the published one.
    """
    tokenizer = Tokenizer.from_buffer(read_shipped("tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


@cache
def _shipped_checksums() -> dict[str, str]:
    return read_checksums(FOLDER / "SHA256SUMS")
