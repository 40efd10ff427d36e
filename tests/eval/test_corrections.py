"""The scripted cases of corrections, and how they are scored."""

import re
from pathlib import Path

import pytest

from eval.language.corrections import ENDS_NOTHING, Case, Kind, cases, outcome, run
from eval.language.told import divided
from hotmem import Memory
from tests.conversation import OpenMemory, said


def test_the_cases_are_distinct() -> None:
    every = cases()
    assert len(every) >= 150 and len({case.days for case in every}) == len(every)
    assert set(Kind) == {case.kind for case in every}
    for case in every:
        words = " ".join(text for day in case.days for text in day).casefold()
        for value in (*case.known, *(case.gone if case.kind is not Kind.HYPOTHETICAL else ())):
            assert value.casefold() in words or re.match(
                r"[\d-]+|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day", value
            ), value


async def test_restatements_and_additions_end_nothing(memory: Memory) -> None:
    outcomes = await run(memory, [case for case in cases() if case.kind in ENDS_NOTHING])
    assert not [one.case.days for one in outcomes if one.falsely_ended]


@pytest.mark.parametrize(
    ("texts", "kind", "known", "gone", "right"),
    [
        (("My dog is called Potola.",), Kind.WITHIN, ("potola",), ("Paola",), True),
        (("My dog is called Potola.",), Kind.WITHIN, ("Paola",), (), False),
        (("My dog is called Potola.",), Kind.WITHIN, (), ("Potola",), False),
        (("I live in Evora.", "I live in Beja now."), Kind.UPDATE, ("Beja",), ("Evora",), True),
        (("I live in Evora.", "I live in Beja now."), Kind.RESTATEMENT, ("Beja",), (), False),
        (("I live in Beja.",), Kind.UPDATE, ("Beja",), ("Evora",), False),
    ],
)
async def test_a_case_is_right_if_all_is_as_it_should_be(
    database: Path,
    open_memory: OpenMemory,
    texts: tuple[str, ...],
    kind: Kind,
    known: tuple[str, ...],
    gone: tuple[str, ...],
    right: bool,
) -> None:
    async with open_memory(database) as memory:
        for minutes, text in enumerate(texts):
            await memory.remember(said(text, minutes=minutes))
        await memory.settle()
        found = divided(await memory.memories("ana", past=True))
    assert outcome(Case(True, kind, (texts,), known, gone), *found).right is right
