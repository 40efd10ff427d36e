"""The exported model equals BERT; calibration changes parameters but not results."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from eval.encoder.export import (
    MAX_WEIGHT_INTEGER,
    TURNS,
    Bert,
    Dense,
    balance,
    exported,
    int8_model,
    quantise,
    smooth,
    write_shipped,
)
from hotmem.errors import ModelMissing
from hotmem.models import load_encoder
from hotmem.models.encoders import OnnxEncoder
from hotmem.models.files import read_shipped
from hotmem.options import ModelOptions

TEXTS = [np.array([101, 2026, 3899, 2003, 2170, 8962, 102]), np.array([101, 7592, 102])]


@pytest.fixture(scope="module")
def bert() -> Bert:
    """The first two layers of the published model."""
    whole = Bert.published()
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
    weights = [value for value in constants if value.dtype == np.int8 and value.ndim == 2]
    assert len(weights) == 4 * len(bert.layers)
    assert all(2 * 255 * int(np.abs(value.astype(int)).max()) <= 2**15 - 1 for value in weights)


def test_the_shipped_files_are_those_of_the_trained_ones(tmp_path: Path) -> None:
    files = write_shipped(TURNS.with_name("reader-2.npz"), tmp_path)
    for file in (one for one in files if one.suffix == ".npz"):
        assert file.read_bytes() == read_shipped(file.name)
    for graph in (one for one in files if one.suffix == ".onnx"):
        made, shipped = map(onnx.load_from_string, (graph.read_bytes(), read_shipped(graph.name)))
        assert [node.op_type for node in made.graph.node] == [
            node.op_type for node in shipped.graph.node
        ]
        for one, other in zip(made.graph.initializer, shipped.graph.initializer, strict=True):
            ours, theirs = numpy_helper.to_array(one), numpy_helper.to_array(other)
            assert np.allclose(ours, theirs, atol=1e-4), "up to how a processor rounds"


def test_an_encoder_of_ones_own_is_named_after_its_content(tmp_path: Path) -> None:
    own, same = tmp_path / "own.onnx", tmp_path / "same.onnx"
    own.write_bytes(exported(TURNS))
    same.write_bytes(own.read_bytes())
    encoder = load_encoder(ModelOptions(encoder=str(own)))
    assert encoder.name.startswith("own-")
    assert encoder.name.partition("-")[2] == OnnxEncoder.load(same).name.partition("-")[2]
    shared = OnnxEncoder.load().encode(["hello"])
    assert np.allclose(encoder.encode(["hello"]), shared, atol=5e-3), "up to how graphs are fused"
    with pytest.raises(ModelMissing, match="HOTMEM_ENCODER"):
        load_encoder(ModelOptions(encoder=str(tmp_path / "none.onnx")))
