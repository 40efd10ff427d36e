"""`python -m eval tools` and `python -m eval roundtrip`."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from eval.arguments import AsJson, Cache, Data, Step, print_json, working_folder
from eval.datasets import Conversation
from eval.datasets.selection import load_datasets
from eval.run import models
from eval.statistics import Estimate
from eval.tools import classification, equivalence, evolution
from eval.tools import roundtrip as trips
from eval.tools.tags import Tags
from eval.tools.tags import measure as measured
from hotmem.consolidation.equivalence import MERGE_THRESHOLD, SUGGESTION_THRESHOLD
from hotmem.models import load_encoder, load_language
from hotmem.options import ModelOptions


def tools(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            help="DATASET=PATH, any number: conversations whose tags are counted and consolidated.",
            show_default=False,
        ),
    ] = None,
    fit: Annotated[
        bool,
        typer.Option(
            "--fit",
            help="Fits the coefficients anew first, on every second line of each file, "
            "and writes them.",
        ),
    ] = False,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Test classification, equivalence, evolution and tags on handwritten statements."""
    encoder, language = load_encoder(ModelOptions()), load_language()
    if fit:
        classification.write(classification.fit(encoder, language, classification.taught()))
        equivalence.fit(encoder)
    filed, alike = classification.measure(encoder, language), equivalence.measure(encoder)
    evolved = asyncio.run(evolution.measure(encoder, language))
    screen = Console()
    _show_filing(filed, screen)
    _show_sameness(alike, screen)
    _show_evolution(evolved, screen)
    tagged = _tags(load_datasets(data, 1), cache) if data else None
    if tagged:
        _show_tags(tagged, screen)
    if as_json:
        parts = {
            "classification": asdict(filed),
            "equivalence": asdict(alike),
            "evolution": asdict(evolved),
        }
        print(json.dumps(parts | ({"tags": asdict(tagged)} if tagged else {})))


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


def _tags(conversations: Mapping[str, Sequence[Conversation]], cache: Path | None) -> Tags:
    with working_folder(cache) as folder:
        return asyncio.run(measured(chain.from_iterable(conversations.values()), models(folder)))


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


def _show_evolution(evolved: evolution.Evolution, screen: Console) -> None:
    table = Table(
        title=f"subcategories of {evolved.memories:,} statements, evolved on one half, the "
        "other placed",
        title_justify="left",
    )
    for heading in (
        "category",
        "subcategories",
        "placed right",
        "purity",
        "covered",
        "topics found",
        "evolved again",
        "names kept",
    ):
        table.add_column(heading, justify="left" if heading == "category" else "right")
    for name, one in evolved.by_category.items():
        shares = (f"{share:.0%}" for share in (one.right, one.purity, one.covered, one.topics))
        table.add_row(name, str(one.subcategories), *shares, str(one.again), f"{one.kept:.0%}")
    screen.print(table)
    screen.print(
        f"placed right {evolved.right:.1%}: {evolved.right_where_chosen:.1%} in the "
        "categories that the constants were chosen on, "
        f"{evolved.right_elsewhere:.1%} in the others"
    )


def _show_tags(found: Tags, screen: Console) -> None:
    screen.print(
        f"{found.conversations} conversations, {found.memories:,} memories; "
        f"{found.before:,} tags: {found.merged} went into another, "
        f"{found.archived} were put away, {found.fewer:.0%} fewer; before, "
        f"{found.tagged_before:.0%} of the memories have tags, "
        f"and {found.reused_before:.0%} of {found.uses_before:,} uses name one that "
        f"was there before; after it {found.tagged:.0%} have tags in use, "
        f"and {found.reused:.0%} of {found.uses:,} uses do "
        f"({found.reused_of_all:.0%} with those that were put away)"
    )


def _share(found: Estimate) -> str:
    """Format a share with its interval."""
    return f"{found.mean:.1%} ({found.low:.1%} to {found.high:.1%})"
