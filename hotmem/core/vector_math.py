"""Matrix products on one thread, and the nearest centroids of vectors."""

from collections.abc import Iterator
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

MAX_SINGLE_THREAD_PRODUCTS: Final = 2**18
"""Scalar multiplications up to which OpenBLAS computes a matrix product on one thread."""

MIN_TILE_ROWS: Final = 32
"""Rows of the left matrix in a tile, if there are as many: fewer would read a large right matrix
from main memory again for every row."""

Float = TypeVar("Float", np.float32, np.float64)


def row_blocks(rows: int, size: int) -> Iterator[slice]:
    """Yield slices of the left matrix's rows whose product stays on one thread.

    Args:
        rows: Number of rows of the left matrix.
        size: Number of elements of the right matrix.
    """
    step = max(MAX_SINGLE_THREAD_PRODUCTS // max(size, 1), 1)
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def matmul(left: NDArray[Float], right: NDArray[Float]) -> NDArray[Float]:
    """Return the matrix product, float (n, m), or float (n,) for a vector.

    Args:
        left: float (n, k).
        right: float (k, m) or (k,), of the same precision.
    """
    columns = right if right.ndim > 1 else right[:, None]
    result = np.empty((len(left), columns.shape[1]), dtype=left.dtype)
    # OpenBLAS sometimes leaves the "invalid operation" flag set although the result is correct.
    with np.errstate(invalid="ignore"):
        for across in row_blocks(columns.shape[1], len(right) * min(len(left), MIN_TILE_ROWS)):
            part = columns[:, across]
            for down in row_blocks(len(left), part.size):
                np.matmul(left[down], part, out=result[down, across])
    return result.reshape(len(left), *right.shape[1:])


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
