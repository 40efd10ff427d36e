"""Pictures of a memory, as PNG.

The network of what is spoken of together, and what each period brought.

It needs ``pip install "pipecat-hotmem[pictures]"``.
"""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from textwrap import shorten
from typing import Final

import networkx as nx
import numpy as np
from adjustText import adjust_text
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from hotmem.core.output_files import new_file
from hotmem.errors import InvalidInput
from hotmem.tools.cooccurrence import ConceptNetwork
from hotmem.types import Period

DOTS_PER_INCH: Final = 150

INK, GREY, PALE = "#1f2933", "#7b8794", "#e4e7eb"
NAME, CONCEPT, TURNS, LEARNT = "#d9662b", "#2f7d87", "#9fb3c8", "#d9662b"
"""Colours: text, faint text, lines; names and concepts; what was said and what was learnt."""

SMALLEST, LARGEST = 60.0, 1100.0
"""Areas of nodes, square points."""

SIZE: Final = (11.0, 8.0)
"""Inches of the network's picture."""

POINTS: Final = 72.0
"""Of an inch."""

GAP: Final = 0.03
"""Inches between a disc and its label."""

SPACING: Final = 0.78
"""Least distance of two nodes, of that which they had on an even grid."""

PUSHES: Final = 200
"""Steps in which nodes are pushed apart, at most."""

SEED: Final = 7
"""Of the layout, so that the same memory gives the same picture."""

LONGEST: Final = 24
"""Characters of a label."""

LONGEST_TITLE: Final = 80
"""Characters of a title."""

MARGIN: Final = 0.9
"""Inches around the outermost nodes."""

DAYS: Final = {"day": 1.0, "month": 28.0, "year": 350.0}
"""Days that a bar is wide, nearly its period."""


def network_png(
    network: ConceptNetwork, file: Path, title: str, *, overwrite: bool = False
) -> None:
    """Draws names and concepts as discs, larger the more often they come, and lines between those spoken of together.

    Args:
        network: What `concept_network` found.
        file: The PNG file.
        title: What it shows.
        overwrite: Whether it takes the place of a file of that name.

    Raises:
        InvalidInput: If there is nothing to draw, or the file exists or cannot be written.
    """
    if not network.nodes:
        raise InvalidInput(
            "Nothing is spoken of often enough to be drawn. Lower min_count (--min-count), or let more be said."
        )
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(node.name for node in network.nodes)
    graph.add_weighted_edges_from((edge.one, edge.other, edge.strength) for edge in network.edges)
    places = _layout(graph)
    counts = np.array([node.turns + node.memories for node in network.nodes], dtype=float)
    areas = SMALLEST + (LARGEST - SMALLEST) * np.sqrt(counts / counts.max())
    figure = Figure(SIZE, facecolor="white")
    axes = figure.add_axes((0, 0, 1, 0.92))
    if network.edges:
        strengths = np.array([edge.strength for edge in network.edges])
        lines = [(places[edge.one], places[edge.other]) for edge in network.edges]
        share = strengths / strengths.max()
        axes.add_collection(
            LineCollection(
                lines,
                linewidths=0.6 + 4 * share,
                colors=[(0.48, 0.53, 0.58, 0.15 + 0.45 * one) for one in share],
                zorder=1,
            )
        )
    spots = np.array([places[node.name] for node in network.nodes])
    colours = [NAME if node.kind == "name" else CONCEPT for node in network.nodes]
    discs = axes.scatter(
        spots[:, 0],
        spots[:, 1],
        s=areas,
        color=colours,
        edgecolors="white",
        linewidths=1.2,
        zorder=2,
    )
    sizes = 8.5 + 5 * np.sqrt(counts / counts.max())
    labels = [
        axes.text(
            x,
            y - np.sqrt(area / np.pi) / POINTS - GAP,
            shorten(node.name, LONGEST, placeholder="…"),
            fontsize=size,
            color=INK,
            ha="center",
            va="top",
            zorder=3,
            path_effects=[withStroke(linewidth=3, foreground="white")],
        )
        for (x, y), node, size, area in zip(spots, network.nodes, sizes, areas, strict=True)
    ]
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set(xlim=_around(spots[:, 0], SIZE[0]), ylim=_around(spots[:, 1], SIZE[1]))
    figure.text(0.02, 0.95, shorten(title, LONGEST_TITLE, placeholder="…"), color=INK, fontsize=15)
    kinds = [
        Line2D([], [], marker="o", linestyle="", color=colour, label=name)
        for name, colour in (("name", NAME), ("concept", CONCEPT))
    ]
    axes.legend(handles=kinds, loc="lower right", frameon=False, labelcolor=GREY)
    figure.draw_without_rendering()
    adjust_text(
        labels,
        ax=axes,
        objects=discs,
        avoid_self=False,
        expand=(1.02, 1.05),
        arrowprops={"arrowstyle": "-", "color": GREY, "lw": 0.5},
    )
    _save(figure, file, overwrite=overwrite)


