"""The exported model equals BERT; calibration changes parameters but not results."""

from dataclasses import replace

import numpy as np
import pytest
from onnx import numpy_helper

from hotmem.models.export import (
    MAX_WEIGHT_INTEGER,
    Bert,
    Dense,
    balance,
    int8_model,
    quantise,
    smooth,
)
from hotmem.models.files import find_weights

TEXTS = [np.array([101, 2026, 3899, 2003, 2170, 8962, 102]), np.array([101, 7592, 102])]


@pytest.fixture(scope="module")
def bert() -> Bert:
    """The first two layers of the published model."""
    whole = Bert.load(find_weights())
    return replace(whole, layers=whole.layers[:2])


def test_the_parameters_have_the_shapes_of_minilm(bert: Bert) -> None:
    assert bert.words.shape == (30522, 384)
    assert bert.places.shape == (512, 384)
    assert bert.layers[0].projection.weight.shape == (384, 3 * 384)
    assert bert.layers[0].outer.weight.shape == (1536, 384)
    assert bert.heads == 12


def test_integers_come_back_to_within_half_a_step() -> None:
    rows = np.random.default_rng(1).normal(size=(5, 40)).astype(np.float32)
    integers, factors = quantise(rows, MAX_WEIGHT_INTEGER)
    assert np.abs(integers).max() == MAX_WEIGHT_INTEGER
    assert np.all(np.abs(integers * factors - rows) <= factors * 0.5001)


def test_a_row_of_zeros_stays_zero() -> None:
    integers, factors = quantise(np.zeros((1, 4), dtype=np.float32), MAX_WEIGHT_INTEGER)
    assert not integers.any()
    assert np.isfinite(factors).all()


def test_a_smoothed_layer_says_the_same_of_a_flatter_input() -> None:
    random = np.random.default_rng(2)
    dense = Dense(
        random.normal(size=(6, 4)).astype(np.float32), random.normal(size=4).astype(np.float32)
    )
    rows = random.normal(size=(3, 6)).astype(np.float32) * np.array(
        [1, 1, 40, 1, 1, 1], dtype=np.float32
    )
    flatter = smooth(dense, np.abs(rows).max(axis=0))
    assert flatter.factors is not None
    assert np.allclose(
        rows * flatter.factors @ flatter.weight + flatter.bias,
        rows @ dense.weight + dense.bias,
        atol=1e-3,
    )
    assert np.ptp(np.abs(rows * flatter.factors).max(axis=0)) < np.ptp(np.abs(rows).max(axis=0)) / 2


def test_inner_normalisations_are_moved_and_the_last_is_not(bert: Bert) -> None:
    once = balance(bert, TEXTS)
    middle, last = once.layers[0].middle, once.layers[-1].last
    assert not np.allclose(middle.bias, bert.layers[0].middle.bias, atol=0.01)
    assert np.array_equal(last.bias, bert.layers[-1].last.bias)


def test_no_two_products_overflow_sixteen_bits(bert: Bert) -> None:
    constants = map(numpy_helper.to_array, int8_model(bert).graph.initializer)
    weights = [
        value
        for value in constants
        if value.dtype == np.int8 and value.ndim == 2 and value.shape != bert.words.shape
    ]
    assert len(weights) == 4 * len(bert.layers)
    assert all(2 * 255 * int(np.abs(value.astype(int)).max()) <= 2**15 - 1 for value in weights)
