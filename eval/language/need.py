"""Which utterances need memory.

Questions that need it must be asked, and talk that cannot be helped need not be.

The questions are those of the datasets given and some of our own; what needs no memory are our own
commands to devices, general questions and courtesies. `need.tsv` has ours; the rules were made with
them in view.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from eval.arguments import AsJson, print_json
from eval.datasets.selection import load_datasets
from hotmem.models import Language, load_language
from hotmem.understanding.query.analyzer import analyse

OWN: Final = Path(__file__).with_name("need.tsv")

AT: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""When everything is said; nothing here hangs on it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One utterance, whether it needs memory, and the names that the memory knows."""

    text: str
    needed: bool
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Share:
    """Of some utterances, how many are decided wrongly."""

    wrong: int
    of: int


def own() -> list[Asked]:
    """The utterances of `need.tsv`."""
    rows = (line.split("\t") for line in OWN.read_text("utf-8").splitlines()[1:])
    return [Asked(text, needed == "yes") for needed, text in rows]


def misjudged(one: Asked, language: Language) -> bool:
    """Whether memory is asked without need, or not asked though needed."""
    return (
        analyse(language.parse([one.text], names=False)[0], AT, one.known).needs_memory
        is not one.needed
    )


def need(
    data: Annotated[
        list[str] | None, typer.Argument(help="DATASET=PATH, any number.", show_default=False)
    ] = None,
    failures: Annotated[bool, typer.Option(help="Show what is misjudged.")] = False,
    as_json: AsJson = False,
) -> None:
    """Says of how many questions memory would not be asked, and of how much other talk it would."""
    console = Console(stderr=True)
    language = load_language()
    table = Table("", "misjudged", "of", "share", title="need for memory", title_justify="left")
    shares = {}
    for name, asked in _groups(data or []).items():
        wrong = [one for one in track(asked, name, console=console) if misjudged(one, language)]
        shares[name] = Share(len(wrong), len(asked))
        table.add_row(
            name, str(len(wrong)), f"{len(asked):,}", f"{len(wrong) / max(len(asked), 1):.1%}"
        )
        if failures:
            console.print(*(one.text for one in wrong), sep="\n", markup=False)
    console.print(table)
    print_json({name: asdict(share) for name, share in shares.items()}, as_json)


def _groups(data: Sequence[str]) -> dict[str, list[Asked]]:
    groups = {
        "own, needing memory": [one for one in own() if one.needed],
        "own, needing none": [one for one in own() if not one.needed],
    }
    for name, conversations in load_datasets(data, step=1).items():
        groups[name] = [
            Asked(
                question.text,
                needed=True,
                known=tuple({turn.speaker for turn in one.turns if turn.speaker}),
            )
            for one in conversations
            for question in one.questions
        ]
    return groups
