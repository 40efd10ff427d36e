"""Assignment of vectors to the nearest centroid."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from hotmem.core.matmul import matmul

NEAR: Final = 0.15
"""Cosine from which a centroid is near enough. `python -m eval tools` evaluates it."""


def nearest_centroids(
    rows: NDArray[np.float32],
    centroids: NDArray[np.float32],
    centre: NDArray[np.float32],
) -> NDArray[np.intp]:
    """Return the index of each row's nearest centroid, −1 if none is near enough, (n,).

    Args:
        rows: Unit vectors, float32 (n, dimension).
        centroids: Unit vectors, float32 (groups, dimension).
        centre: Unit vector of what all have in common, which is left out of account.
    """
    if not len(centroids):
        return np.full(len(rows), -1, dtype=np.intp)
    cosines = matmul(
        remove_direction(rows, centre),
        np.ascontiguousarray(remove_direction(centroids, centre).T),
    )
    return np.where(cosines.max(axis=1) < NEAR, -1, np.argmax(cosines, axis=1))


def remove_direction(
    rows: NDArray[np.float32], direction: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the rows without their part in a direction, a unit vector, scaled to length 1."""
    return normalize_rows(rows - matmul(rows, direction)[:, None] * direction)


def normalize_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale rows, or a single vector, to length 1; zero vectors stay zero."""
    return np.asarray(
        rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9), dtype=np.float32
    )
