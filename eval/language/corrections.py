"""Corrections and change.

What holds, and what does not, after people corrected themselves, moved on, repeated themselves,
joked or supposed.

`corrections.tsv` has our own cases, one a line: whether the rules were made with it in view, its
kind, what is said, what must be known then, and what must not hold then. "|" parts turns, "||"
parts days, ";" parts values. A value stands for every fact that has its words, in the last column
for those that deny nothing.
"""

import asyncio
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from hotmem import Memory, Role, Turn
from hotmem.types import StoredMemory

CASES: Final = Path(__file__).with_name("corrections.tsv")

START: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""When the first turn of every case is said; a Monday."""


class Kind(StrEnum):
    """What happens in a case."""

    WITHIN = "within"
    CORRECTION = "correction"
    UPDATE = "update"
    RESTATEMENT = "restatement"
    ADDITION = "addition"
    JOKE = "joke"
    HYPOTHETICAL = "hypothetical"


ENDS_NOTHING: Final = frozenset({Kind.RESTATEMENT, Kind.ADDITION})
"""Kinds in which every fact that was true stays true."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case.

    Attributes:
        seen: Whether the rules were made with it in view.
        kind: What happens in it.
        days: What is said, turn by turn, day by day.
        known: Values that must be known then.
        gone: Values that no current fact may have; of an update the past keeps them.
    """

    seen: bool
    kind: Kind
    days: tuple[tuple[str, ...], ...]
    known: tuple[str, ...]
    gone: tuple[str, ...]

    def turns(self, user: str) -> Iterator[Turn]:
        """The turns, a minute and a day apart."""
        for day, said in enumerate(self.days):
            for minute, text in enumerate(said):
                yield Turn(
                    user,
                    f"day {day}",
                    Role.USER,
                    text,
                    START + timedelta(days=day, minutes=minute),
                    "Ana",
                )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case.

    Attributes:
        case: The case.
        missing: Values that should be known, or be kept as past, and are not.
        wrong: Values that still hold.
        ended: Facts that were ended.
    """

    case: Case
    missing: tuple[str, ...]
    wrong: tuple[str, ...]
    ended: int

    @property
    def falsely_ended(self) -> bool:
        """Whether a restatement or an addition ended anything."""
        return self.case.kind in ENDS_NOTHING and self.ended > 0

    @property
    def right(self) -> bool:
        """Whether all is as it should be."""
        return not (self.missing or self.wrong or self.falsely_ended)


def cases() -> list[Case]:
    """All cases."""
    return [_case(*line.split("\t")) for line in CASES.read_text("utf-8").splitlines()[1:]]


def _case(half: str, kind: str, said: str, known: str, gone: str) -> Case:
    return Case(
        half == "seen",
        Kind(kind),
        tuple(_parts(day, "|") for day in said.split("||")),
        _parts(known, ";"),
        _parts(gone, ";"),
    )


def _parts(text: str, mark: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(mark) if part.strip())


async def told(memory: Memory, all_cases: Sequence[Case], console: Console) -> list[Outcome]:
    """The outcome of every case, each with a user of its own."""
    for number, case in enumerate(track(all_cases, "telling", console=console)):
        for turn in case.turns(f"case {number}"):
            await memory.remember(turn)
    await memory.settle()
    return [
        outcome(case, await memory.memories(f"case {number}", past=True))
        for number, case in enumerate(all_cases)
    ]


def outcome(case: Case, memories: Sequence[StoredMemory]) -> Outcome:
    """What of the case is as it should be."""
    current, past = (
        [memory for memory in memories if memory.current is now] for now in (True, False)
    )
    missing = [value for value in case.known if not _held(value, current)]
    if case.kind is Kind.UPDATE:
        missing += [value for value in case.gone if not _held(value, past)]
    wrong = tuple(
        value
        for value in case.gone
        if _held(value, [memory for memory in current if not memory.negated])
    )
    return Outcome(case, tuple(missing), wrong, len(past))


def _held(value: str, facts: Sequence[StoredMemory]) -> bool:
    """Whether a fact has the words."""
    return any(
        re.search(rf"(?<!\w){re.escape(value)}(?!\w)", fact.text, re.IGNORECASE) for fact in facts
    )


def show(outcomes: Sequence[Outcome], console: Console) -> None:
    """A table by kind."""
    table = Table(
        "kind",
        "right, seen",
        "right, unseen",
        "falsely ended",
        title="corrections and change",
        title_justify="left",
    )
    for kinds in (*({kind} for kind in Kind), set(Kind)):
        chosen = [one for one in outcomes if one.case.kind in kinds]
        shares = (
            _share([one.right for one in chosen if one.case.seen is seen]) for seen in (True, False)
        )
        ended = str(sum(one.falsely_ended for one in chosen)) if kinds & ENDS_NOTHING else ""
        table.add_row("all" if len(kinds) > 1 else kinds.pop(), *shares, ended)
    console.print(table)


def _share(right: Sequence[bool]) -> str:
    return f"{sum(right)} of {len(right)}, {sum(right) / max(len(right), 1):.2f}"


def corrections(
    failures: Annotated[bool, typer.Option(help="Show the cases that go wrong.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object as the last line.")
    ] = False,
) -> None:
    """Tells the written cases of corrections, updates, restatements, additions, jokes and suppositions, and says how many end as they should."""
    console = Console(stderr=True)
    outcomes = asyncio.run(_measured(console))
    show(outcomes, console)
    for one in outcomes:
        if failures and not one.right:
            said = " || ".join(" | ".join(day) for day in one.case.days)
            console.print(f"{one.case.kind}: {said}", markup=False)
            console.print(
                f"    not known: {', '.join(one.missing)}; still held: {', '.join(one.wrong)}; "
                f"ended: {one.ended}",
                markup=False,
            )
    if as_json:
        typer.echo(json.dumps([asdict(one) | {"right": one.right} for one in outcomes]))


async def _measured(console: Console) -> list[Outcome]:
    with tempfile.TemporaryDirectory(prefix="hotmem-corrections-") as folder:
        async with Memory.open(Path(folder) / "cases.db") as memory:
            return await told(memory, cases(), console)
