"""Late interaction against a plain loop, and its invariants."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from hotmem.models import CachedEncoder
from hotmem.ranking.features import max_similarities, token_weights
from hotmem.types import SignBits

WIDTH = 16

Question = NDArray[np.float32]

questions = arrays.arrays(
    np.float32,
    st.tuples(st.integers(1, 5), st.just(WIDTH)),
    elements=st.integers(-9, 9).map(float),
    fill=st.nothing(),
).filter(lambda drawn: bool(np.abs(drawn).sum(axis=1).all()))
statements = st.none() | arrays.arrays(np.uint8, st.tuples(st.integers(0, 6), st.just(WIDTH // 8)))
several = st.lists(statements, min_size=1, max_size=6)


def signs(states: Question) -> SignBits:
    """As they are kept of a text that is searched."""
    return np.packbits(states > 0, axis=1)


def by_hand(question: Question, told: Sequence[SignBits | None]) -> list[list[float]]:
    """The best agreement, number by number."""

    def agreement(piece: Question, bits: SignBits) -> float:
        weighed = [
            float(value) if bit else -float(value)
            for value, bit in zip(piece, np.unpackbits(bits), strict=True)
        ]
        return sum(weighed) / sum(map(abs, weighed))

    return [
        [
            0.0 if one is None else max((agreement(piece, bits) for bits in one), default=0.0)
            for piece in question
        ]
        for one in told
    ]


@given(questions, several)
def test_max_similarities_by_definition(question: Question, told: list[SignBits | None]) -> None:
    found = max_similarities(question, told)
    assert found.shape == (len(told), len(question)) and found.dtype == np.float32
    assert np.allclose(found, by_hand(question, told), atol=1e-5)
    assert np.all(np.abs(found) <= 1 + 1e-5)


@given(questions, several, st.data())
def test_the_querys_own_tokens_match_best(
    question: Question, told: list[SignBits | None], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(told)))
    rest = told[0] if told[0] is not None else np.empty((0, WIDTH // 8), dtype=np.uint8)
    found = max_similarities(
        question, [*told[:place], np.concatenate([rest, signs(question)]), *told[place:]]
    )
    assert np.allclose(found[place], 1, atol=1e-5)
    assert np.all(found <= found[place] + 1e-5)


@given(questions, several, st.data())
def test_max_similarities_are_independent_of_order(
    question: Question, told: list[SignBits | None], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(told))))
    found = max_similarities(question, told)
    assert np.allclose(
        max_similarities(question, [told[row] for row in order]), found[order], atol=1e-6
    )
    assert np.allclose(
        max_similarities(question, [one if one is None else one[::-1] for one in told]),
        found,
        atol=1e-6,
    )
    assert np.allclose(max_similarities(question[::-1], told), found[:, ::-1], atol=1e-6)


@given(
    questions, st.lists(st.none() | st.just(np.empty((0, WIDTH // 8), dtype=np.uint8)), max_size=4)
)
def test_statements_without_tokens_match_nothing(
    question: Question, told: list[SignBits | None]
) -> None:
    assert np.array_equal(max_similarities(question, told), np.zeros((len(told), len(question))))


@given(several)
def test_a_query_without_tokens_matches_nothing(told: list[SignBits | None]) -> None:
    assert max_similarities(np.empty((0, WIDTH), dtype=np.float32), told).shape == (len(told), 0)


def test_a_token_of_zeros_matches_nothing() -> None:
    assert max_similarities(
        np.zeros((1, WIDTH), dtype=np.float32), [np.full((2, WIDTH // 8), 255, dtype=np.uint8)]
    ).tolist() == [[0.0]]


@given(questions, several)
def test_token_weights_sum_to_one(question: Question, told: list[SignBits | None]) -> None:
    weight = token_weights(max_similarities(question, told))
    assert weight.shape == (len(question),)
    assert np.all(weight >= 0) and abs(float(weight.sum()) - 1) < 1e-5


def test_tokens_that_match_everything_have_no_weight() -> None:
    matches = np.array([[0.9, 0.1, 0.5], [0.9, 0.5, 0.5], [0.9, 0.9, 0.8]], dtype=np.float32)
    assert np.allclose(token_weights(matches), [0, 0.4 / 0.6, 0.2 / 0.6], atol=1e-6)


def test_weights_are_uniform_without_contrast() -> None:
    assert np.allclose(token_weights(np.array([[0.2, 0.9]], dtype=np.float32)), [0.5, 0.5])
    assert token_weights(np.empty((3, 0), dtype=np.float32)).shape == (0,)


def test_the_answer_matches_best(encoder: CachedEncoder) -> None:
    told = (
        "Ana: My dog is called Potola.",
        "Ana: The train to Porto leaves at noon.",
        "Ben: We painted the kitchen yellow in May.",
    )
    question = encoder.encode_tokens(["What is my dog called?"])[0].token_states
    matches = max_similarities(
        question, [reading.token_signs for reading in encoder.encode_tokens(told)]
    )
    dog, train, kitchen = matches @ token_weights(matches)
    assert dog > max(train, kitchen) + 0.2
