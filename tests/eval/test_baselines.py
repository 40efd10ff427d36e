"""The references on a tiny conversation and by arithmetic."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from eval.baselines import Baseline, Index, blend, fill_block, min_max_scale, rank, shown_text
from hotmem import Turn
from hotmem.models import Encoder, TokenCounter

START = datetime(2024, 5, 6, 9, tzinfo=UTC)
SAID = (
    ("mon", "Ana", "I bought a canoe at the harbour."),
    ("mon", "Ben", "Was it expensive?"),
    ("mon", "Ana", "Three hundred euros, with two paddles."),
    ("tue", "Ana", "My sister Marta plays the cello."),
    ("tue", "Ben", "I did not know that."),
    ("wed", "Ana", "The dentist moved my appointment to Friday."),
)
TURNS = tuple(
    Turn("ana", session, "user", text, START + timedelta(hours=place), speaker, f"t{place}")
    for place, (session, speaker, text) in enumerate(SAID)
)


@pytest.fixture(scope="module")
def index(encoder: Encoder) -> Iterator[Index]:
    index = Index(TURNS, encoder)
    yield index
    index.close()


@pytest.mark.parametrize("reference", list(Baseline))
@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("Which sister plays the cello?", 3),
        ("When is the dentist's appointment?", 5),
        ("canoes", 0),
    ],
)
def test_each_reference_finds_the_turn(
    index: Index, reference: Baseline, question: str, place: int
) -> None:
    assert rank(index.scores(reference, question))[0] == place


@pytest.mark.parametrize("question", ["", "???", "what is it", '"OR NEAR( AND *', "-col:umn ^x"])
def test_bm25_of_a_question_without_content_or_with_operators(index: Index, question: str) -> None:
    assert len(index.scores(Baseline.BM25, question)) == len(TURNS)


def test_bm25_finds_nothing_for_stop_words(index: Index) -> None:
    assert rank(index.scores(Baseline.BM25, "what is it")) == []


def test_scaled_by_arithmetic() -> None:
    assert min_max_scale(np.array([4.0, 1.0, 3.0, -np.inf]), depth=2).tolist() == [
        1.0,
        0.0,
        0.0,
        0.0,
    ]
    assert min_max_scale(np.array([4.0, 2.0, 3.0, -np.inf])).tolist() == [1.0, 0.0, 0.5, 0.0]
    assert min_max_scale(np.array([2.0, 2.0])).tolist() == [1.0, 1.0]
    assert min_max_scale(np.array([-np.inf])).tolist() == [0.0]


def test_blended_by_arithmetic() -> None:
    mixed = blend(np.array([4.0, 2.0, -np.inf]), np.array([0.5, 0.1, 0.3]))
    assert mixed.tolist() == pytest.approx([2.0, 0.0, 0.5])


scores = arrays(np.float64, len(TURNS), elements=st.floats(-10, 10) | st.just(-np.inf))


@given(scores)
def test_ranked_is_sorted_and_leaves_out_what_was_not_found(values: np.ndarray) -> None:
    order = rank(values)
    assert sorted(order) == [place for place, value in enumerate(values) if np.isfinite(value)]
    assert all(values[one] >= values[two] for one, two in pairwise(order))


@given(values=scores, budget=st.integers(1, 200))
def test_a_block_keeps_its_budget_and_counts_it_truly(
    tokens: TokenCounter, values: np.ndarray, budget: int
) -> None:
    block = fill_block(TURNS, values, budget, tokens.count)
    assert block.tokens == tokens.count(block.text) <= budget
    assert all(item.text in block.text for item in block.lines)
    assert [item.relevance for item in block.lines] == sorted(
        (item.relevance for item in block.lines), reverse=True
    )


def test_what_does_not_fit_is_left_out_and_the_next_tried(tokens: TokenCounter) -> None:
    values = np.array([5.0, 4.0, 3.0, -np.inf, -np.inf, -np.inf])
    whole = fill_block(TURNS, values, 1000, tokens.count)
    assert (
        whole.text
        == f"[6 May 2024]\n{shown_text(TURNS[0])}\n{shown_text(TURNS[1])}\n{shown_text(TURNS[2])}\n"
    )
    budget = tokens.count(f"[6 May 2024]\n{shown_text(TURNS[1])}\n")
    assert [item.turn_ids for item in fill_block(TURNS, values, budget, tokens.count).lines] == [
        ("t1",)
    ]
