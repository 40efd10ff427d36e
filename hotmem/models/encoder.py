"""The seam to the models that turn text into vectors."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[np.float32]
"""Unit rows, float32, shape (texts, dimension)."""


class Encoder(Protocol):
    """Texts → unit rows, whose dot product is their similarity.

    Attributes:
        name: Tells apart models whose vectors must not be mixed; stable over releases and machines.
        dimension: Length of a row.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def dimension(self) -> int: ...  # noqa: D102

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encodes texts; blocking and thread-safe, so to be called from a thread.

        Args:
            texts: Any number of texts, empty ones among them. What lies beyond the model's window is ignored.

        Returns:
            One unit row per text, in order; shape (0, dimension) for no texts.
        """
        ...


def unit_rows(rows: Vectors) -> Vectors:
    """The rows scaled to length 1, float32, shape kept; a row of zeros stays."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, np.finfo(np.float32).tiny), dtype=np.float32)
