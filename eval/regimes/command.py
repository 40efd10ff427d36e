"""The regimes on the command line."""

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from eval.datasets.selection import selected
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
    limit: Annotated[
        int | None, typer.Option(help="Conversations of each dataset at most.", min=1)
    ] = None,
    rows: Annotated[
        Path | None, typer.Option(help="File for one JSON line per question, system and budget.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes the histories are spread over.", min=1)] = 2,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps embeddings and parses for later runs; a run alone otherwise."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object as the last line.")
    ] = False,
) -> None:
    """Measures every regime.

    Young and long histories, told, stored, imported and mixed, in every wording, at every budget.
    """
    with tempfile.TemporaryDirectory(prefix="hotmem-eval-") as temporary:
        folder = cache or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        found = measured(
            tasks(selected(data or [OWN], 6, limit), folder, held_out_only=held_out),
            jobs,
            Console(stderr=True),
        )
    if rows:
        rows.write_text(
            "".join(f"{json.dumps(asdict(row), ensure_ascii=False)}\n" for row in found),
            encoding="utf-8",
        )
    show(found, Console(width=200))
    if as_json:
        print(json.dumps(figures(found)))


OWN = f"everyday={Path(__file__).parents[1] / 'data' / 'everyday'}"
"""The statements that come with the project."""
