"""Plots as SVG in the colours of the page, light and dark.

Points are equally spaced, so that a clock that jumped does not compress the others. Plots must be
drawn one at a time, because matplotlib's settings are global.
"""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any, Final, NamedTuple

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

INCHES: Final = (8.0, 2.9)

HEADROOM: Final = 1.08
"""Height of a plot as a multiple of its highest point."""

MAX_LABELS: Final = 8
"""Maximum labels of the x axis."""


class Series(NamedTuple):
    """How a series is drawn: readable without colours (Okabe and Ito, lightened for dark)."""

    name: str
    marker: str
    dashes: str
    light: str
    dark: str


SERIES: Final = {
    "facts": Series("Facts", "o", "-", "#00785a", "#4cc39e"),
    "sessions": Series("Conversations", "s", "--", "#0072b2", "#6db9ee"),
    "semantic": Series("Meaning", "^", "-.", "#b34a00", "#f09b5c"),
    "verbatim": Series("Exact words", "D", ":", "#8a4a78", "#dca3c8"),
    "all": Series("all replies", "o", "-", "#00785a", "#4cc39e"),
}


class Theme(NamedTuple):
    """Colours of text, and of axes and grid; and which colour of a series is used."""

    text: str
    axes: str
    dark: bool

    def colour(self, name: str) -> str:
        """Colour of a series."""
        return SERIES[name].dark if self.dark else SERIES[name].light


LIGHT: Final = Theme("#3d4247", "#c9cdd1", dark=False)
DARK: Final = Theme("#b9bec4", "#454a50", dark=True)

STYLE: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "hotmem",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10.0,
}
"""Text stays text, for screen readers and search; the same plot is always the same file."""


def line_chart(
    periods: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    up: str,
    *,
    dark: bool,
    across: str = "",
    shares: bool = True,
) -> bytes:
    """Draw a line chart.

    Args:
        periods: Labels of the points, earliest first.
        series: Values of each series by period; None for no value.
        up: Label of the y axis.
        dark: Use the dark theme.
        across: Label of the x axis.
        shares: The values are shares, 0 to 1, shown as percentages.
    """
    theme = DARK if dark else LIGHT
    with rc_context(STYLE):
        figure, axes = _axes(theme)
        for name, values in series.items():
            style = SERIES[name]
            known = [(place, value) for place, value in enumerate(values) if value is not None]
            axes.plot(
                [place for place, _ in known], [value for _, value in known],
                color=theme.colour(name), label=style.name, marker=style.marker, markersize=4,
                linestyle=style.dashes, linewidth=1.6,
            )  # fmt: skip
        step = max(1, -(-len(periods) // MAX_LABELS))
        axes.set_xticks(
            range(0, len(periods), step), [periods[place] for place in range(0, len(periods), step)]
        )
        axes.set_ylim(
            0,
            HEADROOM
            * max((value for values in series.values() for value in values if value), default=1.0),
        )
        if shares:
            axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        axes.set(xlabel=across, ylabel=up)
        if len(series) > 1:
            _legend(axes, theme, len(series))
        return _svg(figure)


def bar_chart(
    values: Mapping[str, tuple[float, float]], across: str, most: float, *, dark: bool
) -> bytes:
    """Draw a bar chart of the current values, with marks at the initial values.

    Args:
        values: Initial and current value of each series.
        across: Label of the x axis.
        most: Maximum of the x axis.
        dark: Use the dark theme.
    """
    theme = DARK if dark else LIGHT
    with rc_context(STYLE):
        figure, axes = _axes(theme)
        places = range(len(values))
        axes.barh(
            places,
            [now for _, now in values.values()],
            color=[theme.colour(name) for name in values],
            height=0.55,
        )
        axes.vlines(
            [start for start, _ in values.values()],
            [place - 0.4 for place in places],
            [place + 0.4 for place in places],
            color=theme.text,
            label="initial",
        )
        for place, (_, now) in zip(places, values.values(), strict=True):
            axes.text(now + most / 100, place, f"{now:.2f}", va="center", color=theme.text)
        axes.set_yticks(places, [SERIES[name].name for name in values])
        axes.set(xlim=(0, most * 1.05), xlabel=across)
        axes.invert_yaxis()
        _legend(axes, theme, 1)
        return _svg(figure)


def _legend(axes: Axes, theme: Theme, columns: int) -> None:
    axes.legend(
        frameon=False,
        labelcolor=theme.text,
        ncols=columns,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0,
    )


def _axes(theme: Theme) -> tuple[Figure, Axes]:
    figure = Figure(INCHES, layout="constrained")
    axes = figure.subplots()
    axes.set_facecolor("none")
    axes.tick_params(colors=theme.text, color=theme.axes)
    axes.xaxis.label.set_color(theme.text)
    axes.yaxis.label.set_color(theme.text)
    axes.grid(visible=True, color=theme.axes, linewidth=0.5, alpha=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(theme.axes)
    return figure, axes


def _svg(figure: Figure) -> bytes:
    written = BytesIO()
    figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    return written.getvalue()
