"""Late interaction: the best match of each query token in a statement.

After ColBERT (Khattab and Zaharia 2020, https://arxiv.org/abs/2004.12832). A statement stores only
the signs of its token embeddings, one bit per dimension; the query keeps floats.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hotmem.core.matmul import row_blocks
from hotmem.types import SignBits


def max_similarities(
    query: NDArray[np.float32], statements: Sequence[SignBits | None]
) -> NDArray[np.float32]:
    """The best match of each query token among the tokens of each statement (MaxSim).

    Args:
        query: Token embeddings of the query, float32 (tokens, width).
        statements: Token signs of each statement, uint8 (tokens, width / 8), or None. Signs of
            another width are of another encoder, and ignored.

    Returns:
        float32 (statements, tokens of the query), -1 to 1: the mean agreement in sign, weighted by
        the query's values; 0 for a statement without token signs.
    """
    best = np.zeros((len(statements), len(query)), dtype=np.float32)
    width = -(-query.shape[1] // 8)
    comparable = [
        (row, signs)
        for row, signs in enumerate(statements)
        if signs is not None and len(signs) and signs.shape[1] == width
    ]
    if not comparable or not len(query):
        return best
    rows, held = [row for row, _ in comparable], [signs for _, signs in comparable]
    asked = query / np.maximum(np.abs(query).sum(axis=1, keepdims=True), 1e-9)
    signs = np.concatenate(held)
    agreement = np.empty((len(signs), len(asked)), dtype=np.float32)
    with np.errstate(invalid="ignore"):  # as in `hotmem.core.matmul`
        for span in row_blocks(len(signs), asked.size):
            bits = np.unpackbits(signs[span], axis=1, count=query.shape[1]).astype(np.float32)
            np.matmul(bits, asked.T, out=agreement[span])
    agreement = 2 * agreement - asked.sum(axis=1)
    starts = np.cumsum([0, *(len(signs) for signs in held[:-1])])
    best[rows] = np.maximum.reduceat(agreement, starts, axis=0)
    return best


def token_weights(matches: NDArray[np.float32]) -> NDArray[np.float32]:
    """How well each query token distinguishes the statements.

    Its best match less its mean match, normalized to a sum of 1. Stop words match all statements
    alike and get next to no weight.

    Args:
        matches: float32 (statements, tokens), at least one statement.

    Returns:
        float32 (tokens,).
    """
    contrast = matches.max(axis=0) - matches.mean(axis=0)
    total = float(contrast.sum())
    return contrast / total if total > 1e-6 else np.full_like(contrast, 1 / max(len(contrast), 1))
