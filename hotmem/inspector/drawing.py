"""A graph of names as a picture: places by force-directed layout (Fruchterman and Reingold 1991), drawn by the template."""

import math
from dataclasses import dataclass
from typing import Final

import networkx as nx

from hotmem.types.inspection import EntityGraph, EntityRow

WIDTH: Final = 900
HEIGHT: Final = 560
MARGIN: Final = 60
"""The picture's size and the room at its edges, for the names."""

ROUNDS: Final = 60
"""Steps of the layout; more move nothing that is seen."""

SEED: Final = 7
"""The same names are drawn in the same places."""


@dataclass(frozen=True, slots=True)
class Node:
    """A name in the picture: where it is, and its circle's radius."""

    row: EntityRow
    x: int
    y: int
    radius: int


@dataclass(frozen=True, slots=True)
class Line:
    """Two names that stand together, how often, and how thick their line is, 1 to 4."""

    one: Node
    other: Node
    often: int
    thickness: int


@dataclass(frozen=True, slots=True)
class Picture:
    """Names that stand together with another, and their lines."""

    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    width: int = WIDTH
    height: int = HEIGHT


def drawn(graph: EntityGraph) -> Picture:
    """The picture of a graph; names that stand with no other are left to the list."""
    network = nx.Graph()
    network.add_weighted_edges_from((one, other, math.log1p(often)) for (one, other), often in graph.links.items())
    if not network:
        return Picture((), ())
    places = nx.spring_layout(network, k=1.6 / math.sqrt(len(network)), iterations=ROUNDS, seed=SEED)
    nodes = {
        place: Node(graph.entities[place], _fitted(x, WIDTH), _fitted(y, HEIGHT), _radius(graph.entities[place])) for place, (x, y) in places.items()
    }
    lines = (
        Line(nodes[one], nodes[other], often, 1 + min(int(math.log2(often)), 3))
        for (one, other), often in sorted(graph.links.items(), key=lambda link: link[1])
    )
    return Picture(tuple(nodes[place] for place in sorted(nodes, reverse=True)), tuple(lines))


def _fitted(value: float, size: int) -> int:
    """A coordinate of -1 to 1 within the picture."""
    return round(MARGIN + (value + 1) / 2 * (size - 2 * MARGIN))


def _radius(row: EntityRow) -> int:
    return 5 + min(round(3 * math.log1p(row.turns + row.memories)), 18)
