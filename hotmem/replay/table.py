"""Comparison as a terminal table."""

from typing import Final

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hotmem.replay.comparison import Comparison, Figures
from hotmem.replay.wording import asked
from hotmem.settings import PREFIX

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
