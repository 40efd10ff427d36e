"""Facts extracted from handwritten utterances, and none from utterances that state none.

`extraction.tsv` contains handwritten utterances of Ana, one per line: whether the rules were
developed on it, the utterance, and the expected facts separated by ";". The first word of a fact is
its relation as in `RELATIONS.md`, or "*" for any; its text must contain the other words. "-" means
no facts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from eval.arguments import AsJson
from eval.files import tsv_rows
from eval.language.told import has_words
from eval.output import print_json, print_table
from eval.statistics import bootstrap
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
        return fits and all(has_words(word, statement.text) for word in self.words)


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
    return [
        Case(half == "seen", text, () if facts == NONE else tuple(map(_expected, facts.split(";"))))
        for half, text, facts in tsv_rows(CASES)[1:]
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


def extraction(
    failures: Annotated[bool, typer.Option(help="Show the seen utterances that go wrong.")] = False,
    as_json: AsJson = False,
) -> None:
    """Reads our own utterances and counts those whose facts are read."""
    language = load_language()
    outcomes = []
    for one in cases():
        statements = read(language, one.text)
        outcomes.append((one, right(one, statements)))
        if failures and one.seen and not right(one, statements):
            print(f"{one.text}: {' '.join(statement.text for statement in statements)}")
    rows = []
    for stating in (True, False):
        for seen in (True, False):
            judged = [
                good for one, good in outcomes if one.seen is seen and bool(one.facts) is stating
            ]
            name = f"{'facts' if stating else 'no fact'}, {'seen' if seen else 'unseen'}"
            rows.append((name, bootstrap(judged), len(judged)))
    print_table("what people say of themselves", ("", "right", "of"), rows)
    print_json([{"saying": one, "right": good} for one, good in outcomes], as_json)
