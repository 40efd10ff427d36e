"""Which utterances need memory.

Questions that need it must be asked, and talk that cannot be helped need not be.

The utterances are those of four writers, and the questions of the datasets given.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from eval.arguments import AsJson, print_json
from eval.datasets.selection import load_datasets
from eval.understanding import data
from hotmem.models import Language, load_language
from hotmem.understanding.query.analyzer import analyse

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


def own(*, held: bool = False) -> list[Asked]:
    """The utterances of two writers, or of the two held out."""
    files = sorted((data.FOLDER / "needs").glob("*.tsv"))[2 * held :][:2]
    rows = (line.split("\t") for file in files for line in file.read_text("utf-8").splitlines())
    return [Asked(text, label == "memory") for *_, label, text in rows]


def misjudged(one: Asked, language: Language) -> bool:
    """Whether memory is asked without need, or not asked though needed."""
    return (
        analyse(language.parse([one.text], names=False)[0], AT, one.known).needs_memory
        is not one.needed
    )


def need(
    datasets: Annotated[
        list[str] | None, typer.Argument(help="DATASET=PATH, any number.", show_default=False)
    ] = None,
    held: Annotated[bool, typer.Option("--held", help="The two writers held out.")] = False,
    failures: Annotated[bool, typer.Option(help="Show what is misjudged.")] = False,
    as_json: AsJson = False,
) -> None:
    """Says of how many questions memory would not be asked, and of how much other talk it would."""
    console = Console(stderr=True)
    language = load_language()
    table = Table("", "misjudged", "of", "share", title="need for memory", title_justify="left")
    shares = {}
    for name, asked in _groups(datasets or [], held=held).items():
        wrong = [one for one in track(asked, name, console=console) if misjudged(one, language)]
        shares[name] = Share(len(wrong), len(asked))
        table.add_row(
            name, str(len(wrong)), f"{len(asked):,}", f"{len(wrong) / max(len(asked), 1):.1%}"
        )
        if failures:
            console.print(*(one.text for one in wrong), sep="\n", markup=False)
    console.print(table)
    print_json({name: asdict(share) for name, share in shares.items()}, as_json)


def _groups(datasets: Sequence[str], *, held: bool) -> dict[str, list[Asked]]:
    groups: dict[str, list[Asked]] = {"needing memory": [], "needing none": []}
    for one in own(held=held):
        groups["needing memory" if one.needed else "needing none"].append(one)
    for name, conversations in load_datasets(datasets, step=1).items():
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
