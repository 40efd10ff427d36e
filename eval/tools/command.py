"""`python -m eval tools` and `python -m eval tags`."""

import asyncio
from collections.abc import Mapping
from typing import Annotated

import typer

from eval.arguments import AsJson, Cache, Held, Limit, working_folder
from eval.datasets.selection import load_datasets
from eval.output import print_figures, print_json, print_table
from eval.run import models
from eval.tools import classification, equivalence, evolution
from eval.tools.tags import measure, measure_pairs, statements
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
    filed, confusion = classification.measure(encoder, language)
    alike = equivalence.measure(encoder)
    evolved = {
        name: asyncio.run(evolution.measure(encoder, language, known))
        for name, known in (
            ("topics.tsv", evolution.statements()),
            ("trial, dev", evolution.trial("dev")),
            ("trial, held", evolution.trial("held")),
        )
    }
    names = sorted(confusion)
    print_table(
        "statements held back: ours by row, found by column",
        ("category", *names),
        [(name, *(confusion[name][other] for other in names)) for name in names],
    )
    print_figures("classification", filed)
    print_figures("equivalence", alike)
    for name, (whole, by_category) in evolved.items():
        _show_evolution(name, by_category)
        print_figures(f"evolution, {name}", whole)
    print_json(
        {
            "classification": filed | {"confusion": confusion},
            "equivalence": alike,
            "evolution": {
                name: whole | {"by_category": by_category}
                for name, (whole, by_category) in evolved.items()
            },
        },
        as_json,
    )


def tags(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            help="DATASET=PATH, any number: conversations whose tags are measured, too.",
            show_default=False,
        ),
    ] = None,
    held: Held = False,
    limit: Limit = None,
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
    for name, one in found.items():
        print_figures(f"tags, {name}", {key: one[key] for key in one if key != "merges"})
    print_figures("pairs of tags", pairs)
    print_json(found | {"pairs": pairs}, as_json)


def _show_evolution(name: str, evolved: Mapping[str, evolution.CategoryEvolved]) -> None:
    headings = (
        "category",
        "subcategories",
        "placed",
        "right of placed",
        "right of all",
        "topics found",
        "names kept",
        "names of all statements (members, share on one topic)",
    )
    rows = []
    for category, one in evolved.items():
        shares = (one.covered, one.right_of_placed, one.right, one.topics, one.kept)
        names = ", ".join(
            f"{part.name} ({part.members}, {part.pure:.0%} {part.topic})" for part in one.named
        )
        rows.append((category, one.subcategories, *shares, names))
    title = f"subcategories of {name}, evolved on one half, the other placed"
    print_table(title, headings, rows)
