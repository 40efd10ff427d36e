"""Plots of a comparison as SVG elements for the report."""

import io
import re
from collections.abc import Callable, Sequence
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hotmem.replay.comparison import Comparison, Figures, Interval, Verdict

COLOURS: Final = {
    Verdict.MORE: "#1a7f4b",
    Verdict.CHEAPER: "#1a7f4b",
    Verdict.LESS: "#b3402e",
    Verdict.DEARER: "#b3402e",
    Verdict.SPARING: "#6b7280",
    Verdict.COSTLY: "#6b7280",
    Verdict.SAME: "#6b7280",
    None: "#2456a6",
}
"""Colours of better, worse and inconclusive settings, and of the present ones."""

WIDTH: Final = 8.5
LINE: Final = 0.42
"""Width of a plot and height of a row, in inches."""


def differences(
    comparison: Comparison, what: str, gain: Callable[[Figures], Interval], scale: float = 1.0
) -> str:
    """Plot the difference of each setting to the present ones, with its interval.

    Args:
        comparison: The settings.
        what: Axis label.
        gain: Returns the difference of a setting.
        scale: Factor of the values.
    """
    others = comparison.figures[1:]

    def draw(axes: Axes) -> None:
        axes.axvline(0, color="#2456a6", linewidth=1.5)
        for line, one in enumerate(others):
            interval = gain(one)
            colour = COLOURS[one.verdict]
            axes.plot(
                [scale * interval.low, scale * interval.high],
                [line, line],
                color=colour,
                linewidth=3,
                solid_capstyle="round",
            )
            axes.plot(scale * interval.mean, line, "o", color=colour, markersize=8)
        axes.set(xlabel=what)

    return _lines([one.setting.plain for one in others], draw)


def latencies(comparison: Comparison) -> str:
    """Median and 95th percentile of each setting's time."""

    def draw(axes: Axes) -> None:
        for line, one in enumerate(comparison.figures):
            axes.barh(line, one.p95_ms, height=0.5, color="#c9d6ea")
            axes.barh(line, one.p50_ms, height=0.5, color=COLOURS[None])
        axes.set(
            xlabel="milliseconds per question: median (dark) and 95th percentile (light)",
            xlim=(0, None),
        )

    return _lines([one.setting.plain for one in comparison.figures], draw)


def _lines(names: Sequence[str], draw: Callable[[Axes], None]) -> str:
    """Plot one row per setting, the first at the top."""
    figure = Figure((WIDTH, 1.0 + LINE * len(names)), layout="constrained")
    axes = figure.subplots()
    draw(axes)
    axes.set_yticks(range(len(names)), [name.replace(", ", ",\n") for name in names])
    axes.xaxis.set_major_locator(MaxNLocator(7, integer=True))
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=True, axis="x", alpha=0.3)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    return _svg(figure)


def _svg(figure: Figure) -> str:
    """Return the figure as an <svg> element with real text and without external references."""
    drawn = io.StringIO()
    with mpl.rc_context(
        {"svg.fonttype": "none", "svg.hashsalt": "hotmem", "font.family": "sans-serif"}
    ):
        figure.savefig(
            drawn,
            format="svg",
            transparent=True,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    element = drawn.getvalue()
    element = element[element.index("<svg") :]
    return re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
