"""Matrix products computed on the calling thread.

OpenBLAS spreads a large product over several threads, which then wait for each other on busy
cores. The products here are split into tiles small enough that it does not.
"""

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
