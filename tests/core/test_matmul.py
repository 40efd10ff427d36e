"""Products in tiles are products."""

import numpy as np
import pytest

from hotmem.core.matmul import ALONE, HEIGHT, product

SHAPES = [
    (1, 384, 500),
    (3, 7, 2),
    (HEIGHT + 1, 384, 700),
    (500, 384, 500),
    (200, 15, 200),
    (0, 4, 3),
]


@pytest.mark.parametrize("shape", SHAPES)
def test_tiles_are_put_together_rightly(shape: tuple[int, int, int]) -> None:
    rows, inner, columns = shape
    random = np.random.default_rng(3)
    left, right = random.standard_normal((rows, inner)), random.standard_normal((inner, columns))
    assert np.allclose(product(left, right), left @ right)
    assert np.allclose(product(left, np.ascontiguousarray(right.T).T), left @ right)


def test_a_vector_gives_a_vector() -> None:
    left, right = np.ones((ALONE // 8, 16), dtype=np.float32), np.arange(16, dtype=np.float32)
    found = product(left, right)
    assert found.shape == (ALONE // 8,) and found.dtype == np.float32
    assert np.array_equal(found, np.full(len(left), 120.0))
