"""Embeddings and parses that outlive one conversation.

LongMemEval puts each session into many histories. Every history is a fresh memory and is ingested
in full, but the same words are embedded and parsed once: this is what keeps a run of 123,000 turns
within minutes. The cache is one SQLite file that the processes of a run share. Questions are asked
without it, so their times are true.
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

RECENT: Final = 512
"""Parses held in memory: a turn is read for its facts, and soon after for its session's summary."""


class Shelf:
    """Bytes kept by name and text in a file that several processes may use.

    Args:
        path: The file; made if missing.
    """

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(
            path, timeout=120, check_same_thread=False, isolation_level=None
        )
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS kept(key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
        )
        self._lock = Lock()

    def values(
        self, name: str, texts: Sequence[str], make: Callable[[list[str]], list[bytes]]
    ) -> list[bytes]:
        """The value of each text.

        Those not kept yet are made, each distinct text once, and kept.
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


class ShelvedEncoder:
    """An encoder whose vectors are kept on a shelf."""

    def __init__(self, encoder: Encoder, shelf: Shelf) -> None:
        self.name = encoder.name
        self.dimension = encoder.dimension
        self._encoder = encoder
        self._shelf = shelf

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, shape (texts, dimension)."""
        return np.array(
            [reading.vector for reading in self.encode_tokens(texts)], dtype=np.float32
        ).reshape(len(texts), self.dimension)

    def encode_tokens(self, texts: Sequence[str]) -> list[EncodedText]:
        """Readings whose states are 1 and -1 by their signs, which are all that is kept of a text that is searched."""
        values = self._shelf.values(
            f"{self.name}, pieces and width",
            texts,
            lambda missing: [_bytes(reading) for reading in encode_tokens(self._encoder, missing)],
        )
        return [_reading(value, self.dimension) for value in values]


class ShelvedLanguage(Language):
    """A language model whose parses are kept on a shelf.

    It parses nothing itself, so it has no pipeline of its own.
    """

    def __init__(self, language: Language, shelf: Shelf) -> None:
        self._language = language
        self._shelf = shelf
        self._vocabulary = language.parse([""])[0].vocab
        self._recent = lru_cache(RECENT)(self._kept)

    def parse(self, texts: Sequence[str], *, names: bool = True) -> list[Doc]:
        """One parsed document a text, in order, with its named entities in any case."""
        return [self._recent(text) for text in texts]

    def parse_sentences(self, text: str, starts: Collection[int]) -> Doc:
        """Parsed by the language model itself, each time."""
        return self._language.parse_sentences(text, starts)

    def _kept(self, text: str) -> Doc:
        (value,) = self._shelf.values("parse", [text], self._serialised)
        return Doc(self._vocabulary).from_bytes(value)

    def _serialised(self, texts: list[str]) -> list[bytes]:
        return [doc.to_bytes(exclude=["tensor"]) for doc in self._language.parse(texts)]


def _key(name: str, text: str) -> bytes:
    return blake2b(f"{name}\0{text}".encode(errors="replace"), digest_size=16).digest()


def _bytes(reading: EncodedText) -> bytes:
    """The width of the states as two bytes, the row, then the signs of the states."""
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
