"""A cache of embeddings: the same words are encoded once."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import numpy as np

from hotmem.errors import InvalidInput
from hotmem.models.encoder import Encoder, Vectors
from hotmem.types import Vector


class CachedEncoder:
    """An encoder that keeps the rows of the texts used last, by model and text. Thread-safe.

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
            size: Rows kept at most; 0 keeps none.

        Raises:
            InvalidInput: If the size is negative.
        """
        if size < 0:
            raise InvalidInput(f"The embedding cache has size {size}. Pass 0 for no cache, or some thousands; a row takes about 1.5 kB.")
        self.name: str = encoder.name
        self.dimension: int = encoder.dimension
        self.hits = 0
        self.misses = 0
        self._encoder = encoder
        self._size = size
        self._rows: OrderedDict[tuple[str, str], Vector] = OrderedDict()
        self._lock = Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encodes texts, each distinct one that is not kept once; see `Encoder.encode`."""
        known = self._kept(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            fresh = dict(zip(missing, self._encoder.encode(missing), strict=True))
            self._keep(fresh)
            known |= fresh
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.stack([known[text] for text in texts])

    def _kept(self, texts: Sequence[str]) -> dict[str, Vector]:
        found: dict[str, Vector] = {}
        with self._lock:
            for text in dict.fromkeys(texts):
                key = (self.name, text)
                if key in self._rows:
                    self._rows.move_to_end(key)
                    found[text] = self._rows[key]
            missed = len(set(texts)) - len(found)
            self.hits += len(texts) - missed
            self.misses += missed
        return found

    def _keep(self, rows: dict[str, Vector]) -> None:
        with self._lock:
            for text, row in rows.items():
                self._rows[self.name, text] = row.copy()
                self._rows.move_to_end((self.name, text))
            while len(self._rows) > self._size:
                self._rows.popitem(last=False)
