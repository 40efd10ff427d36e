"""Assignment of vectors to the nearest centroid."""

import numpy as np
from numpy.typing import NDArray

from hotmem.core.matmul import matmul


def nearest_centroids(
    rows: NDArray[np.float32], centroids: NDArray[np.float32]
) -> NDArray[np.intp]:
    """Return the index of each row's nearest centroid, (n,).

    Directions are compared as seen from the mean of all centroids.

    Args:
        rows: Unit vectors, float32 (n, dimension).
        centroids: Unit vectors, float32 (groups, dimension), at least one.
    """
    mean = centroids.mean(axis=0)
    return np.asarray(
        np.argmax(matmul(rows - mean, normalize_rows(centroids - mean).T), axis=1), dtype=np.intp
    )


def normalize_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale rows, or a single vector, to length 1; zero vectors stay zero."""
    return np.asarray(
        rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9), dtype=np.float32
    )
