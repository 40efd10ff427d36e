"""Pictures: written as PNG, with no label on another, and with an error that says what to do where there is nothing to draw."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.image import imread

from hotmem import InvalidInput
from hotmem.cli.plots import apart, network_png, timeline_png
from hotmem.tools.cooccurrence import ConceptNetwork, Edge, Node
from hotmem.types import Period

NODES = tuple(
    Node(name, "name" if place % 2 else "concept", 12 - place, place)
    for place, name in enumerate(("Rui", "Porto", "boat", "cello", "a" * 60))
)
EDGES = (
    Edge("Rui", "Porto", 5, 0.6, ()),
    Edge("Rui", "boat", 2, 0.2, ()),
    Edge("cello", "a" * 60, 1, 0.1, ()),
)


@pytest.mark.parametrize(
    "network",
    [ConceptNetwork(NODES, EDGES), ConceptNetwork(NODES, ()), ConceptNetwork(NODES[:1], ())],
)
def test_a_network_is_drawn(tmp_path: Path, network: ConceptNetwork) -> None:
    network_png(network, tmp_path / "network.png", "What is spoken of together")
    picture = imread(tmp_path / "network.png")
    assert picture.shape[:2] == (1200, 1650) and picture[..., :3].std() > 0.01


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("day", ("2026-03-02", "2026-03-09")),
        ("month", ("2025-12", "2026-03")),
        ("year", ("2025", "2026")),
        ("day", ("2026-03-02",)),
    ],
)
def test_a_timeline_is_drawn(tmp_path: Path, by: str, names: tuple[str, ...]) -> None:
    timeline_png(
        [Period(name, 3, ("Ana lives in Porto.",)) for name in names],
        by,
        tmp_path / "timeline.png",
        "What was said",
    )
    assert imread(tmp_path / "timeline.png").shape[:2] == (900, 1650)


def test_what_cannot_be_drawn_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="Nothing is spoken of often enough"):
        network_png(ConceptNetwork((), ()), tmp_path / "network.png", "")
    with pytest.raises(InvalidInput, match="No period"):
        timeline_png([], "day", tmp_path / "timeline.png", "")
    with pytest.raises(InvalidInput, match="cannot be written"):
        timeline_png([Period("2026", 1, ())], "year", tmp_path / "no" / "timeline.png", "")


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 8)), min_size=1, max_size=20))
def test_no_two_nodes_are_close(spots: list[tuple[float, float]]) -> None:
    moved = apart(np.array(spots), 0.5)
    distances = np.hypot(*(moved[:, None] - moved[None]).transpose(2, 0, 1)) + 9 * np.eye(
        len(moved)
    )
    assert distances.min() > 0.35
