"""The comparison in a terminal."""

from rich.box import SIMPLE_HEAD
from rich.table import Table

from hotmem.replay.comparison import Comparison
from hotmem.replay.wording import points, tokens


def tabled(comparison: Comparison) -> Table:
    """One line a setting, the present ones first."""
    title = f"{comparison.exchanges} questions from {comparison.sessions} sessions"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
    table.add_column("setting", overflow="fold", min_width=24)
    for heading in ("found", "points more", "items used", "tokens", "wasted", "more wasted", "ms", "p95"):
        table.add_column(heading, justify="right")
    table.add_column("that is")
    for one in comparison.figures:
        table.add_row(
            one.setting.name,
            f"{one.found:.0%}",
            points(one.found_gain),
            f"{one.precision:.0%}",
            f"{one.tokens:.0f}",
            f"{one.wasted:.0f}",
            tokens(one.wasted_gain),
            f"{one.p50_ms:.0f}",
            f"{one.p95_ms:.0f}",
            one.verdict or "",
        )
    return table
