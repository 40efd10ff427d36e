"""The measures of learning on the command line."""

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console

from eval.learning import usage as usages
from eval.report import share, table
from eval.statistics import Estimate
from hotmem.models import load_encoder
from hotmem.options import ModelOptions


def usage(
    fit: Annotated[bool, typer.Option("--fit", help="Fits the model anew first, on every second line of the file, and writes it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Tells how replies used items that were held back from fitting, beside the design's 30 % of the words."""
    encoder = load_encoder(ModelOptions())
    if fit:
        usages.fit(encoder)
    found = usages.measure(encoder)
    _show_usage(found, Console())
    if as_json:
        print(json.dumps(asdict(found)))


def _show_usage(found: usages.Comparison, screen: Console) -> None:
    kinds = [kind.value for kind in usages.KINDS]
    for name, rule in found.rules.items():
        confusion = table(f"{name}, {found.triples} triples held back: ours by row, found by column", "kind", (*kinds, "F1"))
        for kind in usages.KINDS:
            confusion.add_row(kind, *(str(rule.confusion[kind][other]) for other in usages.KINDS), share(rule.f1[kind]))
        screen.print(confusion)
        screen.print(f"macro-F1 {_interval(rule.macro_f1)}; used or not, F1 {_interval(rule.used_f1)}")
    by_sort = table("share right by sort", "sort", found.rules)
    for sort in found.rules[usages.FITTED].by_sort:
        by_sort.add_row(sort, *(share(rule.by_sort[sort]) for rule in found.rules.values()))
    screen.print(by_sort)
    screen.print(f"ahead of the design's rule by {_interval(found.lead)} in macro-F1")


def _interval(value: Estimate) -> str:
    return f"{value.mean:.3f} ({value.low:.3f} to {value.high:.3f})"