def timeline_png(
    periods: Sequence[Period], by: str, file: Path, title: str, *, overwrite: bool = False
) -> None:
    """Draws what was said in each period as bars, and how much was learnt from it.

    Args:
        periods: What `memory_timeline` found.
        by: "day", "month" or "year".
        file: The PNG file.
        title: What it shows.
        overwrite: Whether it takes the place of a file of that name.

    Raises:
        InvalidInput: If there is nothing to draw, or the file exists or cannot be written.
    """
    if not periods:
        raise InvalidInput("No period has anything to be drawn. Ask for another span or name.")
    first = [
        date.fromisoformat(period.period + "-01-01"[len(period.period) - 4 :]) for period in periods
    ]
    days = np.array(date2num(first))  # type: ignore[no-untyped-call]
    figure = Figure((11, 6), layout="constrained", facecolor="white")
    said, learnt = figure.subplots(2, sharex=True, height_ratios=(3, 2))
    for axes, counts, colour, name in (
        (said, [period.turns for period in periods], TURNS, "turns said"),
        (learnt, [len(period.memories) for period in periods], LEARNT, "statements learnt"),
    ):
        _bars(axes, days, counts, DAYS[by], colour)
        axes.set_ylabel(name, color=GREY)
    said.set_title(
        shorten(title, LONGEST_TITLE, placeholder="…"), loc="left", color=INK, fontsize=15, pad=14
    )
    locator = AutoDateLocator(minticks=3, maxticks=10)  # type: ignore[no-untyped-call]
    learnt.xaxis.set_major_locator(locator)
    learnt.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    reach = max(DAYS[by], (days[-1] - days[0]) * 0.02)
    learnt.set_xlim(days[0] - reach, days[-1] + reach)
    _save(figure, file, overwrite=overwrite)


def _bars(
    axes: Axes, days: NDArray[np.float64], counts: Sequence[int], width: float, colour: str
) -> None:
    """Bars over their period's name, on a grid of whole numbers."""
    axes.bar(days, counts, width=width * 0.92, color=colour)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    axes.grid(axis="y", color=PALE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=GREY, length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(PALE)


def _layout(graph: "nx.Graph[str]") -> dict[str, NDArray[np.float64]]:
    """Places in inches by the pull of the edges.

    Parts that nothing joins stand beside each other, the largest first, and no two nodes are close.
    """
    names: list[str] = []
    drawn: list[NDArray[np.float64]] = []
    left = 0.0
    for part in sorted(nx.connected_components(graph), key=lambda part: (-len(part), min(part))):
        ordered, reach = sorted(part), np.sqrt(len(part))
        inner = (
            nx.kamada_kawai_layout(graph.subgraph(ordered), weight=None)
            if len(part) > 2
            else nx.circular_layout(ordered)
        )
        names += ordered
        drawn += [
            np.array([left + reach * (1 + inner[name][0]), reach * inner[name][1]])
            for name in ordered
        ]
        left += 2 * reach + 1
    spots = np.array(drawn)
    span = np.ptp(spots, axis=0)
    spots = (spots - spots.min(axis=0)) / np.where(span > 0, span, 1) * SIZE
    return dict(
        zip(names, apart(spots, SPACING * np.sqrt(SIZE[0] * SIZE[1] / len(names))), strict=True)
    )


def apart(spots: NDArray[np.float64], least: float) -> NDArray[np.float64]:
    """The spots, float64 (n, 2), those closer than the least distance pushed apart, step by step."""
    moved = spots + np.random.default_rng(SEED).normal(scale=1e-3, size=spots.shape)
    for _ in range(PUSHES):
        way = moved[:, None] - moved[None]
        distance = np.hypot(*way.transpose(2, 0, 1))
        np.fill_diagonal(distance, np.inf)
        push = np.maximum(least - distance, 0) / 2
        if not push.any():
            break
        moved = moved + (way / distance[..., None] * push[..., None]).sum(axis=1)
    return moved


def _around(places: NDArray[np.float64], inches: float) -> tuple[float, float]:
    """Bounds with room for labels, at least as wide as the picture, so that a disc's size is to scale."""
    room = max(inches / 2, float(np.ptp(places)) / 2 + MARGIN)
    middle = float(places.min() + places.max()) / 2
    return middle - room, middle + room


def _save(figure: Figure, file: Path, *, overwrite: bool) -> None:
    with new_file(file, overwrite=overwrite) as making:
        figure.savefig(making, format="png", dpi=DOTS_PER_INCH)
