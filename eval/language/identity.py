"""Facts about two subjects of a kind, which must not end each other, and changed facts.

`identity.tsv` has our own cases, one a line: "apart" or "same", the relation, what is said ("|"
parts turns, a day apart), and for "same" the value that ends and the one that holds. An apart case
is right if nothing has ended.
"""

import asyncio
import re
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from eval.arguments import AsJson, print_json
from eval.language.corrections import START
from hotmem import Memory, Role, Turn
from hotmem.types import StoredMemory

CASES: Final = Path(__file__).with_name("identity.tsv")


class Kind(StrEnum):
    """Whether the turns of a case are about one person or thing."""

    APART = "apart"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Case:
    """Statements of one relation.

    Attributes:
        kind: Whether they are about one person or thing.
        relation: Name of the relation's constant.
        said: The turns, a day apart.
        old: Value that must have ended or be possibly outdated; "" where nothing may end.
        new: Value that must hold; "" if there is none.
    """

    kind: Kind
    relation: str
    said: tuple[str, ...]
    old: str = ""
    new: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Memories that a case left.

    Attributes:
        case: The case.
        read: Turns from which at least one fact was read.
        ended: Texts of the facts that ended.
        right: Whether an apart case ended nothing, and a same case replaced the old value with the
            new one, so that the old one ended or is possibly outdated.
    """

    case: Case
    read: int
    ended: tuple[str, ...]
    right: bool


def cases() -> list[Case]:
    """All cases."""
    rows = (line.split("\t") for line in CASES.read_text("utf-8").splitlines()[1:])
    return [
        Case(Kind(kind), relation, tuple(part.strip() for part in said.split("|")), old, new)
        for kind, relation, said, old, new in rows
    ]


async def told(memory: Memory, all_cases: Sequence[Case], console: Console) -> list[Outcome]:
    """The outcome of every case, each with a user of its own."""
    for number, case in enumerate(track(all_cases, "telling", console=console)):
        for day, text in enumerate(case.said):
            at = START + timedelta(days=day)
            await memory.remember(Turn(f"case {number}", f"day {day}", Role.USER, text, at, "Ana"))
    await memory.settle()
    return [
        outcome(case, await memory.memories(f"case {number}", past=True))
        for number, case in enumerate(all_cases)
    ]


def outcome(case: Case, memories: Sequence[StoredMemory]) -> Outcome:
    """The case judged by its memories."""
    current, past = (
        [memory for memory in memories if memory.current is now] for now in (True, False)
    )
    if case.kind is Kind.APART:
        right = not past
    else:
        doubted = [memory for memory in current if memory.doubted_at]
        affirmed = [memory for memory in current if not (memory.negated or memory.doubted_at)]
        replaced = _held(case.old, past + doubted) and not _held(case.old, affirmed)
        right = replaced and (not case.new or _held(case.new, affirmed))
    read = len({turn for memory in memories for turn in memory.turn_ids})
    return Outcome(case, read, tuple(memory.text for memory in past), right)


def _held(value: str, facts: Sequence[StoredMemory]) -> bool:
    whole = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)
    return any(whole.search(fact.text) for fact in facts)


def show(outcomes: Sequence[Outcome], console: Console) -> None:
    """A table by kind."""
    table = Table(
        "kind",
        "cases",
        "right",
        "both turns read",
        "right of these",
        title="whose fact it is",
        title_justify="left",
    )
    for kind in Kind:
        of_kind = [one for one in outcomes if one.case.kind is kind]
        read = [one for one in of_kind if one.read >= len(one.case.said)]
        counts = (
            len(of_kind),
            sum(one.right for one in of_kind),
            len(read),
            sum(one.right for one in read),
        )
        table.add_row(kind, *map(str, counts))
    console.print(table)


def identity(
    failures: Annotated[bool, typer.Option(help="Show the cases that go wrong.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remember facts about two subjects of a kind, and changed facts; count the right ends."""
    console = Console(stderr=True)
    outcomes = asyncio.run(_measured(console))
    show(outcomes, console)
    for one in outcomes:
        if failures and not one.right:
            console.print(
                f"{one.case.kind}, {one.case.relation}: {' | '.join(one.case.said)}", markup=False
            )
            console.print(
                f"    turns read: {one.read}; ended: {'; '.join(one.ended)}", markup=False
            )
    print_json([asdict(one) for one in outcomes], as_json)


async def _measured(console: Console) -> list[Outcome]:
    with tempfile.TemporaryDirectory(prefix="hotmem-identity-") as folder:
        async with Memory.open(Path(folder) / "cases.db") as memory:
            return await told(memory, cases(), console)
