"""Results of a run as tables and as plain values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from eval.output import points, print_table
from eval.rows import HOTMEM, Row, group_by_system, mean, summarize
from eval.statistics import Estimate, scored_difference


def show(rows: Sequence[Row], title: str) -> None:
    """Print the scores of each system, and HotMem's lead over each baseline."""
    by_system = group_by_system(rows)
    totals = {name: summarize(own) for name, own in by_system.items()}
    print_table(
        title,
        ("system", "scored", "evidence", "all", "answer", "top 5", "tokens", "p50 ms", "p95 ms"),
        [
            (
                *(name, one.scored, one.delivered, one.all, one.answer, one.sessions),
                *(one.tokens, one.p50_ms, one.p95_ms),
            )
            for name, one in totals.items()
        ],
    )
    parts = {name: _categories(own) for name, own in by_system.items()}
    print_table(
        "evidence delivered by category",
        ("category", "scored", *by_system),
        [
            (
                category,
                sum(row.delivered is not None for row in own),
                *(mean(row.delivered for row in part.get(category, ())) for part in parts.values()),
            )
            for category, own in sorted(next(iter(parts.values()), {}).items())
        ],
    )
    if any(row.abstain for row in rows):
        print_table(
            "nothing known, as the block says it",
            ("system", "rightly", "wrongly", "rightly at 5 % wrongly"),
            [
                (name, one.unknown, one.wrongly_unknown, one.unknown_at_5)
                for name, one in totals.items()
            ],
        )
    for name, lead in leads(by_system).items():
        print(
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
        "leads": leads(by_system),
    }


def leads(by_system: Mapping[str, Sequence[Row]]) -> dict[str, Estimate]:
    """Return HotMem's lead in delivered evidence over each system, on questions scored for both."""
    own = {row.question: row.delivered for row in by_system.get(HOTMEM, ())}
    found = {
        name: scored_difference(
            [own.get(row.question) for row in rows], [row.delivered for row in rows]
        )
        for name, rows in by_system.items()
        if name != HOTMEM
    }
    return {name: lead for name, lead in found.items() if lead is not None}


def _categories(rows: Iterable[Row]) -> dict[str, list[Row]]:
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(row.category, []).append(row)
    return parts
