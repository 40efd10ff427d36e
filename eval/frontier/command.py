"""`python -m eval frontier`."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer
from rich.console import Console

from eval.arguments import AsJson, Cache, Jobs, Limit, print_json, working_folder
from eval.baselines import Baseline
from eval.datasets.selection import load_datasets
from eval.frontier.measure import BUDGETS, DEFAULT, Row, measured
from eval.report import interval, share, table
from eval.rows import HOTMEM
from eval.statistics import Estimate, paired_difference

OWN = f"everyday={Path(__file__).parents[1] / 'data' / 'everyday'}"
"""The statements in this repository."""


def frontier(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            help="DATASET=PATH, one or more; our own everyday statements if none is named."
        ),
    ] = None,
    held_out: Annotated[
        bool,
        typer.Option(
            "--held-out", help="Only conversations that are kept from fitting: every second one."
        ),
    ] = False,
    limit: Limit = None,
    jobs: Jobs = 2,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Measure evidence, precision and tokens at many budgets, beside the baselines."""
    with working_folder(cache) as folder:
        datasets = load_datasets(data or [OWN], 6, limit)
        rows = measured(datasets, jobs, folder, Console(stderr=True), fitted_too=not held_out)
    found = figures(rows)
    show(found, Console(width=200))
    print_json(found, as_json)


def figures(rows: Sequence[Row]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The figures of each dataset: by budget, and of what it cannot answer by category."""
    found = {}
    for name in dict.fromkeys(row.dataset for row in rows):
        part = [row for row in rows if row.dataset == name]
        answered = [row for row in part if row.answerable]
        other = [row for row in part if not row.answerable and row.budget == DEFAULT]
        budgets = {row.budget for row in answered}
        found[name] = {
            "evidence": [_at(budget, answered) for budget in sorted(budgets, key=BUDGETS.index)],
            "without": [
                {"category": one} | _without([row for row in other if row.category == one])
                for one in dict.fromkeys(row.category for row in other)
            ],
        }
    return found


def _at(budget: int, rows: Iterable[Row]) -> dict[str, Any]:
    """The figures of answerable questions at one budget."""
    part = [row for row in rows if row.budget == budget]
    by_system = {
        system: {row.question: row.delivered or 0.0 for row in part if row.system == system}
        for system in (HOTMEM, *(one.value for one in Baseline))
    }
    own = [row for row in part if row.system == HOTMEM]
    means = {system: fmean(shares.values()) for system, shares in by_system.items()}
    best = max(list(means)[1:], key=means.__getitem__)
    lines = sum(row.lines for row in own)
    return {
        "budget": budget,
        "questions": len(own),
        "tokens": fmean(row.tokens for row in own),
        "evidence": means,
        "best": best,
        "lead": asdict(
            paired_difference(
                [by_system[HOTMEM][question] for question in by_system[best]],
                list(by_system[best].values()),
            )
        ),
        "right": sum(row.right for row in own) / max(lines, 1),
        "repeated": sum(row.repeated for row in own) / max(lines, 1),
        "marked": {
            level: [sum(row.marked[level][part] for row in own) for part in (0, 1)]
            for level in ("high", "medium")
        },
    }


def _without(rows: Sequence[Row]) -> dict[str, Any]:
    """The figures of utterances that nothing answers."""
    return {
        "utterances": len(rows),
        "tokens": fmean(row.tokens for row in rows),
        "blocks": fmean(row.lines > 0 for row in rows),
        "unknown": fmean(row.unknown for row in rows),
    }


def show(found: dict[str, dict[str, list[dict[str, Any]]]], console: Console) -> None:
    """Print the figures."""
    names = [one.value for one in Baseline]
    for name, part in found.items():
        above = table(
            f"{name}: evidence delivered",
            "budget",
            ("questions", "tokens", HOTMEM, *names, "lead", "lines right", "repeated", "high"),
        )
        for row in part["evidence"]:
            marks = [f"{right}/{count}" for count, right in row["marked"].values()]
            above.add_row(
                str(row["budget"] or "default"),
                str(row["questions"]),
                f"{row['tokens']:.0f}",
                *(share(row["evidence"][system]) for system in (HOTMEM, *names)),
                interval(Estimate(**row["lead"])),
                share(row["right"]),
                share(row["repeated"]),
                ", ".join(marks),
            )
        console.print(above)
        below = table(
            f"{name}: what nothing answers", "category", ("utterances", "tokens", "blocks", "said")
        )
        for row in part["without"]:
            shares = map(share, (row["blocks"], row["unknown"]))
            below.add_row(row["category"], str(row["utterances"]), f"{row['tokens']:.0f}", *shares)
        console.print(below)
