"""Names as a picture: all in it, none on another, thicker lines for what stands together oftener."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hotmem.inspector.drawing import HEIGHT, MARGIN, WIDTH, drawn, spread
from hotmem.types.inspection import EntityGraph, EntityRow

places = st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=1, max_size=40)


def entities(count: int) -> tuple[EntityRow, ...]:
    return tuple(EntityRow(key, f"name {key}", key, 1) for key in range(count))


@given(places)
def test_places_stay_in_the_picture(points: list[tuple[float, float]]) -> None:
    moved = spread(np.array(points))
    assert np.all(moved >= MARGIN) and np.all(moved <= np.array([WIDTH, HEIGHT]) - MARGIN)


def test_names_at_one_place_are_moved_apart() -> None:
    moved = spread(np.array([(0.0, 0.0), (0.0, 0.0), (1.0, 1.0)]))
    assert abs(moved[0, 1] - moved[1, 1]) > 20


def test_the_largest_set_is_drawn_and_the_same_way_each_time() -> None:
    graph = EntityGraph(entities(6), {(0, 1): 1, (1, 2): 40, (3, 4): 9})
    picture = drawn(graph)
    assert [node.row.key for node in picture.nodes] == [2, 1, 0]
    assert [(line.often, line.thickness) for line in picture.lines] == [(1, 1), (40, 4)]
    assert picture == drawn(graph)


def test_nothing_hangs_together() -> None:
    assert drawn(EntityGraph(entities(3), {})).nodes == ()
    assert drawn(EntityGraph((), {})).lines == ()
