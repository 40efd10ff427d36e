"""Intervals and thresholds by arithmetic."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.statistics import detected_unanswerable, paired_difference

shares = st.floats(0, 1)


def test_a_constant_lead_is_certain() -> None:
    lead = paired_difference([0.75, 0.5, 1.0], [0.5, 0.25, 0.75])
    assert (lead.mean, lead.low, lead.high) == (0.25, 0.25, 0.25)


@given(st.lists(st.tuples(shares, shares), min_size=1, max_size=20))
def test_the_interval_holds_the_mean_and_repeats(pairs: list[tuple[float, float]]) -> None:
    first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    lead = paired_difference(first, second)
    assert lead.low - 1e-9 <= lead.mean <= lead.high + 1e-9
    assert paired_difference(first, second) == lead
    assert paired_difference(second, first).mean == pytest.approx(-lead.mean)


@pytest.mark.parametrize(("first", "second"), [([], []), ([1.0], [])])
def test_unpaired_scores(first: list[float], second: list[float]) -> None:
    with pytest.raises(ValueError, match="paired"):
        paired_difference(first, second)


def test_said_unknown() -> None:
    knowable = [
        number / 20 for number in range(20)
    ]  # one in twenty may fall below: the threshold is 0.05
    assert detected_unanswerable(knowable, [0.0, 0.04, 0.05, 0.9]) == 0.5
    assert detected_unanswerable([], [0.1]) is None
    assert detected_unanswerable([0.1], []) is None


@given(st.lists(shares, min_size=1), st.lists(shares, min_size=1))
def test_at_most_one_in_twenty_is_wrong(knowable: list[float], unknowable: list[float]) -> None:
    share = detected_unanswerable(knowable, unknowable)
    assert share is not None
    assert 0 <= share <= 1
    wrong = detected_unanswerable(knowable, knowable)
    assert wrong is not None
    assert wrong <= 0.05
