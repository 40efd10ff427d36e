"""Protocols of text encoders."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

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
