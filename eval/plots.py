"""Plots as PNG files."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

INCHES: Final = 5.0
DOTS_PER_INCH: Final = 150


@contextmanager
def plotted(file: Path, title: str, across: str, up: str) -> Iterator[Axes]:
    """Yield axes from 0 to 1; write the plot with its legend on exit.

    Args:
        file: The PNG file.
        title: Title of the plot.
        across: Label of the horizontal axis.
        up: Label of the vertical axis.
    """
    figure = Figure((INCHES, INCHES), layout="constrained")
    axes = figure.subplots()
    axes.set(title=title, xlabel=across, ylabel=up, xlim=(0, 1), ylim=(0, 1))
    axes.grid(visible=True, alpha=0.3)
    yield axes
    axes.legend(loc="lower right")
    figure.savefig(file, format="png", dpi=DOTS_PER_INCH)


@dataclass(frozen=True, slots=True)
class Line:
    """Style of a curve, in matplotlib's terms."""

    colour: str
    marker: str
    dashes: str


def curves(
    file: Path,
    title: str,
    across: str,
    up: str,
    lines: Mapping[str, tuple[Line, Sequence[tuple[float, float]]]],
    levels: Mapping[str, float],
    limits: tuple[float, float],
) -> None:
    """Write curves and horizontal reference lines as PNG.

    Args:
        file: The PNG file.
        title: Title of the plot.
        across: Label of the horizontal axis, with its unit.
        up: Label of the vertical axis, with its unit.
        lines: Style and points of each curve, by name.
        levels: Height of each reference line, by name.
        limits: Range of the vertical axis.
    """
    figure = Figure((1.6 * INCHES, INCHES), layout="constrained")
    axes = figure.subplots()
    axes.set(title=title, xlabel=across, ylabel=up, ylim=limits)
    axes.grid(visible=True, alpha=0.3)
    for (name, height), dashes in zip(levels.items(), cycle(("-", "--", ":")), strict=False):
        axes.axhline(
            height, color="#555555", linewidth=1, linestyle=dashes, label=f"{name}: {height:.1f}"
        )
    for name, (line, points) in lines.items():
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            color=line.colour,
            marker=line.marker,
            linestyle=line.dashes,
            label=name,
        )
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(file, format="png", dpi=DOTS_PER_INCH)
