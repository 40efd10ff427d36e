"""`python -m eval tools`: the tools' judgement on statements that we wrote."""

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from eval.statistics import Estimate
from eval.tools import filing, sameness
from hotmem.consolidation.sameness import MERGES_FROM, SUGGESTED_FROM
from hotmem.models import load_encoder, load_language
from hotmem.options import ModelOptions


def tools(
    fit: Annotated[bool, typer.Option("--fit", help="Fits the coefficients anew first, on every second line of each file, and writes them.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Files statements and compares pairs of them that were held back from fitting, and shows how often that is right."""
    encoder, language = load_encoder(ModelOptions()), load_language()
    if fit:
        filing.write(filing.fit(encoder, language, filing.statements()[::2]))
        sameness.fit(encoder)
    filed, alike = filing.measure(encoder, language), sameness.measure(encoder)
    screen = Console()
    _show_filing(filed, screen)
    _show_sameness(alike, screen)
    if as_json:
        print(json.dumps({"filing": asdict(filed), "sameness": asdict(alike)}))


def _show_filing(filed: filing.Filing, screen: Console) -> None:
    names = sorted(filed.confusion)
    table = Table(title=f"{filed.statements} statements held back: ours by row, found by column", title_justify="left")
    for heading in ("category", *names):
        table.add_column(heading, justify="left" if heading == "category" else "right")
    for name in names:
        table.add_row(name, *(str(filed.confusion[name].get(other, "")) for other in names))
    screen.print(table)
    screen.print(
        f"category right {_share(filed.category)}, kind {_share(filed.kind)}; importance {filed.importance:.2f} away from ours in the mean; "
        f"sure of {filed.sure:.0%}, of which {filed.category_where_sure:.1%} are right"
    )


def _show_sameness(alike: sameness.Sameness, screen: Console) -> None:
    screen.print(
        f"{alike.pairs} pairs held back: {alike.found:.1%} of those that say the same are found (from {SUGGESTED_FROM}), "
        f"{alike.merged:.1%} merged without asking (from {MERGES_FROM}); {alike.false_merges:.1%} of the merges "
        f"and {alike.false_suggestions:.1%} of the suggestions are wrong"
    )


def _share(found: Estimate) -> str:
    """A share with its interval."""
    return f"{found.mean:.1%} ({found.low:.1%} to {found.high:.1%})"
