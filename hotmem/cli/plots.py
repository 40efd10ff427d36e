"""Plots as PNG files: the network of names and concepts, and the timeline.

They need ``pip install "pipecat-hotmem[pictures]"``.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from textwrap import shorten
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from hotmem.cli.console import check_new
from hotmem.core.graph_layout import Canvas, draw_graph
from hotmem.core.output_files import new_file
from hotmem.errors import InvalidInput
from hotmem.tools.maintenance import (
    ConceptNetwork,
    NetworkArguments,
    Timeline,
    TimelineArguments,
)
from hotmem.types import Period

DPI: Final = 150

TEXT_COLOUR, FAINT_COLOUR, GRID_COLOUR = "#1f2933", "#7b8794", "#e4e7eb"
NAME_COLOUR, CONCEPT_COLOUR = "#d9662b", "#2f7d87"
TURN_COLOUR, MEMORY_COLOUR = "#9fb3c8", "#d9662b"

UNITS_PER_INCH: Final = 100
"""Units of the network's canvas in one inch."""

NETWORK_CANVAS: Final = Canvas(width=1100, height=740, margin=90, label_width=160, label_height=58)
TITLE_HEIGHT: Final = 60
"""Height of the title above the canvas, in its units."""

NODES_ON_CANVAS: Final = 40
"""Nodes above which the canvas grows in proportion to their number."""

MAX_LABEL: Final = 24
MAX_TITLE: Final = 80
"""Characters of a label and of a title."""

BAR_DAYS: Final = {"day": 1.0, "month": 28.0, "year": 350.0}
"""Width of the bar of a period, in days."""


def draw(
    found: ConceptNetwork | Timeline,
    asked: NetworkArguments | TimelineArguments,
    file: Path,
    *,
    overwrite: bool,
) -> None:
    """Draw the result of a tool.

    Args:
        found: The result.
        asked: The arguments of the call.
        file: PNG file to write.
        overwrite: Replace an existing file.

    Raises:
        InvalidInput: If there is nothing to draw, or the file exists or cannot be written.
    """
    about = asked.about
    if isinstance(found, ConceptNetwork):
        title = f"Mentioned together with {about}" if about else "Mentioned together"
        network_png(found, file, title, overwrite=overwrite)
    elif isinstance(asked, TimelineArguments):
        title = f"Turns and memories{f' about {about}' if about else ''} by {asked.by}"
        timeline_png(found.periods, asked.by, file, title, overwrite=overwrite)


def network_png(
    network: ConceptNetwork, file: Path, title: str, *, overwrite: bool = False
) -> None:
    """Draw names and concepts as circles and their co-occurrence as lines.

    Args:
        network: Result of `concept_network`.
        file: PNG file to write.
        title: Title of the plot.
        overwrite: Replace an existing file.

    Raises:
        InvalidInput: If there is nothing to draw, or the file exists or cannot be written.
    """
    if not network.nodes:
        raise InvalidInput(
            "No name or concept is mentioned often enough to be drawn. "
            "Lower min_count (--min-count)."
        )
    indices = {node.name: index for index, node in enumerate(network.nodes)}
    drawing = draw_graph(
        [node.turns + node.memories for node in network.nodes],
        {(indices[edge.one], indices[edge.other]): edge.weight for edge in network.edges},
        _network_canvas(len(network.nodes)),
    )
    width, height = drawing.canvas.width, drawing.canvas.height + TITLE_HEIGHT
    figure = Figure((width / UNITS_PER_INCH, height / UNITS_PER_INCH), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(drawing.canvas.height, -TITLE_HEIGHT))
    axes.set_axis_off()
    axes.add_collection(
        LineCollection(
            [((edge.one.x, edge.one.y), (edge.other.x, edge.other.y)) for edge in drawing.edges],
            linewidths=[edge.thickness for edge in drawing.edges],
            colors=FAINT_COLOUR,
            alpha=0.4,
            zorder=1,
        )
    )
    for place in drawing.nodes:
        node = network.nodes[place.index]
        colour = NAME_COLOUR if node.kind == "name" else CONCEPT_COLOUR
        axes.add_patch(
            Circle((place.x, place.y), place.radius, facecolor=colour, edgecolor="white", zorder=2)
        )
        axes.text(
            place.x,
            place.y + place.radius + 3,
            shorten(node.name, MAX_LABEL, placeholder="…"),
            fontsize=9.5,
            color=TEXT_COLOUR,
            ha="center",
            va="top",
            zorder=3,
            path_effects=[withStroke(linewidth=3, foreground="white")],
        )
    axes.text(25, -20, _shortened(title), color=TEXT_COLOUR, fontsize=15)
    kinds = [
        Line2D([], [], marker="o", linestyle="", color=colour, label=name)
        for name, colour in (("name", NAME_COLOUR), ("concept", CONCEPT_COLOUR))
    ]
    axes.legend(handles=kinds, loc="lower right", frameon=False, labelcolor=FAINT_COLOUR)
    _save(figure, file, overwrite=overwrite)


