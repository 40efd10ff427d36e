"""The ratio of two arms that took turns."""

import numpy as np
import pytest

from eval.bench.background import ratio


def test_twice_as_long_in_every_block_is_two_without_doubt() -> None:
    alone = [[10.0, 20.0, 30.0], [20.0, 30.0, 40.0]]
    found = ratio([[2 * ms for ms in block] for block in alone], alone, 95)
    assert (found.mean, found.low, found.high) == pytest.approx((2.0, 2.0, 2.0))


def test_one_slow_block_makes_the_interval_wide() -> None:
    alone = np.full((20, 10), 10.0)
    beside = alone.copy()
    beside[3] = 100.0
    found = ratio(beside.tolist(), alone.tolist(), 95)
    assert found.low == pytest.approx(1.0) and found.high == pytest.approx(10.0)
