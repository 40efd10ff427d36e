"""`python -m eval dialogues`: expand the questions of voice dialogues written without the code.

An expanded question is right if it holds every phrase that it must have and none that it must not.
A phrase may have alternatives, separated by "|". Half of the dialogues (`dev`) may be looked at.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console

from eval.arguments import AsJson, Most, print_json
from eval.language.dialogues import Query
from eval.language.rewriting import Expanded, expanded
from eval.report import share, table
from eval.statistics import bootstrap
from hotmem.models import load_language

FILE: Final = Path(__file__).parents[1] / "data/trial/dialogues.jsonl"


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with its judgement.

    Attributes:
        half: `dev` or `held`.
        ambiguous: Whether it needs the dialogue to be understood.
        found: Its expansion.
        right: Whether the expanded question is right.
    """

    half: str
    ambiguous: bool
    found: Expanded
    right: bool


def judged(console: Console, limit: int | None = None) -> list[Judged]:
    """Expand and judge the questions; at most `limit` of them."""
    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()[:limit]]
    return [
        Judged(row["half"], row["ambiguous"], found, _is_right(row, found.text))
        for row, found in zip(
            rows, expanded(map(_query, rows), load_language(), console), strict=True
        )
    ]


def _query(row: dict[str, Any]) -> Query:
    return Query(
        row["id"],
        row["question"],
        row["standalone"],
        tuple(turn["text"] for turn in row["turns"]),
        said_by_user=tuple(turn["role"] == "user" for turn in row["turns"]),
    )


def _is_right(row: dict[str, Any], text: str) -> bool:
    return all(_has(text, phrase) for phrase in row["must_have"]) and not any(
        _has(text, phrase) for phrase in row["must_not"]
    )


def _has(text: str, phrase: str) -> bool:
    return any(
        re.search(rf"(?<!\w){re.escape(one)}", text, re.IGNORECASE) for one in phrase.split("|")
    )


def dialogues(
    misses: Annotated[
        bool, typer.Option(help="Print the questions of the development half that fail.")
    ] = False,
    held: Annotated[bool, typer.Option(help="Measure the held-out half too.")] = False,
    limit: Most = None,
    as_json: AsJson = False,
) -> None:
    """Expand ambiguous and clear questions of voice dialogues by an independent writer."""
    console = Console()
    rows = judged(Console(stderr=True), limit)
    result: dict[str, dict[str, float]] = {}
    shown = table("voice dialogues", "half", ("questions", "of", "right", "95 % interval"))
    for half in ("dev", "held") if held else ("dev",):
        for name, part in {
            "ambiguous": [row for row in rows if row.half == half and row.ambiguous],
            "clear": [row for row in rows if row.half == half and not row.ambiguous],
            "all": [row for row in rows if row.half == half],
        }.items():
            if part:
                right = bootstrap([float(row.right) for row in part])
                bounds = f"{share(right.low)} to {share(right.high)}"
                shown.add_row(half, name, str(len(part)), share(right.mean), bounds)
                result[f"{half}, {name}"] = {"of": len(part), "right": right.mean}
    console.print(shown)
    for row in rows:
        if misses and row.half == "dev" and not row.right:
            query, found = row.found.query, row.found
            console.print(
                f"{query.conversation} {query.text} {found.pointing} -> {found.expansion}, "
                f"not {query.rewritten}",
                markup=False,
            )
    print_json(result, as_json)
