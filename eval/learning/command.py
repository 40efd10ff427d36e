"""`python -m eval usage` and `python -m eval learn`."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer

from eval.arguments import AsJson, Cache, Data, Jobs, Step, working_folder
from eval.blocks import has_evidence
from eval.datasets.base import Question
from eval.datasets.selection import load_datasets
from eval.histories import Source, histories
from eval.learning import blocks, curves
from eval.learning import usage as usages
from eval.output import print_figures, print_json, print_table
from eval.retrieval import retrieved
from eval.run import held_out
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
    _show_usage(found)
    _show_credits(credits)
    print_json(asdict(found) | {"blocks": credits}, as_json)


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
        asked = {name: retrieved(part, jobs, folder, name) for name, part in conversations.items()}
        found = curves.measure(asked, turns, questions, jobs, replays)
    curves.show(found)
    print_json(curves.figures(found), as_json)


def _show_usage(found: usages.Detection) -> None:
    print_table(
        f"{found.triples} triples held back: ours by row, found by column",
        ("kind", *KINDS, "F1"),
        [(kind, *found.confusion[kind].values(), found.f1[kind]) for kind in KINDS],
    )
    print_figures("F1", {"four kinds": found.macro_f1, "used or not": found.used_f1})
    print_figures("share right by sort", found.by_sort)


def _show_credits(credits: Mapping[str, blocks.Credit]) -> None:
    print_table(
        "which items of a block a reply used",
        ("half", "macro-F1", "all right"),
        [(half, one.macro_f1, one.right) for half, one in credits.items()],
    )
    sorts = dict.fromkeys(sort for one in credits.values() for sort in one.by_sort)
    print_table(
        "exchanges with every item right, by sort",
        ("sort", *credits),
        [(sort, *(one.by_sort.get(sort, 0.0) for one in credits.values())) for sort in sorts],
    )
