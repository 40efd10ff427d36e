"""Answerability, from the features of all candidates."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hotmem.ranking.features import FEATURES
from hotmem.ranking.relevance import (
    ANSWERABILITY_FEATURES,
    DOUBTFUL_BELOW,
    MANY_CANDIDATES,
    NOTHING_BELOW,
    TOP_CANDIDATES,
    Answerability,
    answerability_features,
)
from hotmem.types import Source

STEPS = list(Answerability)

shares = st.floats(0, 1, width=32)
Row = tuple[Source, list[float], float]
rows = st.lists(
    st.tuples(
        st.sampled_from(Source),
        st.lists(shares, min_size=len(FEATURES), max_size=len(FEATURES)),
        shares,
    ),
    min_size=1,
    max_size=8,
)


def table(*found: Mapping[str, float]) -> NDArray[np.float32]:
    """Features by name; what is not named is 0."""
    return np.array([[row.get(name, 0.0) for name in FEATURES] for row in found], dtype=np.float32)


def told(
    features: NDArray[np.float32], kinds: list[Source], relevances: list[float]
) -> dict[str, float]:
    """The signs by name."""
    return dict(
        zip(
            ANSWERABILITY_FEATURES,
            answerability_features(
                features, kinds, np.array(relevances, dtype=np.float32)
            ).tolist(),
            strict=True,
        )
    )


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 1000), st.integers(1, 1000))
def test_answerability_rises_with_probability_and_falls_with_candidates(
    one: float, other: float, few: int, many: int
) -> None:
    low, high = sorted((one, other))
    few, many = sorted((few, many))
    assert STEPS.index(Answerability.of(low, many)) <= STEPS.index(Answerability.of(high, many))
    assert STEPS.index(Answerability.of(low, many)) <= STEPS.index(Answerability.of(low, few))


@pytest.mark.parametrize(
    ("candidates", "bar"),
    [
        (1, DOUBTFUL_BELOW[0]),
        (MANY_CANDIDATES, DOUBTFUL_BELOW[1]),
        (10 * MANY_CANDIDATES, DOUBTFUL_BELOW[1]),
    ],
)
def test_the_thresholds_of_the_levels(candidates: int, bar: float) -> None:
    steps = [
        Answerability.of(at, candidates) for at in (0.0, NOTHING_BELOW, bar - 1e-9, bar + 1e-9, 1.0)
    ]
    assert steps == [
        Answerability.NOTHING,
        Answerability.UNLIKELY,
        Answerability.DOUBTFUL,
        Answerability.SOMETHING,
        Answerability.SOMETHING,
    ]


@given(rows, st.data())
def test_features_are_finite_and_independent_of_order(
    found: list[Row], data: st.DataObject
) -> None:
    def signs(of: list[Row]) -> NDArray[np.float32]:
        kinds, features, relevances = zip(*of, strict=True)
        return answerability_features(
            np.array(features, dtype=np.float32), kinds, np.array(relevances, dtype=np.float32)
        )

    first = signs(found)
    assert (
        first.shape == (len(ANSWERABILITY_FEATURES),)
        and first.dtype == np.float32
        and np.all(np.isfinite(first))
    )
    assert np.allclose(signs(data.draw(st.permutations(found))), first, atol=1e-5)


def test_the_lead_of_the_named_speaker() -> None:
    passages = [Source.QUOTE] * 3
    named = table(
        {"speaker_fits": 1, "match": 0.6, "cosine": 0.5},
        {"other_speaker": 1, "match": 0.4, "cosine": 0.7},
        {"speaker_fits": 1, "match": 0.2},
    )
    signs = told(named, passages, [0.5, 0.5, 0.5])
    assert signs["speaker_named"] == 1 and signs["any_match"] == pytest.approx(0.6)
    assert (signs["speaker_match"], signs["speaker_cosine"]) == pytest.approx((0.2, -0.2))
    nobody = told(
        table({"speaker_fits": 1, "match": 0.6}, {"speaker_fits": 1, "match": 0.4}),
        passages[:2],
        [0.5, 0.5],
    )
    assert (nobody["speaker_named"], nobody["speaker_match"], nobody["speaker_cosine"]) == (0, 0, 0)
    others = told(table({"other_speaker": 1, "match": 0.4}), passages[:1], [0.5])
    assert others["speaker_match"] == pytest.approx(-0.4)


def test_the_top_candidates_count_by_their_logits() -> None:
    relevances = [0.5] * (TOP_CANDIDATES - 1) + [0.75] + [0.01] * 3
    signs = told(table(*({} for _ in relevances)), [Source.FACT] * len(relevances), relevances)
    assert signs["best"] == pytest.approx(np.log(3)) and signs["top"] == pytest.approx(
        np.log(3) / TOP_CANDIDATES
    )


def test_features_of_the_best_candidate_and_largest_values() -> None:
    found = table(
        {"cosine": 0.5, "overlap": 0.1, "window_match": 0.9},
        {"cosine": 0.3, "overlap": 0.8, "fact": 0.6, "window_match": 0.2},
    )
    signs = told(found, [Source.FACT, Source.QUOTE], [0.1, 0.2])
    wanted = {
        "any_cosine": 0.5,
        "any_overlap": 0.8,
        "any_fact": 0.6,
        "best_cosine": 0.3,
        "best_overlap": 0.8,
        "best_window_match": 0.2,
    }
    assert {name: signs[name] for name in wanted} == pytest.approx(wanted)


def test_the_users_own_questions_are_excluded() -> None:
    found = table({"cosine": 0.9, "own_question": 1}, {"cosine": 0.3})
    assert told(found, [Source.QUOTE, Source.QUOTE], [0.5, 0.5])["any_cosine"] == pytest.approx(0.3)


def test_a_clear_answer_leads() -> None:
    signs = told(table({}, {}), [Source.QUOTE, Source.QUOTE], [0.75, 0.5])
    assert signs["lead"] == pytest.approx(np.log(3)) and signs["spread"] == pytest.approx(
        np.log(3) / 2
    )
