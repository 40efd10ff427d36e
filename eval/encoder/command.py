"""The encoder by itself, on the command line."""

import json
import tempfile
import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress

from eval.datasets.selection import selected
from eval.encoder.material import Material, materials
from eval.encoder.ranking import Ranked, Ranker, by_pieces, by_row, mean, ranked
from eval.report import table

encoder = typer.Typer(help="Measures and trains the encoder by itself, without the rest of the memory.", no_args_is_help=True)

Data = Annotated[list[str], typer.Argument(help="DATASET=PATH, one or more.")]
Cache = Annotated[Path | None, typer.Option(help="Folder that keeps what the published model reads for later runs; a run alone otherwise.")]
Jobs = Annotated[int, typer.Option(help="Processes that read.", min=1)]
Step = Annotated[int, typer.Option(help="Take every n-th conversation of LongMemEval, which has one a question.", min=1)]


@encoder.command("measure")
def measure(
    data: Data,
    projection: Annotated[list[Path] | None, typer.Option(help="A trained projection (.npy); may be given more than once.")] = None,
    cache: Cache = None,
    jobs: Jobs = 2,
    step: Step = 12,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Ranks the turns of every conversation by the encoder's own score: rows, signs of all states, and projections."""
    rankers: dict[str, Ranker] = {"rows": by_row, "signs of 384 states": by_pieces(None)}
    rankers |= {path.stem: by_pieces(np.load(path).astype(np.float32)) for path in projection or ()}
    found: dict[str, list[Ranked]] = {name: [] for name in rankers}
    with tempfile.TemporaryDirectory(prefix="hotmem-eval-") as temporary:
        for material in materials(selected(data, step), cache or Path(temporary), jobs, Console(stderr=True)):
            for name, ranker in rankers.items():
                found[name] += ranked([material], ranker)
    show(found, Console(width=200))
    if as_json:
        print(json.dumps({name: figures(rows) for name, rows in found.items()}))


@encoder.command("train")
def train(
    data: Data,
    out: Annotated[Path, typer.Option(help="File of the projection (.npy).")],
    dimensions: Annotated[int, typer.Option(help="Dimensions of the codes, one bit each; a multiple of 8.", min=8)] = 128,
    epochs: Annotated[float, typer.Option(help="Times that as many questions are seen as there are.", min=0.01)] = 2.0,
    rate: Annotated[float, typer.Option(help="Step size of Adam.")] = 5e-4,
    anchor: Annotated[float, typer.Option(help="How strongly the projection is held near where it begins.", min=0)] = 0.0,
    fit_all: Annotated[list[str] | None, typer.Option(help="A dataset whose conversations are all fitted on, none held out.")] = None,
    seed: Annotated[int, typer.Option(help="Of the order and of the random passages.")] = 7,
    cache: Cache = None,
    jobs: Jobs = 2,
    step: Step = 12,
) -> None:
    """Fits a projection of the token states on the conversations that are not held out."""
    from eval.encoder.training import Settings, fitted  # torch takes two seconds to load

    console = Console(stderr=True)
    with tempfile.TemporaryDirectory(prefix="hotmem-eval-") as temporary:
        used = [one for one in materials(selected(data, step), cache or Path(temporary), jobs, console) if _fits(one, fit_all or ())]
        console.print(f"{len(used)} conversations, {sum(len(one.evidence) for one in used):,} questions")
        began = time.perf_counter()
        with Progress(console=console) as progress:
            bar = progress.add_task("fitting")
            matrix = fitted(
                used,
                Settings(dimensions, epochs, rate, anchor, seed),
                lambda done, steps, loss: progress.update(bar, completed=done, total=steps, description=f"loss {loss:.3f}"),
            )
    np.save(out, matrix)
    console.print(f"{out} after {time.perf_counter() - began:.0f} s")


def _fits(material: Material, fit_all: list[str] | tuple[str, ...]) -> bool:
    return not material.held_out or material.dataset in fit_all


def figures(found: list[Ranked]) -> dict[str, dict[str, float]]:
    """Questions, share of evidence among 35 turns, any of it among 5, and first, by dataset, half and wording."""
    return {
        cell: {
            "questions": len(rows),
            "among": mean(rows, lambda one: one.among),
            "top": mean(rows, lambda one: one.top),
            "first": mean(rows, lambda one: one.first),
        }
        for cell, rows in _cells(found).items()
    }


def _cells(found: list[Ranked]) -> dict[str, list[Ranked]]:
    cells: dict[str, list[Ranked]] = {}
    for one in found:
        half = "held out" if one.held_out else "fitted"
        names = [f"{one.dataset}, {half}"]
        if one.wording in ("echo", "paraphrase", "implication"):
            names.append(f"{one.dataset} {one.wording}, {half}")
        for name in names:
            cells.setdefault(name, []).append(one)
    return dict(sorted(cells.items()))


def show(found: dict[str, list[Ranked]], console: Console) -> None:
    """Prints a row for each dataset, half and wording."""
    by_name = {name: figures(rows) for name, rows in found.items()}
    cells = next(iter(by_name.values()))
    shown = table("evidence among 35 turns / any among 5 / first", "conversations", ["questions", *by_name])
    for cell, values in cells.items():
        measures = ([one[cell][measure] for measure in ("among", "top", "first")] for one in by_name.values())
        shown.add_row(cell, f"{values['questions']:.0f}", *(" / ".join(f"{value:.3f}" for value in row) for row in measures))
    console.print(shown)
