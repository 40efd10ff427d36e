"""Matrix products on the calling thread alone.

OpenBLAS gives a larger one to several threads, which wait for each other on busy cores.

In some runs of a process and not in others OpenBLAS also leaves the processor's flag for an invalid
operation behind, after a product whose figures are right. NumPy warns of the flag, whatever the
figures are; here it is not asked to.
"""

from collections.abc import Iterator
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

ALONE: Final = 2**18
"""Multiplications of one product that OpenBLAS does on one thread."""

HEIGHT: Final = 32
"""Rows of the left matrix that are multiplied together at least, where there are so many. One by
one they would each read all of a large right one: 2,000 rows with 2,000 others of 384 numbers
take 50 ms in tiles, and 750 ms so."""

Float = TypeVar("Float", np.float32, np.float64)


def spans(rows: int, size: int) -> Iterator[slice]:
    """Slices of so many rows as are multiplied alone.

    Args:
        rows: Rows of the left matrix.
        size: Elements of the right one.
    """
    step = max(ALONE // max(size, 1), 1)
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def product(left: NDArray[Float], right: NDArray[Float]) -> NDArray[Float]:
    """The matrix product, float (n, m), or float (n,) with a vector.

    Args:
        left: float (n, k).
        right: float (k, m) or (k,), of the same precision.
    """
    columns = right if right.ndim > 1 else right[:, None]
    found = np.empty((len(left), columns.shape[1]), dtype=left.dtype)
    with np.errstate(invalid="ignore"):
        for across in spans(columns.shape[1], len(right) * min(len(left), HEIGHT)):
            part = columns[:, across]
            for down in spans(len(left), part.size):
                np.matmul(left[down], part, out=found[down, across])
    return found.reshape(len(left), *right.shape[1:])
