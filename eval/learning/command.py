"""`python -m eval usage` and `python -m eval learn`."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console

from eval.arguments import AsJson, Cache, Data, Jobs, Step, print_json, working_folder
from eval.blocks import has_evidence
from eval.datasets.base import Question
from eval.datasets.selection import load_datasets
from eval.histories import Source, histories
from eval.learning import blocks, curves
from eval.learning import usage as usages
from eval.report import share, table
from eval.retrieval import held_out, retrieved
from eval.statistics import Estimate
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
    as_json: AsJson = False,
) -> None:
    """Test usage detection on handwritten replies."""
    encoder = load_encoder(ModelOptions())
    if fit:
        usages.fit(encoder)
        blocks.fit(encoder)
    found = usages.measure(encoder, usages.halves()[1])
    credits = {half: blocks.measure(encoder, half) for half in blocks.HALVES}
    _show_usage(found, Console())
    _show_credits(credits, Console())
    print_json(
        asdict(found) | {"blocks": {half: asdict(one) for half, one in credits.items()}}, as_json
    )


def learn(
    data: Data,
    turns: Annotated[int, typer.Option(help="Turns learnt from, at most.", min=8)] = 200,
    questions: Annotated[
        int, typer.Option(help="Questions of other conversations measured on, at most.", min=1)
    ] = 400,
    source: Annotated[
        Source, typer.Option(help="How the memory learns what it knows; all but told need notes.")
    ] = Source.TOLD,
    sessions: Annotated[
        int, typer.Option(help="First sessions of each conversation; 0 for all.", min=0)
    ] = 0,
    step: Step = 6,
    jobs: Jobs = 2,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Learn layer weights from simulated replies, and measure evidence on other conversations."""
    console = Console(stderr=True)
    conversations = {
        name: [
            one.conversation
            for whole in part
            for one in histories(whole, (sessions,))
            if one.source is source
        ]
        for name, part in load_datasets(data, step).items()
    }
    for name, part in conversations.items():
        halves: dict[bool, list[Question]] = {False: [], True: []}
        for number, one in enumerate(part):
            halves[held_out(number)] += filter(has_evidence, one.questions)
        if not (halves[True] and any(question.answer for question in halves[False])):
            raise typer.BadParameter(
                f"{name} has no written answers with known evidence to learn from, or no known "
                "evidence in every second conversation to measure on",
                param_hint="DATA",
            )
    with working_folder(cache) as folder, working_folder(None) as replays:
        asked = {
            name: retrieved(part, jobs, folder, console, name)
            for name, part in conversations.items()
        }
        found = curves.measure(asked, turns, questions, jobs, replays, console)
    curves.show(found, Console())
    print_json(curves.figures(found), as_json)


def _show_usage(found: usages.Detection, screen: Console) -> None:
    kinds = [kind.value for kind in KINDS]
    confusion = table(
        f"{found.triples} triples held back: ours by row, found by column", "kind", (*kinds, "F1")
    )
    for kind in KINDS:
        counts = (str(found.confusion[kind][other]) for other in KINDS)
        confusion.add_row(kind, *counts, share(found.f1[kind]))
    screen.print(confusion)
    screen.print(
        f"macro-F1 {_interval(found.macro_f1)}; used or not, F1 {_interval(found.used_f1)}"
    )
    by_sort = table("share right by sort", "sort", ("right",))
    for sort, right in found.by_sort.items():
        by_sort.add_row(sort, share(right))
    screen.print(by_sort)


def _show_credits(credits: Mapping[str, blocks.Credit], screen: Console) -> None:
    shown = table("which items of a block a reply used", "half", ("macro-F1", "all right"))
    for half, one in credits.items():
        shown.add_row(half, _interval(one.macro_f1), share(one.right))
    screen.print(shown)
    by_sort = table("exchanges with every item right, by sort", "sort", credits)
    for sort in dict.fromkeys(sort for one in credits.values() for sort in one.by_sort):
        by_sort.add_row(sort, *(share(one.by_sort.get(sort, 0.0)) for one in credits.values()))
    screen.print(by_sort)


def _interval(value: Estimate) -> str:
    return f"{value.mean:.3f} ({value.low:.3f} to {value.high:.3f})"
