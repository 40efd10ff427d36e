"""Tiled matrix products."""

import numpy as np
import pytest

from hotmem.core.vector_math import MAX_SINGLE_THREAD_PRODUCTS, MIN_TILE_ROWS, matmul

SHAPES = [
    (1, 384, 500),
    (3, 7, 2),
    (MIN_TILE_ROWS + 1, 384, 700),
    (500, 384, 500),
    (200, 15, 200),
    (0, 4, 3),
]


@pytest.mark.parametrize("shape", SHAPES)
def test_equals_the_plain_product(shape: tuple[int, int, int]) -> None:
    rows, inner, columns = shape
    random = np.random.default_rng(3)
    left, right = random.standard_normal((rows, inner)), random.standard_normal((inner, columns))
    assert np.allclose(matmul(left, right), left @ right)
    assert np.allclose(matmul(left, np.ascontiguousarray(right.T).T), left @ right)


def test_a_vector_on_the_right_gives_a_vector() -> None:
    left, right = (
        np.ones((MAX_SINGLE_THREAD_PRODUCTS // 8, 16), dtype=np.float32),
        np.arange(16, dtype=np.float32),
    )
    found = matmul(left, right)
    assert found.shape == (MAX_SINGLE_THREAD_PRODUCTS // 8,) and found.dtype == np.float32
    assert np.array_equal(found, np.full(len(left), 120.0))
