"""Drawing of a graph: node positions, sizes and line widths, with labels that do not overlap.

Positions are force-directed (Fruchterman and Reingold, "Graph drawing by force-directed placement",
1991); then nodes whose labels overlap are pushed apart. It needs networkx, which the extras
"inspect" and "pictures" install.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import networkx as nx
import numpy as np
from numpy.typing import NDArray

ITERATIONS: Final = 60
"""Maximum steps of the force-directed layout."""

SEPARATION_STEPS: Final = 300
"""Maximum steps in which overlapping labels are moved apart."""

SEED: Final = 7
"""The same graph always has the same drawing."""

NODE_DISTANCE: Final = 2.5
"""Optimal distance of two nodes, times the square root of their number."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """Dimensions of a drawing, all in the same unit.

    Attributes:
        width: Width of the drawing.
        height: Height of the drawing.
        margin: Space at each edge, for labels.
        label_width: Width of a node with its label.
        label_height: Height of a node with its label.
    """

    width: int = 900
    height: int = 560
    margin: int = 60
    label_width: float = 95.0
    label_height: float = 42.0


@dataclass(frozen=True, slots=True)
class Node:
    """A node: its index in the graph, its centre and the radius of its circle."""

    index: int
    x: int
    y: int
    radius: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A line between two nodes, with its weight and thickness, 1 to 4."""

    one: Node
    other: Node
    weight: int
    thickness: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """Nodes, those with the highest index first, and edges, the lightest first."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    canvas: Canvas


def draw_graph(
    counts: Sequence[int],
    weights: Mapping[tuple[int, int], int],
    canvas: Canvas,
    *,
    largest_component: bool = False,
) -> Drawing:
    """Lay out a graph.

    Args:
        counts: For each node, how often it is mentioned; determines its radius.
        weights: For each pair of node indices, how often both are mentioned together.
        canvas: Dimensions of the drawing.
        largest_component: Draw only the largest set of connected nodes.
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(len(counts)))
    graph.add_weighted_edges_from(
        (one, other, math.log1p(weight)) for (one, other), weight in weights.items()
    )
    indices = list(range(len(counts)))
    if largest_component:
        linked = graph.subgraph({index for pair in weights for index in pair})
        indices = (
            sorted(max(nx.connected_components(linked), key=lambda part: len(list(part))))
            if linked
            else []
        )
    if not indices:
        return Drawing((), (), canvas)
    layout = nx.spring_layout(
        graph.subgraph(indices),
        k=NODE_DISTANCE / math.sqrt(len(indices)),
        iterations=ITERATIONS,
        seed=SEED,
    )
    positions = spread(np.array([layout[index] for index in indices]), canvas)
    nodes = {
        index: Node(index, round(x), round(y), _radius(counts[index]))
        for index, (x, y) in zip(indices, positions, strict=True)
    }
    edges = (
        Edge(nodes[one], nodes[other], weight, 1 + min(int(math.log2(weight)), 3))
        for (one, other), weight in sorted(weights.items(), key=lambda link: link[1])
        if one in nodes
    )
    return Drawing(tuple(nodes[index] for index in reversed(indices)), tuple(edges), canvas)


def spread(positions: NDArray[np.float64], canvas: Canvas) -> NDArray[np.float64]:
    """Scale positions to the canvas, and move nodes apart vertically until no labels overlap.

    Args:
        positions: Coordinates, float64 (n, 2).
        canvas: Dimensions of the drawing.

    Returns:
        Coordinates within the margins, float64 (n, 2).
    """
    size = np.array([canvas.width, canvas.height])
    label = (canvas.label_width, canvas.label_height)
    low, high = positions.min(axis=0), positions.max(axis=0)
    moved: NDArray[np.float64] = canvas.margin + (positions - low) / np.maximum(
        high - low, 1e-9
    ) * (size - 2 * canvas.margin)
    order = np.arange(len(moved))
    for _ in range(SEPARATION_STEPS):
        offsets = moved[:, None] - moved[None]
        overlapping = np.all(np.abs(offsets) < label, axis=2)
        np.fill_diagonal(overlapping, False)
        if not overlapping.any():
            break
        directions = np.where(
            offsets[..., 1] == 0, np.sign(order[:, None] - order), np.sign(offsets[..., 1])
        )
        missing = (canvas.label_height - np.abs(offsets[..., 1])) / 3
        moved[:, 1] += np.where(overlapping, directions * missing, 0).sum(axis=1)
        moved = np.clip(moved, canvas.margin, size - canvas.margin)
    return moved


def _radius(count: int) -> int:
    return 5 + min(round(2 * math.log1p(count)), 12)
