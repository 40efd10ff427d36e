"""Protocols of text encoders, and a cache in front of one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Final, Generic, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from hotmem.core.metrics import count_embeddings
from hotmem.errors import InvalidInput
from hotmem.types import SignBits, Vector

Vectors: TypeAlias = NDArray[np.float32]
"""Vectors as rows, float32, shape (texts, dimension); of unit length unless stated otherwise."""

TokenIds: TypeAlias = NDArray[np.int64]
"""Token ids in the encoder's vocabulary, int64, shape (tokens,)."""


class Encoder(Protocol):
    """Encodes texts as unit vectors whose dot product is their cosine similarity.

    Attributes:
        name: Identifies the vector space; stable across releases and machines.
        dimension: Length of a vector.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - told under Attributes

    @property
    def dimension(self) -> int: ...  # noqa: D102 - told under Attributes

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts; blocking and thread-safe.

        Args:
            texts: Any number of texts, which may be empty. Text beyond the model's window is
                ignored.

        Returns:
            One unit row per text, in order; shape (0, dimension) without texts.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class EncodedText:
    """A text's vector and the states of its tokens.

    The arrays are shared; do not modify them.

    Attributes:
        vector: Unit vector of the text, as returned by `Encoder.encode`.
        token_ids: Token ids in order, without special tokens; empty for an empty text.
        token_states: Last hidden state of each token, not normalised, float32, shape (tokens,
            width). Used for late interaction.
    """

    vector: Vector
    token_ids: TokenIds
    token_states: Vectors

    @property
    def token_signs(self) -> SignBits:
        """Signs of the token states, one bit per dimension, as stored in the search index."""
        return np.packbits(self.token_states > 0, axis=1)

    @classmethod
    def from_vector(cls, vector: Vector) -> Self:
        """Return the encoding of an encoder without token states."""
        return cls(
            vector, np.empty(0, dtype=np.int64), np.empty((0, len(vector)), dtype=np.float32)
        )


@runtime_checkable
class TokenEncoder(Encoder, Protocol):
    """An encoder that also returns the states of tokens."""

    def encode_tokens(self, texts: Sequence[str]) -> list[EncodedText]:
        """Encode texts with their tokens, one model run each; blocking and thread-safe.

        Args:
            texts: Any number of texts, which may be empty. Text beyond the model's window is
                ignored.

        Returns:
            One encoding per text, in order, with the vectors of `encode`.
        """
        ...


def encode_tokens(encoder: Encoder, texts: Sequence[str]) -> list[EncodedText]:
    """Encode texts with their tokens; without a `TokenEncoder`, the token arrays are empty."""
    if isinstance(encoder, TokenEncoder):
        return encoder.encode_tokens(texts)
    return [EncodedText.from_vector(row) for row in encoder.encode(texts)]


def unit_rows(rows: Vectors) -> Vectors:
    """Scale rows to length 1, float32; rows of zeros are unchanged."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, np.finfo(np.float32).tiny), dtype=np.float32)


MAX_ENCODED_TEXTS: Final = 64
"""Maximum number of cached texts with token states. Queries are encoded repeatedly, as they grow
and in tool calls."""

MAX_CACHED_TOKENS: Final = 64
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
            {text: one for text, one in encoded.items() if len(one.token_ids) <= MAX_CACHED_TOKENS}
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
