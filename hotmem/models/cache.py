"""A cache of embeddings: the same words are encoded once."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Final, Generic, TypeVar

import numpy as np

from hotmem.errors import InvalidInput
from hotmem.models.encoder import EncodedText, Encoder, Vectors, encode_tokens
from hotmem.types import Vector

MAX_ENCODED_TEXTS: Final = 64
"""Readings kept at most: those of the last questions, which are asked again as they grow and
when tools are called."""

MAX_TOKENS: Final = 64
"""Word pieces at most of a reading that is kept: a longer one is a turn's, read once. A kept
reading takes up to 100 kB."""

Kept = TypeVar("Kept")


class CachedEncoder:
    """An encoder that keeps the rows of the texts used last, and the readings of the last short ones. Thread-safe.

    Attributes:
        name: The encoder's.
        dimension: The encoder's.
        hits: Texts answered without encoding so far.
        misses: Texts encoded so far. Hits and misses add up to the texts asked.
    """

    def __init__(self, encoder: Encoder, size: int) -> None:
        """Wraps an encoder.

        Args:
            encoder: What encodes the missing texts.
            size: Rows kept at most; 0 keeps none, and no readings.

        Raises:
            InvalidInput: If the size is negative.
        """
        if size < 0:
            raise InvalidInput(
                f"The embedding cache has size {size}. Pass 0 for no cache, or some thousands; a row takes about 1.5 kB."
            )
        self.name: str = encoder.name
        self.dimension: int = encoder.dimension
        self.hits = 0
        self.misses = 0
        self._encoder = encoder
        self._rows: _Recent[Vector] = _Recent(size)
        self._readings: _Recent[EncodedText] = _Recent(min(size, MAX_ENCODED_TEXTS))
        self._count = Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encodes texts, each distinct one that is not kept once; see `Encoder.encode`."""
        found = self._answered(texts, self._rows, self._fresh_rows)
        return (
            np.stack([found[text] for text in texts])
            if texts
            else np.empty((0, self.dimension), dtype=np.float32)
        )

    def encode_tokens(self, texts: Sequence[str]) -> list[EncodedText]:
        """Reads texts, each distinct one that is not kept once; see `TokenEncoder.encode_tokens`.

        An encoder of rows alone gives no pieces.
        """
        found = self._answered(texts, self._readings, self._fresh_readings)
        return [found[text] for text in texts]

    def clear(self) -> None:
        """Keeps nothing of what was encoded so far."""
        self._rows.clear()
        self._readings.clear()

    def _answered(
        self,
        texts: Sequence[str],
        kept: "_Recent[Kept]",
        fresh: Callable[[list[str]], dict[str, Kept]],
    ) -> dict[str, Kept]:
        known = kept.get(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        with self._count:
            self.hits += len(texts) - len(missing)
            self.misses += len(missing)
        return known | fresh(missing) if missing else known

    def _fresh_rows(self, texts: list[str]) -> dict[str, Vector]:
        rows = {
            text: row.copy() for text, row in zip(texts, self._encoder.encode(texts), strict=True)
        }
        self._rows.put(rows)
        return rows

    def _fresh_readings(self, texts: list[str]) -> dict[str, EncodedText]:
        readings = dict(zip(texts, encode_tokens(self._encoder, texts), strict=True))
        self._rows.put({text: reading.vector for text, reading in readings.items()})
        self._readings.put(
            {
                text: reading
                for text, reading in readings.items()
                if len(reading.token_ids) <= MAX_TOKENS
            }
        )
        return readings


class _Recent(Generic[Kept]):
    """What was used last, by text, `size` values at most. Thread-safe."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[str, Kept] = OrderedDict()
        self._lock = Lock()

    def get(self, texts: Iterable[str]) -> dict[str, Kept]:
        """What is kept of these texts, which thereby are the ones used last."""
        with self._lock:
            found = {text: self._values[text] for text in texts if text in self._values}
            for text in found:
                self._values.move_to_end(text)
        return found

    def put(self, values: Mapping[str, Kept]) -> None:
        """Keeps these values; those used longest ago go."""
        with self._lock:
            for text, value in values.items():
                self._values[text] = value
                self._values.move_to_end(text)
            while len(self._values) > self._size:
                self._values.popitem(last=False)

    def clear(self) -> None:
        """Keeps nothing."""
        with self._lock:
            self._values.clear()
