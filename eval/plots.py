"""Plots of shares against shares, and of curves, as PNG."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

INCHES: Final = 5.0
DOTS_PER_INCH: Final = 150


@contextmanager
def plotted(file: Path, title: str, across: str, up: str) -> Iterator[Axes]:
    """Axes from 0 to 1 each way to draw on; the plot is written with its legend when they are left.

    Args:
        file: The PNG file.
        title: What it shows.
        across: The horizontal axis.
        up: The vertical axis.
    """
    figure = Figure((INCHES, INCHES), layout="constrained")
    axes = figure.subplots()
    axes.set(title=title, xlabel=across, ylabel=up, xlim=(0, 1), ylim=(0, 1))
    axes.grid(visible=True, alpha=0.3)
    yield axes
    axes.legend(loc="lower right")
    figure.savefig(file, format="png", dpi=DOTS_PER_INCH)


def curves(file: Path, title: str, across: str, up: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Writes lines as PNG, on axes as long as they need.

    Args:
        file: The PNG file.
        title: What it shows.
        across: The horizontal axis.
        up: The vertical axis.
        lines: Points of each line, by its name.
    """
    figure = Figure((1.4 * INCHES, INCHES), layout="constrained")
    axes = figure.subplots()
    axes.set(title=title, xlabel=across, ylabel=up)
    axes.grid(visible=True, alpha=0.3)
    for name, points in lines.items():
        axes.plot([x for x, _ in points], [y for _, y in points], marker=".", label=name)
    axes.legend(loc="lower right")
    figure.savefig(file, format="png", dpi=DOTS_PER_INCH)
