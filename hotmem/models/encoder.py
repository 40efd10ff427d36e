"""The seam to the models that turn text into vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hotmem.types import SignBits, Vector

Vectors: TypeAlias = NDArray[np.float32]
"""Rows, float32, shape (texts, dimension); of unit length where nothing else is said."""

TokenIds: TypeAlias = NDArray[np.int64]
"""Numbers of word pieces in the encoder's vocabulary, int64, shape (pieces,)."""


class Encoder(Protocol):
    """Texts → unit rows, whose dot product is their similarity.

    Attributes:
        name: Tells apart models whose vectors must not be mixed; stable over releases and machines.
        dimension: Length of a row.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - told under Attributes

    @property
    def dimension(self) -> int: ...  # noqa: D102 - told under Attributes

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encodes texts; blocking and thread-safe, so to be called from a thread.

        Args:
            texts: Any number of texts, empty ones among them. What lies beyond the model's window
                is ignored.

        Returns:
            One unit row per text, in order; shape (0, dimension) for no texts.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class EncodedText:
    """One text as a model reads it: as a whole, and word piece by word piece.

    The arrays are shared: do not write to them.

    Attributes:
        row: The text's unit row, as `Encoder.encode` gives it.
        pieces: Its word pieces, in order, without the special ones that the model puts around a
            text; none for an empty text.
        states: The model's last hidden state of each piece, of any length, float32, shape (pieces,
            width). For late interaction.
    """

    vector: Vector
    token_ids: TokenIds
    token_states: Vectors

    @property
    def token_signs(self) -> SignBits:
        """The signs of the states, one bit a dimension: what is kept of a text that is searched."""
        return np.packbits(self.token_states > 0, axis=1)

    @classmethod
    def from_vector(cls, vector: Vector) -> Self:
        """The reading of an encoder that knows no word pieces: the row alone."""
        return cls(
            vector, np.empty(0, dtype=np.int64), np.empty((0, len(vector)), dtype=np.float32)
        )


@runtime_checkable
class TokenEncoder(Encoder, Protocol):
    """An encoder that also tells the states of single word pieces."""

    def encode_tokens(self, texts: Sequence[str]) -> list[EncodedText]:
        """Reads texts, one model pass each; blocking and thread-safe.

        Args:
            texts: Any number of texts, empty ones among them. What lies beyond the model's window
                is ignored.

        Returns:
            One reading per text, in order; their rows are those of `encode`.
        """
        ...


def encode_tokens(encoder: Encoder, texts: Sequence[str]) -> list[EncodedText]:
    """Reads texts with any encoder; one that is no `TokenEncoder` gives rows and no pieces."""
    if isinstance(encoder, TokenEncoder):
        return encoder.encode_tokens(texts)
    return [EncodedText.from_vector(row) for row in encoder.encode(texts)]


def unit_rows(rows: Vectors) -> Vectors:
    """The rows scaled to length 1, float32, shape kept; a row of zeros stays."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, np.finfo(np.float32).tiny), dtype=np.float32)
