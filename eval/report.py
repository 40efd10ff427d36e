"""Results of a run as tables and as one JSON object."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from eval.rows import HOTMEM, Row, group_by_system, mean, summarize
from eval.statistics import Estimate, paired_difference


def show(rows: Sequence[Row], title: str, console: Console) -> None:
    """Print the scores of each system, and HotMem's lead over each baseline."""
    by_system = group_by_system(rows)
    console.print(_overall(by_system, title))
    console.print(_by_category(by_system))
    if any(row.abstain for row in rows):
        console.print(_unknown(by_system))
    for name, lead in leads(by_system).items():
        console.print(
            f"HotMem − {name}: {points(lead.mean)} points of evidence (95 % interval "
            f"{points(lead.low)} to {points(lead.high)})"
        )


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the results as plain values: summary and categories of each system, and the leads."""
    by_system = group_by_system(rows)
    return {
        "systems": {
            name: asdict(summarize(own))
            | {
                "categories": {
                    category: asdict(summarize(part)) for category, part in _categories(own).items()
                }
            }
            for name, own in by_system.items()
        },
        "leads": {name: asdict(lead) for name, lead in leads(by_system).items()},
    }


def leads(by_system: Mapping[str, Sequence[Row]]) -> dict[str, Estimate]:
    """Return HotMem's lead in delivered evidence over each system, on questions scored for both."""
    own = {row.question: row.delivered for row in by_system.get(HOTMEM, ())}
    result = {}
    for name, rows in by_system.items():
        pairs = [
            (ours, row.delivered)
            for row in rows
            if row.delivered is not None and (ours := own.get(row.question)) is not None
        ]
        if name != HOTMEM and pairs:
            result[name] = paired_difference(
                [ours for ours, _ in pairs], [theirs for _, theirs in pairs]
            )
    return result


def _overall(by_system: Mapping[str, Sequence[Row]], title: str) -> Table:
    result = table(
        title,
        "system",
        ("scored", "evidence", "all", "answer", "top 5", "tokens", "p50 ms", "p95 ms"),
    )
    for name, rows in by_system.items():
        total = summarize(rows)
        shares = (total.delivered, total.all, total.answer, total.sessions)
        result.add_row(
            name,
            str(total.scored),
            *map(share, shares),
            f"{total.tokens:.0f}",
            f"{total.p50_ms:.1f}",
            f"{total.p95_ms:.1f}",
        )
    return result


def _unknown(by_system: Mapping[str, Sequence[Row]]) -> Table:
    result = table(
        "nothing known, as the block says it",
        "system",
        ("rightly", "wrongly", "rightly at 5 % wrongly"),
    )
    for name, rows in by_system.items():
        total = summarize(rows)
        result.add_row(
            name, *map(share, (total.unknown, total.wrongly_unknown, total.unknown_at_5))
        )
    return result


def _by_category(by_system: Mapping[str, Sequence[Row]]) -> Table:
    result = table("evidence delivered by category", "category", ("scored", *by_system))
    parts = {name: _categories(rows) for name, rows in by_system.items()}
    first = next(iter(parts.values()), {})
    for category, rows in sorted(first.items()):
        scored = sum(row.delivered is not None for row in rows)
        result.add_row(
            category,
            str(scored),
            *(
                share(mean(row.delivered for row in own.get(category, ())))
                for own in parts.values()
            ),
        )
    return result


def _categories(rows: Iterable[Row]) -> dict[str, list[Row]]:
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(row.category, []).append(row)
    return parts


def table(title: str, first: str, others: Iterable[str]) -> Table:
    """Return an empty table with a column of names and columns of numbers."""
    table = Table(
        title=title, title_justify="left", box=SIMPLE_HEAD, collapse_padding=True, pad_edge=False
    )
    table.add_column(first, no_wrap=True)
    for heading in others:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def share(value: float | None) -> str:
    """Format a share with three decimals."""
    return "–" if value is None else f"{value:.3f}"


def interval(difference: Estimate) -> str:
    """Format a difference of shares in percentage points, with its 95 % interval."""
    return f"{points(difference.mean)} ({points(difference.low)} to {points(difference.high)})"


def points(value: float) -> str:
    """Format a difference of shares in percentage points, with its sign."""
    return f"{100 * value:+.1f}"
