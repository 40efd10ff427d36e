"""A small encoder for tests of the store.

Texts are near when they hold the same pairs of letters.
"""

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from hotmem.models.encoder import Vectors, unit_rows

DIMENSION = 64

NO_SIGNS = np.empty((0, DIMENSION // 8), dtype=np.uint8)
"""Of a text whose word pieces nobody told."""


class LetterEncoder:
    """Counts the pairs of letters of a text."""

    name = "pairs of letters"
    dimension = DIMENSION

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One unit row per text."""
        rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for one, other in zip(text, (text[1:] + " ")[: len(text)], strict=True):
                row[crc32(f"{one}{other}".casefold().encode("utf-8", "replace")) % DIMENSION] += 1
        return unit_rows(rows - rows.mean(axis=1, keepdims=True))
