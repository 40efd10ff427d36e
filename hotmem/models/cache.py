"""A cache of embeddings, so that a repeated text is encoded once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Final, Generic, TypeVar

import numpy as np
from cachetools import LRUCache

from hotmem.core.metrics import count_embeddings
from hotmem.errors import InvalidInput
from hotmem.models.encoder import EncodedText, Encoder, Vectors, encode_tokens
from hotmem.types import Vector

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
