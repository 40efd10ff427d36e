"""The relevance models: a probability for each kind of evidence, readable coefficients, layers that count as their weights say."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hotmem.context.features import FEATURES
from hotmem.context.relevance import Logistic, RelevanceModel, fitted_model
from hotmem.types import START_WEIGHTS, EvidenceKind, Layer, Weights

WIDTH = len(FEATURES)
KINDS = list(EvidenceKind)
rows = arrays.arrays(np.float32, st.tuples(st.integers(0, 20), st.just(WIDTH)), elements=st.floats(0, 1, width=32))
weights = st.builds(Weights, *(st.floats(0.1, 1.5) for _ in Layer))


def of_every_kind(intercept: float, coefficients: list[float]) -> RelevanceModel:
    """The same model for all kinds."""
    return RelevanceModel(dict.fromkeys(EvidenceKind, Logistic(intercept, np.array(coefficients, dtype=np.float32))))


@given(rows, weights, st.data())
def test_it_gives_probabilities(features: np.ndarray[tuple[int, int], np.dtype[np.float32]], learnt: Weights, data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(KINDS), min_size=len(features), max_size=len(features)))
    found = fitted_model().probabilities(features, kinds, learnt)
    assert found.shape == (len(features),) and found.dtype == np.float32
    assert np.all((found >= 0) & (found <= 1))


def test_by_arithmetic() -> None:
    model = of_every_kind(-1.0, [2.0, *[0.0] * (WIDTH - 1)])
    features = np.zeros((3, WIDTH), dtype=np.float32)
    features[:, 0] = (0.0, 0.5, 1.0)
    assert model.probabilities(features, KINDS) == pytest.approx([1 / (1 + np.e), 0.5, 1 / (1 + 1 / np.e)])


def test_each_row_is_judged_by_the_model_of_its_kind() -> None:
    zeros = np.zeros(WIDTH, dtype=np.float32)
    model = RelevanceModel({kind: Logistic(float(place), zeros) for place, kind in enumerate(KINDS)})
    found = model.probabilities(np.ones((2, WIDTH), dtype=np.float32), [KINDS[2], KINDS[0]])
    assert found == pytest.approx([1 / (1 + np.exp(-2.0)), 0.5])


def test_the_start_weights_change_nothing() -> None:
    model = fitted_model()
    ones = np.ones((len(KINDS), WIDTH), dtype=np.float32)
    assert np.array_equal(model.contributions(ones, KINDS, START_WEIGHTS), np.stack([model.kinds[kind].coefficients for kind in KINDS]))


@pytest.mark.parametrize("layer", Layer)
def test_a_layers_weight_scales_its_own_features_only(layer: Layer) -> None:
    model = of_every_kind(0.0, [1.0] * WIDTH)
    doubled = Weights.from_dict({**START_WEIGHTS.as_dict(), layer: 2 * START_WEIGHTS[layer]})
    (added,) = model.contributions(np.ones((1, WIDTH), dtype=np.float32), KINDS[:1], doubled)
    assert added.tolist() == pytest.approx([2.0 if owner is layer else 1.0 for owner in FEATURES.values()])


def test_the_stored_form_names_its_features() -> None:
    names = list(FEATURES)
    model = RelevanceModel.from_json(json.dumps({kind: {"intercept": -2, names[3]: 1.5, "of another version": 9.0} for kind in KINDS}))
    for kind in KINDS:
        assert model.kinds[kind].intercept == -2.0
        assert model.kinds[kind].coefficients.tolist() == [1.5 if name == names[3] else 0.0 for name in names]


def test_every_shipped_coefficient_is_finite_and_every_layer_has_features() -> None:
    models = fitted_model().kinds
    assert models.keys() == set(EvidenceKind)
    assert all(np.isfinite(model.intercept) and np.all(np.isfinite(model.coefficients)) for model in models.values())
    assert np.any(models[EvidenceKind.PASSAGE].coefficients)
    assert {layer for layer in FEATURES.values() if layer} == set(Layer)
