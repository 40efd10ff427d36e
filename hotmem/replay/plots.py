"""Plots of a comparison as SVG that stands in a page."""

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
"""Better, worse, no difference, and the present settings."""

WIDTH: Final = 8.5
LINE: Final = 0.42
"""Inches: of a plot, and of a setting's line in it."""


def differences(
    comparison: Comparison, what: str, gain: Callable[[Figures], Interval], scale: float = 1.0
) -> str:
    """How far each setting differs from the present ones, with its interval.

    Args:
        comparison: The settings.
        what: The axis.
        gain: The difference of a setting.
        scale: What it is multiplied by for the axis.
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
            xlabel="milliseconds a question: half of them (dark), and 95 of 100 (light)",
            xlim=(0, None),
        )

    return _lines([one.setting.plain for one in comparison.figures], draw)


def _lines(names: Sequence[str], draw: Callable[[Axes], None]) -> str:
    """One line a setting, the first on top."""
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
    """The figure as an element: without what names files elsewhere, with its letters as letters."""
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
