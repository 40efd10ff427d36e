"""Facts extracted from handwritten utterances, and none from utterances that state none.

`extraction.tsv` contains handwritten utterances of Ana, one per line: whether the rules were
developed on it, the utterance, and the expected facts separated by ";". The first word of a fact is
its relation as in `RELATIONS.md`, or "*" for any; its text must contain the other words. "-" means
no facts.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table

from eval.arguments import AsJson, print_json
from eval.statistics import Estimate, bootstrap
from hotmem.models import Language, load_language
from hotmem.types import Role, Statement
from hotmem.understanding.facts import extract_facts, relations

CASES: Final = Path(__file__).with_name("extraction.tsv")

SAID_AT: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""A Monday."""

ANY: Final = "*"
NONE: Final = "-"


@dataclass(frozen=True, slots=True)
class Expected:
    """A fact that must be read.

    Attributes:
        relation: Its relation's name in the table, or "*".
        words: Words its text must have.
    """

    relation: str
    words: tuple[str, ...]

    def met(self, statement: Statement) -> bool:
        """Whether a statement is this fact."""
        fits = self.relation == ANY or statement.relation == getattr(relations, self.relation).name
        return fits and all(
            re.search(rf"(?<!\w){re.escape(word)}(?!\w)", statement.text, re.IGNORECASE)
            for word in self.words
        )


@dataclass(frozen=True, slots=True)
class Case:
    """One utterance.

    Attributes:
        seen: Whether the rules were made with it in view.
        text: What is said.
        facts: What must be read; nothing may be where there are none.
    """

    seen: bool
    text: str
    facts: tuple[Expected, ...]


def cases() -> list[Case]:
    """All utterances."""
    rows = [line.split("\t") for line in CASES.read_text("utf-8").splitlines()[1:]]
    return [
        Case(half == "seen", text, () if facts == NONE else tuple(map(_expected, facts.split(";"))))
        for half, text, facts in rows
    ]


def _expected(fact: str) -> Expected:
    relation, *words = fact.split()
    return Expected(relation, tuple(words))


def read(language: Language, text: str) -> Sequence[Statement]:
    """What is read of an utterance of Ana's."""
    return extract_facts(
        language.parse([text])[0], lambda said: language.parse([said])[0], "Ana", Role.USER, SAID_AT
    ).statements


def right(saying: Case, statements: Sequence[Statement]) -> bool:
    """Whether all is read that must be, or nothing where nothing is stated."""
    return (
        all(any(map(fact.met, statements)) for fact in saying.facts)
        if saying.facts
        else not statements
    )


def share(judged: Sequence[bool]) -> Estimate:
    """The share that is right, with its interval over utterances."""
    return bootstrap([int(one) for one in judged], [1] * len(judged))


def show(outcomes: Sequence[tuple[Case, bool]], console: Console) -> None:
    """A table by half."""
    table = Table(
        "",
        "right",
        "95 % interval",
        "of",
        title="what people say of themselves",
        title_justify="left",
    )
    for stating in (True, False):
        for seen in (True, False):
            judged = [
                good for one, good in outcomes if one.seen is seen and bool(one.facts) is stating
            ]
            rate = share(judged)
            name = f"{'facts' if stating else 'no fact'}, {'seen' if seen else 'unseen'}"
            table.add_row(
                name, f"{rate.mean:.2f}", f"{rate.low:.2f} to {rate.high:.2f}", str(len(judged))
            )
    console.print(table)


def extraction(
    failures: Annotated[bool, typer.Option(help="Show the seen utterances that go wrong.")] = False,
    as_json: AsJson = False,
) -> None:
    """Reads our own utterances and counts those whose facts are read."""
    language, console = load_language(), Console()
    outcomes = []
    for one in cases():
        statements = read(language, one.text)
        outcomes.append((one, right(one, statements)))
        if failures and one.seen and not right(one, statements):
            console.print(
                f"{one.text}: {' '.join(statement.text for statement in statements)}", markup=False
            )
    show(outcomes, console)
    print_json([{"saying": asdict(one), "right": good} for one, good in outcomes], as_json)
