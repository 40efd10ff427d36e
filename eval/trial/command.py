"""`python -m eval trial`: thirteen parts of the design, tried with inputs made up for it.

The inputs and what would be right were written down before anything was run, without sight of the
code. What only a person can judge (names of subcategories, sentences of summaries) is printed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from eval.arguments import AsJson, Keep, Most, print_json, working_folder
from eval.report import table
from eval.trial.categories import subcategories, summaries, tags
from eval.trial.inputs import Outcome
from eval.trial.learning import evaluation, observability, recordings, usage
from eval.trial.questions import ambiguity, intents
from eval.trial.searching import contextual, search
from eval.trial.upkeep import advice, conflicts, decisions
from hotmem import Memory

Part = Callable[[Memory, int | None], Awaitable[list[Outcome]]]

PARTS: Final[Mapping[int, Part]] = {
    1: search,
    2: conflicts,
    3: advice,
    4: decisions,
    5: contextual,
    7: intents,
    8: ambiguity,
    10: subcategories,
    11: tags,
    13: summaries,
    14: usage,
}
"""Parts that need one open memory; 6 and 16 run programs on the file."""


def trial(
    part: Annotated[list[int] | None, typer.Option(help="Only this part; repeatable.")] = None,
    limit: Most = None,
    keep: Keep = None,
    as_json: AsJson = False,
) -> None:
    """Try thirteen parts with inputs of a user, and show what came back for each."""
    with working_folder(keep) as folder:
        outcomes = run(folder / "trial.db", part, limit)
    console = Console(width=240, soft_wrap=True, highlight=False)
    for one in outcomes:
        console.print(
            f"{'right' if one.right else 'WRONG'}  {one.part}: {one.name}\n       {one.got}",
            markup=False,
        )
    sums: dict[str, list[int]] = {}
    for one in outcomes:
        count = sums.setdefault(one.part, [0, 0])
        count[0] += one.right
        count[1] += 1
    shown = table("the trial", "part", ("right", "of"))
    for name, (right, of) in sums.items():
        shown.add_row(name, str(right), str(of))
    Console().print(shown)
    print_json({name: {"right": right, "of": of} for name, (right, of) in sums.items()}, as_json)


def run(file: Path, only: list[int] | None, limit: int | None) -> list[Outcome]:
    """Run the parts one after the other on one memory file."""
    outcomes = asyncio.run(_with_memory(file, only, limit))
    if not only or 6 in only:
        outcomes += observability(file, limit)
    if not only or 16 in only:
        outcomes += evaluation(file, limit)
    return outcomes


async def _with_memory(file: Path, only: list[int] | None, limit: int | None) -> list[Outcome]:
    outcomes = []
    async with Memory.open(file) as memory:
        for number, part in PARTS.items():
            if not only or number in only:
                outcomes += await part(memory, limit)
        if not only or 16 in only:
            await recordings(memory, limit)
    return outcomes
