"""The relevance models: probabilities, readable coefficients, and layer weights."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hotmem import InvalidInput
from hotmem.ranking.features import FEATURES
from hotmem.ranking.relevance import (
    ANSWERABILITY_FEATURES,
    VERSION,
    Logistic,
    Network,
    RelevanceModel,
    fitted_model,
)
from hotmem.types import START_WEIGHTS, Layer, Source, Weights

WIDTH = len(FEATURES)
KINDS = list(Source)
rows = arrays.arrays(
    np.float32, st.tuples(st.integers(0, 20), st.just(WIDTH)), elements=st.floats(0, 1, width=32)
)
KNOWING = Logistic(0.5, np.arange(len(ANSWERABILITY_FEATURES), dtype=np.float32))
weights = st.builds(Weights, *(st.floats(0.1, 1.5) for _ in Layer))


def stored(**changed: object) -> str:
    """Coefficients as a file keeps them, some parts changed."""
    parts = {kind: {"intercept": 0.0} for kind in Source} | {
        "version": VERSION,
        "knowing": {"intercept": 1.0, ANSWERABILITY_FEATURES[0]: 2.0},
    }
    return json.dumps(parts | changed)


def of_every_kind(intercept: float, coefficients: list[float]) -> RelevanceModel:
    """The same model for all kinds."""
    return RelevanceModel(
        dict.fromkeys(Source, Logistic(intercept, np.array(coefficients, dtype=np.float32))),
        KNOWING,
    )


@given(rows, weights, st.data())
def test_relevance_is_a_probability(
    features: np.ndarray[tuple[int, int], np.dtype[np.float32]],
    learnt: Weights,
    data: st.DataObject,
) -> None:
    kinds = data.draw(
        st.lists(st.sampled_from(KINDS), min_size=len(features), max_size=len(features))
    )
    found = fitted_model().probabilities(features, kinds, learnt)
    assert found.shape == (len(features),) and found.dtype == np.float32
    assert np.all((found >= 0) & (found <= 1))


def test_relevance_by_arithmetic() -> None:
    model = of_every_kind(-1.0, [2.0, *[0.0] * (WIDTH - 1)])
    features = np.zeros((3, WIDTH), dtype=np.float32)
    features[:, 0] = (0.0, 0.5, 1.0)
    assert model.probabilities(features, KINDS[:3]) == pytest.approx(
        [1 / (1 + np.e), 0.5, 1 / (1 + 1 / np.e)]
    )


def test_each_row_is_scored_by_the_model_of_its_source() -> None:
    zeros = np.zeros(WIDTH, dtype=np.float32)
    model = RelevanceModel(
        {kind: Logistic(float(place), zeros) for place, kind in enumerate(KINDS)}, KNOWING
    )
    found = model.probabilities(np.ones((2, WIDTH), dtype=np.float32), [KINDS[2], KINDS[0]])
    assert found == pytest.approx([1 / (1 + np.exp(-2.0)), 0.5])


def test_the_start_weights_change_nothing() -> None:
    model = fitted_model()
    ones = np.ones((len(KINDS), WIDTH), dtype=np.float32)
    assert np.array_equal(
        model.contributions(ones, KINDS, START_WEIGHTS),
        np.stack([model.sources[kind].coefficients for kind in KINDS]),
    )


@pytest.mark.parametrize("layer", Layer)
def test_a_layers_weight_scales_its_own_features_only(layer: Layer) -> None:
    model = of_every_kind(0.0, [1.0] * WIDTH)
    doubled = Weights.from_dict({**START_WEIGHTS.as_dict(), layer: 2 * START_WEIGHTS[layer]})
    (added,) = model.contributions(np.ones((1, WIDTH), dtype=np.float32), KINDS[:1], doubled)
    assert added.tolist() == pytest.approx(
        [2.0 if owner is layer else 1.0 for owner in FEATURES.values()]
    )


def test_the_file_format_names_its_features() -> None:
    names = list(FEATURES)
    model = RelevanceModel.from_json(
        stored(
            **{kind: {"intercept": -2, names[3]: 1.5, "of another version": 9.0} for kind in KINDS}
        )
    )
    assert model.answerability.intercept == 1.0 and model.answerability.coefficients.tolist() == [
        2.0
    ] + [0.0] * (len(ANSWERABILITY_FEATURES) - 1)
    for kind in KINDS:
        assert model.sources[kind].intercept == -2.0
        assert model.sources[kind].coefficients.tolist() == [
            1.5 if name == names[3] else 0.0 for name in names
        ]


def test_answerability_is_a_probability() -> None:
    model = of_every_kind(0.0, [0.0] * WIDTH)
    signs = np.zeros(len(ANSWERABILITY_FEATURES), dtype=np.float32)
    assert model.answerable(signs) == pytest.approx(1 / (1 + np.exp(-0.5)))
    signs[2] = -1.0
    assert model.answerable(signs) == pytest.approx(1 / (1 + np.exp(1.5)))


def test_every_coefficient_is_finite_and_every_layer_has_features() -> None:
    model = fitted_model()
    assert model.sources.keys() == set(Source)
    for fit in (*model.sources.values(), model.answerability):
        assert (
            np.isfinite(fit.intercept)
            and np.all(np.isfinite(fit.coefficients))
            and np.any(fit.coefficients)
        )
    assert {layer for layer in FEATURES.values() if layer} == set(Layer)


BROKEN = {
    "missing": None,
    "empty": "",
    "no JSON": "{",
    "another form": "[1, 2]",
    "another version": stored(version=VERSION - 1),
    "of no version": stored(version=None),
    "without a kind": stored(quote={}),
    "a word for a number": stored(quote={"intercept": "high"}),
    "no number": stored(fact={"intercept": float("nan")}),
    "a list for a number": stored(knowing={"intercept": 0.0, ANSWERABILITY_FEATURES[0]: [1, 2]}),
    "a list for names": stored(summary=[1, 2]),
    "no text": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_unreadable_coefficients_are_refused(content: str | bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "relevance.json"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InvalidInput, match=r"relevance\.json holds no .* `python -m eval train`"):
        fitted_model(path)


def test_custom_coefficients_are_used_without_the_network(tmp_path: Path) -> None:
    path = tmp_path / "relevance.json"
    path.write_text(stored(), "utf-8")
    assert fitted_model().network is not None and fitted_model(path).network is None


NETWORK = Network(
    [
        (np.ones((WIDTH + 3, 2), dtype=np.float32), np.array([0, -1], dtype=np.float32)),
        (np.array([[1.0], [-2.0]], dtype=np.float32), np.array([0.5], dtype=np.float32)),
    ],
    first=2.0,
)


def test_the_network_rescores_what_was_said_and_nothing_else() -> None:
    model = RelevanceModel({}, KNOWING, NETWORK)
    features, half = np.zeros((2, WIDTH), dtype=np.float32), np.full(2, 0.5, dtype=np.float32)
    found = model.rescored(features, [Source.QUOTE, Source.FACT], half)
    assert found == pytest.approx([1 / (1 + np.exp(-0.5)), 0.5])
    features[0, 0] = 3.0  # hidden units 3 and 2; 3 − 2 · 2 + 0.5
    (stored_one, fact) = model.rescored(features, [Source.STATEMENT, Source.FACT], half)
    assert (stored_one, fact) == pytest.approx([1 / (1 + np.exp(1.5)), 0.5])
