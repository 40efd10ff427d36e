"""Pairs of turns on the whole system: whether the later one ends or doubts what the earlier states.

Half of the later turns make the earlier one outdated; the others say something else of the same
person or thing, or say it again. Each pair has a memory of its own.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from eval.arguments import AsJson, print_json
from eval.language.changes import Effect, say
from eval.statistics import bootstrap
from hotmem import Memory
from hotmem.models import Encoder, Language, load_language
from hotmem.models.onnx import OnnxEncoder

FOLDER: Final = Path(__file__).parents[1] / "data" / "understanding" / "doubts"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two turns.

    Attributes:
        kind: What the later turn is about, or what it does.
        outdated: Whether the earlier turn does not hold after the later one.
        earlier: The earlier turn.
        later: The later turn.
    """

    kind: str
    outdated: bool
    earlier: str
    later: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the later turn of a pair does to the memories of the earlier one."""

    pair: Pair
    effect: Effect

    @property
    def noticed(self) -> bool:
        """Whether a memory has ended or is possibly outdated."""
        return bool(self.effect.ended or self.effect.doubted)


def pairs(half: str) -> list[Pair]:
    """Return the pairs of a half, "dev" or "held"."""
    return [
        Pair(kind, state == "outdated", earlier, later)
        for line in (FOLDER / f"{half}.tsv").read_text("utf-8").splitlines()
        for kind, state, earlier, later in [line.split("\t")]
    ]


async def run(pair: Pair, encoder: Encoder, language: Language) -> Outcome:
    """Say a pair to an empty memory."""
    with tempfile.TemporaryDirectory() as folder:
        async with Memory.open(
            Path(folder) / "memory.db", encoder=encoder, language=language
        ) as memory:
            return Outcome(pair, await say(memory, [pair.earlier], pair.later))


def show(outcomes: Sequence[Outcome], half: str, console: Console) -> None:
    """Print a table of outdated turns and of turns that still hold."""
    table = Table(
        "the earlier turn",
        "pairs",
        "remembered",
        "ended",
        "ended or possibly outdated",
        title=f"what a later turn does to an earlier one, {half} (95 %)",
        title_justify="left",
    )
    for outdated in (True, False):
        chosen = [one for one in outcomes if one.pair.outdated is outdated]
        if not chosen:
            continue
        shares = (
            [one.effect.known > 0 for one in chosen],
            [bool(one.effect.ended) for one in chosen],
            [one.noticed for one in chosen],
        )
        estimates = [bootstrap(share) for share in shares]
        table.add_row(
            "is outdated" if outdated else "still holds",
            str(len(chosen)),
            *(f"{one.mean:.2f} ({one.low:.2f} to {one.high:.2f})" for one in estimates),
        )
    console.print(table)


def doubts(
    held: Annotated[
        bool, typer.Option(help="The half that nothing was tuned on, not the other.")
    ] = False,
    misses: Annotated[bool, typer.Option(help="Print the pairs that are judged wrongly.")] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Number of pairs, spread over all; all by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say pairs of turns to the memory: whether the later one makes the earlier one outdated."""
    console = Console(stderr=True)
    half = "held" if held else "dev"
    outcomes = asyncio.run(_measured(half, limit, console))
    show(outcomes, half, console)
    for one in outcomes:
        if misses and one.noticed is not one.pair.outdated:
            wrong = "not noticed" if one.pair.outdated else "falsely"
            changed = ", ".join((*one.effect.ended, *one.effect.doubted))
            console.print(f"{wrong}: {one.pair.earlier} || {one.pair.later}", markup=False)
            console.print(f"    {changed or 'nothing ended or is doubted'}", markup=False)
    print_json([asdict(one) for one in outcomes], as_json)


async def _measured(half: str, limit: int | None, console: Console) -> list[Outcome]:
    encoder, language = await asyncio.to_thread(lambda: (OnnxEncoder.load(), load_language()))
    chosen = pairs(half)
    chosen = chosen[:: -(-len(chosen) // limit)] if limit else chosen
    return [
        await run(pair, encoder, language) for pair in track(chosen, "running", console=console)
    ]
