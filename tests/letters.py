"""A small deterministic encoder: texts that share letter pairs are similar."""

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from hotmem.models.encoder import Vectors, unit_rows

DIMENSION = 64

NO_SIGNS = np.empty((0, DIMENSION // 8), dtype=np.uint8)
"""Token signs of an encoder without token vectors."""


class LetterEncoder:
    """Embeds a text as the counts of its letter pairs."""

    name = "pairs of letters"
    dimension = DIMENSION

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row per text."""
        rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for one, other in zip(text, (text[1:] + " ")[: len(text)], strict=True):
                row[crc32(f"{one}{other}".casefold().encode("utf-8", "replace")) % DIMENSION] += 1
        return unit_rows(rows - rows.mean(axis=1, keepdims=True))
