"""Neighbours of the candidates, against plain loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hotmem.ranking.neighbors import Neighbors
from hotmem.types import Evidence, EvidenceKind
from tests.ranking.statements import evidence

Values = NDArray[np.float32]

places = st.lists(
    st.tuples(st.integers(1, 3), st.integers(0, 8)), unique=True, min_size=1, max_size=20
)


@st.composite
def told(draw: st.DrawFn) -> list[Evidence]:
    """Passages, memories and summaries of some sessions, in any order."""
    passages = [evidence(key=position, session=session) for session, position in draw(places)]
    kinds = st.sampled_from([EvidenceKind.MEMORY, EvidenceKind.SUMMARY])
    others = [
        evidence(kind=kind, key=key, session=session)
        for kind, key, session in draw(
            st.lists(st.tuples(kinds, st.integers(0, 8), st.integers(1, 4)), max_size=6)
        )
    ]
    return draw(st.permutations(passages + others))


def values(rows: int) -> Values:
    """Numbers that are all different and above 0, two to a row."""
    return np.arange(1, 2 * rows + 1, dtype=np.float32).reshape(rows, 2)


def beside(candidates: list[Evidence], row: int, step: int) -> int | None:
    """The row of the passage that many places on in the same session, or None."""
    own = candidates[row]
    if own.kind is not EvidenceKind.PASSAGE:
        return None
    place = (EvidenceKind.PASSAGE, own.session, own.position + step)
    return next(
        (
            other
            for other, one in enumerate(candidates)
            if (one.kind, one.session, one.position) == place
        ),
        None,
    )


@given(told())
def test_adjacent_values_are_those_of_the_passages_before_and_after(
    candidates: list[Evidence],
) -> None:
    held = values(len(candidates))
    for step, found in zip((-1, 1), Neighbors.of(candidates).adjacent(held), strict=True):
        for row in range(len(candidates)):
            other = beside(candidates, row, step)
            assert found[row].tolist() == ([0, 0] if other is None else held[other].tolist())


@given(told())
def test_the_window_maximum_is_over_three_passages(candidates: list[Evidence]) -> None:
    held = values(len(candidates))
    found = Neighbors.of(candidates).window_max(held)
    for row in range(len(candidates)):
        rows = [
            other
            for other in (beside(candidates, row, -1), row, beside(candidates, row, 1))
            if other is not None
        ]
        assert found[row].tolist() == np.max(held[rows], axis=0).tolist()


@given(told())
def test_the_session_maximum_is_over_all_its_candidates(candidates: list[Evidence]) -> None:
    held = values(len(candidates))
    found = Neighbors.of(candidates).session_max(held)
    for row, own in enumerate(candidates):
        rows = [other for other, one in enumerate(candidates) if one.session == own.session]
        assert found[row].tolist() == np.max(held[rows], axis=0).tolist()


def test_one_dimensional_values() -> None:
    around = Neighbors.of([evidence(key=2), evidence(key=1), evidence(key=1, session=2)])
    held = np.array([0.3, 0.7, 0.9], dtype=np.float32)
    before, after = around.adjacent(held)
    assert (before.tolist(), after.tolist()) == ([held[1], 0, 0], [0, held[0], 0])
    assert (
        around.window_max(held).tolist()
        == around.session_max(held).tolist()
        == held[[1, 1, 2]].tolist()
    )


def test_no_candidates_have_no_neighbours() -> None:
    around, none = Neighbors.of([]), np.empty((0, 3), dtype=np.float32)
    assert around.window_max(none).shape == around.session_max(none).shape == (0, 3)
