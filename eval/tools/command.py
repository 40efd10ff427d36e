"""`python -m eval tools`, `python -m eval tags` and `python -m eval roundtrip`."""

import asyncio
from dataclasses import asdict
from math import isnan
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from eval.arguments import AsJson, Cache, Data, Step, print_json, working_folder
from eval.datasets.selection import load_datasets
from eval.run import models
from eval.statistics import Estimate
from eval.tools import classification, equivalence, evolution
from eval.tools import roundtrip as trips
from eval.tools.tags import measure, measure_pairs, statements
from hotmem.consolidation.equivalence import MERGE_THRESHOLD, SUGGESTION_THRESHOLD
from hotmem.models import load_encoder, load_language
from hotmem.options import ModelOptions


def tools(
    fit: Annotated[
        bool,
        typer.Option(
            "--fit",
            help="Fits the coefficients anew first, on every second line of each file, "
            "and writes them.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Test classification, equivalence and evolution on handwritten statements."""
    encoder, language = load_encoder(ModelOptions()), load_language()
    if fit:
        classification.write(classification.fit(encoder, language, classification.taught()))
        equivalence.fit(encoder)
    filed, alike = classification.measure(encoder, language), equivalence.measure(encoder)
    evolved = {
        name: asyncio.run(evolution.measure(encoder, language, known))
        for name, known in (
            ("topics.tsv", evolution.statements()),
            ("trial, dev", evolution.trial("dev")),
            ("trial, held", evolution.trial("held")),
        )
    }
    screen = Console()
    _show_filing(filed, screen)
    _show_sameness(alike, screen)
    for name, one in evolved.items():
        _show_evolution(name, one, screen)
    parts = {
        "classification": asdict(filed),
        "equivalence": asdict(alike),
        "evolution": {name: asdict(one) for name, one in evolved.items()},
    }
    print_json(parts, as_json)


def tags(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            help="DATASET=PATH, any number: conversations whose tags are measured, too.",
            show_default=False,
        ),
    ] = None,
    held: Annotated[
        bool, typer.Option("--held", help="The held-out half of the statements and pairs.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(help="Conversations of each dataset, at most.", min=1)
    ] = None,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Measure how often tags are reused, and which of them are merged rightly."""
    half = "held" if held else "dev"
    sources = {half: statements(half)} | load_datasets(data or (), 1, limit)
    with working_folder(cache) as folder:
        loaded = models(folder)
        found = {name: asyncio.run(measure(of, loaded)) for name, of in sources.items()}
        pairs = measure_pairs(half, loaded.encoder)
    screen = Console()
    for name, one in found.items():
        screen.print(
            f"{name}: {one.users} users, {one.memories:,} memories; {one.words:,} words, "
            f"{one.shown:,} tags shown, {one.merged} merged, {one.archived} archived; "
            f"{one.tagged:.0%} of the memories show a tag; reuse {one.reused:.1%}, of all words "
            f"{one.reused_words:.1%}"
        )
    screen.print(
        f"{pairs.pairs} pairs of tags: {pairs.found:.0%} of {pairs.same} that mean the same are "
        f"merged, and {pairs.wrong:.0%} of the merges are wrong"
    )
    print_json(
        {name: asdict(one) for name, one in found.items()} | {"pairs": asdict(pairs)}, as_json
    )


def roundtrip(
    data: Data,
    questions: Annotated[
        int, typer.Option(help="Questions in all, spread over the conversations.", min=1)
    ] = 200,
    step: Step = 24,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Export each memory, import it into a new one, and count the questions with equal blocks."""
    conversations = [
        one for part in load_datasets(data, step).values() for one in part if one.questions
    ]
    if not conversations:
        raise typer.BadParameter("they hold no questions", param_hint="DATA")
    with working_folder(cache) as folder:
        trip = asyncio.run(
            trips.measure(conversations, questions, models(folder), Console(stderr=True))
        )
    trips.show(trip, Console())
    print_json(trips.figures(trip), as_json)


def _show_filing(filed: classification.ClassificationResult, screen: Console) -> None:
    names = sorted(filed.confusion)
    table = Table(
        title=f"{filed.statements} statements held back: ours by row, found by column",
        title_justify="left",
    )
    for heading in ("category", *names):
        table.add_column(heading, justify="left" if heading == "category" else "right")
    for name in names:
        table.add_row(name, *(str(filed.confusion[name].get(other, "")) for other in names))
    screen.print(table)
    screen.print(
        f"category right {_share(filed.category)}, kind {_share(filed.kind)}; "
        f"importance {filed.importance:.2f} away from ours in the mean; "
        f"sure of {filed.sure:.0%}, of which {filed.category_where_sure:.1%} are right"
    )


def _show_sameness(alike: equivalence.EquivalenceResult, screen: Console) -> None:
    screen.print(
        f"{alike.pairs} pairs held back: {alike.found:.1%} of those that say the "
        f"same are found (from {SUGGESTION_THRESHOLD}), "
        f"{alike.merged:.1%} merged without asking (from {MERGE_THRESHOLD}); "
        f"{alike.false_merges:.1%} of the merges "
        f"and {alike.false_suggestions:.1%} of the suggestions are wrong"
    )


def _show_evolution(name: str, evolved: evolution.Evolution, screen: Console) -> None:
    table = Table(
        title=f"subcategories of {evolved.memories:,} statements ({name}), evolved on one half, "
        "the other placed",
        title_justify="left",
    )
    for heading in (
        "category",
        "subcategories",
        "placed",
        "right of placed",
        "right of all",
        "topics found",
        "names kept",
        "names of all statements (members, share on one topic)",
    ):
        table.add_column(heading, justify="left" if heading[0] in "cn" else "right")
    for category, one in evolved.by_category.items():
        shares = (one.covered, one.right_of_placed, one.right, one.topics, one.kept)
        names = ", ".join(
            f"{part.name} ({part.members}, {part.pure:.0%} {part.topic})" for part in one.named
        )
        table.add_row(
            category,
            str(one.subcategories),
            *("–" if isnan(share) else f"{share:.0%}" for share in shares),
            names,
        )
    screen.print(table)
    fitting = "" if evolved.fitting is None else f"; names that fit by cosine {evolved.fitting:.0%}"
    screen.print(
        f"placed {evolved.covered:.1%}, right of placed {evolved.right_of_placed:.1%}, "
        f"right of all {evolved.right:.1%}{fitting}"
    )


def _share(found: Estimate) -> str:
    """Format a share with its interval."""
    return f"{found.mean:.1%} ({found.low:.1%} to {found.high:.1%})"
