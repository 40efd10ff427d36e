"""The comparison in a terminal."""

from rich.box import SIMPLE_HEAD
from rich.table import Table

from hotmem.replay.comparison import Comparison
from hotmem.replay.settings import PREFIX


def tabled(comparison: Comparison) -> Table:
    """One line a setting, the present ones first."""
    title = f"{comparison.exchanges} questions from {comparison.sessions} sessions"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
    table.add_column("setting", overflow="fold", min_width=26)
    for heading in ("found", "than now", "used", "tokens", "wasted", "ms"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("that is")
    for one in comparison.figures:
        table.add_row(
            one.setting.name.replace(PREFIX, ""),
            f"{one.found:.0%}",
            "" if one.found_gain is None else f"{100 * one.found_gain.low:+.0f} to {100 * one.found_gain.high:+.0f}",
            f"{one.precision:.0%}",
            f"{one.tokens:.0f}",
            f"{one.wasted:.0f}",
            f"{one.p50_ms:.0f}",
            one.verdict or "",
        )
    return table
