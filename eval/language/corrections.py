"""Corrections, updates, restatements, additions, jokes and hypotheticals.

Measures which facts hold after a scripted conversation, and which do not.

`corrections.tsv` has one case a line: whether the rules were written with it in view, its kind, the
turns, the values that must hold afterwards, and those that must not. "|" separates turns, "||"
days, ";" values. A value matches every fact that contains its words; in the last column only facts
that negate nothing.
"""

import asyncio
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

from eval.arguments import AsJson, print_json
from hotmem import Memory, Role, Turn
from hotmem.types import StoredMemory

CASES: Final = Path(__file__).with_name("corrections.tsv")

START: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""When the first turn of every case is said; a Monday."""


class Kind(StrEnum):
    """The kind of a case."""

    WITHIN = "within"
    CORRECTION = "correction"
    UPDATE = "update"
    RESTATEMENT = "restatement"
    ADDITION = "addition"
    JOKE = "joke"
    HYPOTHETICAL = "hypothetical"


ENDS_NOTHING: Final = frozenset({Kind.RESTATEMENT, Kind.ADDITION})
"""Kinds in which every fact stays true."""


@dataclass(frozen=True, slots=True)
class Case:
    """A case.

    Attributes:
        seen: Whether the rules were written with it in view.
        kind: Its kind.
        days: The turns of each day.
        known: Values that must hold afterwards.
        gone: Values that no current fact may have; after an update past facts must have them.
    """

    seen: bool
    kind: Kind
    days: tuple[tuple[str, ...], ...]
    known: tuple[str, ...]
    gone: tuple[str, ...]

    def turns(self, user: str) -> Iterator[Turn]:
        """Yield the turns, a minute and a day apart."""
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
    """The outcome of a case.

    Attributes:
        case: The case.
        missing: Values that should hold, or be kept as past, and do not.
        wrong: Values that still hold.
        ended: Number of facts that ended.
    """

    case: Case
    missing: tuple[str, ...]
    wrong: tuple[str, ...]
    ended: int

    @property
    def falsely_ended(self) -> bool:
        """Whether a restatement or an addition ended a fact."""
        return self.case.kind in ENDS_NOTHING and self.ended > 0

    @property
    def right(self) -> bool:
        """Whether everything is as expected."""
        return not (self.missing or self.wrong or self.falsely_ended)


def cases() -> list[Case]:
    """Return all cases."""
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


async def run(memory: Memory, all_cases: Sequence[Case], console: Console) -> list[Outcome]:
    """Return the outcome of every case, each with its own user."""
    for number, case in enumerate(track(all_cases, "running", console=console)):
        for turn in case.turns(f"case {number}"):
            await memory.remember(turn)
    await memory.settle()
    return [
        outcome(case, await memory.memories(f"case {number}", past=True))
        for number, case in enumerate(all_cases)
    ]


def outcome(case: Case, memories: Sequence[StoredMemory]) -> Outcome:
    """Compare the memories of a case with its expectations."""
    current, past = (
        [memory for memory in memories if memory.current is now] for now in (True, False)
    )
    missing = [value for value in case.known if not _contains(value, current)]
    if case.kind is Kind.UPDATE:
        missing += [value for value in case.gone if not _contains(value, past)]
    wrong = tuple(
        value
        for value in case.gone
        if _contains(value, [memory for memory in current if not memory.negated])
    )
    return Outcome(case, tuple(missing), wrong, len(past))


def _contains(value: str, facts: Sequence[StoredMemory]) -> bool:
    """Whether a fact contains the words."""
    return any(
        re.search(rf"(?<!\w){re.escape(value)}(?!\w)", fact.text, re.IGNORECASE) for fact in facts
    )


def show(outcomes: Sequence[Outcome], console: Console) -> None:
    """Print a table by kind."""
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
    failures: Annotated[bool, typer.Option(help="Print the cases that fail.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run scripted corrections, updates, restatements, additions, jokes and hypotheticals."""
    console = Console(stderr=True)
    outcomes = asyncio.run(_measured(console))
    show(outcomes, console)
    for one in outcomes:
        if failures and not one.right:
            said = " || ".join(" | ".join(day) for day in one.case.days)
            console.print(f"{one.case.kind}: {said}", markup=False)
            console.print(
                f"    missing: {', '.join(one.missing)}; still current: {', '.join(one.wrong)}; "
                f"ended: {one.ended}",
                markup=False,
            )
    print_json([asdict(one) | {"right": one.right} for one in outcomes], as_json)


async def _measured(console: Console) -> list[Outcome]:
    with tempfile.TemporaryDirectory(prefix="hotmem-corrections-") as folder:
        async with Memory.open(Path(folder) / "cases.db") as memory:
            return await run(memory, cases(), console)
