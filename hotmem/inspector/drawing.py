"""A graph of names as a picture.

Places by force-directed layout (Fruchterman and Reingold 1991), drawn by the template.
"""

import math
from dataclasses import dataclass
from typing import Final

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from hotmem.types.inspection import EntityGraph, EntityRow

WIDTH: Final = 900
HEIGHT: Final = 560
MARGIN: Final = 60
"""The picture's size and the room at its edges, for the names."""

ROUNDS: Final = 60
"""Steps of the layout; more move nothing that is seen."""

LABEL: Final = (95.0, 42.0)
"""Room of a name in the picture, across and down."""

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
    """The largest set of names that hang together, and their lines."""

    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    width: int = WIDTH
    height: int = HEIGHT


def drawn(graph: EntityGraph) -> Picture:
    """The picture of the names that hang together.

    Those that stand with none of them are left to the list.
    """
    network = nx.Graph()
    network.add_weighted_edges_from(
        (one, other, math.log1p(often)) for (one, other), often in graph.links.items()
    )
    if not network:
        return Picture((), ())
    whole = sorted(max(nx.connected_components(network), key=lambda part: len(list(part))))
    layout = nx.spring_layout(
        network.subgraph(whole), k=2.5 / math.sqrt(len(whole)), iterations=ROUNDS, seed=SEED
    )
    places = spread(np.array([layout[place] for place in whole]))
    nodes = {
        place: Node(graph.entities[place], round(x), round(y), _radius(graph.entities[place]))
        for place, (x, y) in zip(whole, places, strict=True)
    }
    lines = (
        Line(nodes[one], nodes[other], often, 1 + min(int(math.log2(often)), 3))
        for (one, other), often in sorted(graph.links.items(), key=lambda link: link[1])
        if one in nodes
    )
    return Picture(tuple(nodes[place] for place in reversed(whole)), tuple(lines))


def spread(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places stretched over the whole picture, and those so near that their names would cover each other moved apart.

    Args:
        places: Coordinates, float64 (n, 2).
    """
    room = np.array([WIDTH, HEIGHT]) - 2 * MARGIN
    low, high = places.min(axis=0), places.max(axis=0)
    moved: NDArray[np.float64] = MARGIN + (places - low) / np.maximum(high - low, 1e-9) * room
    for _ in range(ROUNDS):
        apart = moved[:, None] - moved[None]
        near = np.all(np.abs(apart) < LABEL, axis=2)
        np.fill_diagonal(near, False)
        if not near.any():
            break
        away = np.where(
            apart[..., 1] == 0,
            np.sign(np.arange(len(moved))[:, None] - np.arange(len(moved))),
            np.sign(apart[..., 1]),
        )
        moved[:, 1] += np.where(near, away * (LABEL[1] - np.abs(apart[..., 1])) / 3, 0).sum(axis=1)
        moved = np.clip(moved, MARGIN, np.array([WIDTH, HEIGHT]) - MARGIN)
    return moved


def _radius(row: EntityRow) -> int:
    return 5 + min(round(2 * math.log1p(row.turns + row.memories)), 12)
