"""Late interaction: how well a statement answers each word piece of the question (Khattab and Zaharia 2020, https://arxiv.org/abs/2004.12832).

A statement keeps only the signs of its pieces' states, one bit a dimension; the question keeps
floats. On LoCoMo and REALTALK signs find as much evidence as floats, and taking the mean state away
first finds no more.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hotmem.core.matmul import spans
from hotmem.types import SignBits


def best_matches(
    question: NDArray[np.float32], statements: Sequence[SignBits | None]
) -> NDArray[np.float32]:
    """For each statement and each piece of the question the best match among the statement's pieces.

    Args:
        question: States of the question's pieces, float32 (pieces, width).
        statements: Signs of each statement's pieces, uint8 (pieces, width / 8); None or empty where
            there are none. Those of another width are of another encoder, and taken for none.

    Returns:
        float32 (statements, pieces of the question), from -1 to 1: the mean agreement in sign,
        weighed by the question's values; 0 for a statement without pieces.
    """
    best = np.zeros((len(statements), len(question)), dtype=np.float32)
    width = -(-question.shape[1] // 8)
    comparable = [
        (row, signs)
        for row, signs in enumerate(statements)
        if signs is not None and len(signs) and signs.shape[1] == width
    ]
    if not comparable or not len(question):
        return best
    rows, held = [row for row, _ in comparable], [signs for _, signs in comparable]
    asked = question / np.maximum(np.abs(question).sum(axis=1, keepdims=True), 1e-9)
    signs = np.concatenate(held)
    agreement = np.empty((len(signs), len(asked)), dtype=np.float32)
    with np.errstate(
        invalid="ignore"
    ):  # as in `hotmem.core.matmul`, here once for some hundred products
        for span in spans(len(signs), asked.size):
            bits = np.unpackbits(signs[span], axis=1, count=question.shape[1]).astype(np.float32)
            np.matmul(bits, asked.T, out=agreement[span])
    agreement = 2 * agreement - asked.sum(axis=1)
    starts = np.cumsum([0, *(len(signs) for signs in held[:-1])])
    best[rows] = np.maximum.reduceat(agreement, starts, axis=0)
    return best


def telling(matches: NDArray[np.float32]) -> NDArray[np.float32]:
    """How much each piece of the question tells the statements apart.

    Its best match less its mean one, scaled to a sum of 1.

    Stop words match everything alike and weigh next to nothing. This does as well as weights by the
    rarity of words in the whole memory, and needs no counts.

    Args:
        matches: float32 (statements, pieces), at least one statement.

    Returns:
        float32 (pieces,).
    """
    contrast = matches.max(axis=0) - matches.mean(axis=0)
    total = float(contrast.sum())
    return contrast / total if total > 1e-6 else np.full_like(contrast, 1 / max(len(contrast), 1))
