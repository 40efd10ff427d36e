"""Corrections, updates, restatements, additions, jokes and hypotheticals.

Measures which facts hold after a scripted conversation, and which do not.

`corrections.tsv` has one case a line: whether the rules were written with it in view, its kind, the
turns, the values that must hold afterwards, and those that must not. "|" separates turns, "||"
days, ";" values. A value matches every fact that contains its words; in the last column only facts
that deny nothing and are not marked as possibly outdated.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from eval.arguments import AsJson
from eval.files import tsv_rows
from eval.language.told import START, holds, memories_of
from eval.memories import temporary_memory
from eval.output import print_json, print_table
from hotmem import Memory, Role, Turn
from hotmem.types import StoredMemory

CASES: Final = Path(__file__).with_name("corrections.tsv")


class Kind(StrEnum):
    """The kind of a case."""

    WITHIN = "within"
    CORRECTION = "correction"
    UPDATE = "update"
    RESTATEMENT = "restatement"
    ADDITION = "addition"
    JOKE = "joke"
    HYPOTHETICAL = "hypothetical"


_DENIAL: Final = re.compile(r"\b(?:not|no longer)\b")

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
        gone: Values that no current fact may have, but for one that is possibly outdated; after an
            update such facts, or past ones, must have them.
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
    return [_case(*row) for row in tsv_rows(CASES)[1:]]


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


async def run(memory: Memory, all_cases: Sequence[Case]) -> list[Outcome]:
    """Return the outcome of every case, each with its own user."""
    told = [case.turns(f"case {number}") for number, case in enumerate(all_cases)]
    found = await memories_of(memory, told)
    return [outcome(case, *parts) for case, parts in zip(all_cases, found, strict=True)]


def outcome(case: Case, current: Sequence[StoredMemory], past: Sequence[StoredMemory]) -> Outcome:
    """Compare the current and past memories of a case with its expectations."""
    missing = [value for value in case.known if not holds(value, current)]
    doubted = [memory for memory in current if memory.doubted_at is not None]
    if case.kind is Kind.UPDATE:
        missing += [value for value in case.gone if not holds(value, (*past, *doubted))]
    affirmed = [memory for memory in current if memory not in doubted and not _denies(memory)]
    wrong = tuple(value for value in case.gone if holds(value, affirmed))
    return Outcome(case, tuple(missing), wrong, len(past))


def _denies(memory: StoredMemory) -> bool:
    return memory.negated or _DENIAL.search(memory.text) is not None


def corrections(
    failures: Annotated[bool, typer.Option(help="Print the cases that fail.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run scripted corrections, updates, restatements, additions, jokes and hypotheticals."""
    outcomes = asyncio.run(_measured())
    rows = []
    for kinds in (*({kind} for kind in Kind), set(Kind)):
        chosen = [one for one in outcomes if one.case.kind in kinds]
        shares = [_right(chosen, seen=seen) for seen in (True, False)]
        ended = sum(one.falsely_ended for one in chosen) if kinds & ENDS_NOTHING else ""
        rows.append(("all" if len(kinds) > 1 else kinds.pop(), *shares, ended))
    headings = ("kind", "right, seen", "right, unseen", "falsely ended")
    print_table("corrections and change", headings, rows)
    for one in outcomes:
        if failures and not one.right:
            said = " || ".join(" | ".join(day) for day in one.case.days)
            print(f"{one.case.kind}: {said}")
            print(
                f"    missing: {', '.join(one.missing)}; still current: {', '.join(one.wrong)}; "
                f"ended: {one.ended}"
            )
    print_json([asdict(one) | {"right": one.right} for one in outcomes], as_json)


def _right(outcomes: Sequence[Outcome], *, seen: bool) -> str:
    right = [one.right for one in outcomes if one.case.seen is seen]
    return f"{sum(right)} of {len(right)}"


async def _measured() -> list[Outcome]:
    async with temporary_memory() as memory:
        return await run(memory, cases())
