"""HTML report of a comparison: one self-contained page."""

import io
import re
from collections.abc import Callable, Sequence
from typing import Final

import matplotlib as mpl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hotmem.core.validation import counted
from hotmem.replay.comparison import Comparison, Figures, Interval, Verdict
from hotmem.replay.study import Study
from hotmem.replay.wording import asked, cautions, conclusion, reasons
from hotmem.settings import PREFIX

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


MEANING: Final = {
    Verdict.MORE: "It finds significantly more of the words in the replies.",
    Verdict.CHEAPER: "It wastes significantly fewer tokens and finds at most a tenth less.",
    Verdict.LESS: "It finds significantly less.",
    Verdict.DEARER: "It wastes significantly more tokens and finds no more.",
    Verdict.SPARING: (
        "It wastes significantly fewer tokens; whether it finds less is inconclusive with this "
        "many questions."
    ),
    Verdict.COSTLY: (
        "It wastes significantly more tokens; whether it finds more is inconclusive with this "
        "many questions."
    ),
    Verdict.SAME: "No significant difference to the present settings with this many questions.",
}

FOUND: Final = (
    "content words of the replies, in percentage points: fewer (left) or more (right: better)"
)
WASTED: Final = "wasted tokens per question: fewer (left: better) or more (right)"
"""Axis labels of the plots."""

CLASSES: Final = {
    Verdict.MORE: "better",
    Verdict.CHEAPER: "better",
    Verdict.LESS: "worse",
    Verdict.DEARER: "worse",
}


def breakable(name: str) -> Markup:
    """Allow line breaks in a name."""
    return Markup("_<wbr>").join(name.split("_"))


def render_report(study: Study) -> str:
    """Render the report. Blocking."""
    environment = Environment(
        loader=PackageLoader("hotmem.replay", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters |= {
        "counted": counted,
        "share": lambda value: f"{value:.0%}",
        "whole": lambda value: f"{value:,.0f}",
        "breakable": breakable,
    }
    comparison = study.comparison
    return environment.get_template("report.html").render(
        study=study,
        comparison=comparison,
        asked=asked(comparison),
        conclusion=conclusion(comparison),
        reasons=reasons(comparison),
        cautions=cautions(study),
        advised=[one for one in (comparison.better, comparison.cheaper) if one is not None],
        meaning=MEANING,
        classes=CLASSES,
        found=Markup(differences(comparison, FOUND, lambda one: one.found_gain, 100)),
        wasted=Markup(differences(comparison, WASTED, lambda one: one.wasted_gain)),
        latencies=Markup(latencies(comparison)),
    )


CAPTION: Final = (
    "found: share of the content words of replies that memory provided; difference: confidence "
    "interval in percentage points; used: share of items that replies used; tokens: per question; "
    "wasted: tokens of unused items; ms: median latency"
)


def comparison_table(comparison: Comparison) -> Table:
    """Return a table of the settings with their verdicts, 80 characters wide."""
    table = Table(
        title=asked(comparison),
        title_justify="left",
        box=SIMPLE_HEAD,
        collapse_padding=True,
        pad_edge=False,
        show_lines=False,
    )
    table.caption, table.caption_justify = CAPTION, "left"
    table.add_column("setting", overflow="fold")
    for heading in ("found", "difference", "used", "tokens", "wasted", "ms"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in comparison.figures:
        gain = one.found_gain
        table.add_row(
            _setting_cell(one),
            f"{one.found_share:.0%}",
            "" if one.verdict is None else f"{100 * gain.low:+.0f} to {100 * gain.high:+.0f}",
            f"{one.precision:.0%}",
            f"{one.tokens:.0f}",
            f"{one.wasted:.0f}",
            f"{one.p50_ms:.0f}",
        )
    return table


def _setting_cell(one: Figures) -> Text:
    name = one.setting.name.replace(PREFIX, "")
    return (
        Text(name)
        if one.verdict is None
        else Text.assemble(name, "\n  ", (str(one.verdict), "dim"))
    )