def timeline_png(
    periods: Sequence[Period], by: str, file: Path, title: str, *, overwrite: bool = False
) -> None:
    """Draw the number of turns and of new memories in each period as bars.

    Args:
        periods: Result of `memory_timeline`.
        by: "day", "month" or "year".
        file: PNG file to write.
        title: Title of the plot.
        overwrite: Replace an existing file.

    Raises:
        InvalidInput: If there is nothing to draw, or the file exists or cannot be written.
    """
    if not periods:
        raise InvalidInput("There is nothing to draw. Choose another time range or name.")
    first_days = [
        date.fromisoformat(period.period + "-01-01"[len(period.period) - 4 :]) for period in periods
    ]
    days = np.array(date2num(first_days))  # type: ignore[no-untyped-call]  # untyped
    figure = Figure((11, 6), layout="constrained", facecolor="white")
    turns, memories = figure.subplots(2, sharex=True, height_ratios=(3, 2))
    for axes, counts, colour, label in (
        (turns, [period.turns for period in periods], TURN_COLOUR, "turns"),
        (memories, [len(period.memories) for period in periods], MEMORY_COLOUR, "new memories"),
    ):
        _bars(axes, days, counts, BAR_DAYS[by], colour)
        axes.set_ylabel(label, color=FAINT_COLOUR)
    turns.set_title(_shortened(title), loc="left", color=TEXT_COLOUR, fontsize=15, pad=14)
    locator = AutoDateLocator(minticks=3, maxticks=10)  # type: ignore[no-untyped-call]  # untyped
    memories.xaxis.set_major_locator(locator)
    memories.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]  # untyped
    margin = max(BAR_DAYS[by], (days[-1] - days[0]) * 0.02)
    memories.set_xlim(days[0] - margin, days[-1] + margin)
    _save(figure, file, overwrite=overwrite)


def _network_canvas(nodes: int) -> Canvas:
    factor = math.sqrt(max(nodes / NODES_ON_CANVAS, 1))
    width, height = round(NETWORK_CANVAS.width * factor), round(NETWORK_CANVAS.height * factor)
    return replace(NETWORK_CANVAS, width=width, height=height)


def _bars(
    axes: Axes, days: NDArray[np.float64], counts: Sequence[int], width: float, colour: str
) -> None:
    axes.bar(days, counts, width=width * 0.92, color=colour)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    axes.grid(axis="y", color=GRID_COLOUR, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=FAINT_COLOUR, length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(GRID_COLOUR)


def _shortened(title: str) -> str:
    return shorten(title, MAX_TITLE, placeholder="…")


def _save(figure: Figure, file: Path, *, overwrite: bool) -> None:
    check_new(file, overwrite=overwrite)
    with new_file(file, overwrite=overwrite) as temporary:
        figure.savefig(temporary, format="png", dpi=DPI)
