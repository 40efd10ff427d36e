"""Which group's centroid a row belongs to."""

import numpy as np
from numpy.typing import NDArray

from hotmem.core.matmul import product


def nearest(rows: NDArray[np.float32], centroids: NDArray[np.float32]) -> NDArray[np.intp]:
    """The place of each row's nearest centroid, (n,).

    The one in whose direction it lies, seen from the middle of all centroids.

    Args:
        rows: Unit rows, float32 (n, dimension).
        centroids: Unit centroids, float32 (groups, dimension), one or more.
    """
    middle = centroids.mean(axis=0)
    return np.asarray(
        np.argmax(product(rows - middle, unit(centroids - middle).T), axis=1), dtype=np.intp
    )


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows, or one alone, at length 1; what has no length stays so."""
    return np.asarray(
        rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9), dtype=np.float32
    )
