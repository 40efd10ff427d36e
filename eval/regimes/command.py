"""`python -m eval regimes`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from eval.arguments import AsJson, Cache, Jobs, Limit, print_json, working_folder
from eval.datasets.selection import load_datasets
from eval.regimes.measure import measured, tasks
from eval.regimes.report import figures, show


def regimes(
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
    rows: Annotated[
        Path | None, typer.Option(help="File for one JSON line per question, system and budget.")
    ] = None,
    jobs: Jobs = 2,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Measure every regime: history length, source, wording, answerability and budget."""
    with working_folder(cache) as folder:
        found = measured(
            tasks(load_datasets(data or [OWN], 6, limit), folder, held_out_only=held_out),
            jobs,
            Console(stderr=True),
        )
    if rows:
        rows.write_text(
            "".join(f"{json.dumps(asdict(row), ensure_ascii=False)}\n" for row in found),
            encoding="utf-8",
        )
    show(found, Console(width=200))
    print_json(figures(found), as_json)


OWN = f"everyday={Path(__file__).parents[1] / 'data' / 'everyday'}"
"""The statements in this repository."""
