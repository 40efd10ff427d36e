"""Plots as SVG in the page's own colours, light and dark.

Their points are equally far apart: a clock that jumped does not squeeze the others.

One is drawn at a time: matplotlib's settings are the whole process's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

INCHES: Final = (8.0, 2.9)

ROOM: Final = 1.08
"""Height of a plot above its highest point, as its multiple."""

MOST_LABELS: Final = 8
"""Dates written under a plot."""

SERIES: Final = {
    "facts": ("o", "-"),
    "sessions": ("s", "--"),
    "semantic": ("^", "-."),
    "verbatim": ("D", ":"),
    "all": ("o", "-"),
}
"""Marker and line of each series, so that nobody needs to tell colours apart."""

NAMES: Final = {
    "facts": "Facts",
    "sessions": "Conversations",
    "semantic": "Meaning",
    "verbatim": "Exact words",
    "all": "all replies",
}


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of a plot: of words, of what is less important, and of each series (Okabe and Ito's, lightened for dark)."""

    words: str
    quiet: str
    series: Mapping[str, str]


LIGHT: Final = Theme(
    "#3d4247",
    "#c9cdd1",
    {
        "facts": "#00785a",
        "sessions": "#0072b2",
        "semantic": "#b34a00",
        "verbatim": "#8a4a78",
        "all": "#00785a",
    },
)
DARK: Final = Theme(
    "#b9bec4",
    "#454a50",
    {
        "facts": "#4cc39e",
        "sessions": "#6db9ee",
        "semantic": "#f09b5c",
        "verbatim": "#dca3c8",
        "all": "#4cc39e",
    },
)

STYLE: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "hotmem",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10.0,
}
"""Words stay words, which a screen reader and a search find, and the same plot is the same file."""


def lines(
    periods: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    up: str,
    *,
    dark: bool,
    across: str = "",
    shares: bool = True,
) -> bytes:
    """Values over periods.

    Args:
        periods: The periods' dates, or what else the points are called, the earliest first.
        series: Values of each series by period; None where there is none.
        up: What the values are.
        dark: Whether it stands on dark ground.
        across: What the points are.
        shares: Whether they are shares, 0 to 1, written as percentages.
    """
    theme = DARK if dark else LIGHT
    with rc_context(STYLE):
        figure, axes = _axes(theme)
        for name, values in series.items():
            marker, dashes = SERIES[name]
            known = [(place, value) for place, value in enumerate(values) if value is not None]
            axes.plot(
                [place for place, _ in known], [value for _, value in known],
                color=theme.series[name], label=NAMES[name], marker=marker, markersize=4, linestyle=dashes, linewidth=1.6,
            )  # fmt: skip
        step = max(1, -(-len(periods) // MOST_LABELS))
        axes.set_xticks(
            range(0, len(periods), step), [periods[place] for place in range(0, len(periods), step)]
        )
        axes.set_ylim(
            0,
            ROOM
            * max((value for values in series.values() for value in values if value), default=1.0),
        )
        if shares:
            axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        axes.set(xlabel=across, ylabel=up)
        if len(series) > 1:
            _legend(axes, theme, len(series))
        return _svg(figure)


def bars(
    values: Mapping[str, tuple[float, float]], across: str, most: float, *, dark: bool
) -> bytes:
    """What each series is now, and a line where it began.

    Args:
        values: The value at the beginning and the value now, of each series.
        across: What the values are.
        most: The largest that a value may be.
        dark: Whether it stands on dark ground.
    """
    theme = DARK if dark else LIGHT
    with rc_context(STYLE):
        figure, axes = _axes(theme)
        places = range(len(values))
        axes.barh(
            places,
            [now for _, now in values.values()],
            color=[theme.series[name] for name in values],
            height=0.55,
        )
        axes.vlines(
            [start for start, _ in values.values()],
            [place - 0.4 for place in places],
            [place + 0.4 for place in places],
            color=theme.words,
            label="at the start",
        )
        for place, (_, now) in zip(places, values.values(), strict=True):
            axes.text(now + most / 100, place, f"{now:.2f}", va="center", color=theme.words)
        axes.set_yticks(places, [NAMES[name] for name in values])
        axes.set(xlim=(0, most * 1.05), xlabel=across)
        axes.invert_yaxis()
        _legend(axes, theme, 1)
        return _svg(figure)


def _legend(axes: Axes, theme: Theme, columns: int) -> None:
    axes.legend(
        frameon=False,
        labelcolor=theme.words,
        ncols=columns,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0,
    )


def _axes(theme: Theme) -> tuple[Figure, Axes]:
    figure = Figure(INCHES, layout="constrained")
    axes = figure.subplots()
    axes.set_facecolor("none")
    axes.tick_params(colors=theme.words, color=theme.quiet)
    axes.xaxis.label.set_color(theme.words)
    axes.yaxis.label.set_color(theme.words)
    axes.grid(visible=True, color=theme.quiet, linewidth=0.5, alpha=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(theme.quiet)
    return figure, axes


def _svg(figure: Figure) -> bytes:
    written = BytesIO()
    figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    return written.getvalue()
