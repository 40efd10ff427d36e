"""A cache of embeddings and parses on disk, shared by all conversations and processes of a run.

Datasets repeat sessions across conversations. Each conversation is ingested in full into a new
memory, but the same text is encoded and parsed only once. Questions are asked without the cache, so
that their times are real.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Final

import numpy as np
from spacy.tokens import Doc

from hotmem.models.encoder import EncodedText, Encoder, Vectors, encode_tokens
from hotmem.models.language import Language

CACHE_FILE: Final = "cache.db"
"""Name of the cache file in a run's folder."""

MAX_PARSES_IN_MEMORY: Final = 512
"""Maximum parses in memory: a turn is parsed for its facts and again for its session's summary."""


class DiskCache:
    """Stores bytes by name and text in an SQLite file that several processes may use.

    Args:
        path: The file; created if missing.
    """

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(
            path, timeout=120, check_same_thread=False, isolation_level=None
        )
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS kept(key BLOB PRIMARY KEY, value BLOB NOT "
            "NULL) WITHOUT ROWID"
        )
        self._lock = Lock()

    def values(
        self, name: str, texts: Sequence[str], make: Callable[[list[str]], list[bytes]]
    ) -> list[bytes]:
        """Return the value of each text.

        Missing values are made, once for each distinct text, and stored.
        """
        keys = [_key(name, text) for text in texts]
        kept = self._read(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in kept}
        if missing:
            made = dict(zip(missing, make(list(missing.values())), strict=True))
            with self._transaction():
                self._database.executemany("INSERT OR IGNORE INTO kept VALUES (?, ?)", made.items())
            kept |= made
        return [kept[key] for key in keys]

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        with self._lock:
            rows = (
                self._database.execute(
                    "SELECT key, value FROM kept WHERE key = ?", (key,)
                ).fetchone()
                for key in set(keys)
            )
            return dict(row for row in rows if row)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock, self._database:
            self._database.execute("BEGIN IMMEDIATE")
            yield


class DiskCachedEncoder:
    """An encoder whose vectors are stored in a disk cache."""

    def __init__(self, encoder: Encoder, cache: DiskCache) -> None:
        self.name = encoder.name
        self.dimension = encoder.dimension
        self._encoder = encoder
        self._cache = cache

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts; see `Encoder.encode`."""
        return np.array(
            [reading.vector for reading in self.encode_tokens(texts)], dtype=np.float32
        ).reshape(len(texts), self.dimension)

    def encode_tokens(self, texts: Sequence[str]) -> list[EncodedText]:
        """Encode texts with their tokens; token states are reduced to their signs, 1 and -1.

        Only the signs of indexed texts are stored in a memory.
        """
        values = self._cache.values(
            f"{self.name}, pieces and width",
            texts,
            lambda missing: [_bytes(reading) for reading in encode_tokens(self._encoder, missing)],
        )
        return [_reading(value, self.dimension) for value in values]


class DiskCachedLanguage(Language):
    """A spaCy pipeline whose parses are stored in a disk cache."""

    def __init__(self, language: Language, cache: DiskCache) -> None:
        self._language = language
        self._cache = cache
        self._vocabulary = language.parse([""])[0].vocab
        self._recent = lru_cache(MAX_PARSES_IN_MEMORY)(self._kept)

    def parse(self, texts: Sequence[str], *, names: bool = True) -> list[Doc]:
        """Parse texts, always with named entities; see `Language.parse`."""
        return [self._recent(text) for text in texts]

    def parse_sentences(self, text: str, starts: Collection[int]) -> Doc:
        """Parse without the cache; see `Language.parse_sentences`."""
        return self._language.parse_sentences(text, starts)

    def is_word(self, word: str) -> bool:
        """Whether the dictionary has a word; see `Language.is_word`."""
        return self._language.is_word(word)

    def _kept(self, text: str) -> Doc:
        (value,) = self._cache.values("parse", [text], self._serialised)
        return Doc(self._vocabulary).from_bytes(value)

    def _serialised(self, texts: list[str]) -> list[bytes]:
        return [doc.to_bytes(exclude=["tensor"]) for doc in self._language.parse(texts)]


def _key(name: str, text: str) -> bytes:
    return blake2b(f"{name}\0{text}".encode(errors="replace"), digest_size=16).digest()


def _bytes(reading: EncodedText) -> bytes:
    """Serialise the width of the token states (two bytes), the vector, and the token signs."""
    return (
        np.uint16(reading.token_states.shape[1]).tobytes()
        + reading.vector.tobytes()
        + reading.token_signs.tobytes()
    )


def _reading(value: bytes, dimension: int) -> EncodedText:
    width = int(np.frombuffer(value[:2], dtype=np.uint16)[0])
    split = 2 + dimension * np.dtype(np.float32).itemsize
    signs = np.frombuffer(value[split:], dtype=np.uint8).reshape(-1, -(-width // 8))
    states = 2 * np.unpackbits(signs, axis=1, count=width).astype(np.float32) - 1
    return EncodedText(
        np.frombuffer(value[2:split], dtype=np.float32),
        np.zeros(len(signs), dtype=np.int64),
        states,
    )
