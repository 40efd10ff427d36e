"""`python -m eval frontier`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Final

import typer

from eval.arguments import AsJson, Cache, Jobs, Limit, working_folder
from eval.datasets.selection import load_datasets
from eval.output import interval, print_json, print_table
from eval.rows import HOTMEM, Row, group_by_system
from eval.run import numbered, run_task, spread
from eval.statistics import paired_difference

OWN: Final = f"everyday={Path(__file__).parent / 'data' / 'everyday'}"
"""The statements in this repository."""

DEFAULT: Final = 0
"""Stands for the default budget."""

BUDGETS: Final = (50, 100, 200, 300, 500, 1000, DEFAULT)
"""Maximum tokens of a block. At the default, a baseline gets the tokens that HotMem used."""


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
    rows: dict[str, list[Row]] = {}
    with working_folder(cache) as folder:
        for name, part in load_datasets(data or [OWN], 6, limit).items():
            tasks = numbered(part, folder, BUDGETS, fitted_too=not held_out)
            rows[name] = [row for one in spread(run_task, tasks, jobs, name) for row in one.rows]
    found = {name: figures(part) for name, part in rows.items()}
    for name, one in found.items():
        _show(name, one)
    print_json(found, as_json)


def figures(rows: Sequence[Row]) -> dict[str, list[dict[str, Any]]]:
    """The figures of a dataset: by budget, and of what it cannot answer by category."""
    answered = [row for row in rows if row.delivered is not None]
    other = [
        row
        for row in rows
        if row.delivered is None and row.budget == DEFAULT and row.system == HOTMEM
    ]
    budgets = {row.budget for row in answered}
    return {
        "evidence": [_at(budget, answered) for budget in sorted(budgets, key=BUDGETS.index)],
        "without": [
            {"category": one} | _without([row for row in other if row.category == one])
            for one in dict.fromkeys(row.category for row in other)
        ],
    }


def _at(budget: int, rows: Iterable[Row]) -> dict[str, Any]:
    """The figures of answerable questions at one budget."""
    part = [row for row in rows if row.budget == budget]
    by_system = {
        system: {row.question: row.delivered or 0.0 for row in own}
        for system, own in group_by_system(part).items()
    }
    own = [row for row in part if row.system == HOTMEM]
    means = {system: fmean(shares.values()) for system, shares in by_system.items()}
    best = max((system for system in means if system != HOTMEM), key=means.__getitem__)
    lines = max(sum(row.items for row in own), 1)
    return {
        "budget": budget,
        "questions": len(own),
        "tokens": fmean(row.tokens for row in own),
        "evidence": means,
        "best": best,
        "lead": paired_difference(
            [by_system[HOTMEM][question] for question in by_system[best]],
            list(by_system[best].values()),
        ),
        "right": sum(row.right for row in own) / lines,
        "repeated": sum(row.repeated for row in own) / lines,
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
        "blocks": fmean(row.items > 0 for row in rows),
        "unknown": fmean(row.tokens > 0 and not row.items for row in rows),
    }


def _show(name: str, found: dict[str, list[dict[str, Any]]]) -> None:
    """Print the figures of a dataset."""
    systems = tuple(found["evidence"][0]["evidence"]) if found["evidence"] else ()
    print_table(
        f"{name}: evidence delivered",
        ("budget", "questions", "tokens", *systems, "lead", "lines right", "repeated", "marked"),
        [
            (
                str(row["budget"] or "default"),
                *(row["questions"], row["tokens"], *row["evidence"].values()),
                *(interval(row["lead"]), row["right"], row["repeated"]),
                ", ".join(f"{right}/{count}" for count, right in row["marked"].values()),
            )
            for row in found["evidence"]
        ],
    )
    print_table(
        f"{name}: what nothing answers",
        ("category", "utterances", "tokens", "blocks", "said"),
        [list(row.values()) for row in found["without"]],
    )
