"""Layer weights: bounds, direction, shrinkage and step size of learning."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem.feedback.learning import (
    FAR,
    LAYERS,
    MAX_STEP,
    ROLLBACK_LEAD,
    STARTS,
    TrainingExample,
    multipliers,
    to_weights,
    update,
    weights_for_intent,
)
from hotmem.types import (
    MAX_WEIGHT,
    MIN_WEIGHT,
    NO_OFFSET,
    START_WEIGHTS,
    ItemUse,
    Layer,
    LearningState,
    UsageKind,
    Weights,
)
from tests.ranking.statements import QUOTE

INVERTED = Weights(0.4, 0.6, 0.8, 1.0)


def used(strength: float, parts: tuple[float, ...], relevance: float = 0.5) -> ItemUse:
    """An item that the reply used with this probability."""
    kind = UsageKind.REFERENCE if strength > 0.5 else UsageKind.UNUSED
    return ItemUse(replace(QUOTE, relevance=relevance, parts=parts), kind, strength)


def example(
    *uses: ItemUse, given: Weights = START_WEIGHTS, asked: tuple[Layer, ...] = LAYERS
) -> TrainingExample:
    found = TrainingExample.of(uses, given, asked)
    assert found is not None
    return found


SEMANTIC_USED = (used(0.9, (0, 0, 2, 0)), used(0.05, (0, 0, 0, 2)))
"""The semantic layer's item was used, the verbatim layer's was not."""

parts = st.tuples(*[st.floats(-20, 20)] * len(LAYERS))
uses = st.lists(st.builds(used, st.floats(0, 1), parts, st.floats(0, 1)), min_size=2, max_size=6)
any_weights = st.builds(Weights, *(st.floats(MIN_WEIGHT, MAX_WEIGHT) for _ in LAYERS))


def test_layer_of_the_used_item_gains() -> None:
    after = update(LearningState(), example(*SEMANTIC_USED))
    assert (
        after.own.semantic > START_WEIGHTS.semantic and after.own.verbatim < START_WEIGHTS.verbatim
    )
    assert after.own.facts == START_WEIGHTS.facts, "no item is from facts"
    assert after.version == 1


def test_intent_offset() -> None:
    after = update(LearningState(), example(*SEMANTIC_USED))
    whole = multipliers(weights_for_intent(after.own, after.intent)) - 1
    assert np.array(after.intent) == pytest.approx(0.2 * whole)


def test_insufficient_evidence_is_ignored() -> None:
    assert TrainingExample.of((), START_WEIGHTS, LAYERS) is None
    assert TrainingExample.of(SEMANTIC_USED[:1], START_WEIGHTS, LAYERS) is None, (
        "one item is not better than another"
    )
    assert (
        TrainingExample.of((used(0.1, (1, 0, 0, 0)), used(0.2, NO_OFFSET)), START_WEIGHTS, LAYERS)
        is None
    ), "nothing was used"


def test_contributions_are_scaled_to_the_start_weights() -> None:
    doubled = to_weights(np.array([1.0, 1.0, 2.0, 1.0]))
    assert example(*SEMANTIC_USED, given=doubled).contributions[0] == pytest.approx([0, 0, 1, 0])


def test_position_effect() -> None:
    """Items that differ only in position only change the position effect."""
    state = LearningState()
    for _ in range(50):
        state = update(state, example(used(0.9, (1, 1, 1, 1)), used(0.05, (1, 1, 1, 1))))
    assert state.position_effect < -0.1 and multipliers(state.own) == pytest.approx(
        np.ones(len(LAYERS))
    )


@given(any_weights, uses, st.sets(st.sampled_from(LAYERS)))
def test_step_size_and_bounds(before: Weights, uses: list[ItemUse], asked: set[Layer]) -> None:
    seen = TrainingExample.of(uses, before, asked)
    if seen is None:
        return
    after = update(LearningState(own=before, good=before), seen)
    for layer in LAYERS:
        assert MIN_WEIGHT - 1e-9 <= after.own[layer] <= MAX_WEIGHT + 1e-9
        assert (
            MIN_WEIGHT - 1e-9
            <= weights_for_intent(after.own, after.intent)[layer]
            <= MAX_WEIGHT + 1e-9
        )
        assert layer in asked or after.own[layer] == pytest.approx(before[layer]), (
            "who was not asked learns nothing"
        )
    assert np.abs(multipliers(after.own) - multipliers(before)).max() <= MAX_STEP + 1e-9


@given(st.lists(uses, min_size=1, max_size=30))
def test_learning_is_deterministic(replies: list[list[ItemUse]]) -> None:
    def taught() -> LearningState:
        state = LearningState()
        for uses in replies:
            seen = TrainingExample.of(uses, weights_for_intent(state.own, state.intent), LAYERS)
            state = state if seen is None else update(state, seen)
        return state

    assert taught() == taught()


def test_distant_weights_return_within_two_hundred_replies() -> None:
    state = LearningState(own=INVERTED, good=INVERTED)
    blank = example(used(0.9, NO_OFFSET), used(0.05, NO_OFFSET))
    for _ in range(200):
        state = update(state, blank)
    assert np.abs(multipliers(state.own) - 1).max() <= FAR + 0.1
    assert np.abs(multipliers(INVERTED) - 1).max() > 1


def test_rollback_to_the_last_good_weights() -> None:
    bad = to_weights(np.array([1.0, 1.0, 0.2, 3.0]))
    state = LearningState(own=bad, lead=ROLLBACK_LEAD)
    after = update(state, example(*SEMANTIC_USED, given=bad))
    assert after.own == state.good and after.precision == () and after.intent == NO_OFFSET


def test_checkpoint_of_good_weights() -> None:
    state = LearningState()
    for _ in range(60):
        state = update(
            state, example(*SEMANTIC_USED, given=weights_for_intent(state.own, state.intent))
        )
    assert state.good.semantic > START_WEIGHTS.semantic


def test_multipliers_of_invalid_weights_are_within_the_bounds() -> None:
    assert multipliers(Weights(float("nan"), 99.0, -3.0, 0.4)) == pytest.approx(
        [1.0, MAX_WEIGHT / 0.8, MIN_WEIGHT / 0.6, 1.0]
    )
    assert pytest.approx(START_WEIGHTS.as_dict()) == to_weights(np.ones(len(STARTS))).as_dict()
