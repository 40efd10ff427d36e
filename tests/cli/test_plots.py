"""Plots are written as PNG; without data there is an error that names the fix."""

from pathlib import Path

import pytest
from matplotlib.image import imread

from hotmem import InvalidInput
from hotmem.cli.plots import network_png, timeline_png
from hotmem.tools.maintenance import ConceptNetwork, Edge, Node
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
    network_png(network, tmp_path / "network.png", "Mentioned together")
    image = imread(tmp_path / "network.png")
    assert image.shape[:2] == (1200, 1650) and image[..., :3].std() > 0.01


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
        "Turns and memories",
    )
    assert imread(tmp_path / "timeline.png").shape[:2] == (900, 1650)


def test_a_plot_that_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="mentioned often enough"):
        network_png(ConceptNetwork((), ()), tmp_path / "network.png", "")
    with pytest.raises(InvalidInput, match="nothing to draw"):
        timeline_png([], "day", tmp_path / "timeline.png", "")
    with pytest.raises(InvalidInput, match="cannot be written"):
        timeline_png([Period("2026", 1, ())], "year", tmp_path / "no" / "timeline.png", "")
