"""Results as tables on the screen and as one line of JSON; progress bars on standard error."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    track,
)
from rich.table import Table

from eval.statistics import Estimate
from eval.timing import Times

Item = TypeVar("Item")


def cell(value: object) -> str:
    """Format a value: numbers with three digits or all of the integer ones, None as a dash.

    An `Estimate` has its 95 % interval beside it, `Times` have the median and the 95th percentile.
    """
    match value:
        case None:
            return "–"
        case Estimate():
            return f"{cell(value.mean)} ({cell(value.low)} to {cell(value.high)})"
        case Times():
            return f"{cell(value.p50)} / {cell(value.p95)}"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            size = abs(value)
            return f"{value:,.{3 if size < 1 else 2 if size < 10 else 1 if size < 100 else 0}f}"
    return str(value)


def print_table(
    title: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
) -> None:
    """Print a table with a column of names and columns of values.

    Args:
        title: Its title.
        headings: The headings of the columns.
        rows: The values of each row; see `cell`.
    """
    table = Table(
        title=title, title_justify="left", box=SIMPLE_HEAD, collapse_padding=True, pad_edge=False
    )
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left")
    for row in rows:
        table.add_row(*map(cell, row))
    Console().print(table)


def print_figures(title: str, figures: Mapping[str, Any]) -> None:
    """Print a row for each figure; those of a part are indented below its name."""
    print_table(title, ("", ""), _flat(figures, ""))


def _flat(figures: Mapping[str, Any], indent: str) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for name, value in figures.items():
        label = indent + name.replace("_", " ")
        if isinstance(value, Mapping):
            rows += [(label, ""), *_flat(value, f"{indent}  ")]
        else:
            rows.append((label, value))
    return rows


def print_json(figures: object, as_json: bool) -> None:
    """Print the figures as one line of JSON if requested; a dataclass becomes an object."""
    if as_json:
        print(json.dumps(figures, default=_plain))


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON.")


def style(*, clean: bool) -> str:
    """Name the style of an utterance: as written, or as a recogniser gives it."""
    return "clean" if clean else "recognised"


def points(value: float) -> str:
    """Format a difference of shares in percentage points, with its sign."""
    return f"{100 * value:+.1f}"


def interval(difference: Estimate) -> str:
    """Format a difference of shares in percentage points, with its 95 % interval."""
    return f"{points(difference.mean)} ({points(difference.low)} to {points(difference.high)})"


def tracked(items: Iterable[Item], description: str, total: int | None = None) -> Iterable[Item]:
    """Yield the items, with a progress bar."""
    return track(items, description, total, console=Console(stderr=True))


def progress_bars() -> Progress:
    """Return progress bars with counts and times."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
