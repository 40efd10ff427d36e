"""The measures of learning on the command line."""

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from eval.datasets.selection import selected
from eval.learning import curves
from eval.learning import usage as usages
from eval.report import share, table
from eval.retrieval import SHIPPED, held_out, retrieved
from eval.statistics import Estimate
from eval.studies.blocks import known
from hotmem.feedback.usage import KINDS
from hotmem.models import load_encoder
from hotmem.options import ModelOptions


def usage(
    fit: Annotated[
        bool,
        typer.Option(
            "--fit",
            help="Fits the model anew first, on every second line of the file, and writes it.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object as the last line.")
    ] = False,
) -> None:
    """Tells how replies used items that were held back from fitting, beside the design's 30 % of the words."""
    encoder = load_encoder(ModelOptions())
    if fit:
        usages.fit(encoder)
    found = usages.measure(encoder, usages.halves()[1])
    _show_usage(found, Console())
    if as_json:
        print(json.dumps(asdict(found)))


def learn(
    data: Annotated[
        list[str], typer.Argument(help="DATASET=PATH, one or more.", show_default=False)
    ],
    turns: Annotated[int, typer.Option(help="Turns learnt from, at most.", min=8)] = 200,
    questions: Annotated[
        int, typer.Option(help="Questions of other conversations measured on, at most.", min=1)
    ] = 400,
    png: Annotated[
        Path | None, typer.Option(help="Folder for the learning curves.", file_okay=False)
    ] = None,
    step: Annotated[
        int,
        typer.Option(
            help="Take every n-th conversation of LongMemEval, which has one a question.", min=1
        ),
    ] = 6,
    jobs: Annotated[
        int, typer.Option(help="Processes the conversations are spread over.", min=1)
    ] = 2,
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
    """Replays conversations with a simulated bot, learns layer weights on every other one, and counts the evidence delivered on the rest."""
    console = Console(stderr=True)
    conversations = selected(data, step)
    for name, part in conversations.items():
        if {
            held_out(number) for number, one in enumerate(part) if any(map(known, one.questions))
        } != {True, False}:
            raise typer.BadParameter(
                f"{name} has no known evidence to learn from, or none in every second conversation to measure on",
                param_hint="DATA",
            )
    with tempfile.TemporaryDirectory(prefix="hotmem-eval-") as temporary:
        folder = cache or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        asked = {
            name: retrieved(part, [SHIPPED], jobs, folder, console, name)
            for name, part in conversations.items()
        }
        found = curves.measure(asked, turns, questions, jobs, Path(temporary), console)
    curves.show(found, Console())
    if png:
        png.mkdir(parents=True, exist_ok=True)
        curves.plot(found, png)
    if as_json:
        print(json.dumps(curves.figures(found)))


def _show_usage(found: usages.Comparison, screen: Console) -> None:
    kinds = [kind.value for kind in KINDS]
    for name, rule in found.rules.items():
        confusion = table(
            f"{name}, {found.triples} triples held back: ours by row, found by column",
            "kind",
            (*kinds, "F1"),
        )
        for kind in KINDS:
            confusion.add_row(
                kind, *(str(rule.confusion[kind][other]) for other in KINDS), share(rule.f1[kind])
            )
        screen.print(confusion)
        screen.print(
            f"macro-F1 {_interval(rule.macro_f1)}; used or not, F1 {_interval(rule.used_f1)}"
        )
    by_sort = table("share right by sort", "sort", found.rules)
    for sort in found.rules[usages.FITTED].by_sort:
        by_sort.add_row(sort, *(share(rule.by_sort[sort]) for rule in found.rules.values()))
    screen.print(by_sort)
    screen.print(f"ahead of the design's rule by {_interval(found.lead)} in macro-F1")


def _interval(value: Estimate) -> str:
    return f"{value.mean:.3f} ({value.low:.3f} to {value.high:.3f})"
