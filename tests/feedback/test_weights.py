"""Layer weights: within their bounds, in the direction of use, back from afar, and never far on one reply."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hotmem.feedback.weights import (
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


def lesson(
    *uses: ItemUse, given: Weights = START_WEIGHTS, asked: tuple[Layer, ...] = LAYERS
) -> TrainingExample:
    found = TrainingExample.of(uses, given, asked)
    assert found is not None
    return found


MEANT = (used(0.9, (0, 0, 2, 0)), used(0.05, (0, 0, 0, 2)))
"""The item that meaning found was used, the one that words found was not."""

parts = st.tuples(*[st.floats(-20, 20)] * len(LAYERS))
uses = st.lists(st.builds(used, st.floats(0, 1), parts, st.floats(0, 1)), min_size=2, max_size=6)
any_weights = st.builds(Weights, *(st.floats(MIN_WEIGHT, MAX_WEIGHT) for _ in LAYERS))


def test_the_layer_whose_item_was_used_gains_on_the_other() -> None:
    after = update(LearningState(), lesson(*MEANT))
    assert (
        after.own.semantic > START_WEIGHTS.semantic and after.own.verbatim < START_WEIGHTS.verbatim
    )
    assert after.own.facts == START_WEIGHTS.facts, "no item told of facts"
    assert after.version == 1


def test_all_users_follow_a_little_and_the_intent_a_little_more() -> None:
    after = update(LearningState(), lesson(*MEANT))
    whole = multipliers(weights_for_intent(after.own, after.intent)) - 1
    assert multipliers(after.shared) - 1 == pytest.approx(0.1 * whole)
    assert np.array(after.intent) == pytest.approx(0.2 * whole)


def test_too_little_teaches_nothing() -> None:
    assert TrainingExample.of((), START_WEIGHTS, LAYERS) is None
    assert TrainingExample.of(MEANT[:1], START_WEIGHTS, LAYERS) is None, (
        "one item is not better than another"
    )
    assert (
        TrainingExample.of((used(0.1, (1, 0, 0, 0)), used(0.2, NO_OFFSET)), START_WEIGHTS, LAYERS)
        is None
    ), "nothing was used"


def test_what_the_layers_add_is_taken_back_to_the_start_weights() -> None:
    doubled = to_weights(np.array([1.0, 1.0, 2.0, 1.0]))
    assert lesson(*MEANT, given=doubled).contributions[0] == pytest.approx([0, 0, 1, 0])


def test_the_place_takes_its_own_share() -> None:
    """Items alike but for their place tell of the place alone."""
    state = LearningState()
    for _ in range(50):
        state = update(state, lesson(used(0.9, (1, 1, 1, 1)), used(0.05, (1, 1, 1, 1))))
    assert state.position_effect < -0.1 and multipliers(state.own) == pytest.approx(
        np.ones(len(LAYERS))
    )


@given(any_weights, uses, st.sets(st.sampled_from(LAYERS)))
def test_a_reply_moves_them_within_the_bounds_and_not_far(
    before: Weights, told: list[ItemUse], asked: set[Layer]
) -> None:
    seen = TrainingExample.of(told, before, asked)
    if seen is None:
        return
    after = update(LearningState(shared=before, own=before, good=before), seen)
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
def test_the_same_replies_always_teach_the_same(replies: list[list[ItemUse]]) -> None:
    def taught() -> LearningState:
        state = LearningState()
        for told in replies:
            seen = TrainingExample.of(told, weights_for_intent(state.own, state.intent), LAYERS)
            state = state if seen is None else update(state, seen)
        return state

    assert taught() == taught()


def test_weights_that_are_far_off_come_back_within_two_hundred_replies_that_tell_nothing_of_them() -> (
    None
):
    state = LearningState(shared=INVERTED, own=INVERTED, good=INVERTED)
    blank = lesson(used(0.9, NO_OFFSET), used(0.05, NO_OFFSET))
    for _ in range(200):
        state = update(state, blank)
    assert np.abs(multipliers(state.own) - 1).max() <= FAR + 0.1
    assert np.abs(multipliers(INVERTED) - 1).max() > 1


def test_weights_that_foretell_the_use_worse_than_the_last_good_ones_give_way_to_them() -> None:
    bad = to_weights(np.array([1.0, 1.0, 0.2, 3.0]))
    state = LearningState(own=bad, lead=ROLLBACK_LEAD)
    after = update(state, lesson(*MEANT, given=bad))
    assert after.own == state.good and after.precision == () and after.intent == NO_OFFSET


def test_weights_that_are_ahead_become_the_good_ones() -> None:
    state = LearningState()
    for _ in range(60):
        state = update(state, lesson(*MEANT, given=weights_for_intent(state.own, state.intent)))
    assert state.good.semantic > START_WEIGHTS.semantic


def test_multipliers_of_nonsense_are_within_the_bounds() -> None:
    assert multipliers(Weights(float("nan"), 99.0, -3.0, 0.4)) == pytest.approx(
        [1.0, MAX_WEIGHT / 0.8, MIN_WEIGHT / 0.6, 1.0]
    )
    assert pytest.approx(START_WEIGHTS.as_dict()) == to_weights(np.ones(len(STARTS))).as_dict()
