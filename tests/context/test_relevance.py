"""The relevance model: a probability, readable coefficients, and layers that count as their weights say."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hotmem.context.features import FEATURES
from hotmem.context.relevance import RelevanceModel, fitted_model
from hotmem.types import START_WEIGHTS, Layer, Weights

WIDTH = len(FEATURES)
rows = arrays.arrays(np.float32, st.tuples(st.integers(0, 20), st.just(WIDTH)), elements=st.floats(0, 1, width=32))
weights = st.builds(Weights, *(st.floats(0.1, 1.5) for _ in Layer))


@given(rows, weights)
def test_it_gives_probabilities(features: np.ndarray[tuple[int, int], np.dtype[np.float32]], learnt: Weights) -> None:
    found = fitted_model().probabilities(features, learnt)
    assert found.shape == (len(features),) and found.dtype == np.float32
    assert np.all((found >= 0) & (found <= 1))


def test_by_arithmetic() -> None:
    model = RelevanceModel(-1.0, np.array([2.0, *[0.0] * (WIDTH - 1)], dtype=np.float32))
    features = np.zeros((3, WIDTH), dtype=np.float32)
    features[:, 0] = (0.0, 0.5, 1.0)
    assert model.probabilities(features) == pytest.approx([1 / (1 + np.e), 0.5, 1 / (1 + 1 / np.e)])


def test_the_start_weights_change_nothing() -> None:
    model = fitted_model()
    assert np.array_equal(model.scaled(START_WEIGHTS), model.coefficients)


@pytest.mark.parametrize("layer", Layer)
def test_a_layers_weight_scales_its_own_features_only(layer: Layer) -> None:
    model = RelevanceModel(0.0, np.ones(WIDTH, dtype=np.float32))
    doubled = Weights.from_dict({**START_WEIGHTS.as_dict(), layer: 2 * START_WEIGHTS[layer]})
    assert model.scaled(doubled).tolist() == pytest.approx([2.0 if owner is layer else 1.0 for owner in FEATURES.values()])


def test_the_stored_form_names_its_features() -> None:
    names = list(FEATURES)
    model = RelevanceModel.from_json(json.dumps({"intercept": -2, "coefficients": {names[3]: 1.5, "of another version": 9.0}}))
    assert model.intercept == -2.0
    assert model.coefficients.tolist() == [1.5 if name == names[3] else 0.0 for name in names]


def test_every_feature_of_the_shipped_model_is_known_and_finite() -> None:
    model = fitted_model()
    assert np.all(np.isfinite(model.coefficients)) and np.any(model.coefficients)
    assert {layer for layer in FEATURES.values() if layer} == set(Layer)
