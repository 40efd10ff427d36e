"""The design's rule for layer weights.

By arithmetic, within their bounds, in the direction of use.
"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.learning.baseline import CREDIT, LEAST, MOST, moved
from hotmem.types import START_WEIGHTS, Item, ItemUse, Layer, UsageKind, Weights
from tests.ranking.statements import QUOTE


def used(kind: UsageKind, *layers: Layer) -> ItemUse:
    """An item of these layers, used in this way."""
    item: Item = replace(QUOTE, layer=layers[0], layers=layers)
    return ItemUse(item, kind, CREDIT[kind])


layers = st.lists(st.sampled_from(Layer), min_size=1, max_size=4, unique=True).map(tuple)
uses = st.lists(
    st.builds(lambda kind, found: used(kind, *found), st.sampled_from(UsageKind), layers),
    max_size=8,
)
weights = st.builds(Weights, *(st.floats(LEAST, MOST) for _ in Layer))
rates = st.floats(0, 1)


def test_one_quote_from_one_of_four_layers() -> None:
    after = moved(START_WEIGHTS, [used(UsageKind.QUOTE, Layer.SEMANTIC)], tuple(Layer), 0.1)
    assert after.as_dict() == pytest.approx(
        {Layer.FACTS: 0.975, Layer.SESSIONS: 0.775, Layer.SEMANTIC: 0.675, Layer.VERBATIM: 0.375}
    )


def test_an_item_of_two_layers_credits_both_by_half() -> None:
    told = [
        used(UsageKind.QUOTE, Layer.FACTS, Layer.VERBATIM),
        used(UsageKind.REFERENCE, Layer.FACTS),
    ]
    after = moved(START_WEIGHTS, told, (Layer.FACTS, Layer.VERBATIM), 0.1)
    assert after.facts == pytest.approx(1.0 + 0.1 * (1.3 / 1.8 - 0.5))
    assert after.verbatim == pytest.approx(0.4 + 0.1 * (0.5 / 1.8 - 0.5))


@given(weights, uses, layers, rates)
def test_they_stay_in_their_bounds(
    before: Weights, told: list[ItemUse], asked: tuple[Layer, ...], rate: float
) -> None:
    after = moved(before, told, asked, rate)
    assert all(LEAST <= after[layer] <= MOST for layer in Layer)


@given(weights, uses, layers, rates)
def test_who_was_not_asked_learns_nothing(
    before: Weights, told: list[ItemUse], asked: tuple[Layer, ...], rate: float
) -> None:
    after = moved(before, told, asked, rate)
    assert all(after[layer] == before[layer] for layer in Layer if layer not in asked)


@given(
    weights,
    st.lists(layers.map(lambda found: used(UsageKind.UNUSED, *found)), max_size=5),
    layers,
    rates,
)
def test_what_was_not_used_teaches_nothing(
    before: Weights, told: list[ItemUse], asked: tuple[Layer, ...], rate: float
) -> None:
    assert moved(before, told, asked, rate) == before


@given(weights, uses, st.floats(0.01, 1))
def test_the_only_used_layer_gains_and_the_others_lose(
    before: Weights, told: list[ItemUse], rate: float
) -> None:
    after = moved(
        before,
        [used(UsageKind.QUOTE, Layer.SESSIONS), used(UsageKind.UNUSED, Layer.FACTS)],
        tuple(Layer),
        rate,
    )
    assert after.sessions > before.sessions or before.sessions == MOST
    assert all(
        after[layer] < before[layer] or before[layer] == LEAST
        for layer in Layer
        if layer is not Layer.SESSIONS
    )


@given(weights, uses, layers)
def test_at_rate_nought_nothing_moves(
    before: Weights, told: list[ItemUse], asked: tuple[Layer, ...]
) -> None:
    assert moved(before, told, asked, 0.0) == before


def test_a_single_asked_layer_cannot_gain_on_itself() -> None:
    assert (
        moved(START_WEIGHTS, [used(UsageKind.QUOTE, Layer.FACTS)], (Layer.FACTS,), 0.1)
        == START_WEIGHTS
    )


def test_a_closer_use_is_worth_more() -> None:
    assert (
        CREDIT[UsageKind.QUOTE]
        > CREDIT[UsageKind.REFERENCE]
        > CREDIT[UsageKind.INFLUENCE]
        > CREDIT[UsageKind.UNUSED]
        == 0
    )
