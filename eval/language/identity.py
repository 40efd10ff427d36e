"""Facts about two subjects of a kind, which must not end each other, and changed facts.

`identity.tsv` has our own cases, one a line: "apart" or "same", the relation, what is said ("|"
parts turns, a day apart), and for "same" the value that ends and the one that holds. An apart case
is right if nothing has ended.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
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
    return [
        Case(Kind(kind), relation, tuple(part.strip() for part in said.split("|")), old, new)
        for kind, relation, said, old, new in tsv_rows(CASES)[1:]
    ]


async def told(memory: Memory, all_cases: Sequence[Case]) -> list[Outcome]:
    """The outcome of every case, each with a user of its own."""
    at = [START + timedelta(days=day) for day in range(max(len(case.said) for case in all_cases))]
    turns = [
        [
            Turn(f"case {number}", f"day {day}", Role.USER, text, at[day], "Ana")
            for day, text in enumerate(case.said)
        ]
        for number, case in enumerate(all_cases)
    ]
    found = await memories_of(memory, turns)
    return [outcome(case, *parts) for case, parts in zip(all_cases, found, strict=True)]


def outcome(case: Case, current: Sequence[StoredMemory], past: Sequence[StoredMemory]) -> Outcome:
    """The case judged by its current and past memories."""
    if case.kind is Kind.APART:
        right = not past
    else:
        doubted = [memory for memory in current if memory.doubted_at]
        affirmed = [memory for memory in current if not (memory.negated or memory.doubted_at)]
        replaced = holds(case.old, (*past, *doubted)) and not holds(case.old, affirmed)
        right = replaced and (not case.new or holds(case.new, affirmed))
    read = len({turn for memory in (*current, *past) for turn in memory.turn_ids})
    return Outcome(case, read, tuple(memory.text for memory in past), right)


def identity(
    failures: Annotated[bool, typer.Option(help="Show the cases that go wrong.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remember facts about two subjects of a kind, and changed facts; count the right ends."""
    outcomes = asyncio.run(_measured())
    rows = []
    for kind in Kind:
        of_kind = [one for one in outcomes if one.case.kind is kind]
        read = [one for one in of_kind if one.read >= len(one.case.said)]
        right = [sum(one.right for one in part) for part in (of_kind, read)]
        rows.append((kind, len(of_kind), right[0], len(read), right[1]))
    headings = ("kind", "cases", "right", "both turns read", "right of these")
    print_table("whose fact it is", headings, rows)
    for one in outcomes:
        if failures and not one.right:
            print(f"{one.case.kind}, {one.case.relation}: {' | '.join(one.case.said)}")
            print(f"    turns read: {one.read}; ended: {'; '.join(one.ended)}")
    print_json(outcomes, as_json)


async def _measured() -> list[Outcome]:
    async with temporary_memory() as memory:
        return await told(memory, cases())
