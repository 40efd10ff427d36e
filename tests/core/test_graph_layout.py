"""Layout of graphs: within the canvas, labels apart, the same for the same graph."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hotmem.core.graph_layout import Canvas, draw_graph, spread

CANVAS = Canvas()

points = st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=1, max_size=40)


@given(points)
def test_positions_stay_within_the_margins(positions: list[tuple[float, float]]) -> None:
    moved = spread(np.array(positions), CANVAS)
    assert np.all(moved >= CANVAS.margin)
    assert np.all(moved <= np.array([CANVAS.width, CANVAS.height]) - CANVAS.margin)


@given(points.filter(lambda positions: len(positions) <= 8))
def test_few_labels_never_overlap(positions: list[tuple[float, float]]) -> None:
    moved = spread(np.array(positions), CANVAS)
    across, down = np.abs(moved[:, None] - moved[None]).transpose(2, 0, 1)
    overlapping = (across < CANVAS.label_width) & (down < CANVAS.label_height / 2)
    np.fill_diagonal(overlapping, False)
    assert not overlapping.any()


def test_nodes_at_the_same_position_are_moved_apart() -> None:
    moved = spread(np.array([(0.0, 0.0), (0.0, 0.0), (1.0, 1.0)]), CANVAS)
    assert abs(moved[0, 1] - moved[1, 1]) > 20


def test_the_largest_component_is_drawn_and_always_in_the_same_way() -> None:
    counts, weights = [1, 2, 3, 4, 5, 6], {(0, 1): 1, (1, 2): 40, (3, 4): 9}
    drawing = draw_graph(counts, weights, CANVAS, largest_component=True)
    assert [node.index for node in drawing.nodes] == [2, 1, 0]
    assert [(edge.weight, edge.thickness) for edge in drawing.edges] == [(1, 1), (40, 4)]
    assert drawing == draw_graph(counts, weights, CANVAS, largest_component=True)


def test_all_nodes_are_drawn_otherwise() -> None:
    drawing = draw_graph([1, 2, 30], {(0, 1): 1}, CANVAS)
    assert [node.index for node in drawing.nodes] == [2, 1, 0]
    assert drawing.nodes[0].radius > drawing.nodes[1].radius > drawing.nodes[2].radius
    assert len(drawing.edges) == 1


def test_a_graph_without_edges_or_nodes_is_empty() -> None:
    assert draw_graph([1, 2, 3], {}, CANVAS, largest_component=True).nodes == ()
    assert draw_graph([], {}, CANVAS).nodes == ()
